"""The package itself: ids of methods, types, documentation, strange calls, threads, memory, speed."""

import doctest
import os
import random
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polhode
import pytest
from polhode import _polhode

HERE = Path(__file__).parent
SOURCE = HERE.parent / "polhode"
SCRIPTS = [str(HERE.parent / folder) for folder in ("gallery", "comparison")]


def ids() -> str:
    """The file of the ids of methods, as the registry has them."""
    single, systems = _polhode.methods()

    def ids_of(name: str, list_: list[str]) -> str:
        return f"{name} = Literal[\n" + "".join(f'    "{id_}",\n' for id_ in list_) + "]\n"

    return (
        '"""The ids of methods, as the registry of the library has them (written by a test)."""\n\n'
        "from typing import Literal, get_args\n\n"
        f"{ids_of('BodyMethod', single)}\n{ids_of('SystemMethod', systems)}\n"
        "Method = Literal[BodyMethod, SystemMethod]\n\n"
        "METHODS: list[str] = list(get_args(BodyMethod))\n"
        "SYSTEM_METHODS: list[str] = list(get_args(SystemMethod))\n"
    )


def test_ids_of_methods():
    path = SOURCE / "_methods.py"
    if os.environ.get("POLHODE_WRITE_PAGES"):
        path.write_text(ids())
    assert path.read_text() == ids(), "POLHODE_WRITE_PAGES=1 writes it"


def test_examples_in_the_documentation():
    for name in ("", "._model", "._solve", "._run", "._tools"):
        module = __import__(f"polhode{name}", fromlist=["x"])
        failed, tried = doctest.testmod(module)
        assert failed == 0, name
    assert tried > 0


@pytest.mark.parametrize(
    "words",
    [
        ["mypy.stubtest", "polhode._polhode", "--allowlist", str(HERE / "stubtest.txt")],
        ["mypy", "--strict", "-p", "polhode"],
        ["mypy", "--strict", *SCRIPTS],
        ["pyright", "--pythonpath", sys.executable, *SCRIPTS],
    ],
    ids=["stubtest", "mypy of the package", "mypy of scripts", "pyright of scripts"],
)
def test_types(words):
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=HERE.parent.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def strange(rng: random.Random):
    """An argument that nobody should give."""
    return rng.choice(
        [None, -1, 0, 1, 1e308, float("nan"), float("inf"), "", "akw", "x" * 50, b"bytes", [], [1, 2, 3], {}, {"a": 1}]
        + [(0, 0.01), object(), np.zeros((2, 2)), np.array([]), True, lambda *a: None, 2**70, 1j]
    )


def test_strange_calls_never_abort():
    """Every call returns or raises; the interpreter goes on."""
    rng = random.Random(0)
    calls = int(os.environ.get("POLHODE_FUZZ", "3000"))
    names = ["t_span", "method", "step", "t_eval", "dense_output", "columns", "every", "error", "events"]
    raised = 0
    for _ in range(calls):
        options = {name: strange(rng) for name in rng.sample(names, rng.randint(0, 2))}
        # Short runs: what is fuzzed is the call.
        options = {"t_span": 0.002, "step": 1e-3, "budget": 0.01} | options
        if any(options[name] is True or type(options[name]) is int for name in ("t_span", "step")):
            continue
        model = rng.choice(["fast-top", "four-bar", strange(rng)])
        try:
            if rng.random() < 0.5:
                polhode.solve(model, **options)
            else:
                polhode.start(model, step=strange(rng), method=strange(rng)).step(n=1, h=strange(rng))
        except (ValueError, TypeError, RuntimeError, OverflowError, AttributeError):
            raised += 1
    assert raised > calls // 4


def test_calls_leak_nothing():
    def memory() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    top = polhode.Model("fast-top")
    rounds = int(os.environ.get("POLHODE_CALLS", "4000"))

    def work():
        for _ in range(rounds // 4):
            polhode.solve(top, 0.002, step=1e-3)
            run = polhode.start(top, step=1e-3)
            run.step()
            _ = run.state.q_wxyz

    work()
    before = memory()
    for _ in range(3):
        work()
    assert memory() - before < 4 << 20


def test_runs_let_go_of_the_interpreter():
    """While a run is at work in one thread, another one goes on."""
    work = threading.Thread(target=lambda: polhode.solve("fast-top", 1000, step=1e-3, every=10**6))
    work.start()
    turns = 0
    while work.is_alive():
        time.sleep(1e-3)
        turns += 1
    assert turns > 20


@pytest.mark.skipif("POLHODE_LONG" not in os.environ, reason="needs two cores for itself: POLHODE_LONG=1")
def test_threads_run_side_by_side():
    """Two runs at once take the time of one."""

    def one():
        polhode.solve("fast-top", 2000, step=1e-3, every=10**6)

    def best(work):
        found = []
        for _ in range(3):
            began = time.perf_counter()
            work()
            found.append(time.perf_counter() - began)
        return min(found)

    def two():
        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert best(two) < 1.1 * best(one)
