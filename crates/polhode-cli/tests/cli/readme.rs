//! README beside the registry: its table of methods is printed from it.

use crate::common::{fine, program};
use polhode::method::{KINEMATIC, Method, REGISTRY, SYSTEMS};
use polhode::model::keys::{self, Key, Kind};

const MAPS: [&str; 4] = ["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"];

/// Order, symmetry, and what is kept.
fn facts(method: &Method) -> [String; 4] {
    let c = method.claims();
    let list = |words: &[(bool, &str)]| {
        words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
    };
    let energy = match (c.potential_energy, c.fall_energy) {
        (true, _) => "energy (under any potential)",
        (false, true) => "energy (in free fall too)",
        (false, false) => "energy",
    };
    [
        method.order().to_string(),
        if method.is_symmetric() { "yes".into() } else { String::new() },
        list(&[(c.free_energy, "energy"), (c.free_momentum, "momentum")]),
        list(&[
            (c.gravity_energy, energy),
            (c.gravity_vertical, "vertical momentum"),
            (c.gravity_axial, "axial momentum"),
        ]),
    ]
}

/// The id with `<map>` for its map, if it has one.
fn general(id: &str) -> Option<String> {
    let (family, rest) = id.split_once(':')?;
    MAPS.iter().find_map(|map| {
        let options = rest.strip_prefix(map)?;
        (options.is_empty() || options.starts_with(',')).then(|| format!("{family}:<map>{options}"))
    })
}

/// The table: rows of the registry, after them what an option changes; those with the same facts are one.
fn table() -> String {
    let mut groups: Vec<([String; 4], Vec<String>)> = Vec::new();
    let mut add = |id: String| {
        let facts = facts(&Method::parse(&id).unwrap());
        // Families stay apart, as readers look for them.
        let family = |id: &str| match Method::parse(id).unwrap().system() {
            Some(_) => Some("systems".to_string()),
            None => id.split_once([':', ',']).map(|(family, _)| family.to_string()),
        };
        let group = groups.iter_mut().find(|(known, ids)| *known == facts && family(&ids[0]) == family(&id));
        match group {
            Some((_, ids)) => ids.push(id),
            None => groups.push((facts, vec![id])),
        }
    };
    for row in REGISTRY.iter().chain(KINEMATIC).chain(SYSTEMS) {
        add(row.id.into());
    }
    for row in REGISTRY.iter().chain(KINEMATIC).chain(SYSTEMS) {
        let base = facts(&Method::parse(row.id).unwrap());
        for choice in row.options {
            for word in choice.words {
                let id = format!("{},{}={word}", row.id, choice.name);
                if facts(&Method::parse(&id).unwrap()) != base {
                    add(id);
                }
            }
        }
    }
    let mut text = String::from(
        "| id | order | symmetric | kept without load | kept under gravity |\n|---|---|---|---|---|\n",
    );
    for (facts, ids) in groups {
        let mut names: Vec<String> = Vec::new();
        for id in &ids {
            let name = general(id)
                .filter(|name| {
                    ids.iter().filter(|other| general(other).as_ref() == Some(name)).count() == MAPS.len()
                })
                .unwrap_or_else(|| id.clone());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(
            &format!("| {} | {} |\n", names.join(", "), facts.join(" | "))
                .replace("|  |", "| |")
                .replace("|  |", "| |"),
        );
    }
    text
}

#[test]
fn the_table_of_methods_is_that_of_the_registry() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let table = table();
    assert!(readme.contains(&table), "README.md needs this table of methods:\n\n{table}");
}

#[test]
fn the_first_screen_of_the_readme_is_what_is_printed() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let said = fine(&["run", "fast-top"]);
    // The cost differs from machine to machine.
    for line in said.lines().filter(|line| !line.starts_with("cost")) {
        assert!(readme.contains(line), "README.md does not have: {line}");
    }
}

/// Every `polhode` line of the shell blocks of a page runs, one after the other in a folder of its own.
fn commands_run(page: &str) {
    let text = std::fs::read_to_string(format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(crate::robots::robot("arm.urdf"), folder.path().join("robot.urdf")).unwrap();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    for name in ["bricard", "attitude"] {
        let example = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(example, folder.path().join(format!("examples/{name}.toml"))).unwrap();
    }
    let mut count = 0;
    for block in text.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default().replace("\\\n", " ");
        for line in block.lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            let Some(args) = line.strip_prefix("polhode ") else { continue };
            let words = args.split_whitespace().map(|word| word.trim_matches('\''));
            let said = program().args(words).current_dir(folder.path()).output().unwrap();
            assert!(said.status.success(), "{page}: {line}\n{}", String::from_utf8_lossy(&said.stderr));
            count += 1;
        }
    }
    assert!(count > 3, "{page}: {count}");
}

