//! Plots as PNG: the same drawing as the SVG, point by point.

use crate::common::{fine, names, refused};
use std::path::Path;

/// A picture: width, height, and red, green and blue of its points.
struct Picture {
    width: usize,
    height: usize,
    points: Vec<[u8; 3]>,
    /// Points per metre.
    density: u32,
}

const WHITE: [u8; 3] = [255; 3];

impl Picture {
    /// Reads a PNG, and holds every piece of it to the format.
    fn read(path: &Path) -> Picture {
        let bytes = std::fs::read(path).expect("the picture is there");
        let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("a PNG");
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap());
        let (mut pieces, mut data) = (Vec::new(), Vec::new());
        let (mut size, mut density) = (None, 0);
        while !rest.is_empty() {
            let length = number(rest) as usize;
            let (named, behind) = rest[4..].split_at(4 + length);
            assert_eq!(crc32fast::hash(named), number(behind), "the check sum of a piece");
            let (name, content) = named.split_at(4);
            match name {
                b"IHDR" => {
                    assert_eq!(content[8..], [8, 2, 0, 0, 0]);
                    size = Some((number(content) as usize, number(&content[4..]) as usize));
                }
                b"pHYs" => {
                    assert_eq!((number(content), content[8]), (number(&content[4..]), 1));
                    density = number(content);
                }
                b"IDAT" => data.extend_from_slice(content),
                _ => assert_eq!((name, length), (&b"IEND"[..], 0)),
            }
            pieces.push(name.to_vec());
            rest = &behind[4..];
        }
        assert_eq!(pieces, [b"IHDR", b"pHYs", b"IDAT", b"IEND"].map(|name| name.to_vec()));
        let (width, height) = size.unwrap();
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(&data).expect("it can be unpacked");
        assert_eq!(rows.len(), height * (3 * width + 1));
        let rows = rows.chunks(3 * width + 1);
        assert!(rows.clone().all(|row| row[0] == 0), "no filter");
        let points = rows.flat_map(|row| row[1..].chunks(3).map(|point| [point[0], point[1], point[2]]));
        Picture { width, height, points: points.collect(), density }
    }
    fn at(&self, x: f64, y: f64) -> [u8; 3] {
        let (x, y) = (((2.0 * x) as usize).min(self.width - 1), ((2.0 * y) as usize).min(self.height - 1));
        self.points[y * self.width + x]
    }
    /// True if anything is drawn in a rectangle from one corner to the other.
    fn has_ink(&self, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> bool {
        let halves =
            |from: f64, to: f64| (0..=(2.0 * (to - from)) as usize).map(move |i| from + 0.5 * i as f64);
        halves(y1, y2).any(|y| halves(x1, x2).any(|x| self.at(x, y) != WHITE))
    }
}

/// The number of an attribute.
fn number(tag: &str, name: &str) -> f64 {
    let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{name} in {tag}"));
    rest.split('"').next().unwrap().parse().unwrap()
}

/// Tags of a name, each up to what stands behind it.
fn tags<'a>(svg: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("<{name} ");
    svg.match_indices(&start).map(|(at, _)| svg[at..].split('\n').next().unwrap()).collect()
}

