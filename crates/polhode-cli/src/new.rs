//! `polhode new`: a commented model file to start from.

use crate::args::NewOptions;
use crate::failure::Failure;
use crate::{files, print};
use std::path::PathBuf;

/// The files, by name.
pub const TEMPLATES: [(&str, &str); 4] = [
    ("satellite", include_str!("../templates/satellite.toml")),
    ("top", include_str!("../templates/top.toml")),
    ("pendulum", include_str!("../templates/pendulum.toml")),
    ("mechanism", include_str!("../templates/mechanism.toml")),
];

/// Writes one.
pub fn command(options: &NewOptions) -> Result<(), Failure> {
    let Some((name, text)) = TEMPLATES.iter().find(|(name, _)| *name == options.kind) else {
        let names = TEMPLATES.map(|(name, _)| name).join(", ");
        return Err(Failure::Usage(format!(
            "there is no starting file '{}'; there are {names}",
            options.kind
        )));
    };
    let path = options.file.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    if path.as_os_str() == "-" {
        return print::result(text);
    }
    let shown = path.display();
    // As the comments in it name it.
    let text = text.replace(&format!("{name}.toml"), &shown.to_string());
    files::write_new(&path, &text, &format!("give another name: polhode new {name} FILE.toml"))?;
    print::result(&format!("{shown} is written; edit it, then: polhode run {shown}\n"))
}
