//! The rooms of the library in their order: each uses those before it only.

/// From the ground up.
const LAYERS: [&str; 21] = [
    "lookup",
    "draw",
    "scalar",
    "expression",
    "archive",
    "solve",
    "group",
    "formula",
    "body",
    "method",
    "multibody",
    "run",
    "ensemble",
    "model",
    "check",
    "reference",
    "fit",
    "problem",
    "sensitivity",
    "identify",
    "layers",
];

/// The sources of a room.
fn sources(room: &str) -> Vec<std::path::PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<_> =
        Some(root.join(format!("{room}.rs"))).into_iter().filter(|p| p.exists()).collect();
    let mut folders = vec![root.join(room)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

#[test]
fn every_room_uses_those_before_it_only() {
    let library = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    let rooms = library.lines().filter_map(|line| {
        line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
    });
    for room in rooms {
        assert!(LAYERS.contains(&room), "{room} has no place among the layers");
    }
    for (i, room) in LAYERS.iter().enumerate() {
        let files = sources(room);
        assert!(!files.is_empty(), "{room}");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            // Tests may look anywhere, and examples in comments are those of a user.
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let tests = file.file_name().is_some_and(|name| name == "tests.rs") || *room == "layers";
            for line in code.lines().filter(|line| !tests && !line.trim_start().starts_with("//")) {
                for used in line.split("crate::").skip(1) {
                    let used = used.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
                    let place = LAYERS.iter().position(|known| known == &used);
                    assert!(
                        place.is_none_or(|place| place <= i),
                        "{room} uses {used}, which comes after it: {} in {}",
                        line.trim(),
                        file.display()
                    );
                }
            }
        }
    }
}