/// Draws with both endings, and holds the picture to the drawing.
fn drawn(folder: &Path, args: &[&str]) {
    let [svg, png] = ["x.svg", "x.png"].map(|name| folder.join(name));
    let draw = |path: &Path| fine(&[args, &["--quiet", "--plot", path.to_str().unwrap()]].concat());
    draw(&svg);
    draw(&png);
    let text = std::fs::read_to_string(&svg).unwrap();
    let picture = Picture::read(&png);
    let head = tags(&text, "svg")[0];
    let double = |name: &str| (2.0 * number(head, name)).round() as usize;
    assert_eq!((picture.width, picture.height), (double("width"), double("height")), "{args:?}");
    assert_eq!(picture.density, 7559);
    // White around, and the frame of every panel where it is in the drawing.
    let (width, height) = (number(head, "width"), number(head, "height"));
    assert!(!picture.has_ink((0.0, 0.0), (width, 8.0)) && !picture.has_ink((0.0, 0.0), (3.0, height)));
    let frames: Vec<&str> = tags(&text, "rect").into_iter().filter(|tag| tag.contains("stroke")).collect();
    assert!(!frames.is_empty());
    for frame in &frames {
        let [x, y, wide, high] = ["x", "y", "width", "height"].map(|name| number(frame, name));
        let corner = [(x, y), (x + wide, y), (x, y + high), (x + wide, y + high)];
        for (x, y) in corner {
            // The frame is a unit wide, on whole points.
            let near = [-0.25, 0.25].iter().any(|d| picture.at(x + d, y + d) == [0x44; 3]);
            assert!(near, "{args:?}: no corner at {x}, {y}");
        }
    }
    // Times are others each time.
    if args[0] == "compare" {
        return;
    }
    // Ink wherever a text begins.
    let mut texts = 0;
    for tag in tags(&text, "text").into_iter().filter(|tag| !tag.contains("></text>")) {
        let (x, y) = match tag.contains("translate(") {
            true => {
                let inside = tag.split_once("translate(").unwrap().1.split(')').next().unwrap();
                let (x, y) = inside.split_once(' ').unwrap();
                (x.parse().unwrap(), y.parse().unwrap())
            }
            false => (number(tag, "x"), number(tag, "y")),
        };
        let (from, to) = match () {
            _ if tag.contains("rotate") => ((x - 9.0, y - 4.0), (x, y + 4.0)),
            _ if tag.contains("\"middle\"") => ((x - 4.0, y - 9.0), (x + 4.0, y)),
            _ if tag.contains("\"end\"") => ((x - 7.0, y - 9.0), (x, y)),
            _ => ((x, y - 9.0), (x + 7.0, y)),
        };
        assert!(picture.has_ink(from, to), "{args:?}: nothing at {tag}");
        texts += 1;
    }
    assert!(texts > 5);
    // Every colour of a line is there, in full somewhere.
    for tag in tags(&text, "polyline").into_iter().chain(tags(&text, "polygon")) {
        let colour = tag.split_once(" stroke=\"#").unwrap().1.get(..6).unwrap();
        let code = u32::from_str_radix(colour, 16).unwrap();
        let [_, r, g, b] = code.to_be_bytes();
        let close = |p: &[u8; 3]| p.iter().zip([r, g, b]).all(|(a, b)| a.abs_diff(b) < 110);
        assert!(picture.points.iter().any(close), "{args:?}: nothing of {colour}");
    }
    // The same bytes again.
    let before = std::fs::read(&png).unwrap();
    draw(&png);
    assert!(before == std::fs::read(&png).unwrap(), "{args:?}");
}

#[test]
fn pictures_show_what_drawings_show() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let run = ["run", "fast-top", "--until", "0.2", "--no-reference"];
    drawn(at, &run);
    drawn(at, &[&run[..], &["--plot-set", "polhode,momentum"]].concat());
    drawn(at, &["run", "four-bar", "--until", "0.1", "--plot-set", "rates,reactions"]);
    drawn(
        at,
        &["converge", "free-rotation", "--until", "2", "--methods", "imidm,akw", "--steps", "0.2,0.1,0.05"],
    );
    drawn(at, &["compare", "slow-top", "--methods", "akw,imidm", "--error", "1e-2", "--until", "0.5"]);
    let sweep = ["sweep", "slow-top", "--vary", "mgl=uniform:10,20", "--runs", "12", "--until", "0.5"];
    drawn(
        at,
        &[&sweep[..], &["--keep", "energy,q_w@0:0.5:6", "--out", at.join("r.csv").to_str().unwrap()]]
            .concat(),
    );
    let data = at.join("data.csv").to_str().unwrap().to_string();
    fine(&["run", "slow-top", "--until", "0.5", "--every", "10", "--no-reference", "--out", &data]);
    drawn(at, &["fit", "slow-top", "--data", &data, "--parameters", "mgl"]);
    assert_eq!(names(at), ["data.csv", "r.csv", "x.png", "x.svg"]);
}

#[test]
fn pictures_that_cannot_be_written_are_known_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let with = |path: &str, texts: &[&str]| {
        refused(2, &["run", "free-rotation", "--step", "1e-12", "--plot", path], texts);
        refused(2, &["converge", "free-rotation", "--steps", "1e-12", "--plot", path], texts);
    };
    with(&at("x.jpg"), &["must end in .svg or .png"]);
    with(&at("none/x.png"), &["cannot write", "its folder does not exist"]);
    with(&at("."), &["it is a directory"]);
    std::fs::write(at("kept.png"), "what was there").unwrap();
    let mut rights = std::fs::metadata(at("kept.png")).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(at("kept.png"), rights).unwrap();
    with(&at("kept.png"), &["read-only"]);
    assert_eq!(std::fs::read_to_string(at("kept.png")).unwrap(), "what was there");
    assert_eq!(names(folder.path()), ["kept.png"]);
}
