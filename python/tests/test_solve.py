"""Runs: the same bits as the program, shapes, times, events, failures."""

import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import polhode
import pytest

STEPS = 20


def program(*words: str):
    done = subprocess.run([sys.executable, "-m", "polhode", *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("problem", polhode.problems())
def test_same_bits_as_the_program(problem):
    model = polhode.Model(problem)
    until = STEPS * model.step
    ours = polhode.solve(model, until, columns="*")
    theirs = program("run", problem, "--until", repr(until), "--no-reference", "--json")
    assert ours.steps == theirs["steps"]
    final = theirs
    pairs = [(final, ours)]
    pairs += [(final["bodies"][name], part) for name, part in ours.bodies.items() if "bodies" in final]
    pairs += [(final["joints"][name], part) for name, part in ours.joints.items() if "joints" in final]
    compared = 0
    for said, part in pairs:
        for key, array in part._arrays.items():
            if key in said and said[key] is not None:
                assert np.array_equal(np.ravel(said[key]), np.ravel(array[-1])), (problem, key)
                compared += 1
    assert compared >= 4
    for name, value in theirs["drift"].items():
        assert value is None or ours.drift[name] == value


def test_arrays_are_plain():
    result = polhode.solve("heavy-top", 0.1, step=1e-2, columns="*")
    for array in [result.t, *result._data]:
        assert array.dtype == np.float64 and array.flags.c_contiguous and len(array) == 11
    assert result.success and result.status == 0 and result.nfev > 0
    frame = result.to_pandas()
    assert np.array_equal(frame["omega_body_y"], result.omega_body[:, 1])
    assert result.to_polars().shape == result.to_arrow().shape == (11, frame.shape[1] + 1)
    with pytest.raises(AttributeError, match="omega_body"):
        _ = result.omega


def test_times_between_steps():
    times = np.array([0.0, 0.013, 0.2, 0.5])
    exact = polhode.solve("slow-top", 0.5, method="compose:akw:6", step=1e-3)
    coarse = polhode.solve("slow-top", 0.5, method="compose:akw:6", step=1e-2, t_eval=times, dense_output=True)
    assert np.array_equal(coarse.t, times)
    at = np.rint(times / 1e-3).astype(int)
    assert np.max(np.abs(coarse.q_wxyz - exact.q_wxyz[at])) < 1e-9
    again = coarse.sol([0.5, 0.013, 0.0, 0.2])
    assert np.array_equal(again.q_wxyz, coarse.q_wxyz[[3, 1, 0, 2]])
    system = polhode.solve("double-pendulum", 0.5, step=1e-2, dense_output=True)
    assert np.array_equal(system.sol(system.t).bodies["lower"].position, system.bodies["lower"].position)


def test_events_of_models_and_functions(tmp_path):
    ball = polhode.Model().gravity([0, 0, -9.81]).body("ball", mass=1, inertia=[1, 1, 1], position=[0, 0, 20])
    ball.event("half", "position_z - 10")

    def landing(t, state):
        return state.position[2]

    landing.terminal = True
    landing.direction = -1
    result = polhode.solve(ball, 10, step=0.1, events=landing)
    assert result.status == 1 and "landing" in result.message
    assert abs(result.t[-1] - np.sqrt(40 / 9.81)) < 1e-13
    assert abs(result.events["half"][0] - np.sqrt(20 / 9.81)) < 1e-13
    assert [len(times) for times in result.t_events] == [1, 1]
    assert abs(result.state_events[1][0].position[2]) < 1e-12
    # Files and pages end with the run.
    result.save(tmp_path / "fall.csv")
    rows = np.loadtxt(tmp_path / "fall.csv", delimiter=",", skiprows=1)
    assert len(rows) == len(result.t) and rows[-1, 0] == result.t[-1]
    assert result.report().html.count("</html>") == 1


def test_asked_for_an_error():
    result = polhode.solve("slow-top", 1.0, method="akw", error=1e-6)
    exact = polhode.solve("slow-top", 1.0, method="compose:akw:8", step=1e-3)
    turned = exact.rotation[-1].inv() * result.rotation[-1]
    assert turned.magnitude() < 1e-6


def test_failures_keep_the_run():
    wall = polhode.Model().body("a", mass=1, inertia=[1, 1, 1], position=[1, 0, 0], velocity=[-1, 0, 0])
    wall.load(body="a", force_space=["-1/position_x", 0, 0])
    with pytest.raises(polhode.ConvergenceError) as caught:
        polhode.solve(wall, 5.0, step=0.01)
    failure = caught.value
    assert failure.steps > 10 and failure.state.position[0] > -0.1
    assert not failure.result.success and failure.result.status == -1
    assert failure.result.position.shape == (failure.steps + 1, 3)


def test_bad_calls_are_told():
    for options, error in [
        ({"step": -1}, "step"),
        ({"step": float("nan")}, "step"),
        ({"t_span": (1, 2)}, "t = 0"),
        ({"t_span": float("nan")}, "end"),
        ({"method": "akww"}, "akw"),
        ({"t_eval": [0.2, 0.1]}, "ascend"),
        ({"t_eval": [[0.1]]}, "list"),
        ({"t_eval": [99.0]}, "between"),
        ({"every": 0}, "every"),
        ({"columns": ["omega"]}, "omega_body"),
        ({"error": 1e-3, "step": 1e-3}, "not both"),
        ({"method": "geometric-alpha", "t_eval": ["a"]}, "could not convert"),
    ]:
        with pytest.raises(ValueError, match=error):
            polhode.solve("fast-top", **options)
    with pytest.raises(TypeError, match="steps"):
        polhode.solve("fast-top", steps=3)


def test_interrupts_are_heard():
    """Ctrl-C stops a run that would last for minutes."""

    def press():
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)

    # A shell that starts something in the background may have it ignore this signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    for work in (
        lambda: polhode.solve("fast-top", 1e5, step=1e-3, every=10**6),
        lambda: polhode.converge("fast-top", "akw", steps=[1e-7], until=10),
        lambda: polhode.start("fast-top", step=1e-3).step(n=10**9),
    ):
        thread = threading.Thread(target=press)
        thread.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.monotonic() - began < 0.3 + 0.25
        thread.join()
    signal.signal(signal.SIGINT, before)


