//! `polhode methods` and `polhode problems`.

use crate::args::{ListOptions, MethodsOptions};
use crate::failure::Failure;
use crate::pick;
use crate::print::{self, Align, plain, table};
use polhode::method::{
    Claims, KINEMATIC, Method, REGISTRY, SYSTEMS, SystemClaims, Tableau, WORKS, Work, works_cited,
};
use polhode::problem::Problem;
use serde::{Serialize, Serializer, ser::SerializeMap};

/// A method for programs.
#[derive(Serialize)]
struct MethodRow<'a> {
    id: &'a str,
    title: &'a str,
    order: u32,
    symmetric: bool,
    explicit: bool,
    #[serde(serialize_with = "claims_object")]
    claims: &'a Claims,
    /// What a method for systems keeps of their motion.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "keeps_object")]
    keeps: Option<SystemClaims>,
    citation: &'a str,
    group: [&'static str; 2],
    options: Vec<OptionRow>,
}

/// An option of a method for programs.
#[derive(Serialize)]
struct OptionRow {
    name: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    default: &'static str,
    help: &'static str,
}

fn claims_object<S: Serializer>(claims: &&Claims, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, holds) in claims.list() {
        map.serialize_entry(name, &holds)?;
    }
    map.end()
}

fn keeps_object<S: Serializer>(keeps: &Option<SystemClaims>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, holds) in keeps.iter().flat_map(SystemClaims::list) {
        map.serialize_entry(name, &holds)?;
    }
    map.end()
}

fn method_row(method: &Method) -> MethodRow<'_> {
    MethodRow {
        id: method.id(),
        title: method.title(),
        order: method.order(),
        symmetric: method.is_symmetric(),
        explicit: method.is_explicit(),
        claims: method.claims(),
        keeps: method.keeps(),
        citation: method.citation(),
        // Every method for single bodies is written once for both groups.
        group: if method.system().is_some() { ["so3", "system"] } else { ["so3", "se3"] },
        options: method
            .options()
            .iter()
            .map(|c| OptionRow {
                name: c.name,
                values: c.words,
                range: c.range,
                default: c.default,
                help: c.help,
            })
            .collect(),
    }
}

/// A problem for programs.
#[derive(Serialize)]
struct ProblemRow<'a> {
    id: &'a str,
    title: &'a str,
    citation: &'a str,
    group: &'static str,
    method: &'a str,
    step: f64,
    until: f64,
    data: Vec<DatumRow<'a>>,
    parameters: Vec<String>,
    /// Parameters of bodies and joints, where one problem is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<String>,
}

#[derive(Serialize)]
struct DatumRow<'a> {
    name: &'a str,
    values: &'a [f64],
    help: &'a str,
}

fn problem_row(problem: &Problem) -> Result<ProblemRow<'_>, Failure> {
    Ok(ProblemRow {
        id: &problem.id,
        title: &problem.title,
        citation: &problem.citation,
        group: problem.model()?.group(),
        method: &problem.method,
        step: problem.step,
        until: problem.until,
        data: problem
            .data()
            .iter()
            .map(|d| DatumRow { name: &d.name, values: &d.values, help: &d.help })
            .collect(),
        parameters: problem.parameters().into_iter().map(|p| p.name).collect(),
        elements: Vec::new(),
    })
}

/// `polhode methods [ID]`.
pub fn methods(options: &MethodsOptions) -> Result<(), Failure> {
    if let Some(id) = &options.id {
        let method = pick::method(id)?;
        return match (options.json, options.bibtex) {
            (true, _) => print::json(&method_row(&method)),
            (_, true) => print::result(&bibliography(works_cited(method.citation()))),
            _ => print::result(&method_text(&method)),
        };
    }
    let methods = registered()?;
    match (options.json, options.bibtex) {
        (true, _) => print::json(&methods.iter().map(method_row).collect::<Vec<_>>()),
        (_, true) => print::result(&bibliography(WORKS.iter())),
        _ => print::result(&methods_text(&methods)?),
    }
}

/// Works as a BibTeX file.
fn bibliography(works: impl Iterator<Item = &'static Work>) -> String {
    works.map(Work::bibtex).collect::<Vec<_>>().join("\n")
}

