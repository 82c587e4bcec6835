//! Reading a model file.

use super::bodies::BodyDraft;
use super::data::{Datum, DatumKind};
use super::elements::{FrameDraft, JointDraft};
use super::forces::{CoordinatesDraft, ForceDraft};
use super::keys::{CHECK, EVENT, MODEL, PARAMETER, RUN};
use super::loads::{LoadDraft, StateExpression};
use super::number::{Named, Number, Numbers, Parameter, Scope, none, reserved, unknown_name};
use super::outputs::{EventDraft, OutputDraft};
use super::place::{Fault, Span, tidy};
use super::series::{Loader, Tables};
use super::sweep::sweep;
use super::table::Table;
use super::tree::{self, Entry, Kind, Value};
use super::{Check, ModelFile, RunDefaults};
use crate::expression::Expression;
use crate::lookup::plain;
use crate::method::Method;
use crate::multibody::GROUND;
use crate::run::{Direction, Plan};

/// The version of the format that is known.
const FORMAT: f64 = 1.0;

pub(super) fn read(name: &str, text: &str, load: &Loader<'_>) -> Result<ModelFile, Fault> {
    let mut tree = tree::parse(text)?;
    let top = model(&tree);
    if let Some(entry) = top.entry("format") {
        let format =
            Number::read("format".into(), &entry.value, &nothing(), 1.0)?.at(&super::number::none())?;
        if format != FORMAT {
            let message =
                format!("format {} is not known to this version, which reads format 1", plain(format));
            return Err(Fault::new(&entry.span(), message));
        }
    }
    top.only(MODEL)?;
    // Names with hyphens, which expressions would take for differences.
    let mut hyphened: Vec<String> = Vec::new();
    for key in ["bodies", "joints", "frames", "coordinates"] {
        let Some(entry) = top.entry(key) else { continue };
        for named in entry.table(format!("[{key}]"))?.entries {
            let counted = matches!(&named.value.kind, Kind::Table(inner) if inner.iter().any(|entry| entry.key == "count"));
            // Elements that are counted have their numbers behind a hyphen.
            if counted {
                hyphened.push(format!("{}-#", named.key));
            } else if named.key.contains('-') {
                hyphened.push(named.key.to_string());
            }
        }
    }
    hyphened.sort_unstable();
    let hyphened: Vec<&str> = hyphened.iter().map(String::as_str).collect();
    let parameters = parameters(&top)?;
    let named = named(&parameters);
    let definitions = definitions(&top, &named)?;
    let defined: Vec<String> = definitions.iter().map(|(name, _)| name.clone()).collect();
    let scope = Scope {
        parameters: &named,
        above: named.len(),
        definitions: &defined,
        definitions_above: defined.len(),
        counter: false,
        hyphened: &hyphened,
    };
    let title = top.text("title")?.map_or(String::new(), |(title, _)| tidy(&title));
    let source = top.text("source")?.map_or(String::new(), |(source, _)| tidy(&source));
    top.text("notes")?;
    let mut tables = Tables { load };
    let outputs = outputs(&top, &hyphened)?;
    let run = run(&top, &scope)?;
    let gravity = top.numbers("gravity", &[3], &scope)?;
    // The rest of the tree goes as it is read.
    let tree = &mut tree;
    Ok(ModelFile {
        name: name.into(),
        text: text.into(),
        title,
        source,
        run,
        gravity,
        checks: list(tree, "checks", &mut |table| check(table, &scope))?,
        bodies: tables_of(tree, "bodies", &mut |name, table| BodyDraft::read(name, table, &scope))?,
        frames: tables_of(tree, "frames", &mut |name, table| FrameDraft::read(name, table, &scope))?,
        joints: tables_of(tree, "joints", &mut |name, table| JointDraft::read(name, table, &scope))?,
        forces: tables_of(tree, "forces", &mut |name, table| ForceDraft::read(name, table, &scope))?,
        loads: list(tree, "loads", &mut |table| LoadDraft::read(table, &scope, &mut tables))?,
        coordinates: tables_of(tree, "coordinates", &mut |name, table| {
            CoordinatesDraft::read(name, table, &scope)
        })?,
        output_names: outputs.iter().map(|output: &OutputDraft| output.name.clone()).collect(),
        outputs,
        events: tables_of(tree, "events", &mut |name, table| event(name, table, &hyphened))?,
        set: model(tree).entry("set").map_or(Ok(Vec::new()), set)?,
        sweep: model(tree).entry("sweep").map(sweep).transpose()?,
        parameters,
        definitions,
    })
}

