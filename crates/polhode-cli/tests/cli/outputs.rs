//! Results as files: formats by the name of `--out`, which rows and columns are in them, plots and pages.

use crate::common::{csv, fine, names, polhode, refused};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TOP: [&str; 6] = ["run", "fast-top", "--until", "0.05", "--no-reference", "--out"];
const BARS: [&str; 6] = ["run", "four-bar", "--until", "0.05", "--no-reference", "--out"];

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_string_lossy().into_owned()
}

/// The bits of the first and last row of a CSV file, by columns.
fn rows(path: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    csv(Path::new(path))
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn every_format_has_the_numbers_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    for (model, args) in [("top", TOP), ("bars", BARS)] {
        let at = |ending: &str| path(&folder, &format!("{model}.{ending}"));
        for ending in ["csv", "npz", "parquet", "mcap"] {
            fine(&[&args[..], &[&at(ending)]].concat());
        }
        let (header, rows) = rows(&at("csv"));
        for ending in ["npz", "parquet"] {
            let bytes = std::fs::read(at(ending)).unwrap();
            // A short run has each column in one piece.
            for (c, name) in header.iter().enumerate() {
                let column: Vec<u8> = rows.iter().flat_map(|row| row[c].to_le_bytes()).collect();
                assert!(holds(&bytes, &column), "{ending}: {name}");
                assert!(holds(&bytes, name.as_bytes()), "{ending}: {name}");
            }
            if ending == "parquet" {
                assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
                assert!(holds(&bytes, b"\"model_hash\":\"") && holds(&bytes, b"scalar first"));
            }
        }
        let messages = std::fs::read(at("mcap")).unwrap();
        assert!(messages.starts_with(b"\x89MCAP0\r\n") && messages.ends_with(b"\x89MCAP0\r\n"));
        // Attitudes have the scalar part last there.
        let w = header.iter().position(|name| name.ends_with("q_w")).unwrap();
        let q: Vec<String> = (1..5).map(|k| format!("{:?}", rows[7][w + k % 4])).collect();
        let turn = format!(r#""rotation":{{"x":{},"y":{},"z":{},"w":{}}}"#, q[0], q[1], q[2], q[3]);
        assert!(holds(&messages, turn.as_bytes()), "{turn}");
        // The same run gives the same bytes.
        for ending in ["npz", "parquet", "mcap"] {
            let before = std::fs::read(at(ending)).unwrap();
            fine(&[&args[..], &[&at(ending)]].concat());
            assert!(before == std::fs::read(at(ending)).unwrap(), "{ending}");
        }
    }
    assert_eq!(names(folder.path()).len(), 8);
}

#[test]
fn columns_and_times_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "x.csv");
    let run = |more: &[&str]| fine(&[&BARS[..], &[&file], more].concat());
    run(&["--columns", "crank.omega_body_z,rocker.*", "--between", "0.01,0.02"]);
    let (header, found) = rows(&file);
    assert_eq!(header[..2], ["t", "crank.omega_body_z"]);
    assert!(header[2..].iter().all(|name| name.starts_with("rocker.")) && header.len() > 8, "{header:?}");
    let times: Vec<f64> = found.iter().map(|row| row[0]).collect();
    assert_eq!((times.first().copied(), times.last().copied()), (Some(0.01), Some(0.02)));
    // A quantity stands for its components, and t comes first and once.
    run(&["--columns", "coupler.q,t"]);
    assert_eq!(rows(&file).0, ["t", "coupler.q_w", "coupler.q_x", "coupler.q_y", "coupler.q_z"]);

    let refuse = |more: &[&str], texts: &[&str]| refused(2, &[&BARS[..], &[&file], more].concat(), texts);
    refuse(
        &["--columns", "crank.omega"],
        &["--columns: there is no column 'crank.omega'", "crank.omega_body"],
    );
    refuse(&["--between", "2,1"], &["the earlier first"]);
    refuse(&["--between", "2,3"], &["--between: the run goes from 0 to 0.05 s"]);
    refuse(&["--between", "2"], &["as in 0.5,2"]);
    for option in [["--columns", "q"], ["--between", "0,1"], ["--every", "2"]] {
        refused(2, &[&["run", "fast-top"][..], &option].concat(), &[option[0], "give --out FILE too"]);
    }
    refused(2, &[&TOP[..], &[&path(&folder, "x.hdf5")]].concat(), &[".npz, .parquet or .mcap"]);
}

