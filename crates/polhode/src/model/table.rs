//! Tables of a model file with the places of what is in them.

use super::keys::{Key, Kind};
use super::number::{Number, Numbers, Scope};
use super::place::{Fault, Span};
use crate::lookup::{nearest, not_finite};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One value with its key.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) key_span: Span,
    pub(super) value: &'a Spanned<DeValue<'a>>,
}

/// A table, its entries in the order of the text.
pub(super) struct Table<'a> {
    /// As messages call it: `[bodies.top]`.
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) entries: Vec<Entry<'a>>,
}

/// What a value is, for messages.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

impl<'a> Entry<'a> {
    pub(super) fn span(&self) -> Span {
        self.value.span()
    }
    fn wanted(&self, what: &str) -> Fault {
        let found = kind(self.value.get_ref());
        Fault::new(&self.span(), format!("{} must be {what}, not {found}", self.key)).of(self.key)
    }
    pub(super) fn text(&self) -> Result<&'a str, Fault> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wanted("text in quotes")),
        }
    }
    pub(super) fn flag(&self) -> Result<bool, Fault> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.wanted("true or false")),
        }
    }
    pub(super) fn array(&self) -> Result<&'a [Spanned<DeValue<'a>>], Fault> {
        match self.value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.wanted("an array")),
        }
    }
    pub(super) fn table(&self, name: &str) -> Result<Table<'a>, Fault> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Table::new(name, &self.span(), table)),
            _ => Err(self.wanted("a table")),
        }
    }
    /// Names in an array of so many.
    pub(super) fn names(&self, count: usize) -> Result<Vec<(String, Span)>, Fault> {
        let list = self.array()?;
        if list.len() != count {
            let message = format!("{} takes {count} names, got {}", self.key, list.len());
            return Err(Fault::new(&self.span(), message));
        }
        let name = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
            DeValue::String(text) => Ok((text.to_string(), value.span())),
            other => {
                Err(Fault::new(&value.span(), format!("a name in quotes is wanted, not {}", kind(other))))
            }
        };
        list.iter().map(name).collect()
    }
}