/// All tables.
fn model<'a>(tree: &'a [Entry<'a>]) -> Table<'a> {
    Table { name: "the model".into(), span: 0..0, entries: tree }
}

/// What the file sets, in its order.
fn set(entry: &Entry<'_>) -> Result<Vec<(String, String, Span)>, Fault> {
    let mut all = Vec::new();
    for entry in entry.table("[set]")?.entries {
        if let Kind::Table(_) = entry.value.kind {
            let message =
                format!("the path of a number in [set] stands in quotes, as in \"{}.mass\" = 2", entry.key);
            return Err(Fault::new(&entry.key_span(), message));
        }
        let numbers = Numbers::read(entry.own_key(), &entry.value, &[], &nothing(), 1.0)?.at(&none())?;
        let text: Vec<String> = numbers.iter().map(f64::to_string).collect();
        all.push((entry.key.to_string(), text.join(","), entry.key_span()));
    }
    all.sort_by_key(|(_, _, span)| span.start);
    Ok(all)
}

/// No names at all.
fn nothing() -> Scope<'static> {
    Scope { parameters: &[], above: 0, definitions: &[], definitions_above: 0, counter: false, hyphened: &[] }
}

fn named(parameters: &[Parameter]) -> Vec<Named> {
    let of = |parameter: &Parameter| Named {
        name: parameter.datum.name.clone(),
        kind: parameter.datum.kind,
        count: parameter.numbers.len(),
    };
    parameters.iter().map(of).collect()
}

/// Refuses a name that expressions cannot spell or that means something else.
fn spelled(entry: &Entry<'_>, what: &str) -> Result<(), Fault> {
    let name = &*entry.key;
    let letters = |c: char| c.is_alphanumeric() || c == '_';
    let wrong = |message: String| Err(Fault::new(&entry.key_span(), message));
    if reserved(name) {
        return wrong(format!("{what} cannot be called '{name}', which means something else in expressions"));
    }
    if !name.chars().all(letters) || !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return wrong(format!(
            "{what} has a name of letters, digits and _ that begins with a letter; '{name}' is none"
        ));
    }
    Ok(())
}

/// The most parameters or definitions: names are looked up among all of them.
const MOST_NAMES: usize = 10_000;

fn few(table: &Table<'_>) -> Result<(), Fault> {
    match table.entries.get(MOST_NAMES) {
        None => Ok(()),
        Some(entry) => {
            let message =
                format!("{} has {} names; at most {MOST_NAMES} are read", table.name, table.entries.len());
            Err(Fault::new(&entry.key_span(), message))
        }
    }
}

fn parameters(top: &Table<'_>) -> Result<Vec<Parameter>, Fault> {
    let Some(entry) = top.entry("parameters") else { return Ok(Vec::new()) };
    let table = entry.table("[parameters]")?;
    few(&table)?;
    let mut made: Vec<Parameter> = Vec::new();
    // Those further down are known too, so that messages can say where they are.
    let mut names: Vec<Named> = table
        .entries
        .iter()
        .map(|entry| Named { name: entry.key.to_string(), kind: DatumKind::Number, count: 1 })
        .collect();
    for (k, entry) in table.entries.iter().enumerate() {
        spelled(entry, "a parameter")?;
        let scope = Scope { parameters: &names, above: k, ..nothing() };
        let read = parameter(entry, &scope).map_err(|fault| round(fault, table.entries, k))?;
        (names[k].kind, names[k].count) = (read.datum.kind, read.numbers.len());
        made.push(read);
    }
    Ok(made)
}