#[test]
fn plots_of_a_run_show_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "x.svg");
    let draw = |model: &str, more: &[&str]| {
        let args = [&["run", model, "--until", "0.2", "--no-reference", "--plot", &file][..], more].concat();
        fine(&args);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n") && !text.contains("NaN"), "{more:?}");
        text
    };
    let usual = draw("fast-top", &[]);
    // Four of the attitude, three rates, two energies and a change of one; each line but the last two with a sample.
    assert_eq!(usual.matches("<polyline").count(), 10 + 9);
    for part in [">q<", ">omega_body<", ">rad/s<", ">energy, change since the start<", ">t, s<"] {
        assert!(usual.contains(part), "{part}");
    }
    let polhode = draw("fast-top", &["--plot-set", "polhode"]);
    assert!(polhode.matches(">polhode<").count() == 3 && polhode.contains(">herpolhode"));
    let bars = draw("four-bar", &["--plot-set", "rates,reactions"]);
    assert!(bars.contains(".force<") && bars.contains(">N m<") && bars.contains(">crank.omega_body<"));
    let own = draw("four-bar", &["--plot-columns", "crank.position_y", "--plot-against", "crank.position_x"]);
    assert!(own.contains(">crank.position_x, m<") && own.matches("<polyline").count() == 1);

    let refuse = |model: &str, more: &[&str], texts: &[&str]| {
        refused(2, &[&["run", model, "--until", "0.1", "--plot", &file][..], more].concat(), texts);
    };
    refuse("four-bar", &["--plot-set", "polhode"], &["--plot-set polhode", "single bodies"]);
    refuse("fast-top", &["--plot-set", "reactions"], &["no joints"]);
    refuse("fast-top", &["--plot-columns", "nothing"], &["--plot-columns: there is no column 'nothing'"]);
    refuse("fast-top", &["--plot-against", "q"], &["several columns"]);
    refused(2, &["run", "fast-top", "--plot-set", "energy"], &["--plot"]);
    refused(2, &["run", "fast-top", "--plot", &path(&folder, "x.pdf")], &["must end in .svg or .png"]);
    assert_eq!(names(folder.path()), ["x.svg"]);
}

/// A chain of many pendulums.
fn chain(folder: &tempfile::TempDir, links: usize) -> String {
    let mut text = String::from("gravity = [0, 0, -9.81]\n");
    for i in 1..=links {
        let (x, before) =
            (0.2 * i as f64 - 0.1, if i == 1 { "ground".into() } else { format!("l{}", i - 1) });
        text += &format!(
            "[bodies.l{i}]\nshape = {{ box = [0.2, 0.03, 0.03] }}\nmass = 1\nposition = [{x}, 0, 0]\n"
        );
        text += &format!("[joints.j{i}]\ntype = \"revolute\"\nbetween = [\"{before}\", \"l{i}\"]\n");
        text += &format!("at = [{}, 0, 0]\naxis = [0, 1, 0]\n", x - 0.1);
    }
    text += "[run]\nmethod = \"geometric-alpha\"\nstep = 0.01\nuntil = 0.5\n";
    let file = path(folder, "chain.toml");
    std::fs::write(&file, text).unwrap();
    file
}

/// The data in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).expect("data");
    let (text, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn a_page_stands_alone_and_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    let satellite = path(&folder, "satellite.toml");
    fine(&["new", "satellite", &satellite]);
    let links = chain(&folder, 50);
    let page = path(&folder, "x.html");
    for (model, until, bodies, single) in [
        ("fast-top", "2", 1, true),
        (&*satellite, "600", 1, true),
        ("four-bar", "1", 3, false),
        (&*links, "0.5", 50, false),
    ] {
        fine(&["run", model, "--until", until, "--no-reference", "--report", &page]);
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"), "{model}");
        assert!(text.len() < 5 << 20, "{model}: {}", text.len());
        // Nothing is fetched: no address but the name of SVG.
        let outside = text.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !outside.contains("http://") && !outside.contains("https://") && !outside.contains("src="),
            "{model}"
        );
        assert!(!text.contains("{{") && text.contains("Newton iterations, per step"), "{model}");
        let data = data(&text);
        assert_eq!(data["metadata"]["scene"]["bodies"].as_array().map(Vec::len), Some(bodies), "{model}");
        assert_eq!(data["film"]["layout"]["omega"].is_u64(), single, "{model}");
        assert_eq!(data["metadata"]["scene"]["inertia"].is_array(), single, "{model}");
        assert!(data["metadata"]["newton"]["iterations"].as_u64().is_some_and(|n| n > 0), "{model}");
        assert_eq!(text.contains(".force<"), !single, "{model}");
    }
    refused(2, &["run", "fast-top", "--report", &path(&folder, "x.pdf")], &["must end in .html"]);
}

#[test]
fn a_stored_run_becomes_the_same_page() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["npz", "parquet", "mcap"] {
        let (stored, page) = (path(&folder, &format!("x.{ending}")), path(&folder, "direct.html"));
        fine(&["run", "four-bar", "--until", "0.1", "--no-reference", "--out", &stored, "--report", &page]);
        let said = fine(&["view", &stored]);
        assert!(said.contains("x.html is written"), "{said}");
        let [viewed, direct] =
            [path(&folder, "x.html"), page].map(|name| data(&std::fs::read_to_string(name).unwrap()));
        assert_eq!(viewed, direct, "{ending}");
    }
    let few = path(&folder, "few.npz");
    fine(&[&BARS[..], &[&few, "--columns", "energy"]].concat());
    refused(2, &["view", &few], &["no columns for the attitude of 'crank'"]);
    refused(2, &["view", "x.csv"], &["a CSV file has rows alone"]);
    refused(2, &["view", "x.txt"], &["ends in .npz, .parquet or .mcap"]);
    let damaged = path(&folder, "damaged.parquet");
    for bytes in [&b""[..], b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"not a result at all"] {
        std::fs::write(&damaged, bytes).unwrap();
        refused(2, &["view", &damaged], &["it is damaged"]);
    }
}

