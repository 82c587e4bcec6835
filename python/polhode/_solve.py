"""Runs of models, and what they come to."""

from __future__ import annotations

import fnmatch
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _polhode
from ._methods import Method
from ._model import Array, Model, as_model

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from scipy.spatial.transform import Rotation

    from ._report import Report

Event = Callable[[float, _polhode.State], float]
Watching = list[tuple[str, Event, float, bool]]


class Quantity:
    """A quantity that a run can keep."""

    __slots__ = ("column", "components", "index", "key", "kind", "owner", "unit", "usual")

    def __init__(
        self, index: int, kind: str, owner: str, key: str, column: str, unit: str, components: list[str], usual: bool
    ) -> None:
        self.index, self.kind, self.owner, self.key, self.column = index, kind, owner, key, column
        self.unit, self.components, self.usual = unit, components, usual

    @property
    def whole(self) -> str:
        """Its name in files, without the component."""
        if self.kind == "outputs":
            return self.owner
        return f"{self.owner}.{self.column}" if self.owner else self.column

    @property
    def columns(self) -> list[str]:
        """The names of its columns in files."""
        return [f"{self.whole}_{part}" for part in self.components] or [self.whole]

    @property
    def name(self) -> str:
        """Its name as an attribute, with that of its owner: ``q_wxyz``, ``upper.position``."""
        if self.kind == "outputs":
            return self.owner
        return f"{self.owner}.{self.key}" if self.owner else self.key

    def goes_by(self, pattern: str) -> bool:
        """True if a name or pattern means it."""
        return any(fnmatch.fnmatchcase(name, pattern) for name in (self.name, self.whole, *self.columns))


def quantities(model: Model) -> list[Quantity]:
    """What runs of a model can keep."""
    rows, _ = model._known()
    if rows and not isinstance(rows[0], Quantity):
        rows[:] = [Quantity(i, *row) for i, row in enumerate(rows)]
    found: list[Quantity] = rows
    return found


def chosen(all_: list[Quantity], columns: str | Sequence[str] | None) -> list[Quantity]:
    """The quantities that names or patterns ask for; the usual ones if there are none."""
    if columns is None:
        return [q for q in all_ if q.usual]
    patterns = [columns] if isinstance(columns, str) else list(columns)
    found: list[Quantity] = []
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"columns are names, not {type(pattern).__name__}")
        if pattern == "t":
            continue
        mine = [q for q in all_ if q.goes_by(pattern)]
        if not mine:
            names = ", ".join(dict.fromkeys(q.whole for q in all_))
            raise ValueError(f"there is no column '{pattern}'; there are {names}")
        found += [q for q in mine if q not in found]
    return found


