//! XML elements with numbers in their attributes, and where in the file a mistake is.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use polhode::model::Place;
use roxmltree::{Attribute, Document, Node, ParsingOptions};
use std::ops::Range;

/// What is wrong with a file, and where.
#[derive(Debug)]
pub struct Mistake {
    /// The bytes that are meant.
    pub at: Range<usize>,
    /// What is wrong with them.
    pub message: String,
}

/// What was read, or why it could not be.
pub type Read<T> = Result<T, Mistake>;

impl Mistake {
    /// A mistake in these bytes.
    pub fn new(at: &Range<usize>, message: impl Into<String>) -> Mistake {
        Mistake { at: at.clone(), message: message.into() }
    }
    /// The message with file, line and column, and the line below it.
    pub fn told(&self, file: &str, text: &str) -> String {
        let floor =
            |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (start, end) = (floor(self.at.start), floor(self.at.end));
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        let end = end.min(begin + line.len()).max(start);
        let place = Place {
            line: text[..start].matches('\n').count() + 1,
            column: text[begin..start].chars().count() + 1,
            text: line.into(),
            length: text[start..end].chars().count().max(1),
        };
        format!("{file}:{}:{}: {}\n{place}", place.line, place.column, short(&self.message))
    }
}

/// The most characters of a name or message that are shown.
const LONGEST: usize = 600;

/// A text without characters that would break a line, move the cursor or turn the direction of writing.
pub fn tame(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '?' } else { c }).collect()
}

/// The same, and not at any length.
fn short(text: &str) -> String {
    let shown: String = tame(text).chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() { shown + "..." } else { shown }
}

/// The elements of a text.
pub fn parse(text: &str) -> Read<Document<'_>> {
    Document::parse_with_options(text, ParsingOptions::default()).map_err(|error| {
        let at = error.pos();
        let before: usize = text.split_inclusive('\n').take(at.row as usize - 1).map(str::len).sum();
        let rest = &text[before.min(text.len())..];
        let column: usize = rest.chars().take(at.col as usize - 1).map(char::len_utf8).sum();
        let message = error.to_string();
        // It ends with the place, which stands before the message here.
        let message = message.rsplit_once(" at ").map_or(message.as_str(), |(what, _)| what);
        Mistake::new(&(before + column..before + column), format!("this is not XML: {message}"))
    })
}

/// The start of an element: its name is marked.
pub fn place(node: &Node<'_, '_>) -> Range<usize> {
    let start = node.range().start;
    start..start + 1 + node.tag_name().name().len()
}

/// A mistake of an element.
pub fn wrong(node: &Node<'_, '_>, message: impl Into<String>) -> Mistake {
    Mistake::new(&place(node), message)
}

/// A mistake in the value of an attribute.
pub fn wrong_value(attribute: &Attribute<'_, '_>, message: impl Into<String>) -> Mistake {
    Mistake::new(&attribute.range_value(), message)
}

/// The elements in an element, without text and comments.
pub fn children<'a, 'i: 'a>(node: &Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> + use<'a, 'i> {
    node.children().filter(Node::is_element)
}

/// The one element of a name in an element; a second one is a mistake.
pub fn only<'a, 'i: 'a>(node: &Node<'a, 'i>, name: &str) -> Read<Option<Node<'a, 'i>>> {
    let mut found = children(node).filter(|child| child.has_tag_name(name));
    let first = found.next();
    match found.next() {
        Some(second) => Err(wrong(&second, format!("<{}> has a second <{name}>", node.tag_name().name()))),
        None => Ok(first),
    }
}

/// An attribute that must be there.
pub fn needed<'a>(node: &Node<'a, '_>, name: &str) -> Read<&'a str> {
    node.attribute(name)
        .ok_or_else(|| wrong(node, format!("<{}> needs the attribute {name}", node.tag_name().name())))
}

/// The numbers of an attribute.
pub fn numbers_of(attribute: &Attribute<'_, '_>) -> Read<Vec<f64>> {
    let number = |word: &str| match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => {
            Err(wrong_value(attribute, format!("'{word}' in {} is not a finite number", attribute.name())))
        }
        Err(_) => Err(wrong_value(attribute, format!("'{word}' in {} is no number", attribute.name()))),
    };
    attribute.value().split_ascii_whitespace().map(number).collect()
}

/// So many numbers of an attribute.
pub fn exactly<const N: usize>(attribute: &Attribute<'_, '_>) -> Read<[f64; N]> {
    let numbers = numbers_of(attribute)?;
    <[f64; N]>::try_from(numbers).map_err(|found| {
        let many = if N == 1 { "one number".into() } else { format!("{N} numbers") };
        wrong_value(attribute, format!("{} has {many}, not {}", attribute.name(), found.len()))
    })
}

/// One number, if the attribute is there.
pub fn number(node: &Node<'_, '_>, name: &str) -> Read<Option<f64>> {
    let found = node.attribute_node(name).map(|attribute| exactly::<1>(&attribute)).transpose()?;
    Ok(found.map(|[x]| x))
}

/// Three numbers, if the attribute is there.
pub fn vector(node: &Node<'_, '_>, name: &str) -> Read<Option<Vector3<f64>>> {
    let found = node.attribute_node(name).map(|attribute| exactly::<3>(&attribute)).transpose()?;
    Ok(found.map(Vector3::from))
}

/// The direction of a vector that is not zero.
pub fn direction(attribute: &Attribute<'_, '_>) -> Read<Vector3<f64>> {
    let vector = Vector3::from(exactly::<3>(attribute)?);
    let longest = vector.amax();
    match longest > 0.0 {
        // Scaled first, so that nothing overflows.
        true => Ok((vector / longest).normalize()),
        false => Err(wrong_value(attribute, format!("{} is zero and has no direction", attribute.name()))),
    }
}

/// The rotation of a quaternion w x y z of any length but zero.
pub fn rotation(attribute: &Attribute<'_, '_>) -> Read<UnitQuaternion<f64>> {
    let [w, x, y, z] = exactly::<4>(attribute)?;
    let longest = [w, x, y, z].into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    match longest > 0.0 {
        true => {
            let scaled = Quaternion::new(w / longest, x / longest, y / longest, z / longest);
            Ok(UnitQuaternion::from_quaternion(scaled))
        }
        false => Err(wrong_value(attribute, format!("{} is zero and is no rotation", attribute.name()))),
    }
}