#[test]
fn commands_of_the_readme_run() {
    commands_run("README.md");
}

#[test]
fn commands_of_the_documentation_run() {
    for page in ["docs/results.md", "docs/sensitivities.md", "docs/sweeps.md", "docs/systems.md"] {
        commands_run(page);
    }
}

/// The keys of a table, and of the tables in it, as they stand on the page of model files.
fn keys_of(title: &str, keys: &[Key], out: &mut String) {
    out.push_str(&format!("### {title}\n\n| key | holds | |\n|---|---|---|\n"));
    for key in keys {
        let must = if key.required { " (must be there)" } else { "" };
        out.push_str(&format!(
            "| `{}` | {} | {}{must} |\n",
            key.name,
            holds(&key.kind),
            key.help.replace('|', "\\|")
        ));
    }
    out.push('\n');
}

/// What a key holds, in words.
fn holds(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::Flag => "true or false".into(),
        Kind::Number => "number".into(),
        Kind::Angle => "angle, may end in `_deg`".into(),
        Kind::Vector => "vector".into(),
        Kind::AngularVector => "vector, may end in `_deg`".into(),
        Kind::Numbers => "numbers".into(),
        Kind::Inertia => "3, 6 or 9 numbers".into(),
        Kind::Attitude => "rotation, may end in `_deg`".into(),
        Kind::Point => "vector, or a frame above".into(),
        Kind::Expression => "expression of time and state".into(),
        Kind::Load => "vector of expressions, or a table".into(),
        Kind::Name => "name".into(),
        Kind::Pair => "two names".into(),
        Kind::Parameter => "number, vector, or a table".into(),
        Kind::Table(_) => "table".into(),
        Kind::Named(_) => "tables by name".into(),
        Kind::Each(inner) => format!("by name: {}", holds(inner)),
        Kind::List(_) => "list of tables".into(),
        Kind::Anything => "see there".into(),
        Kind::Spread => "how it varies".into(),
        Kind::Texts => "texts".into(),
    }
}

#[test]
fn the_keys_of_model_files_are_those_on_their_page() {
    let mut text = String::new();
    for (title, keys) in [
        ("The file", keys::MODEL),
        ("A parameter as a table", keys::PARAMETER),
        ("`[bodies.NAME]`", keys::BODY),
        ("`parts`", keys::PART),
        ("`shape`", keys::SHAPE),
        ("`attitude` as a table", keys::ATTITUDE),
        ("`follows`", keys::FOLLOWS),
        ("`[frames.NAME]`", keys::FRAME),
        ("`[joints.NAME]`", keys::JOINT),
        ("`[forces.NAME]`", keys::FORCE),
        ("`[[loads]]`", keys::LOAD),
        ("A load from a table", keys::TABLE),
        ("`[coordinates.NAME]`", keys::COORDINATES),
        ("`[[checks]]`", keys::CHECK),
        ("`[events.NAME]`", keys::EVENT),
        ("`[run]`", keys::RUN),
        ("`[sweep]`", keys::SWEEP),
        ("How a number varies", keys::SPREAD),
    ] {
        keys_of(title, keys, &mut text);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, after) = page.split_once("## All keys\n\n").unwrap();
    if std::env::var_os("POLHODE_WRITE_PAGES").is_some() {
        std::fs::write(path, format!("{before}## All keys\n\n{}\n", text.trim_end())).unwrap();
        return;
    }
    assert_eq!(after.trim_end(), text.trim_end(), "run with POLHODE_WRITE_PAGES=1 to write the tables");
}

#[test]
fn models_on_the_pages_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for page in ["README.md", "docs/models.md"] {
        let text = std::fs::read_to_string(format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let model = block.split("```").next().unwrap_or_default();
            if !model.contains("[run]") {
                continue;
            }
            let path = folder.path().join(format!("model-{count}.toml"));
            std::fs::write(&path, model).unwrap();
            fine(&["run", &path.display().to_string()]);
            count += 1;
        }
    }
    assert_eq!(count, 4);
}