fn methods_text(methods: &[Method]) -> Result<String, Failure> {
    let mut rows = vec![["id", "order", "kind", "free", "grav", "title"].map(String::from).to_vec()];
    rows.extend(methods.iter().map(|method| {
        let c = method.claims();
        let marks = |list: [(bool, char); 3]| {
            list.map(|(holds, mark)| if holds { mark } else { '-' }).iter().collect()
        };
        vec![
            method.id().to_string(),
            method.order().to_string(),
            match (method.is_explicit(), method.is_symmetric()) {
                (true, _) => "expl".into(),
                (false, true) => "symm".into(),
                (false, false) => "impl".into(),
            },
            marks([(c.free_energy, 'E'), (c.free_momentum, 'M'), (c.free_norm, 'N')]),
            marks([(c.gravity_energy, 'E'), (c.gravity_vertical, 'V'), (c.gravity_axial, 'A')]),
            method.title().to_string(),
        ]
    }));
    let mut columns = [Align::Left; 6];
    columns[1] = Align::Right;
    let mut text = table(0, &columns, &rows);
    let systems: Vec<&str> = SYSTEMS.iter().map(|row| row.id).collect();
    let notes = [
        "kind: explicit, implicit, or implicit and symmetric (a step backward undoes a step forward).".to_string(),
        "free, kept to round-off without a load: E energy, M momentum in space, N length of the body momentum."
            .to_string(),
        "grav, under gravity: E energy, V vertical momentum, A momentum about the axis of a symmetric top.".to_string(),
        format!("Energy under any potential: {}.", potential()?.join(", ")),
        format!(
            "Systems of bodies and joints run with {}, which run bodies on a fixed point too.",
            systems.join(", ")
        ),
        "Options follow the id: preserving:cayley,load=mean, galpha:exp,rho=0.5, euler-parameters,beta=1/6."
            .to_string(),
    ];
    for note in notes {
        text.push_str(&format!("\n{}", print::paragraph(0, &note)));
    }
    let kinematic = KINEMATIC.iter().map(|row| row.id.to_string()).collect();
    let further: Vec<Vec<String>> = [
        (families(kinematic).join(", "), "the pose from the velocities of a prescribed motion, no dynamics"),
        ("compose:<method>:4|6|8".into(), "a symmetric method of order 2, composed to order 4, 6 or 8"),
        (
            "mkrk:'0 0; 1/2 1/2 | 1/2 1/2'".into(),
            "Munthe-Kaas with a tableau of your own: rows of A | b",
        ),
        (
            "mkrk:FILE.toml".into(),
            "the same from a file with a = [[...], ...], b = [...] and, if you like, c = [...]; fractions are written as \
             text: \"1/2\"",
        ),
    ]
    .map(|(id, help)| vec![id, help.to_string()])
    .to_vec();
    text.push_str("\nFurther methods:\n");
    text.push_str(&table(2, &[Align::Left; 2], &further));
    text.push('\n');
    text.push_str(&print::paragraph(
        0,
        "`polhode methods ID` shows one in full, with the works it comes from; --bibtex prints these as BibTeX.",
    ));
    Ok(text)
}

/// The methods that keep the energy under any potential, with the option that they need for it.
fn potential() -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for row in REGISTRY {
        if Method::parse(row.id)?.claims().potential_energy {
            ids.push(row.id.to_string());
            continue;
        }
        for choice in row.options {
            for word in choice.words {
                let id = format!("{},{}={word}", row.id, choice.name);
                if Method::parse(&id)?.claims().potential_energy {
                    ids.push(id);
                }
            }
        }
    }
    Ok(families(ids))
}