/// What is wrong with one of these: that it depends on itself by way of others, if it does.
fn round(fault: Fault, entries: &[Entry<'_>], k: usize) -> Fault {
    // The way from it to each that it uses, by the one before.
    let mut before: Vec<Option<usize>> = vec![None; entries.len()];
    let mut next = vec![k];
    while let Some(at) = next.pop() {
        for used in uses(&entries[at].value, entries) {
            if used == k && at != k {
                let way = core::iter::successors(Some(at), |at| before[*at].filter(|at| *at != k));
                let mut names: Vec<&str> = way.map(|at| &*entries[at].key).collect();
                names.reverse();
                let message = format!("{} depends on itself, by way of {}", entries[k].key, names.join(", "));
                return Fault { message, ..fault };
            }
            if used != k && before[used].is_none() {
                before[used] = Some(at);
                next.push(used);
            }
        }
    }
    fault
}

/// Those of the entries that the expressions of a value name.
fn uses(value: &tree::Value<'_>, entries: &[Entry<'_>]) -> Vec<usize> {
    match &value.kind {
        Kind::Text(text) => {
            let parsed = Expression::parse_with(text, &[]);
            let names = parsed.as_ref().map_or(&[][..], |expression| expression.names());
            let is = |name: &str, key: &str| {
                name.strip_prefix(key).is_some_and(|ending| ending.is_empty() || ending.starts_with('_'))
            };
            let used = |entry: &Entry<'_>| names.iter().any(|name| is(name, &entry.key));
            (0..entries.len()).filter(|k| used(&entries[*k])).collect()
        }
        Kind::Array(list) => list.iter().flat_map(|value| uses(value, entries)).collect(),
        Kind::Table(inner) => inner
            .iter()
            .filter(|entry| entry.key == "value")
            .flat_map(|entry| uses(&entry.value, entries))
            .collect(),
        _ => Vec::new(),
    }
}

fn parameter(entry: &Entry<'_>, scope: &Scope<'_>) -> Result<Parameter, Fault> {
    let (value, table) = match entry.value.kind {
        Kind::Table(_) => {
            let table = entry.table(format!("the parameter {}", entry.key))?;
            table.only(PARAMETER)?;
            let value = table.entry("value").map(|inner| &inner.value);
            let missing = || Fault::new(&entry.span(), format!("the parameter {} needs `value`", entry.key));
            (value.ok_or_else(missing)?, Some(table))
        }
        _ => (&entry.value, None),
    };
    let array = matches!(value.kind, Kind::Array(_));
    let numbers = match array {
        true => Numbers::read(entry.own_key(), value, &[], scope, 1.0)?.each(),
        false => vec![Number::read(entry.own_key(), value, scope, 1.0)?],
    };
    let text = |key: &str| match &table {
        Some(table) => table.text(key),
        None => Ok(None),
    };
    let words = ["number", "vector", "list", "inertia", "rotation", "choice"];
    let kind = match &table {
        Some(table) => table.word("kind", &words)?,
        None => None,
    };
    let inferred = if array && numbers.len() == 1 { DatumKind::List } else { DatumKind::of(numbers.len()) };
    let kind = kind.and_then(|(word, _)| DatumKind::named(&word)).unwrap_or(inferred);
    let (help, replaces) = (text("help")?, text("replaces")?);
    let sizes = kind.sizes(numbers.len());
    if !(sizes.contains(&numbers.len()) || numbers.is_empty()) {
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        let message = format!(
            "the parameter {} takes {} numbers, got {}",
            entry.key,
            sizes.join(" or "),
            numbers.len()
        );
        return Err(Fault::new(&value.span(), message));
    }
    let datum = Datum {
        name: entry.key.to_string(),
        values: Vec::new(),
        sizes,
        help: help.map_or(String::new(), |(help, _)| help),
        kind,
        replaces: replaces.map(|(name, _)| name),
        overridden: false,
    };
    Ok(Parameter { datum, numbers })
}