def test_progress_is_told():
    seen = []
    polhode.solve("fast-top", 200, step=1e-3, every=10**6, progress=seen.append)
    assert seen and all(0 < share <= 1 for share in seen) and seen == sorted(seen)


def test_files_and_reports(tmp_path):
    import pyarrow.csv
    import pyarrow.parquet

    result = polhode.solve("fast-top", 0.1, step=1e-3)
    frame = result.to_pandas()
    for name in ("top.parquet", "top.npz", "top.csv"):
        result.save(tmp_path / name)
    table = pyarrow.parquet.read_table(tmp_path / "top.parquet")
    archive = np.load(tmp_path / "top.npz")
    text = pyarrow.csv.read_csv(tmp_path / "top.csv")
    assert table.column_names == text.column_names == [name for name in archive.files if name != "metadata"]
    assert len(table) == len(frame) == 101 and "omega_body_x" in table.column_names
    for name in table.column_names:
        expected = (frame.index if name == frame.index.name else frame[name]).to_numpy()
        for found in (table[name].to_numpy(), archive[name], text[name].to_numpy()):
            # To the last bit.
            assert np.array_equal(found.view(np.int64), expected.view(np.int64)), name
    about = json.loads(archive["metadata"].item())
    assert about == json.loads(table.schema.metadata[b"polhode"])
    assert (about["model"], about["method"], about["units"]["omega_body_x"]) == ("fast-top", "imidm", "rad/s")
    assert about["quaternion_order"].startswith("wxyz") and len(about["model_hash"]) == 16
    page = result.report()
    assert page.html.lstrip().lower().startswith("<!doctype html>") and "iframe" in page._repr_html_()
    with pytest.raises(ValueError, match="t_eval"):
        polhode.solve("fast-top", 0.1, t_eval=[0.05]).save(tmp_path / "x.csv")
