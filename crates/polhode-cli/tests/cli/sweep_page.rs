//! The page of a sweep: it stands alone, says what was run, and comes out of parts and of what was gone on with too.

use crate::common::{fine, json, polhode, refused};
use std::path::Path;

/// Every element is closed in order, and no bare ampersand is left.
fn well_formed(page: &str) {
    let alone = ["!doctype", "meta"];
    let mut open: Vec<&str> = Vec::new();
    let (before, rest) = page.split_once("<style>").expect("a style");
    let (_, behind) = rest.split_once("</style>").expect("its end");
    let text = format!("{before}{behind}");
    for piece in text.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').expect("a tag ends");
        assert!(!rest.contains('>') && tag.matches('"').count() % 2 == 0, "{tag}");
        let name = tag.split([' ', '/']).find(|x| !x.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') && !alone.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let known = ["amp;", "lt;", "gt;", "quot;"];
    assert!(text.split('&').skip(1).all(|x| known.iter().any(|known| x.starts_with(known))));
}

/// What is referred to inside of a page is there, once.
fn names_are_its_own(page: &str) {
    let all = |mark: &str, end: char| -> Vec<String> {
        page.split(mark).skip(1).map(|rest| rest.split(end).next().unwrap().to_string()).collect()
    };
    let ids = all(" id=\"", '"');
    let mut once = ids.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), ids.len());
    let uses = all("url(#", ')');
    assert!(!uses.is_empty() && uses.iter().all(|name| ids.contains(name)));
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/2000/svg").count());
    assert!(!page.contains("<script") && !page.contains("NaN"));
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A page without what its computation has cost.
fn timeless(page: &str) -> String {
    page.lines().filter(|line| !line.contains(">cost<") && !line.contains(">table<")).collect()
}

const MODEL: &str = r#"
title = "A ball & its <height>"
gravity = [0, 0, -10]
[parameters]
speed = 3
[bodies.ball]
mass = "1 + 0 * log(4 - speed)"
inertia = [1, 1, 1]
velocity = [1, 0, "speed"]
omega_body = [0.1, 0.2, 0.3]
[outputs]
height = "position_z"
[run]
method = "akw"
step = 0.01
until = 0.3
"#;

#[test]
fn a_page_says_what_was_run_and_what_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(at("ball.toml"), MODEL).unwrap();
    let model = at("ball.toml");
    let asked = [
        "--vary",
        "speed=list:1,2,3,5",
        "--vary",
        "ball.velocity_x=uniform:1,2",
        "--runs",
        "40",
        "--seed",
        "7",
    ];
    let kept = ["--keep", "height,max(position_z),height@0:0.3:7", "--threads", "1"];
    let sweep = [&["sweep", &model][..], &asked, &kept].concat();
    let (page, table) = (at("runs.html"), at("runs.csv"));
    fine(&[&sweep[..], &["--out", &table, "--report", &page]].concat());
    let text = read(Path::new(&page));
    well_formed(&text);
    names_are_its_own(&text);
    for part in [
        "<h1>A ball &amp; its &lt;height&gt;</h1>",
        "prefers-color-scheme: dark",
        "width=device-width",
        "<th scope=\"row\">runs</th><td>40</td>",
        "<th scope=\"row\">to their end</th><td>30</td>",
        "<th scope=\"row\">failed</th><td>10</td>",
        "<th scope=\"row\">seed</th><td>7</td>",
        "<th scope=\"row\">step</th><td>0.01 s</td>",
        "<th scope=\"row\">cost</th>",
        "run 3: ",
        "<th scope=\"row\">position_z_max</th><td>m</td>",
        "<th>75 %</th>",
        "<summary>7 values</summary>",
        "25–75 %",
        "<h2>Parameters</h2>",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // Two values over two inputs, each with its histogram, and one band.
    assert_eq!(text.matches("<svg").count(), 2 * (1 + 2) + 1);

    // Gone on with, in parts, and without a table: the same page.
    let again = at("again.html");
    fine(&[&sweep[..], &["--out", &table, "--report", &again, "--resume"]].concat());
    let parts = [at("1.chunk"), at("2.chunk")];
    for (part, share) in parts.iter().zip(["1/2", "2/2"]) {
        fine(&[&sweep[..], &["--part", share, "--out", part]].concat());
    }
    let merged = at("merged.html");
    fine(&["merge", &parts[0], &parts[1], "--report", &merged]);
    let alone = at("alone.html");
    fine(&[&sweep[..], &["--report", &alone]].concat());
    for other in [again, merged, alone] {
        assert_eq!(timeless(&read(Path::new(&other))), timeless(&text), "{other}");
    }
}

