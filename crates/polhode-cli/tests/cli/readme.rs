//! README beside the registry: its table of methods is printed from it.

use crate::common::{fine, program};
use polhode::method::{KINEMATIC, Method, REGISTRY, SYSTEMS};

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
        let family = |id: &str| id.split_once([':', ',']).map(|(family, _)| family.to_string());
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
    let mut count = 0;
    for block in text.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default().replace("\\\n", " ");
        for line in block.lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            let Some(args) = line.strip_prefix("polhode ") else { continue };
            let said = program().args(args.split_whitespace()).current_dir(folder.path()).output().unwrap();
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
    for page in ["docs/sensitivities.md", "docs/systems.md"] {
        commands_run(page);
    }
}
