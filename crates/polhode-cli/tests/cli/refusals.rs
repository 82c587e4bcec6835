//! What is refused, with which code and in which words.

use crate::common::{names, polhode, refused};

#[test]
fn names_that_do_not_exist_are_answered_with_near_ones() {
    refused(2, &["run", "fast-to"], &["no problem is called 'fast-to'; did you mean fast-top?"]);
    refused(2, &["run", "nothing"], &["`polhode problems` lists them all"]);
    refused(2, &["problems", "fast-to"], &["did you mean fast-top?"]);
    refused(
        2,
        &["run", "fast-top", "--method", "imidn"],
        &["no method is called 'imidn'; did you mean imid or imidm?"],
    );
    refused(2, &["methods", "compose:akw:5"], &["4, 6 or 8"]);
    refused(2, &["converge", "free-rotation", "--methods", "imidm,akv"], &["'akv'", "akw"]);
    refused(
        2,
        &["run", "fast-top", "--set", "inertai=1,2,3"],
        &["no datum called 'inertai'; did you mean inertia?", "mgl"],
    );
    for (id, near) in [("rk4", "mkrk:rk4"), ("gauss2", "mkrk:gauss2"), ("cayley", "preserving:cayley")] {
        refused(2, &["run", "fast-top", "--method", id], &[&format!("did you mean {near}")]);
    }
    refused(2, &["frobnicate"], &["unrecognized subcommand", "Usage"]);
    refused(2, &["run", "fast-top", "--stepp", "1"], &["'--step'", "Usage"]);
    for (args, option) in [
        (["run", "--dt", "1"], "'--step'"),
        (["run", "--dt=1", "--json"], "'--step'"),
        (["run", "--t-end", "1"], "'--until'"),
        (["converge", "--dt", "1"], "'--steps'"),
        (["compare", "--method", "1"], "'--methods'"),
        (["run", "--methods", "1"], "'--method'"),
        (["sensitivity", "--wrt", "mgl"], "'--parameters'"),
    ] {
        let said = polhode(&[args[0], "fast-top", args[1], args[2]]);
        assert_eq!(said.code, Some(2));
        assert!(said.err.contains(option) && !said.err.contains("-- --"), "{args:?}: {}", said.err);
    }
}

#[test]
fn steps_and_times_must_be_positive_and_finite() {
    for bad in ["0", "-1", "-0.5", "nan", "NaN", "inf", "-inf", "-0"] {
        refused(
            2,
            &["run", "free-rotation", "--step", bad],
            &["the step must be a positive finite number, got"],
        );
        refused(
            2,
            &["run", "free-rotation", "--until", bad],
            &["the end time must be a positive finite number, got"],
        );
        refused(2, &["converge", "free-rotation", "--steps", &format!("0.1,{bad}")], &["the step must be"]);
        refused(2, &["converge", "free-rotation", "--until", bad], &["the end time must be"]);
    }
    refused(2, &["run", "free-rotation", "--step", "200"], &["the step 200 goes beyond the end time 100"]);
    for option in ["--step", "--until"] {
        refused(2, &["run", "free-rotation", option, "1e400"], &["too large for a number"]);
    }
    refused(2, &["run", "free-rotation", "--step", "1e300"], &["the step 1e300 goes beyond"]);
    refused(2, &["converge", "free-rotation", "--steps", "0.1,0.2,0.1"], &["--steps has 0.1 twice"]);
    refused(2, &["run", "free-rotation", "--step", "1e-20"], &["more than can be counted"]);
    refused(2, &["run", "free-rotation", "--step", "fast"], &["invalid value 'fast' for '--step <H>'"]);
}

#[test]
fn overrides_must_be_numbers_for_a_name() {
    let set = |text: &str, texts: &[&str]| refused(2, &["run", "free-rotation", "--set", text], texts);
    set("inertia", &["--set is written NAME=VALUE", "got 'inertia'"]);
    set("inertia=1,2", &["inertia takes 3 or 6 or 9 numbers, got 2"]);
    set("inertia=1,2,x", &["inertia: 'x' is not a finite number"]);
    set("inertia=1,2,nan", &["inertia: 'nan' is not a finite number"]);
    set("inertia=1,2,1e400", &["inertia: '1e400' is too large for a number"]);
    refused(
        2,
        &["run", "free-rotation", "--set", "omega_body=1,2,3", "--set", "momentum_body=1,2,3"],
        &["both omega_body and momentum_body"],
    );
    set("omega_body=", &["omega_body takes 3 numbers, got 0"]);
    refused(2, &["converge", "free-rotation", "--set", "inertia"], &["--set is written NAME=VALUE"]);
}