#[test]
fn a_sweep_of_failures_has_a_page_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(at("ball.toml"), MODEL).unwrap();
    let page = at("runs.html");
    let said = polhode(&["sweep", &at("ball.toml"), "--vary", "speed=list:5,6", "--report", &page]);
    assert_eq!(said.code, Some(4), "{}", said.err);
    let text = read(Path::new(&page));
    well_formed(&text);
    assert!(text.contains("<h2>Failures</h2>") && !text.contains("<svg") && !text.contains("NaN"));
}

#[test]
fn names_that_do_not_do_are_refused_first() {
    let vary = ["sweep", "slow-top", "--vary", "mgl=uniform:10,20", "--runs", "2"];
    refused(2, &[&vary[..], &["--report", "runs.pdf"]].concat(), &["reports are pages"]);
    refused(
        2,
        &[&vary[..], &["--report", "x.html", "--part", "1/2", "--out", "x.chunk"]].concat(),
        &["--part"],
    );
}

#[test]
fn a_sweep_that_is_not_finished_says_how_much_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let sweep = ["sweep", "slow-top", "--vary", "mgl=uniform:10,20", "--runs", "40", "--until", "0.1"];
    // What a sweep that was ended has left: two of four chunks, and the beginning of another.
    std::fs::create_dir(at("runs.csv.chunks")).unwrap();
    for (share, name) in
        [("1/4", "000000000000-000000000010.chunk"), ("3/4", "000000000020-000000000030.chunk")]
    {
        let out = at(&format!("runs.csv.chunks/{name}"));
        fine(&[&sweep[..], &["--part", share, "--out", &out]].concat());
    }
    std::fs::write(at("runs.csv.chunks/.unfinished-000000000030-000000000040.chunk.1-0"), "polhode").unwrap();
    let [chunks, table, page, plot] = ["runs.csv.chunks", "some.csv", "some.html", "some.svg"].map(at);
    refused(2, &["merge", &chunks, "--out", &table], &["20 of 40 runs are missing: 10 to 19, 30 to 39"]);
    let merge = ["merge", &chunks, "--partial", "--out", &table, "--report", &page, "--plot", &plot];
    let said = fine(&merge);
    assert!(said.contains("20 of 40, the others are not computed yet"), "{said}");
    let text = read(Path::new(&page));
    well_formed(&text);
    assert!(text.contains("<th scope=\"row\">runs</th><td>20 of 40, the others are not computed yet</td>"));
    assert!(text.contains("to t = 0.1 s; 20 of 40 runs"), "{text}");
    assert!(read(Path::new(&plot)).contains("20 of 40 runs"));
    let rows: Vec<String> = read(Path::new(&table)).lines().skip(1).map(String::from).collect();
    let runs: Vec<u64> = rows.iter().map(|row| row.split(',').next().unwrap().parse().unwrap()).collect();
    assert!(runs.into_iter().eq((0..10).chain(20..30)));
    let said = json(&["merge", &chunks, "--partial", "--json"]);
    assert_eq!((&said["runs"], &said["missing"], &said["ok"]), (&40.into(), &20.into(), &20.into()));
    // Gone on with, it is whole, and its rows are those.
    fine(&[&sweep[..], &["--out", &at("runs.csv"), "--resume", "--quiet"]].concat());
    let whole = read(Path::new(&at("runs.csv")));
    assert!(rows.iter().all(|row| whole.lines().any(|line| line == row)) && whole.lines().count() == 41);
    assert_eq!(json(&[&sweep[..], &["--json"]].concat())["missing"], 0);
}
