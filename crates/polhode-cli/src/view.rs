//! `polhode view`: the page of a run that was stored.

use crate::args::ViewOptions;
use crate::failure::Failure;
use crate::files::{Format, NewFile};
use crate::print;
use crate::report::Page;
use crate::table::{Head, read};

/// Writes it.
pub fn command(options: &ViewOptions) -> Result<(), Failure> {
    let place = options.out.clone().unwrap_or_else(|| options.file.with_extension("html"));
    let shown = options.file.display();
    let stored = read::stored(&options.file)?;
    let foreign = || {
        Failure::Usage(format!(
            "{shown}: it does not say what its columns are; it is not of `polhode run --out`"
        ))
    };
    let heads: Vec<Head> =
        serde_json::from_value(stored.metadata["columns"].clone()).map_err(|_| foreign())?;
    let scene = &stored.metadata["scene"];
    if !scene["bodies"].is_array() || !scene["joints"].is_array() || !stored.metadata["drift"].is_object() {
        return Err(foreign());
    }
    let columns: Vec<&[f64]> =
        heads.iter().map(|head| stored.column(&head.name)).collect::<Option<_>>().ok_or_else(foreign)?;
    let rows = columns.first().map_or(0, |column| column.len());
    if rows == 0 {
        return Err(Failure::Usage(format!("{shown}: there are no rows in it")));
    }
    let mut row: Vec<f64> = columns.iter().map(|column| column[0]).collect();
    let mut page = Page::new(&heads, &row, scene, false).map_err(|body| {
        Failure::Usage(format!(
            "{shown}: it has no columns for the attitude of '{body}'; write it without --columns, or with q and position of \
             every body"
        ))
    })?;
    let file = NewFile::create(&place, Format::Html)?;
    for n in 0..rows {
        row.clear();
        row.extend(columns.iter().map(|column| column[n]));
        page.take(&row);
    }
    file.write(page.html(&stored.metadata).as_bytes())?;
    print::result(&format!("{} is written; open it in a browser\n", place.display()))
}