#[test]
fn data_that_make_no_body_have_a_code_of_their_own() {
    refused(
        3,
        &["run", "free-rotation", "--set", "inertia=1,1,5"],
        &["free-rotation: inertia: ", "1, 1", "5"],
    );
    refused(3, &["run", "free-rotation", "--set", "inertia=-1,1,1"], &["inertia"]);
    refused(3, &["run", "free-body", "--set", "mass=0"], &["free-body: mass"]);
    refused(3, &["run", "free-rotation", "--set", "attitude=1,0,0,1"], &["must have unit length"]);
    refused(3, &["run", "soft-wall", "--set", "offset=-1"], &["singularity"]);
    refused(
        3,
        &["run", "steady-precession", "--set", "height=0"],
        &["steady-precession: height", "positive"],
    );
    refused(3, &["run", "steady-precession", "--set", "precession=0"], &["steady-precession: precession"]);
    refused(3, &["converge", "free-rotation", "--set", "inertia=1,1,5"], &["inertia"]);
}

#[test]
fn a_failing_solver_says_where() {
    let overflow = ["run", "fast-top", "--method", "forward-euler", "--step", "5", "--until", "2000"];
    refused(4, &overflow, &["overflowed", "good steps"]);
    let hopeless = ["run", "fast-top", "--set", "mgl=1e6", "--step", "2"];
    refused(4, &hopeless, &["Newton's method did not converge", "try a smaller step"]);
    refused(4, &[&hopeless[..], &["--json"]].concat(), &["Newton's method did not converge"]);
}

#[test]
fn files_that_cannot_be_written_are_known_before_the_run() {
    refused(2, &["converge", "free-rotation", "--plot", "order.pdf"], &["must end in .svg", "order.pdf"]);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    // So long a run that a late answer would never come.
    let out = |path: &str, texts: &[&str]| {
        refused(2, &["run", "free-rotation", "--step", "1e-12", "--out", path], texts);
        refused(2, &["converge", "free-rotation", "--steps", "1e-12", "--plot", path], texts);
    };
    out(&at("."), &["it is a directory"]);
    out(&at("none/x.csv"), &["cannot write", "none/x.csv: its folder does not exist"]);
    out(&at("none/"), &["name of a directory"]);
    std::fs::write(at("file"), "mine").unwrap();
    out(&at("file/x.csv"), &["its folder is not a directory"]);
    if cfg!(unix) {
        out("/dev/null", &["not a regular file"]);
    }
    let mut permissions = std::fs::metadata(at("file")).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(at("file"), permissions).unwrap();
    out(&at("file"), &["read-only"]);
    refused(2, &["run", "free-rotation", "--out", ""], &["value"]);
    let path = at("x.csv");
    for every in ["0", "-1", "1.5"] {
        refused(2, &["run", "free-rotation", "--out", &path, "--every", every], &["at least 1"]);
    }
    refused(2, &["run", "free-rotation", "--every", "2"], &["--every is for what is written", "--out FILE"]);
    assert_eq!(names(folder.path()), ["file"]);
    assert_eq!(std::fs::read_to_string(at("file")).unwrap(), "mine");
}

#[test]
fn bad_input_leaves_the_file_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, "mine").unwrap();
    let text = path.to_string_lossy();
    refused(2, &["run", "free-rotation", "--step", "-1", "--out", &text], &["positive"]);
    refused(3, &["run", "free-rotation", "--set", "inertia=1,1,5", "--out", &text], &["inertia"]);
    let overflow = ["run", "fast-top", "--method", "forward-euler", "--step", "0.05", "--out", &text];
    refused(4, &overflow, &["overflowed", "good steps", "nothing was written to"]);
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("mine", 1));
}

#[test]
fn tableau_files_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.toml");
    let id = format!("mkrk:{}", path.display());
    let check = |text: &str, texts: &[&str]| {
        std::fs::write(&path, text).unwrap();
        refused(2, &["methods", &id], texts);
    };
    check("a = [[0]]\nb = [0.9]\n", &["t.toml: ", "add up to 0.9"]);
    check("a = [[0]]\nb = ['1/x']\n", &["'x' is not a number"]);
    check("a = [[true]]\nb = [1]\n", &["line 1", "number, or a fraction in quotes"]);
    check("a = [[0]]\nb = [1]\nc = [0.5]\n", &["row 1 of A adds up to 0"]);
    check("a = [[0]]\nb = [1]\nd = [1]\n", &["line 3", "unknown field `d`"]);
    check("b = [1]\n", &["missing field `a`"]);
    check("a = [[0]\n", &["not a tableau"]);
    refused(2, &["methods", "mkrk:none.toml"], &["cannot read the tableau none.toml"]);
    refused(2, &["methods", "mkrk:0 0 | 1"], &["tableau"]);
    refused(2, &["methods", "mkrk:1/0 | 1"], &["'1/0' is not a finite number"]);
}

#[test]
fn without_a_command_the_help_is_shown() {
    let said = polhode(&[]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("Usage: polhode [OPTIONS] <COMMAND>"));
}