/// Ids in which those under all maps are one.
fn families(ids: Vec<String>) -> Vec<String> {
    let general = |id: &str| {
        MAPS.iter().find_map(|map| {
            let (family, rest) = id.split_once(':')?;
            let options = rest.strip_prefix(map)?;
            (options.is_empty() || options.starts_with(',')).then(|| format!("{family}:<map>{options}"))
        })
    };
    let mut found: Vec<String> = Vec::new();
    for id in &ids {
        let name = general(id)
            .filter(|name| {
                ids.iter().filter(|other| general(other).as_ref() == Some(name)).count() == MAPS.len()
            })
            .unwrap_or_else(|| id.clone());
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The vectorial maps, as ids name them.
const MAPS: [&str; 4] = ["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"];

/// The methods of the registry, those for systems last.
pub fn registered() -> Result<Vec<Method>, Failure> {
    REGISTRY.iter().chain(SYSTEMS).map(|row| Ok(Method::parse(row.id)?)).collect()
}

fn method_text(method: &Method) -> String {
    let words = |list: &[(bool, &str)]| {
        let kept: Vec<&str> = list.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
        if kept.is_empty() { "nothing".to_string() } else { kept.join(", ") }
    };
    let c = method.claims();
    let free = words(&[
        (c.free_energy, "energy"),
        (c.free_momentum, "momentum in space"),
        (c.free_norm, "length of the body momentum"),
    ]);
    let gravity = words(&[
        (c.gravity_energy, "energy"),
        (c.gravity_vertical, "vertical momentum"),
        (c.gravity_axial, "momentum about the axis of a symmetric top"),
    ]);
    let fall = words(&[(c.fall_energy, "energy")]);
    let potential = words(&[(c.potential_energy, "energy")]);
    let systems = method.keeps().map(|keeps| {
        let list = keeps.list().map(|(name, holds)| (holds, name.replace('_', " ")));
        words(&list.each_ref().map(|(holds, name)| (*holds, name.as_str())))
    });
    let symmetric = if method.is_symmetric() { "yes: a step backward undoes a step forward" } else { "no" };
    let kind = if method.is_explicit() { "explicit" } else { "implicit, solved by Newton's method" };
    let mut rows: Vec<Vec<String>> = [
        ("method", method.id()),
        ("", method.title()),
        ("order", &method.order().to_string()),
        ("kind", kind),
        ("symmetric", symmetric),
        ("keeps, free", &free),
        ("keeps, heavy top", &gravity),
        ("keeps, free fall", &fall),
        ("keeps, any potential", &potential),
        ("source", method.citation()),
    ]
    .map(|(name, value)| vec![name.to_string(), value.to_string()])
    .to_vec();
    if let Some(systems) = systems {
        rows.insert(rows.len() - 1, vec!["keeps, systems".into(), systems]);
    }
    let mut text = table(0, &[Align::Left, Align::Left], &rows);
    if !method.options().is_empty() {
        text.push_str("\noptions, as ,NAME=VALUE after the id (in a composition before its order)\n");
        for c in method.options() {
            text.push_str(&print::paragraph(
                2,
                &format!("{}: {} [default: {}]", c.name, c.span(), c.default),
            ));
            text.push_str(&print::paragraph(6, c.help));
        }
    }
    if let Some(tableau) = method.tableau() {
        text.push_str(&format!("\ntableau\n{}", tableau_text(tableau)));
    }
    text.push_str("\nworks\n");
    for work in works_cited(method.citation()) {
        text.push_str(&print::paragraph(2, &work.to_string()));
    }
    text
}

/// Nodes and A, a line, then the weights.
fn tableau_text(tableau: &Tableau) -> String {
    let cell = |x: f64| {
        let long = plain(x);
        if long.len() <= 10 { long } else { format!("{x:.8}") }
    };
    let s = tableau.stages();
    let mut rows: Vec<Vec<String>> = (0..s)
        .map(|i| {
            let entries = (0..s).map(|j| cell(tableau.a(i, j)));
            [cell(tableau.c()[i]), "|".into()].into_iter().chain(entries).collect()
        })
        .collect();
    rows.push([String::new(), "|".into()].into_iter().chain(tableau.b().iter().map(|x| cell(*x))).collect());
    table(2, &vec![Align::Right; s + 2], &rows)
}

/// `polhode problems [ID]`.
pub fn problems(options: &ListOptions) -> Result<(), Failure> {
    if let Some(id) = &options.id {
        let problem = Problem::named(id)?;
        if options.toml {
            return print::result(problem.file().text());
        }
        let mut row = problem_row(&problem)?;
        row.elements = problem.elements()?.into_iter().map(|p| p.name).collect();
        return if options.json { print::json(&row) } else { print::result(&problem_text(&row)) };
    }
    let problems = Problem::all();
    let rows = problems.iter().map(problem_row).collect::<Result<Vec<_>, _>>()?;
    if options.json {
        return print::json(&rows);
    }
    let mut lines = vec![["id", "group", "title"].map(String::from).to_vec()];
    lines.extend(rows.iter().map(|p| [p.id, p.group, p.title].map(String::from).to_vec()));
    let mut text = table(0, &[Align::Left; 3], &lines);
    let hint = "`polhode problems ID` shows one in full: its data, which --set NAME=VALUE overrides, and its default method, \
                step and end time.";
    text.push_str(&format!("\n{}", print::paragraph(0, hint)));
    print::result(&text)
}

fn problem_text(problem: &ProblemRow<'_>) -> String {
    let head: Vec<Vec<String>> = [
        ("problem", problem.id),
        ("", problem.title),
        ("group", problem.group),
        ("source", problem.citation),
        ("method", problem.method),
        ("step", &format!("{} s", plain(problem.step))),
        ("until", &format!("{} s", plain(problem.until))),
    ]
    .map(|(name, value)| vec![name.to_string(), value.to_string()])
    .to_vec();
    let data: Vec<Vec<String>> = problem
        .data
        .iter()
        .map(|d| {
            let value = if d.values.is_empty() { "-".into() } else { print::list(d.values) };
            vec![d.name.to_string(), value, d.help.to_string()]
        })
        .collect();
    let mut text = table(0, &[Align::Left, Align::Left], &head);
    text.push_str("\ndata, for --set NAME=VALUE\n");
    text.push_str(&table(2, &[Align::Left; 3], &data));
    text.push_str("\nparameters, for sensitivity and fit\n");
    text.push_str(&print::paragraph(2, &problem.parameters.join(", ")));
    if let Some(example) = problem.elements.iter().find(|name| name.contains('.')) {
        let more = format!("and those of bodies and joints, as {example}; --json lists all");
        text.push_str(&print::paragraph(2, &more));
    }
    text
}