impl<'a> Table<'a> {
    pub(super) fn new(name: &str, span: &Span, table: &'a DeTable<'a>) -> Self {
        let mut entries: Vec<Entry<'a>> = table
            .iter()
            .map(|(key, value)| Entry { key: key.get_ref(), key_span: key.span(), value })
            .collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        Table { name: name.into(), span: span.clone(), entries }
    }
    /// Refuses keys that are not among these, and misses those that must be there.
    pub(super) fn only(&self, keys: &[Key]) -> Result<(), Fault> {
        let known = |name: &str| keys.iter().any(|key| key.name == name);
        let in_degrees = |name: &str| {
            let angular = |key: &&Key| matches!(key.kind, Kind::Angle | Kind::AngularVector | Kind::Attitude);
            name.strip_suffix("_deg")
                .is_some_and(|name| keys.iter().filter(angular).any(|key| key.name == name))
        };
        for entry in &self.entries {
            if known(entry.key) || in_degrees(entry.key) {
                continue;
            }
            let near = nearest(entry.key, keys.iter().map(|key| key.name));
            let all: Vec<&str> = keys.iter().map(|key| key.name).collect();
            let hint = match near.is_empty() {
                true => format!("; it may have {}", all.join(", ")),
                false => format!("; did you mean {}?", near.join(" or ")),
            };
            let message = format!("{} has no key '{}'{hint}", self.name, entry.key);
            return Err(Fault::new(&entry.key_span, message));
        }
        match keys.iter().find(|key| key.required && self.entry(key.name).is_none()) {
            Some(key) => {
                Err(Fault::new(&self.span, format!("{} needs `{}`: {}", self.name, key.name, key.help)))
            }
            None => Ok(()),
        }
    }
    pub(super) fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }
    /// Refuses two keys of which only one makes sense.
    pub(super) fn either(&self, one: &str, other: &str) -> Result<(), Fault> {
        match (self.entry(one), self.entry(other)) {
            (Some(a), Some(b)) => {
                let later = if a.key_span.start > b.key_span.start { a } else { b };
                let message = format!(
                    "{} has both {one} and {other}, which say the same thing in two ways; leave one of them out",
                    self.name
                );
                Err(Fault::new(&later.key_span, message))
            }
            _ => Ok(()),
        }
    }
    /// A key that may end in `_deg`, and what its numbers are to be multiplied with.
    pub(super) fn angular(&self, key: &str) -> Result<Option<(&Entry<'a>, f64)>, Fault> {
        let degrees = format!("{key}_deg");
        self.either(key, &degrees)?;
        Ok(match (self.entry(key), self.entry(&degrees)) {
            (Some(entry), _) => Some((entry, 1.0)),
            (None, Some(entry)) => Some((entry, core::f64::consts::PI / 180.0)),
            (None, None) => None,
        })
    }
    pub(super) fn text(&self, key: &str) -> Result<Option<(String, Span)>, Fault> {
        match self.entry(key) {
            Some(entry) => Ok(Some((entry.text()?.into(), entry.span()))),
            None => Ok(None),
        }
    }
    /// One of a few words.
    pub(super) fn word(&self, key: &str, words: &[&str]) -> Result<Option<(String, Span)>, Fault> {
        let Some((text, span)) = self.text(key)? else { return Ok(None) };
        if words.contains(&text.as_str()) {
            return Ok(Some((text, span)));
        }
        let near = nearest(&text, words.iter().copied());
        let hint =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        Err(Fault::new(
            &span,
            format!("{key} '{text}' is not known: it is one of {}{hint}", words.join(", ")),
        ))
    }
    pub(super) fn flag(&self, key: &str) -> Result<bool, Fault> {
        self.entry(key).map_or(Ok(false), Entry::flag)
    }
    pub(super) fn number(&self, key: &str, scope: &Scope<'_>) -> Result<Option<Number>, Fault> {
        self.entry(key).map(|entry| Number::read(entry.key, entry.value, scope, 1.0)).transpose()
    }
    pub(super) fn angle(&self, key: &str, scope: &Scope<'_>) -> Result<Option<Number>, Fault> {
        let found = self.angular(key)?;
        found.map(|(entry, factor)| Number::read(entry.key, entry.value, scope, factor)).transpose()
    }
    /// Numbers of which there may be so many.
    pub(super) fn numbers(
        &self,
        key: &str,
        sizes: &[usize],
        scope: &Scope<'_>,
    ) -> Result<Option<Numbers>, Fault> {
        let read = |entry: &Entry<'a>| Numbers::read(entry.key, entry.value, sizes, scope, 1.0);
        self.entry(key).map(read).transpose()
    }
    /// The same of angles.
    pub(super) fn angles(
        &self,
        key: &str,
        sizes: &[usize],
        scope: &Scope<'_>,
    ) -> Result<Option<Numbers>, Fault> {
        let found = self.angular(key)?;
        found.map(|(entry, factor)| Numbers::read(entry.key, entry.value, sizes, scope, factor)).transpose()
    }
}

/// The value of a number as the text has it, if it is one.
pub(super) fn plain_number(value: &Spanned<DeValue<'_>>) -> Result<Option<f64>, Fault> {
    let text = match value.get_ref() {
        DeValue::Integer(whole) if whole.radix() != 10 => {
            let parsed = i64::from_str_radix(whole.as_str(), whole.radix());
            return match parsed {
                Ok(x) => Ok(Some(x as f64)),
                Err(_) => Err(Fault::new(&value.span(), format!("{whole} is too large for a number"))),
            };
        }
        DeValue::Integer(whole) => whole.as_str(),
        DeValue::Float(float) => float.as_str(),
        _ => return Ok(None),
    };
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(Some(x)),
        _ => Err(Fault::new(&value.span(), format!("{text} is {}", not_finite(text)))),
    }
}
