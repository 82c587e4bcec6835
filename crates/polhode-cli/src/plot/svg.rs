//! Drawings as SVG.

use super::drawing::{Anchor, Colour, Drawing, Fill, HALO, INK, Item, Place, SIZE, Stroke, Text};
use core::fmt::{self, Display, Write};

/// A length with two digits behind its point, as far as they say anything.
struct Short(f64);

impl Display for Short {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        to.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Display for Colour {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "#{:06x}", self.0)
    }
}

impl Display for Fill {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, r#"fill="{}""#, self.0)?;
        if self.1 < 1.0 { write!(to, r#" fill-opacity="{}""#, self.1) } else { Ok(()) }
    }
}

impl Display for Stroke {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, r#"stroke="{}" stroke-width="{}""#, self.colour, self.width)?;
        if self.density < 1.0 {
            write!(to, r#" stroke-opacity="{}""#, self.density)?;
        }
        if self.dash.is_empty() {
            return Ok(());
        }
        let lengths: Vec<String> = self.dash.iter().map(ToString::to_string).collect();
        write!(to, r#" stroke-dasharray="{}""#, lengths.join(" "))
    }
}

/// Points one after the other.
fn listed(points: &[Place]) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{},{}", if i > 0 { " " } else { "" }, Short(*x), Short(*y));
    }
    out
}

fn ends([(x1, y1), (x2, y2)]: &[Place; 2]) -> String {
    format!(r#"x1="{}" y1="{}" x2="{}" y2="{}""#, Short(*x1), Short(*y1), Short(*x2), Short(*y2))
}

fn rectangle((x, y): Place, (width, height): Place) -> String {
    format!(r#"<rect x="{}" y="{}" width="{}" height="{}""#, Short(x), Short(y), Short(width), Short(height))
}

/// Text that is safe inside an SVG.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes a drawing; what it refers to inside has names that begin so.
pub fn text(drawing: &Drawing, name: &str) -> String {
    let (width, height) = (Short(drawing.size.0), Short(drawing.size.1));
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="{SIZE}" fill="{INK}">
<rect width="100%" height="100%" fill="white"/>
"##
    );
    let mut clips = 0;
    write(&mut out, &drawing.items, name, &mut clips);
    out.push_str("</svg>\n");
    out
}

fn write(out: &mut String, items: &[Item], prefix: &str, clips: &mut usize) {
    for item in items {
        let _ = match item {
            Item::Line(points, stroke) => {
                let points = listed(points);
                writeln!(out, r#"<polyline points="{points}" fill="none" {stroke} stroke-linejoin="round"/>"#)
            }
            Item::Segment(places, stroke) => writeln!(out, "<line {} {stroke}/>", ends(places)),
            Item::Rule(places, colour) => {
                writeln!(out, r#"<line {} stroke="{colour}" shape-rendering="crispEdges"/>"#, ends(places))
            }
            Item::Area(points, fill, stroke) => {
                writeln!(out, r#"<polygon points="{}" {fill} {stroke}/>"#, listed(points))
            }
            Item::Circles(places, radius, fill, stroke) => {
                let look = match stroke {
                    Some(stroke) => format!("{fill} {stroke}"),
                    None => fill.to_string(),
                };
                // Many have their look in common.
                let (inner, many) = if places.len() > 1 { ("", true) } else { (&*look, false) };
                if many {
                    let _ = writeln!(out, "<g {look}>");
                }
                for (x, y) in places {
                    let (x, y) = (Short(*x), Short(*y));
                    let inner = if inner.is_empty() { String::new() } else { format!(" {inner}") };
                    let _ = writeln!(out, r#"<circle cx="{x}" cy="{y}" r="{radius}"{inner}/>"#);
                }
                if many { writeln!(out, "</g>") } else { Ok(()) }
            }
            Item::Ground(corner, size, fill) => writeln!(out, "{} {fill}/>", rectangle(*corner, *size)),
            Item::Frame(corner, size, colour) => {
                writeln!(out, r#"{} fill="none" stroke="{colour}"/>"#, rectangle(*corner, *size))
            }
            Item::Text(text) => writeln!(out, "{}", letters(text)),
            Item::Inside(corner, size, items) => {
                let name = format!("{prefix}panel{clips}");
                *clips += 1;
                let _ = writeln!(
                    out,
                    r#"<g><clipPath id="{name}">{}/></clipPath>
<g clip-path="url(#{name})">"#,
                    rectangle(*corner, *size)
                );
                write(out, items, prefix, clips);
                writeln!(out, "</g></g>")
            }
        };
    }
}

fn letters(text: &Text) -> String {
    let (x, y) = (Short(text.at.0), Short(text.at.1));
    let mut out = match text.upward {
        true => format!(r#"<text transform="translate({x} {y}) rotate(-90)""#),
        false => format!(r#"<text x="{x}" y="{y}""#),
    };
    if text.size != SIZE {
        let _ = write!(out, r#" font-size="{}""#, text.size);
    }
    if text.bold {
        out.push_str(r#" font-weight="bold""#);
    }
    if text.colour != INK {
        let _ = write!(out, r#" fill="{}""#, text.colour);
    }
    if text.halo {
        let _ = write!(out, r#" stroke="white" stroke-width="{HALO}" paint-order="stroke""#);
    }
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(r#" text-anchor="middle""#),
        Anchor::End => out.push_str(r#" text-anchor="end""#),
    }
    let _ = write!(out, ">{}</text>", escape(&text.text));
    out
}