def matrices(q: Array) -> Array:
    """Rotation matrices, body to space, of unit quaternions w x y z."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    stacked: Array = np.ascontiguousarray(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))
    return stacked


class Series:
    """Quantities over time, each an attribute: time is the first axis."""

    q_wxyz: Array
    omega_body: Array
    omega_rate: Array
    position: Array
    velocity: Array
    acceleration: Array
    momentum_body: Array
    momentum_space: Array
    linear_momentum_space: Array
    kinetic_energy: Array
    energy: Array
    angle: Array
    distance: Array
    rate: Array
    speed: Array
    force: Array
    moment: Array
    force_axis: Array
    moment_axis: Array
    multipliers: Array

    def __init__(self, what: str, t: Array, arrays: dict[str, Array]) -> None:
        self._what = what
        self.t = t
        self._arrays = arrays

    @property
    def attitude(self) -> Array:
        """Rotation matrices, body to space."""
        return matrices(self.q_wxyz)

    @property
    def rotation(self) -> Rotation:
        """The same as a ``Rotation`` of scipy."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(np.roll(self.q_wxyz, -1, axis=-1))

    @property
    def reaction(self) -> Array:
        """Force and moment of a joint on its second body, in space axes, six numbers."""
        return np.concatenate([self.force, self.moment], axis=-1)

    def __getattr__(self, key: str) -> Array:
        arrays = self.__dict__.get("_arrays", {})
        if key in arrays:
            found: Array = arrays[key]
            return found
        if key.startswith("__"):
            raise AttributeError(key)
        has = ", ".join(arrays) or "nothing"
        raise AttributeError(f"{self.__dict__.get('_what', 'this')} has no '{key}': it has {has}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._arrays]

    def __repr__(self) -> str:
        return f"<{self._what}: {', '.join(self._arrays)}>"


class Motion(Series):
    """Quantities of a model over time: those of the whole, and of its bodies, joints, coordinates and outputs by name."""

    bodies: dict[str, Series]
    joints: dict[str, Series]
    coordinates: dict[str, Series]
    outputs: dict[str, Array]

    def __init__(self, model: Model, kept: list[Quantity], t: Array, data: list[Array]) -> None:
        self.model = model
        self.quantities = kept
        self._data = data
        parts: dict[tuple[str, str], dict[str, Array]] = {}
        self.outputs = {}
        for quantity, array in zip(kept, data, strict=True):
            if quantity.kind == "outputs":
                self.outputs[quantity.owner] = array
            else:
                parts.setdefault((quantity.kind, quantity.owner), {})[quantity.key] = array
        whole = parts.pop(("", ""), {})
        super().__init__(f"the motion of '{model.id}'", t, whole)
        groups: dict[str, dict[str, Series]] = {"bodies": {}, "joints": {}, "coordinates": {}}
        for (kind, owner), arrays in parts.items():
            groups[kind][owner] = Series(f"'{owner}'", t, arrays)
        _, names = model._known()
        if len(names) == 1 and names[0] not in groups["bodies"]:
            groups["bodies"][names[0]] = Series(f"'{names[0]}'", t, whole)
        self.bodies, self.joints, self.coordinates = groups["bodies"], groups["joints"], groups["coordinates"]

    @property
    def columns(self) -> dict[str, Array]:
        """All columns by the names that they have in files."""
        found: dict[str, Array] = {"t": self.t}
        for quantity, array in zip(self.quantities, self._data, strict=True):
            if quantity.components:
                found |= {name: array[:, i] for i, name in enumerate(quantity.columns)}
            else:
                found[quantity.whole] = array
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a frame of pandas, with time as its index."""
        import pandas

        return pandas.DataFrame(self.columns).set_index("t")

    def to_polars(self) -> polars.DataFrame:
        """The columns as a frame of polars."""
        import polars

        return polars.DataFrame({name: np.ascontiguousarray(column) for name, column in self.columns.items()})

    def to_arrow(self) -> pyarrow.Table:
        """The columns as a table of Arrow."""
        import pyarrow

        return pyarrow.table({name: np.ascontiguousarray(column) for name, column in self.columns.items()})


class Solution:
    """The motion at any time of a run: ``sol(t)`` goes through the steps again from the nearest place that was kept and
    interpolates on the group inside a step."""

    def __init__(self, dense: _polhode.Dense, model: Model, kept: list[Quantity]) -> None:
        self._dense, self._model, self._kept = dense, model, kept
        self.t_min, self.t_max = 0.0, dense.t_max

    def __call__(self, t: npt.ArrayLike) -> Motion:
        """The motion at these times."""
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        if times.ndim != 1 or not np.all(np.isfinite(times)):
            raise ValueError("sol takes a time or a list of times, all finite")
        order = np.argsort(times, kind="stable")
        given = self._dense.at(np.ascontiguousarray(times[order]), [q.index for q in self._kept])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        data = [np.ascontiguousarray(array[back]) for array in given["data"]]
        return Motion(self._model, self._kept, times, data)


class Result(Motion):
    """How a run went, after scipy's ``solve_ivp``.

    ``t`` and every quantity as an array with time on the first axis (``q_wxyz``, ``omega_body``, ``energy``, ...);
    ``bodies``, ``joints`` and ``outputs`` by name; ``drift`` the largest drift of each invariant; ``t_events`` and
    ``state_events`` a list for each event, ``events`` the same times by name; ``sol`` if ``dense_output`` was asked for;
    ``status`` 0 at the end, 1 after an event that stops, -1 after a failure.
    """

    def __init__(self, model: Model, kept: list[Quantity], given: Mapping[str, Any], t_eval: bool, watching: Watching) -> None:
        super().__init__(model, kept, given["t"], given["data"])
        self.method: str = given["method"]
        self.step: float = given["step"]
        self.until: float = given["until"]
        self.steps: int = given["steps"]
        self.drift: dict[str, float] = given["drift"]
        self.last: _polhode.State = given["last"]
        found = given["events"]
        self.events: dict[str, Array] = {name: times for name, (times, _) in found.items()}
        self.t_events: list[Array] = [times for times, _ in found.values()]
        self.state_events: list[list[_polhode.State]] = [states for _, states in found.values()]
        solves, iterations, jacobians, retries = given["work"]
        #: Residuals that Newton's method computed; an explicit method needs none.
        self.nfev: int = solves + iterations
        #: Jacobians, each of which is factorized once.
        self.njev: int = jacobians
        self.nlu: int = jacobians
        self.retries: int = retries
        stopped: str | None = given["stopped"]
        self.status: int = 1 if stopped else 0
        self.success = True
        self.message = f"stopped by the event '{stopped}'" if stopped else "reached the end time"
        dense: _polhode.Dense | None = given.get("dense")
        self.sol: Solution | None = dense and Solution(dense, model, kept)
        self._t_eval = t_eval
        self._watching = watching

    def _again(self) -> list[str]:
        """The words of the program for the same run."""
        if self._t_eval:
            raise ValueError("this run was kept at times of its own (t_eval); solve without them, or use to_pandas()")
        words = ["run", "-", "--method", self.method, "--step", repr(self.step), "--until", repr(self.until)]
        return [*words, "--no-reference", "--json"]

    def save(self, path: str | os.PathLike[str], *, every: int = 1) -> None:
        """Writes the run to a file as ``polhode run --out`` does, by the name: .csv, .npz, .parquet or .mcap. The run is
        made again for it, which gives the same bits."""
        words = [*self._again(), "--out", os.fspath(path), "--every", str(every)]
        _polhode.command(self.model._native(), words, self._watching)

    def report(self, path: str | os.PathLike[str] | None = None) -> Report:
        """A page with the motion in 3-D, curves and drift: written to a file if there is a path, and shown in a
        notebook."""
        from ._report import Report

        return Report.of(self.model, self._again(), self._watching, path)

    def plot(self, columns: str | Sequence[str] | None = None) -> Any:
        """A figure of matplotlib with these quantities over time; attitude, rates and energy if none are named."""
        from . import _plot

        return _plot.plot(self, columns)

    def plot_invariants(self) -> Any:
        """A figure of matplotlib with the change of energy and momenta over time."""
        from . import _plot

        return _plot.plot_invariants(self)

    def animate(self, *, seconds: float | None = None, frames: int = 200) -> Any:
        """An animation of matplotlib of the bodies as their axes, ``seconds`` long."""
        from . import _plot

        return _plot.animate(self, seconds, frames)

    def __repr__(self) -> str:
        return (
            f"<polhode.Result of '{self.model.id}' under {self.method}: {self.steps} steps of {self.step} s, "
            f"{len(self.t)} rows, {self.message}>"
        )


def _end(model: Model, t_span: float | Sequence[float] | None) -> float:
    if t_span is None:
        if model.until is None:
            raise ValueError(f"'{model.id}' says no end time: give t_span, or `until` under [run] in the file")
        return model.until
    span = np.asarray(t_span, dtype=np.float64)
    if span.shape not in ((), (2,)):
        raise ValueError(f"t_span is an end time or (0, end), got {t_span!r}")
    if span.shape == (2,) and span[0] != 0.0:
        raise ValueError(f"runs start at t = 0, the time of the initial values: t_span must be (0, end), got {t_span!r}")
    return float(span.ravel()[-1])


def _step(model: Model, step: float | None) -> float:
    found = model.step if step is None else float(step)
    if found is None:
        raise ValueError(f"'{model.id}' says no step: give step or error, or `step` under [run] in the file")
    return found


def _watching(events: Event | Sequence[Event] | Mapping[str, Event] | None) -> Watching:
    if events is None:
        return []
    if callable(events):
        events = [events]
    if isinstance(events, Mapping):
        named = list(events.items())
    else:
        named = [(getattr(event, "__name__", "event"), event) for event in events]
    found: Watching = []
    for i, (name, event) in enumerate(named):
        if not callable(event):
            raise TypeError("an event is a function of time and state; expressions belong into the model: model.event(...)")
        if name in [other for other, *_ in found]:
            name = f"{name}_{i}"
        direction = float(getattr(event, "direction", 0.0))
        found.append((str(name), event, direction, bool(getattr(event, "terminal", False))))
    return found


def _shown() -> Callable[[float], None]:
    """Shows progress on the terminal."""
    last = 0.0

    def show(share: float) -> None:
        nonlocal last
        if time.monotonic() - last > 0.2:
            last = time.monotonic()
            sys.stderr.write(f"\r{share:6.1%}")
            sys.stderr.flush()

    return show


def solve(
    model: Model | str | os.PathLike[str] | Mapping[str, Any],
    t_span: float | Sequence[float] | None = None,
    *,
    method: Method | str | None = None,
    step: float | None = None,
    error: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    dense_output: bool = False,
    events: Event | Sequence[Event] | Mapping[str, Event] | None = None,
    columns: str | Sequence[str] | None = None,
    progress: bool | Callable[[float], object] | None = None,
    every: int = 1,
    budget: float = 60.0,
) -> Result:
    """Runs a model, after scipy's ``solve_ivp``.

    The end time, the method and the step are those of the model unless they are given; with ``error`` the step is found
    whose error along the run is at most this (angles in rad, positions relative to the motion), within ``budget`` seconds.

    The result has a row for every step (``every`` so many of them), or for each time of ``t_eval``, by interpolation on
    the group inside a step. ``columns`` names what is kept: quantities as ``omega_body``, columns, patterns as
    ``upper.*``; ``*`` keeps all.

    Events of the model are looked for, and functions of time and state with the attributes ``terminal`` and
    ``direction``. ``progress`` is called with the share that is done, or True to show it.

    A step that cannot be computed raises ``ConvergenceError``, with the run up to there as its ``result``.

    >>> import polhode
    >>> top = polhode.solve("fast-top", 1.0, method="akw", step=1e-3)
    >>> top.q_wxyz.shape, bool(top.drift["energy"] < 1e-10)
    ((1001, 4), True)
    """
    model = as_model(model)
    native = model._native()
    until = _end(model, t_span)
    id_ = str(method) if method is not None else model.method
    if error is not None:
        if step is not None:
            raise ValueError("give step or error, not both")
        error, budget = float(error), float(budget)
        if not (0.0 < error < np.inf and 0.0 < budget < np.inf):
            raise ValueError(f"error and budget must be positive and finite, got {error} and {budget}")
        step = _polhode.step_for_error(native, id_, until, error, budget)
    step = _step(model, step)
    if isinstance(every, bool) or int(every) != every or every < 1:
        raise ValueError(f"every must be a whole number of steps, at least 1, got {every}")
    times = None
    if t_eval is not None:
        times = np.ascontiguousarray(t_eval, dtype=np.float64)
        if times.ndim != 1 or not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0):
            raise ValueError("t_eval must be a list of finite times that ascend")
        if times.size and not (times[0] >= 0 and times[-1] <= until):
            raise ValueError(f"t_eval must lie between 0 and {until}, got {times[0]} to {times[-1]}")
    kept = chosen(quantities(model), columns)
    watching = _watching(events)
    show = _shown() if progress is True else progress or None
    try:
        given = _polhode.solve(
            native, id_, step, until, [q.index for q in kept], int(every), times, bool(dense_output), watching, show
        )
    except _polhode.ConvergenceError as failure:
        if isinstance(failure.result, dict):
            result = Result(model, kept, failure.result, times is not None, watching)
            result.status, result.success, result.message = -1, False, str(failure)
            failure.result = result
        raise
    finally:
        if progress is True:
            sys.stderr.write("\r       \r")
    return Result(model, kept, given, times is not None, watching)
