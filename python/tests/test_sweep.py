"""Sweeps: the same bytes wherever they are computed, and after whatever ends them."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import polhode
import pytest
from polhode import _sweep

VARY = {"mgl": {"uniform": [10, 20]}, "omega_body_z": [40.0, 50.0]}


def plan(**options):
    given = {"runs": 40, "until": 0.05, "step": 1e-3, "keep": ["omega_body_x", "drift"], "seed": 3} | options
    return polhode.plan("fast-top", VARY, **given)


@pytest.fixture(scope="module")
def bytes_of_one(tmp_path_factory):
    out = tmp_path_factory.mktemp("one")
    polhode.sweep(plan(), out=out, threads=1)
    return (out / "table.parquet").read_bytes()


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("how", ["threads", "pool of threads", "processes"])
def test_same_bytes(tmp_path, bytes_of_one, chunk, how):
    make = {"threads": None, "pool of threads": lambda: ThreadPoolExecutor(2), "processes": lambda: ProcessPoolExecutor(2)}[how]
    if how == "processes" and chunk == 1:
        pytest.skip("slow, and the same as chunks of 7")
    result = polhode.sweep(plan(), make, out=tmp_path, chunk=chunk, threads=2)
    assert result.ok == 40 and result.table.read_bytes() == bytes_of_one


def test_same_bytes_as_the_program(tmp_path):
    table = tmp_path / "table.parquet"
    vary = ["--vary", "mgl=uniform:10,20", "--runs", "30", "--seed", "3", "--until", "0.05", "--keep", "omega_body_x,drift"]
    words = ["sweep", "fast-top", *vary, "--out", str(table)]
    subprocess.run([sys.executable, "-m", "polhode", *words], check=True, capture_output=True)
    made = polhode.plan("fast-top", {"mgl": {"uniform": [10, 20]}}, runs=30, seed=3, until=0.05, keep=["omega_body_x", "drift"])
    assert polhode.sweep(made, out=tmp_path / "out", chunk=7).table.read_bytes() == table.read_bytes()


def test_columns_without_a_folder():
    result = polhode.sweep(plan())
    assert result.table is None and list(result.columns["run"]) == list(range(40))
    one = polhode.Model("fast-top", mgl=result.columns["mgl"][5], omega_body=[0, 0, result.columns["omega_body_z"][5]])
    assert polhode.solve(one, 0.05, step=1e-3).omega_body[-1, 0] == result.columns["omega_body_x"][5]
    assert set(result.columns["status"]) == {"ok"}


def test_going_on(tmp_path, bytes_of_one):
    polhode.sweep(plan(), out=tmp_path, chunk=7)
    chunks = sorted((tmp_path / "chunks").glob("*.chunk"))
    chunks[0].unlink()
    chunks[1].write_bytes(chunks[1].read_bytes()[:-9])
    chunks[2].write_bytes(b"something else")
    before = chunks[3].stat().st_mtime_ns
    result = polhode.sweep(plan(), out=tmp_path, chunk=7)
    assert result.table.read_bytes() == bytes_of_one and chunks[3].stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="another plan"):
        polhode.sweep(plan(seed=4), out=tmp_path)
    with pytest.raises(ValueError, match="resume"):
        polhode.sweep(plan(), out=tmp_path, resume=False)


def poisoned(made, hash_, first, last, folder, ticket):
    """A worker that the run 11 kills."""
    if first <= 11 < last:
        os.kill(os.getpid(), signal.SIGKILL)
    return _sweep._compute(made, hash_, first, last, folder, ticket)


def test_a_run_that_kills_its_worker_is_a_row(tmp_path, monkeypatch, bytes_of_one):
    class Poisoned(ProcessPoolExecutor):
        def submit(self, function, /, *args):
            return super().submit(poisoned, *args)

    result = polhode.sweep(plan(), lambda: Poisoned(2), out=tmp_path, chunk=10, table=tmp_path / "table.csv")
    assert result.ok == 39 and result.failed == 1
    rows = (tmp_path / "table.csv").read_text().splitlines()
    assert len(rows) == 41 and "worker" in rows[12] and all(row.endswith("ok") for row in rows[1:12] + rows[13:])
    with pytest.raises(polhode.EngineLost, match="resume=True"):
        polhode.sweep(plan(), Poisoned(2), out=tmp_path / "again", chunk=40)


def test_executors_that_never_work_are_given_up(tmp_path):
    class Broken(ThreadPoolExecutor):
        def submit(self, function, /, *args):
            raise BrokenExecutor("nobody is there")

    with pytest.raises(polhode.EngineLost, match="one after the other"):
        polhode.sweep(plan(), Broken, out=tmp_path)
    with pytest.raises(TypeError, match="submit"):
        polhode.sweep(plan(), "dask", out=tmp_path)


def test_an_executor_that_hears_no_farewell_is_told_as_lost(tmp_path, bytes_of_one):
    """As a client of Dask whose scheduler has ended: what was under way is cancelled, and cancelling fails."""

    class Gone(Future):
        def cancel(self):
            raise OSError("the line is closed")

    class Deaf(ThreadPoolExecutor):
        def submit(self, function, /, *args):
            future = Gone()
            if args[2] == 0:
                future.set_exception(CancelledError("reason: unknown"))
            return future

        def shutdown(self, *args, **options):
            raise OSError("the line is closed")

    with pytest.raises(polhode.EngineLost, match="reason: unknown.*resume=True"):
        polhode.sweep(plan(), Deaf(2), out=tmp_path / "one", chunk=7)
    # A function that makes executors goes on with the next one.
    made = iter([Deaf, Deaf])
    result = polhode.sweep(plan(), lambda: next(made, ThreadPoolExecutor)(2), out=tmp_path / "more", chunk=7)
    assert result.failed == 0 and result.table.read_bytes() == bytes_of_one


def ended_once(made, hash_, first, last, folder, ticket):
    """A worker that is killed from outside, once."""
    flag = os.path.join(folder, "killed")
    if first >= 14 and not os.path.exists(flag):
        open(flag, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    # Long enough to be under way when the next ones are handed out.
    time.sleep(0.1)
    return _sweep._compute(made, hash_, first, last, folder, ticket)


def test_a_worker_that_dies_costs_its_chunk(tmp_path, bytes_of_one):
    most = []

    class Once(ProcessPoolExecutor):
        def submit(self, function, /, *args):
            future = super().submit(ended_once, *args)
            under_way.append(future)
            most.append(sum(not future.done() for future in under_way))
            return future

    under_way = []
    result = polhode.sweep(plan(), lambda: Once(2), out=tmp_path, chunk=2, in_flight=3)
    assert result.failed == 0 and result.table.read_bytes() == bytes_of_one
    # Never more than asked for, and as many again when the suspects are cleared.
    assert max(most) == 3 and max(most[-4:]) > 1


@pytest.mark.parametrize("error", [ImportError("no polhode"), ValueError("no model"), OSError("disk full")])
def test_trouble_that_no_run_has_made_is_told(tmp_path, error):
    class Troubled(ThreadPoolExecutor):
        def submit(self, function, /, *args):
            def fail():
                raise error

            return super().submit(fail)

    with pytest.raises(type(error), match=str(error)):
        polhode.sweep(plan(), Troubled, out=tmp_path, chunk=7)


def test_failing_runs_are_rows():
    wall = polhode.Model().body("a", mass=1, inertia=[1, 1, 1], position=[1, 0, 0], velocity=["-v", 0, 0]).parameter("v", 1)
    wall.load(body="a", force_space=["log(position_x)", 0, 0])
    made = polhode.plan(wall, {"v": [0.1, 5.0, -9.0]}, until=0.5, step=0.01, keep="position_x")
    result = polhode.sweep(made)
    assert (result.ok, result.failed) == (2, 1)
    assert np.isnan(result.columns["position_x"][result.columns["status"] != "ok"]).all()


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="mgl"):
        polhode.plan("fast-top", {"mgll": {"uniform": [1, 2]}}, runs=3)
    with pytest.raises(ValueError, match="chunk"):
        polhode.sweep(plan(), chunk=0)
    model = polhode.Model("fast-top")
    model.load(body=model.bodies[0], function=lambda t, m: [0, 0, 0], slopes="none")
    with pytest.raises(ValueError, match="functions"):
        polhode.plan(model, runs=3)
    import dataclasses

    other = dataclasses.replace(plan(), version="0.0.0")
    with pytest.raises(polhode.Mismatch, match="same version"):
        polhode.sweep(other)