fn definitions(top: &Table<'_>, named: &[Named]) -> Result<Vec<(String, Number)>, Fault> {
    let Some(entry) = top.entry("definitions") else { return Ok(Vec::new()) };
    let table = entry.table("[definitions]")?;
    few(&table)?;
    let names: Vec<String> = table.entries.iter().map(|entry| entry.key.to_string()).collect();
    let mut made = Vec::new();
    for (k, entry) in table.entries.iter().enumerate() {
        spelled(entry, "a definition")?;
        if named.iter().any(|parameter| parameter.name == entry.key) {
            return Err(Fault::new(
                &entry.key_span(),
                format!("there is a parameter called '{}' already", entry.key),
            ));
        }
        let scope = Scope {
            parameters: named,
            above: named.len(),
            definitions: &names,
            definitions_above: k,
            ..nothing()
        };
        let read = Number::read(entry.own_key(), &entry.value, &scope, 1.0);
        let read = read.map_err(|fault| round(fault, table.entries, k))?;
        made.push((entry.key.to_string(), read));
    }
    Ok(made)
}

/// The tables in a table, each with its name.
fn tables_of<T>(
    tree: &mut [Entry<'_>],
    key: &str,
    read: &mut dyn FnMut(&str, &Table<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let Some(entry) = tree.iter_mut().find(|entry| entry.key == key) else { return Ok(Vec::new()) };
    entry.table(format!("[{key}]"))?;
    let Kind::Table(inner) = core::mem::replace(&mut entry.value.kind, Kind::Table(Vec::new())) else {
        return Ok(Vec::new());
    };
    // All of them go at the end: room that they left one by one would be taken by what is made of them, and be of no use to
    // anything larger.
    let mut made = Vec::with_capacity(inner.len());
    for inner in &inner {
        let name = &*inner.key;
        let frame = key == "frames";
        let wrong = |message: String| Fault::new(&inner.key_span(), message);
        if name == GROUND {
            return Err(wrong(format!("'{GROUND}' is what does not move; nothing else can be called that")));
        }
        let letters = |c: char| {
            c.is_alphanumeric() || matches!(c, '_' | '-') || (frame && matches!(c, '.' | '{' | '}'))
        };
        if name.is_empty() || !name.chars().all(letters) {
            return Err(wrong(format!("a name has letters, digits, _ and -; '{name}' is none")));
        }
        let named = format!("[{key}.{name}]");
        if !matches!(inner.value.kind, Kind::Table(_)) {
            let message = format!("{named} must be a table, not {}", inner.value.what());
            return Err(Fault::new(&inner.span(), message));
        }
        let mut table = inner.table(named)?;
        // What is wrong with the whole is told at its name.
        table.span = inner.key_span();
        made.push(read(name, &table)?);
    }
    Ok(made)
}

/// The tables in a list.
fn list<T>(
    tree: &mut [Entry<'_>],
    key: &str,
    read: &mut dyn FnMut(&Table<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let Some(entry) = tree.iter_mut().find(|entry| entry.key == key) else { return Ok(Vec::new()) };
    let mut one = |(i, value): (usize, Value<'_>)| {
        let name = match key {
            "loads" => format!("load {}", i + 1),
            _ => format!("check {}", i + 1),
        };
        match &value.kind {
            Kind::Table(entries) => read(&Table { name: name.into(), span: value.span(), entries }),
            _ => {
                let message = format!("[[{key}]] is a list of tables, not {}", value.what());
                Err(Fault::new(&value.span(), message))
            }
        }
    };
    match &mut entry.value.kind {
        Kind::Array(values) => core::mem::take(values).into_iter().enumerate().map(&mut one).collect(),
        _ => {
            let found = entry.value.what();
            let message = format!("{key} is a list of tables, each under [[{key}]], not {found}");
            Err(Fault::new(&entry.key_span(), message))
        }
    }
}

fn check(table: &Table<'_>, scope: &Scope<'_>) -> Result<Check, Fault> {
    table.only(CHECK)?;
    let missing = |what: &str| Fault::new(&table.span, format!("{} needs `{what}`", table.name));
    let (text, span) = table.text("that")?.ok_or_else(|| missing("that"))?;
    let whole = format!("if({text}, 1, 0)");
    let that = Expression::parse(&whole).map_err(|error| Fault::new(&span, error.to_string()))?;
    let find = |name: &str| match scope.find(name) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(Fault::new(&span, unknown_name(name, &scope.known()))),
        Err(message) => Err(Fault::new(&span, message)),
    };
    let names = that.names().iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    let (otherwise, _) = table.text("otherwise")?.ok_or_else(|| missing("otherwise"))?;
    let mut shown = Vec::new();
    for part in otherwise.split('{').skip(1) {
        if let Some((name, _)) = part.split_once('}') {
            shown.push((name.to_string(), find(name)?));
        }
    }
    let of = table.text("of")?.map(|(name, _)| name);
    Ok(Check { that: (that, names), otherwise, shown, of, span })
}

fn outputs(top: &Table<'_>, hyphened: &[&str]) -> Result<Vec<OutputDraft>, Fault> {
    let Some(entry) = top.entry("outputs") else { return Ok(Vec::new()) };
    let table = entry.table("[outputs]")?;
    few(&table)?;
    let read = |entry: &Entry<'_>| {
        let letters = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if entry.key.is_empty() || !entry.key.chars().all(letters) {
            let message =
                format!("an output has a name of letters, digits, _ and -; '{}' is none", entry.key);
            return Err(Fault::new(&entry.key_span(), message));
        }
        let formula = StateExpression::read(&entry.key, &entry.value, hyphened)?;
        Ok(OutputDraft { name: entry.key.to_string(), formula })
    };
    table.entries.iter().map(read).collect()
}

fn event(name: &str, table: &Table<'_>, hyphened: &[&str]) -> Result<EventDraft, Fault> {
    table.only(EVENT)?;
    let Some(entry) = table.entry("when") else {
        let message = format!("the event '{name}' needs `when`, an expression that crosses zero");
        return Err(Fault::new(&table.span, message));
    };
    let formula = StateExpression::read("when", &entry.value, hyphened)?;
    let word = table.word("direction", &Direction::ALL.map(Direction::name))?;
    let direction = word.and_then(|(word, _)| Direction::ALL.into_iter().find(|known| known.name() == word));
    Ok(EventDraft {
        when: OutputDraft { name: name.into(), formula },
        direction: direction.unwrap_or_default(),
        stop: table.flag("stop")?,
    })
}

fn run(top: &Table<'_>, scope: &Scope<'_>) -> Result<RunDefaults, Fault> {
    let Some(entry) = top.entry("run") else { return Ok(RunDefaults::default()) };
    let table = entry.table("[run]")?;
    table.only(RUN)?;
    let positive = |key: &str, span: &Span, x: f64| match x > 0.0 {
        true => Ok(x),
        false => Err(Fault::new(span, format!("{key} must be positive, got {}", plain(x)))),
    };
    let number = |key: &'static str| -> Result<Option<f64>, Fault> {
        let Some(number) = table.number(key, scope)? else { return Ok(None) };
        if number.is_formula() {
            return Err(Fault::new(&number.span(), format!("{key} of a run is a plain number")));
        }
        Ok(Some(number.at(&super::number::none())?))
    };
    let step = match (number("step")?, table.entry("step")) {
        (Some(x), Some(entry)) => Some(positive("step", &entry.span(), x)?),
        _ => None,
    };
    let every = match (number("every")?, table.entry("every")) {
        (Some(x), Some(entry)) if x < 1.0 || x.fract() != 0.0 || x > 1e18 => {
            let message = format!("every must be a whole number of steps, at least 1, got {}", plain(x));
            return Err(Fault::new(&entry.span(), message));
        }
        (x, _) => x.map(|x| x as u64),
    };
    let said = table.text("method")?;
    let method_place = said.as_ref().map(|(_, span)| span.clone());
    let method = match said {
        // A tableau in a file is read when it runs.
        Some((method, _)) if method.contains(".toml") => Some(method),
        Some((method, span)) => {
            Method::parse(&method).map_err(|error| Fault::new(&span, error.to_string()))?;
            Some(method)
        }
        None => None,
    };
    let until = match (number("until")?, table.entry("until")) {
        (Some(until), Some(entry)) => {
            // Without a step, one that fits any end that there can be.
            Plan::new(step.unwrap_or(if until > 0.0 { until } else { 1.0 }), until)
                .map_err(|error| Fault::new(&entry.span(), error.to_string()).of("until"))?;
            Some(until)
        }
        _ => None,
    };
    Ok(RunDefaults { method, method_place, step, until, every })
}
