"""Many runs of one model: in this process, or by the workers of any executor."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _polhode
from ._methods import Method
from ._model import Model, as_model
from ._tools import Answer, Source

#: How often a chunk is tried before it is taken apart, or its trouble told.
_TRIES = 2
#: How many executors may break one after the other.
_MOST_BROKEN = 100


class Mismatch(RuntimeError):
    """Those that compute a sweep have different versions of the package, or see different models."""


class EngineLost(RuntimeError):
    """The executor of a sweep is gone; what was computed is kept, and the sweep can be gone on with."""


@dataclass(frozen=True)
class Plan:
    """What a sweep computes, to the last number: whoever has it computes any of its runs to the same bytes.

    It is plain data that can be sent anywhere: the text of the model and what is asked for.
    """

    name: str
    text: str
    set: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    runs: int | None = None
    seed: int | None = None
    sampling: str | None = None
    keep: tuple[str, ...] = ()
    method: str | None = None
    step: float | None = None
    until: float | None = None
    limit: float | None = None
    cases: str | None = None
    folder: str = "."
    version: str = field(default=_polhode.__version__)

    def native(self) -> _polhode.SweepPlan:
        """The plan, made by the library."""
        if self.version != _polhode.__version__:
            raise Mismatch(
                f"the plan was made by polhode {self.version} and this is polhode {_polhode.__version__}: all that compute a "
                "sweep must have the same version"
            )
        return _polhode.SweepPlan(
            self.name,
            self.text,
            self.folder,
            set=list(self.set),
            vary=list(self.vary),
            cases=self.cases,
            runs=self.runs,
            seed=self.seed,
            sampling=self.sampling,
            keep=list(self.keep),
            method=self.method,
            step=self.step,
            until=self.until,
            limit=self.limit,
        )


def _how(name: str, given: Any) -> str:
    """``--vary`` from a dict, a list of values, or a text."""
    if isinstance(given, str):
        return f"{name}={given}"
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise ValueError(f"vary['{name}'] takes one of uniform, normal, log-uniform, grid, list; got {list(given)}")
        ((kind, numbers),) = given.items()
        return f"{name}={str(kind).replace('_', '-')}:{','.join(repr(float(x)) for x in numbers)}"
    return f"{name}=list:{','.join(repr(float(x)) for x in given)}"


def plan(
    model: Source,
    vary: Mapping[str, Any] | None = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    sampling: str | None = None,
    keep: str | Sequence[str] | None = None,
    method: Method | str | None = None,
    step: float | None = None,
    until: float | None = None,
    limit: float | None = None,
    cases: str | os.PathLike[str] | None = None,
) -> Plan:
    """A plan: what varies as in ``{"mass": {"uniform": [1, 2]}}`` (``normal``, ``log-uniform``, ``grid``, ``list``), how
    many ``runs``, from which ``seed``, and what to ``keep`` of each: ``final``, ``outputs``, ``extremes``, ``means``,
    ``events``, ``drift``, columns as ``omega_body_x`` or ``max(energy)``. What is left out is as the table ``[sweep]`` of
    the model has it.

    >>> import polhode
    >>> tops = polhode.plan("fast-top", {"mgl": {"uniform": [10, 20]}}, runs=8, until=0.1, keep=["omega_body_x"])
    >>> polhode.sweep(tops).ok
    8
    """
    source = as_model(model)
    if source._functions:
        raise ValueError("a sweep takes models that are text; loads by Python functions cannot be sent elsewhere")
    native = source._native()
    made = Plan(
        name=source.id,
        text=source.text if not source._found else native.text,
        set=tuple(f"{name}={text}" for name, text in source._sets),
        vary=tuple(_how(name, given) for name, given in (vary or {}).items()),
        runs=runs,
        seed=seed,
        sampling=sampling,
        keep=(keep,) if isinstance(keep, str) else tuple(keep or ()),
        method=str(method) if method is not None else source._run.get("method"),
        step=step if step is not None else source._run.get("step"),
        until=until if until is not None else source._run.get("until"),
        limit=limit,
        cases=None if cases is None else os.path.abspath(cases),
        folder=os.path.abspath(source._folder),
    )
    made.native()
    return made


def _compute(made: Plan, hash_: str, first: int, last: int, folder: str, ticket: str) -> bytes | None:
    """What a worker does: a chunk, in its folder if that is seen from here, else sent back.

    No two calls have the same ticket.
    """
    del ticket
    native = made.native()
    if native.hash != hash_:
        raise Mismatch(f"the plan is {native.hash} here and {hash_} where it was made: models or programs differ")
    name = _name(first, last)
    if Path(folder, f"{hash_}.plan").is_file():
        native.compute(first, last, os.path.join(folder, name), 1)
        return None
    with tempfile.TemporaryDirectory() as own:
        path = Path(own, name)
        native.compute(first, last, os.fspath(path), 1)
        return path.read_bytes()


def _name(first: int, last: int) -> str:
    return f"{first}-{last}.chunk"


class Sweep(Answer):
    """What a sweep has come to: the summary that ``polhode sweep --json`` prints.

    ``table`` is the place of the table, if it has one; without a folder, ``columns`` has its columns as arrays.
    """

    table: Path | None
    columns: dict[str, Any]


@dataclass
class _Work:
    """A chunk that is to be computed: its runs, how often that failed, and whether it is under way by itself."""

    first: int
    last: int
    tries: int = 0
    alone: bool = False

    @property
    def name(self) -> str:
        return _name(self.first, self.last)


def _ranges(runs: int, chunk: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + chunk, runs)) for first in range(0, runs, chunk))


def _workers(executor: Any) -> int:
    """How many chunks an executor computes at once, as far as it says so."""
    if hasattr(executor, "nthreads"):
        return max(1, int(sum(executor.nthreads().values())))
    # Those of MPI and of the standard library.
    known = getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None)
    return known if isinstance(known, int) else 2 * (os.cpu_count() or 1)


def _told(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _quietly(farewell: Callable[..., object], **options: Any) -> None:
    """An executor that is gone may not hear a farewell; that must not hide what has happened, nor end what goes on."""
    with suppress(Exception):
        farewell(**options)


class _Driver:
    """Chunks on their way through an executor, so many at a time.

    What a worker took with it is under suspicion: it is tried again with nothing else under way, then in halves, so that
    the run that ends its worker is found and no other is blamed for it.
    """

    def __init__(
        self,
        made: Plan,
        native: _polhode.SweepPlan,
        folder: Path,
        executor: Executor | Callable[[], Executor],
        in_flight: int | None,
        progress: Callable[[float], object] | None,
    ) -> None:
        self.made, self.native, self.folder = made, native, folder
        self.make: Callable[[], Executor] | None = None
        if not isinstance(executor, type) and hasattr(executor, "submit"):
            self.executor: Any = executor
        elif callable(executor):
            self.make = executor
            self.executor = executor()
        else:
            raise TypeError(f"an executor has the method submit, or is a function that makes one; got {executor!r}")
        self.in_flight = max(1, in_flight if in_flight is not None else 2 * _workers(self.executor))
        self.progress = progress
        self.done = 0
        self.broken = 0
        self.futures: dict[Any, _Work] = {}
        self.again: list[_Work] = []
        self.suspects: list[_Work] = []

    def run(self, ranges: Iterator[tuple[int, int]], total: int) -> None:
        fresh = (_Work(first, last) for first, last in ranges)
        try:
            while True:
                while (work := self._next(fresh)) is not None:
                    if self.native.has(os.fspath(self.folder / work.name), work.first, work.last):
                        self._count(work, total)
                    else:
                        self._submit(work)
                if not self.futures:
                    return
                for future in self._finished():
                    # What was lost with a broken executor is no longer among them.
                    if (work := self.futures.pop(future, None)) is not None:
                        self._take(work, future, total)
        finally:
            for future in self.futures:
                _quietly(future.cancel)
            if self.make is not None:
                _quietly(self.executor.shutdown, wait=False, cancel_futures=True)

    def _next(self, fresh: Iterator[_Work]) -> _Work | None:
        """What may go on its way now; a suspect only by itself."""
        if self.suspects:
            return None if self.futures else self.suspects.pop()
        if len(self.futures) >= self.in_flight or any(work.alone for work in self.futures.values()):
            return None
        return self.again.pop() if self.again else next(fresh, None)

    def _submit(self, work: _Work) -> None:
        work.alone = not self.futures and work.tries > 0
        # Engines that remember results, as Dask does, must not take one call for another: each has its own ticket.
        ticket = os.urandom(8).hex()
        try:
            future = self.executor.submit(
                _compute, self.made, self.native.hash, work.first, work.last, os.fspath(self.folder), ticket
            )
            self.futures[future] = work
        except Exception as error:
            # It broke after it was last looked at, by another chunk.
            self.again.append(work)
            self._lost(error)

    def _finished(self) -> list[Any]:
        if isinstance(next(iter(self.futures)), Future):
            return list(wait(self.futures, return_when=FIRST_COMPLETED, timeout=0.5).done)
        ready = [future for future in self.futures if future.done()]
        if not ready:
            time.sleep(0.01)
        return ready

    def _take(self, work: _Work, future: Any, total: int) -> None:
        try:
            self._keep(work, future.result())
            self._count(work, total)
        except (BrokenExecutor, CancelledError) as error:
            self.futures[future] = work
            self._lost(error)
        except (_polhode.ModelError, ValueError, TypeError, AttributeError, ImportError, Mismatch):
            # The same wherever it is tried.
            raise
        except OSError:
            # The folder or the line of one worker, which another may do without.
            work.tries += 1
            if work.tries > _TRIES:
                raise
            self.again.append(work)
        except Exception as error:
            self._apart(work, error)

    def _keep(self, work: _Work, found: bytes | None) -> None:
        place = self.folder / work.name
        if found is not None:
            draft = place.with_suffix(f".{os.getpid()}.draft")
            draft.write_bytes(found)
            os.replace(draft, place)
        if not self.native.has(os.fspath(place), work.first, work.last):
            raise OSError(f"the runs {work.first} to {work.last - 1} came back damaged")
        self.broken = 0

    def _count(self, work: _Work, total: int) -> None:
        self.done += work.last - work.first
        if self.progress is not None:
            self.progress(self.done / total)

    def _lost(self, error: Exception) -> None:
        """The executor is gone, with all that was under way: another one, if there is a way to one."""
        if self.make is None:
            raise EngineLost(
                f"the executor is gone ({_told(error)}): a worker has taken it along, or its scheduler has ended. What was "
                "computed is kept: call again with resume=True and another executor; a function that makes one, as in "
                "executor=ProcessPoolExecutor, is called by itself"
            ) from error
        self.broken += 1
        if self.broken > _MOST_BROKEN:
            raise EngineLost(f"{self.broken} executors have broken one after the other without a result") from error
        lost = list(self.futures.values())
        self.futures.clear()
        _quietly(self.executor.shutdown, wait=False, cancel_futures=True)
        self.executor = self.make()
        for work in lost:
            self._apart(work, error, len(lost) == 1)

    def _apart(self, work: _Work, error: Exception, by_itself: bool = False) -> None:
        """A chunk whose worker has ended: once more by itself, then in halves; one run that ends it again is a row."""
        work.tries += 1
        if not (work.alone or by_itself) or work.tries < _TRIES:
            self.suspects.append(work)
        elif work.last - work.first > 1:
            middle = (work.first + work.last) // 2
            self.suspects += [_Work(middle, work.last, 1), _Work(work.first, middle, 1)]
        else:
            self.native.give_up(work.first, f"worker: {_told(error)}", os.fspath(self.folder / work.name))
            self.again.append(work)


def sweep(
    plan: Plan | Model | str | os.PathLike[str] | Mapping[str, Any],
    executor: Executor | Callable[[], Executor] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    resume: bool = True,
    threads: int | None = None,
    in_flight: int | None = None,
    table: str | os.PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Sweep:
    """Computes a sweep.

    Without an executor the threads of this process do it. Any ``concurrent.futures.Executor`` does it elsewhere: a pool of
    processes, ``mpi4py.futures``, the client of Dask or its ``get_executor()``, ``polhode.ray.Workers()``; a function that makes one (as the class
    ``ProcessPoolExecutor``) is called again when a worker has taken its pool with it.

    ``out`` is a folder for chunks of rows and for the table; a sweep that was ended there goes on with ``resume``. Chunks are
    files that are whole or not there, so that work that is done twice counts once, and the table has the same bytes
    whoever computed it. ``in_flight`` bounds how many chunks are under way, two for each worker unless it is said. A run that
    ends its worker is a row with that as its status; where the executor itself is gone, ``EngineLost`` is raised.
    """
    made = plan if isinstance(plan, Plan) else _plan_of(plan)
    native = made.native()
    chunk = native.usual_chunk if chunk is None else int(chunk)
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1, got {chunk}")
    place = Path(tempfile.mkdtemp(prefix="polhode-sweep-")) if out is None else Path(out)
    try:
        folder = place / "chunks"
        if folder.exists() and not resume:
            raise ValueError(f"{folder} is there already: give another folder, or resume=True to go on")
        folder.mkdir(parents=True, exist_ok=True)
        others = [path.stem for path in folder.glob("*.plan") if path.stem != native.hash]
        if others:
            raise ValueError(f"{place} holds a sweep of another plan ({others[0]}, not {native.hash}); give another folder")
        (folder / f"{native.hash}.plan").touch()
        if executor is None:
            _here(native, folder, chunk, threads, progress)
        else:
            _Driver(made, native, folder, executor, in_flight, progress).run(_ranges(native.runs, chunk), native.runs)
        parts = _cover(list(folder.glob("*.chunk")), native)
        target = Path(table) if table is not None else place / ("table.csv" if out is None else "table.parquet")
        summary = _polhode.merge([os.fspath(path) for path in parts], os.fspath(target))
        result = Sweep(vars(json.loads(summary, object_pairs_hook=Answer)).items())
        result.table = None if out is None and table is None else target
        result.columns = _read(target) if result.table is None else {}
        return result
    finally:
        if out is None:
            shutil.rmtree(place, ignore_errors=True)


def _plan_of(source: Source) -> Plan:
    return plan(source)


def _here(
    native: _polhode.SweepPlan, folder: Path, chunk: int, threads: int | None, progress: Callable[[float], object] | None
) -> None:
    count = threads if threads is not None else os.cpu_count() or 1
    for first, last in _ranges(native.runs, chunk):
        path = os.fspath(folder / _name(first, last))
        if not native.has(path, first, last):
            native.compute(first, last, path, count)
        if progress is not None:
            progress(last / native.runs)


def _cover(parts: list[Path], native: _polhode.SweepPlan) -> list[Path]:
    """Chunks that have every run once: those of another size, from before, may stand beside them."""
    spans = sorted((tuple(int(x) for x in path.stem.split("-")), path) for path in parts)
    # From the end on: what leads to it from each run.
    onward: dict[int, list[Path]] = {native.runs: []}
    for (first, last), path in reversed(spans):
        if last in onward and first not in onward and native.has(os.fspath(path), first, last):
            onward[first] = [path, *onward[last]]
    if 0 not in onward:
        raise RuntimeError(f"runs before {min(onward)} are missing; call again with resume=True")
    return onward[0]


def _read(path: Path) -> dict[str, Any]:
    """The columns of a table in CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        cells = list(zip(*rows, strict=True)) or [()] * len(names)
    found: dict[str, Any] = {}
    for name, column in zip(names, cells, strict=True):
        if name == "status":
            found[name] = np.array(column)
        else:
            found[name] = np.array([float(cell) if cell else np.nan for cell in column])
    return found
