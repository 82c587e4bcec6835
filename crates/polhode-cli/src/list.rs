//! `polhode methods` and `polhode problems`.

use crate::args::ListOptions;
use crate::failure::Failure;
use crate::pick;
use crate::print::{self, Align, plain, table};
use polhode::method::{Claims, Method, REGISTRY, SYSTEMS, Tableau};
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

fn method_row(method: &Method) -> MethodRow<'_> {
    MethodRow {
        id: method.id(),
        title: method.title(),
        order: method.order(),
        symmetric: method.is_symmetric(),
        explicit: method.is_explicit(),
        claims: method.claims(),
        citation: method.citation(),
        // Every method for single bodies is written once for both groups.
        group: if method.alpha().is_some() { ["so3", "system"] } else { ["so3", "se3"] },
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
        id: problem.id,
        title: problem.title,
        citation: problem.citation,
        group: problem.model()?.group(),
        method: problem.method,
        step: problem.step,
        until: problem.until,
        data: problem
            .data()
            .iter()
            .map(|d| DatumRow { name: d.name, values: &d.values, help: d.help })
            .collect(),
        parameters: problem.parameters().into_iter().map(|p| p.name).collect(),
        elements: Vec::new(),
    })
}

/// `polhode methods [ID]`.
pub fn methods(options: &ListOptions) -> Result<(), Failure> {
    if let Some(id) = &options.id {
        let method = pick::method(id)?;
        return if options.json {
            print::json(&method_row(&method))
        } else {
            print::result(&method_text(&method))
        };
    }
    let methods = registered()?;
    if options.json {
        return print::json(&methods.iter().map(method_row).collect::<Vec<_>>());
    }
    let mut rows =
        vec![["id", "order", "kind", "symmetric", "free", "gravity", "title"].map(String::from).to_vec()];
    rows.extend(methods.iter().map(|method| {
        let c = method.claims();
        let marks = |list: [(bool, char); 3]| {
            list.map(|(holds, mark)| if holds { mark } else { '-' }).iter().collect()
        };
        vec![
            method.id().to_string(),
            method.order().to_string(),
            if method.is_explicit() { "explicit" } else { "implicit" }.into(),
            if method.is_symmetric() { "yes" } else { "-" }.into(),
            marks([(c.free_energy, 'E'), (c.free_momentum, 'M'), (c.free_norm, 'N')]),
            marks([(c.gravity_energy, 'E'), (c.gravity_vertical, 'V'), (c.gravity_axial, 'A')]),
            method.title().to_string(),
        ]
    }));
    let mut columns = [Align::Left; 7];
    columns[1] = Align::Right;
    let mut text = table(0, &columns, &rows);
    text.push_str(
        "\n\
         Kept to round-off, free: E energy, M momentum in space, N length of the body momentum;\n\
         under gravity: E energy, V vertical momentum, A momentum about the axis of a symmetric top.\n\
         Systems of bodies and joints run with geometric-alpha, linear-alpha and residual-alpha, which run bodies on a\n\
         fixed point too.\n\
         Energy under any potential: convected, convected-reduced, preserving:<map>,load=finite-derivative.\n\
         \n\
         Options follow the id: preserving:cayley,load=mean, galpha:exp,rho=0.5, euler-parameters,beta=1/6.\n\
         \n\
         Further methods:\n\
         \x20 kinematic:<map>                   the pose from the velocities of a prescribed motion, no dynamics\n\
         \x20 compose:<method>:4|6|8            a symmetric method of order 2, composed to order 4, 6 or 8\n\
         \x20 mkrk:'0 0; 1/2 1/2 | 1/2 1/2'     Munthe-Kaas with a tableau of one's own: rows of A | b\n\
         \x20 mkrk:FILE.toml                    the same from a file with a = [[...], ...], b = [...] and, if you\n\
         \x20                                   like, c = [...]; fractions are written as text: \"1/2\"\n\
         \n\
         `polhode methods ID` tells more about one of them.\n",
    );
    print::result(&text)
}

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
    let symmetric = if method.is_symmetric() { "yes: a step backward undoes a step forward" } else { "no" };
    let kind = if method.is_explicit() { "explicit" } else { "implicit, solved by Newton's method" };
    let rows: Vec<Vec<String>> = [
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
    let mut text = table(0, &[Align::Left, Align::Left], &rows);
    if !method.options().is_empty() {
        text.push_str("\noptions, as ,NAME=VALUE after the id (in a composition before its order)\n");
        for c in method.options() {
            text.push_str(&format!("  {:<11} {} [default: {}]\n", c.name, c.span(), c.default));
            for line in wrapped(c.help, 88) {
                text.push_str(&format!("              {line}\n"));
            }
        }
    }
    if let Some(tableau) = method.tableau() {
        text.push_str(&format!("\ntableau\n{}", tableau_text(tableau)));
    }
    text
}

/// A text as lines of at most this many characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
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
        let mut row = problem_row(&problem)?;
        row.elements = problem.elements()?.into_iter().map(|p| p.name).collect();
        return if options.json { print::json(&row) } else { print::result(&problem_text(&row)) };
    }
    let problems = Problem::all();
    let rows = problems.iter().map(problem_row).collect::<Result<Vec<_>, _>>()?;
    if options.json {
        return print::json(&rows);
    }
    let mut lines = vec![["id", "group", "method", "step", "until", "title"].map(String::from).to_vec()];
    lines.extend(rows.iter().map(|p| {
        [p.id, p.group, p.method, &plain(p.step), &plain(p.until), p.title].map(String::from).to_vec()
    }));
    let columns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Left];
    let mut text = table(0, &columns, &lines);
    text.push_str(
        "\n\
         Method, step and end time are those that a run has unless told otherwise.\n\
         `polhode problems ID` shows the data of one of them, which --set NAME=VALUE overrides.\n",
    );
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
    text.push_str(&format!("\nparameters, for sensitivity and fit\n  {}\n", problem.parameters.join(", ")));
    if let Some(example) = problem.elements.iter().find(|name| name.contains('.')) {
        let more = format!("  and those of bodies and joints, as {example}; --json lists all\n");
        text.push_str(&more);
    }
    text
}