/// What a page is made to do, and what it says of that in the title.
const PROBE: &str = r#"<script>
window.errors = [];
// A browser without a window, whose clock runs ahead, paints no frames by itself.
window.requestAnimationFrame = (paint) => setTimeout(() => paint(performance.now()), 16);
window.addEventListener("error", (event) => errors.push(event.message));
console.error = (...words) => errors.push(words.join(" "));
</script>"#;
const PLAYED: &str = r#"<script>
(async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const ink = (id) => {
    const canvas = document.getElementById(id);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let sum = 0, drawn = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      sum = (sum * 31 + pixels[i] + 7 * pixels[i + 1] + 13 * pixels[i + 2] + pixels[i + 3]) % 4294967291;
      if (pixels[i + 3] > 0) drawn++;
    }
    return [sum, drawn];
  };
  await wait(300);
  const start = ink("view");
  document.getElementById("play").click();
  await wait(1500);
  const later = ink("view");
  document.getElementById("play").click();
  const slider = document.getElementById("slider");
  slider.value = (Number(slider.min) + Number(slider.max)) / 2;
  slider.dispatchEvent(new Event("input"));
  await wait(300);
  const shown = document.getElementById("time").textContent;
  document.getElementById("view").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  const middle = ink("view");
  await wait(300);
  const said = { errors, moved: start[0] !== later[0], drawn: start[1], shown, half: Number(slider.value),
    turned: ink("view")[0] !== middle[0],
    polhode: document.getElementById("curves").hidden ? null : [ink("polhode")[1], ink("herpolhode")[1]] };
  const place = document.createElement("pre");
  place.id = "probe";
  place.textContent = btoa(JSON.stringify(said));
  document.body.append(place);
})();
</script>"#;

fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let all = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| all.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// In a real browser, where there is one.
#[test]
fn a_page_moves_in_a_browser() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().unwrap();
    let links = chain(&folder, 50);
    for (model, until, single) in [("fast-top", "2", true), ("four-bar", "1", false), (&*links, "0.5", false)]
    {
        let page = path(&folder, "x.html");
        fine(&["run", model, "--until", until, "--no-reference", "--report", &page]);
        let text = std::fs::read_to_string(&page).unwrap();
        let text = text.replacen("<head>", &format!("<head>{PROBE}"), 1).replacen(
            "</body>",
            &format!("{PLAYED}</body>"),
            1,
        );
        std::fs::write(&page, text).unwrap();
        let output = Command::new(&browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--virtual-time-budget=8000", "--window-size=1000,900", "--dump-dom"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("file://{page}"))
            .stdin(Stdio::null())
            .output()
            .expect("the browser starts");
        let dom = String::from_utf8_lossy(&output.stdout);
        let said = dom.split_once(r#"<pre id="probe">"#).and_then(|(_, rest)| rest.split_once("</pre>"));
        let Some((said, _)) = said else { panic!("{model}: the page did not get to its end: {dom:.300}") };
        let said: Value = serde_json::from_slice(&decoded(said)).unwrap();
        assert_eq!(said["errors"], serde_json::json!([]), "{model}");
        assert!(said["moved"] == true && said["turned"] == true, "{model}: {said}");
        assert!(said["drawn"].as_u64().is_some_and(|n| n > 5000), "{model}: {said}");
        let half = until.parse::<f64>().unwrap() / 2.0;
        assert!((said["half"].as_f64().unwrap() - half).abs() < 1e-3 * half, "{model}: {said}");
        let shown: f64 = said["shown"].as_str().unwrap()[4..].trim_end_matches(" s").parse().unwrap();
        assert!((shown - half).abs() < 1e-2 * half, "{model}: {said}");
        let ink = |i: usize| said["polhode"][i].as_u64().unwrap_or(0);
        assert_eq!(ink(0) > 5000 && ink(1) > 500, single, "{model}: {said}");
    }
}

fn decoded(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(value).collect();
    let pairs = |four: &[u8]| {
        let all = four.iter().fold(0u32, |sum, d| sum << 6 | u32::from(*d)) << (6 * (4 - four.len()));
        all.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(pairs).collect()
}

#[test]
fn what_cannot_be_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [table, plot, page] = ["x.npz", "x.svg", "x.html"].map(|name| path(&folder, name));
    let said = polhode(&[
        "run",
        "fast-top",
        "--method",
        "mkrk:gauss2",
        "--step",
        "1",
        "--until",
        "5",
        "--out",
        &table,
        "--plot",
        &plot,
        "--report",
        &page,
    ]);
    assert_eq!(said.code, Some(4), "{}", said.err);
    assert!(said.err.contains("nothing was written to"), "{}", said.err);
    assert_eq!(names(folder.path()), [""; 0]);
}
