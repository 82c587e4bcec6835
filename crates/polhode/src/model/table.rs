//! Tables of a model file with the places of what is in them.

use super::keys::{Key, Kind as KeyKind};
use super::number::{Called, Number, Numbers, Scope};
use super::place::{Fault, Span};
use super::tree::{Entry, Kind, Value};
use crate::lookup::nearest;
use std::borrow::Cow;

/// A table, its entries in the order of the text.
pub(super) struct Table<'a> {
    /// As messages call it: `[bodies.top]`.
    pub(super) name: Cow<'a, str>,
    pub(super) span: Span,
    pub(super) entries: &'a [Entry<'a>],
}

impl Value<'_> {
    pub(super) fn span(&self) -> Span {
        self.spot.span()
    }
    /// What it is, for messages.
    pub(super) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Text(_) => "text",
            Kind::Number(_) | Kind::NoNumber(_) => "a number",
            Kind::Flag(_) => "true or false",
            Kind::Date => "a date",
            Kind::Array(_) => "an array",
            Kind::Table(_) => "a table",
        }
    }
    /// The number that it is, if it is one.
    pub(super) fn plain_number(&self) -> Result<Option<f64>, Fault> {
        match &self.kind {
            Kind::Number(x) => Ok(Some(*x)),
            Kind::NoNumber(why) => Err(Fault::new(&self.span(), why.as_ref())),
            _ => Ok(None),
        }
    }
}

impl<'a> Entry<'a> {
    pub(super) fn span(&self) -> Span {
        self.value.span()
    }
    pub(super) fn key_span(&self) -> Span {
        self.key_spot.span()
    }
    /// Its key, which is this one or that in degrees.
    pub(super) fn called(&self, key: &'static str) -> Called {
        if self.key == key { Cow::Borrowed(key) } else { self.own_key() }
    }
    /// Its key, whatever it is.
    pub(super) fn own_key(&self) -> Called {
        Cow::Owned(self.key.to_string())
    }
    fn wanted(&self, what: &str) -> Fault {
        let found = self.value.what();
        Fault::new(&self.span(), format!("{} must be {what}, not {found}", self.key)).of(&self.key)
    }
    pub(super) fn text(&self) -> Result<&str, Fault> {
        match &self.value.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.wanted("text in quotes")),
        }
    }
    pub(super) fn flag(&self) -> Result<bool, Fault> {
        match self.value.kind {
            Kind::Flag(flag) => Ok(flag),
            _ => Err(self.wanted("true or false")),
        }
    }
    pub(super) fn array(&self) -> Result<&[Value<'a>], Fault> {
        match &self.value.kind {
            Kind::Array(list) => Ok(list),
            _ => Err(self.wanted("an array")),
        }
    }
    pub(super) fn table<'t>(&'t self, name: impl Into<Cow<'t, str>>) -> Result<Table<'t>, Fault> {
        match &self.value.kind {
            Kind::Table(entries) => Ok(Table { name: name.into(), span: self.span(), entries }),
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
        let name = |value: &Value<'_>| match &value.kind {
            Kind::Text(text) => Ok((text.to_string(), value.span())),
            _ => {
                let message = format!("a name in quotes is wanted, not {}", value.what());
                Err(Fault::new(&value.span(), message))
            }
        };
        list.iter().map(name).collect()
    }
}

impl<'a> Table<'a> {
    /// Refuses keys that are not among these, and misses those that must be there.
    pub(super) fn only(&self, keys: &[Key]) -> Result<(), Fault> {
        let known = |name: &str| keys.iter().any(|key| key.name == name);
        let in_degrees = |name: &str| {
            let angular =
                |key: &&Key| matches!(key.kind, KeyKind::Angle | KeyKind::AngularVector | KeyKind::Attitude);
            name.strip_suffix("_deg")
                .is_some_and(|name| keys.iter().filter(angular).any(|key| key.name == name))
        };
        for entry in self.entries {
            if known(&entry.key) || in_degrees(&entry.key) {
                continue;
            }
            let near = nearest(&entry.key, keys.iter().map(|key| key.name));
            let all: Vec<&str> = keys.iter().map(|key| key.name).collect();
            let hint = match near.is_empty() {
                true => format!("; it may have {}", all.join(", ")),
                false => format!("; did you mean {}?", near.join(" or ")),
            };
            let message = format!("{} has no key '{}'{hint}", self.name, entry.key);
            return Err(Fault::new(&entry.key_span(), message));
        }
        match keys.iter().find(|key| key.required && self.entry(key.name).is_none()) {
            Some(key) => {
                Err(Fault::new(&self.span, format!("{} needs `{}`: {}", self.name, key.name, key.help)))
            }
            None => Ok(()),
        }
    }
    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry<'a>> {
        self.entries.iter().find(|entry| entry.key == key)
    }
    /// Refuses two keys of which only one makes sense.
    pub(super) fn either(&self, one: &str, other: &str) -> Result<(), Fault> {
        match (self.entry(one), self.entry(other)) {
            (Some(a), Some(b)) => {
                let later = if a.key_spot.start > b.key_spot.start { a } else { b };
                let message = format!(
                    "{} has both {one} and {other}, which say the same thing in two ways; leave one of them out",
                    self.name
                );
                Err(Fault::new(&later.key_span(), message))
            }
            _ => Ok(()),
        }
    }
    /// A key that may end in `_deg`, and what its numbers are to be multiplied with.
    pub(super) fn angular(&self, key: &str) -> Result<Option<(&'a Entry<'a>, f64)>, Fault> {
        let in_degrees = |entry: &&Entry<'_>| entry.key.strip_suffix("_deg") == Some(key);
        Ok(match (self.entry(key), self.entries.iter().find(in_degrees)) {
            (Some(_), Some(degrees)) => return self.either(key, &degrees.key).map(|()| None),
            (Some(entry), None) => Some((entry, 1.0)),
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
        self.entry(key).map_or(Ok(false), |entry| entry.flag())
    }
    pub(super) fn number(&self, key: &'static str, scope: &Scope<'_>) -> Result<Option<Number>, Fault> {
        self.entry(key).map(|entry| Number::read(key.into(), &entry.value, scope, 1.0)).transpose()
    }
    pub(super) fn angle(&self, key: &'static str, scope: &Scope<'_>) -> Result<Option<Number>, Fault> {
        let read =
            |(entry, factor): (&Entry<'_>, f64)| Number::read(entry.called(key), &entry.value, scope, factor);
        self.angular(key)?.map(read).transpose()
    }
    /// Numbers of which there may be so many.
    pub(super) fn numbers(
        &self,
        key: &'static str,
        sizes: &'static [usize],
        scope: &Scope<'_>,
    ) -> Result<Option<Numbers>, Fault> {
        self.entry(key).map(|entry| Numbers::read(key.into(), &entry.value, sizes, scope, 1.0)).transpose()
    }
    /// The same of angles.
    pub(super) fn angles(
        &self,
        key: &'static str,
        sizes: &'static [usize],
        scope: &Scope<'_>,
    ) -> Result<Option<Numbers>, Fault> {
        let read = |(entry, factor): (&Entry<'_>, f64)| {
            Numbers::read(entry.called(key), &entry.value, sizes, scope, factor)
        };
        self.angular(key)?.map(read).transpose()
    }
}
