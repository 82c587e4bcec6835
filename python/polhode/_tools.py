"""What the other commands of the program do."""

from __future__ import annotations

import csv
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _polhode
from ._methods import Method
from ._model import Array, Model, as_model
from ._solve import Motion, _end, _step, chosen, quantities

Source = Model | str | os.PathLike[str] | Mapping[str, Any]


class Answer:
    """What a command has found: the object that it prints with ``--json``, each of whose keys is an attribute and an
    item."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        self.__dict__.update(pairs)

    def __getitem__(self, key: str) -> Any:
        if key not in self.__dict__:
            raise KeyError(f"there is no '{key}'; there are {', '.join(self.__dict__)}")
        return self.__dict__[key]

    def __getattr__(self, key: str) -> Any:
        raise AttributeError(f"there is no '{key}'; there are {', '.join(self.__dict__)}")

    def __contains__(self, key: object) -> bool:
        return key in self.__dict__

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def to_dict(self) -> dict[str, Any]:
        """All of it in dicts and lists."""

        def plain(value: Any) -> Any:
            if isinstance(value, Answer):
                return value.to_dict()
            return [plain(x) for x in value] if isinstance(value, list) else value

        return {key: plain(value) for key, value in self.__dict__.items()}

    def __repr__(self) -> str:
        return f"Answer({self.to_dict()!r})"


def _ask(model: Model, words: list[str]) -> Answer:
    found, notes = _polhode.command(model._native(), [*words, "--json"])
    for note in notes:
        warnings.warn(note, stacklevel=3)
    answer: Answer = json.loads(found or "{}", object_pairs_hook=Answer)
    return answer


def _words(name: str, given: Any) -> list[str]:
    """An option, if it is given."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    return [f"--{name}", ",".join(str(x) if isinstance(x, str) else repr(float(x)) for x in given)]


def _paths(name: str, given: str | os.PathLike[str] | None) -> list[str]:
    return [] if given is None else [f"--{name}", os.fspath(given)]


def _defaults(model: Model, step: float | None, until: float | None) -> tuple[float | None, float | None]:
    return (model.step if step is None else step), (model.until if until is None else until)


def converge(
    model: Source,
    methods: Method | str | Sequence[str] | None = None,
    *,
    steps: Sequence[float] | None = None,
    until: float | None = None,
    plot: str | os.PathLike[str] | None = None,
) -> Answer:
    """Errors over steps and the order that follows from them, for one method or several.

    >>> import polhode
    >>> found = polhode.converge("fast-top", "akw", steps=[2e-3, 1e-3], until=0.1)
    >>> [round(row.order_attitude) for row in found.rows]
    [2]
    """
    model = as_model(model)
    until = model.until if until is None else until
    methods = model.method if methods is None else methods
    words = ["converge", "-", *_words("methods", methods), *_words("steps", steps), *_words("until", until)]
    return _ask(model, words + _paths("plot", plot))


def compare(
    model: Source,
    methods: Method | str | Sequence[str] | None = None,
    *,
    step: float | None = None,
    until: float | None = None,
    error: float | Sequence[float] | None = None,
    budget: float | None = None,
    plot: str | os.PathLike[str] | None = None,
) -> Answer:
    """Methods side by side on one model: errors, drifts and cost at one step, or what each needs for given errors."""
    model = as_model(model)
    step, until = _defaults(model, step, until)
    words = ["compare", "-", *_words("methods", methods), *_words("until", until)]
    words += _words("step", step) if error is None else _words("error", error)
    return _ask(model, words + _words("budget", budget) + _paths("plot", plot))


def _table(data: Any, path: Path) -> None:
    """Writes columns as CSV."""
    if isinstance(data, Motion):
        data = data.columns
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):
        if "t" not in data.columns and hasattr(data, "reset_index"):
            data = data.reset_index()
        data = {str(name): data[name] for name in data.columns}
    if not isinstance(data, Mapping):
        raise TypeError(f"data are the name of a CSV file, columns by name, a frame or a result, not {type(data).__name__}")
    columns = {str(name): np.asarray(column, dtype=np.float64) for name, column in data.items()}
    lengths = {column.shape for column in columns.values()}
    if len(lengths) != 1 or len(next(iter(lengths))) != 1:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
        raise ValueError(f"columns of data must be lists of one length; there are {shapes}")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        # A gap is a sample that is not there.
        for row in zip(*columns.values(), strict=True):
            writer.writerow("" if np.isnan(x) else repr(float(x)) for x in row)


def fit(
    model: Source,
    data: Any,
    parameters: str | Sequence[str],
    *,
    method: Method | str | None = None,
    step: float | None = None,
    columns: str | Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    sigma: Mapping[str, float] | None = None,
    map: Mapping[str, str] | None = None,
    t0: float | None = None,
    plot: str | os.PathLike[str] | None = None,
) -> Answer:
    """Finds parameters from a measured motion, with their standard errors.

    The data are the name of a CSV file, columns by name, a frame of pandas or polars, or a result; ``map`` says which
    columns there are ours, as in ``{"omega_body_x_deg": "gx"}``.
    """
    model = as_model(model)
    if isinstance(parameters, str):
        parameters = [parameters]
    words = ["fit", "-", *_words("parameters", parameters), *_words("columns", columns), *_words("t0", t0)]
    words += _words("method", method if method is not None else model.method)
    words += _words("step", step if step is not None else model._run.get("step"))
    for name, (low, high) in (bounds or {}).items():
        words += ["--bounds", f"{name}={'' if low is None else repr(float(low))}:{'' if high is None else repr(float(high))}"]
    for name, value in (sigma or {}).items():
        words += ["--sigma", f"{name}={float(value)!r}"]
    for name, column in (map or {}).items():
        words += ["--map", f"{name}={column}"]
    words += _paths("plot", plot)
    if isinstance(data, str | os.PathLike):
        return _ask(model, [*words, "--data", os.fspath(data)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        _table(data, path)
        found = _ask(model, [*words, "--data", str(path)])
    vars(found)["data"] = "columns"
    return found


class Sensitivity:
    """A run with its derivatives.

    ``values[name]`` is a quantity over time, ``derivatives[name]`` its derivatives with the parameters on the last axis,
    ``turns[name]`` those of an attitude R as W with R' = R spin(W), in body axes. Names are those of attributes of a result,
    as in ``omega_body``, ``q_wxyz`` or ``upper.position``.
    """

    def __init__(self, names: list[str], given: Mapping[str, Any]) -> None:
        self.t: Array = given["t"]
        self.parameters: list[str] = given["parameters"]
        self.parameter_values: Array = given["parameter_values"]
        #: How large each parameter is, for scaling.
        self.parameter_scales: Array = given["parameter_scales"]
        self.values: dict[str, Array] = dict(zip(names, given["values"], strict=True))
        self.derivatives: dict[str, Array] = dict(zip(names, given["derivatives"], strict=True))
        turns = zip(names, given["turns"], strict=True)
        self.turns: dict[str, Array] = {name: turn for name, turn in turns if turn is not None}
        self.method: str = given["method"]
        self.step: float = given["step"]

    def by(self, parameter: str) -> dict[str, Array]:
        """The derivatives with respect to one parameter."""
        if parameter not in self.parameters:
            raise KeyError(f"there is no parameter '{parameter}'; there are {', '.join(self.parameters)}")
        k = self.parameters.index(parameter)
        return {name: slopes[..., k] for name, slopes in self.derivatives.items()}

    def __repr__(self) -> str:
        return f"<polhode.Sensitivity of {', '.join(self.values)} with respect to {', '.join(self.parameters)}>"


def sensitivity(
    model: Source,
    parameters: str | Sequence[str],
    t_span: float | Sequence[float] | None = None,
    *,
    method: Method | str | None = None,
    step: float | None = None,
    columns: str | Sequence[str] | None = None,
    every: int | None = 1,
    at: npt.ArrayLike | None = None,
    derivatives: bool = True,
) -> Sensitivity:
    """Exact derivatives of a run with respect to parameters by name, as in ``mass``, ``inertia`` (all components) or
    ``elbow.first_x``.

    Rows are ``every`` so many steps; None is the end alone. ``at`` are values of the parameters in place of those of the
    model. Without ``derivatives`` it is the plain run at these.

    >>> import polhode
    >>> end = polhode.sensitivity("heavy-top", "mass", 0.1, method="linear-alpha", step=2e-3, every=None)
    >>> round(float(end.derivatives["position"][-1, 2, 0]), 9)
    0.006330888
    """
    model = as_model(model)
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    if not names:
        raise ValueError("name at least one parameter")
    kept = chosen(quantities(model), columns)
    values = None if at is None else np.asarray(at, dtype=np.float64).ravel().tolist()
    if every is not None and every < 1:
        raise ValueError(f"every must be at least 1, or None for the end alone, got {every}")
    given = _polhode.sensitivity(
        model._native(),
        names,
        str(method) if method is not None else model.method,
        _step(model, step),
        _end(model, t_span),
        [q.index for q in kept],
        0 if every is None else int(every),
        values,
        bool(derivatives),
    )
    return Sensitivity([q.name for q in kept], given)


class Function:
    """Quantities of a run as a function of parameters, with its exact Jacobian: for ``scipy.optimize``, JAX and torch.

    ``f(x)`` is a vector, ``f.jac(x)`` the matrix of its derivatives; the last of each is remembered, so that nothing is
    computed twice.
    """

    def __init__(
        self,
        model: Source,
        parameters: str | Sequence[str],
        columns: str | Sequence[str],
        t_span: float | Sequence[float] | None = None,
        *,
        method: Method | str | None = None,
        step: float | None = None,
        every: int | None = None,
    ) -> None:
        self._model = as_model(model).copy()
        self._options: dict[str, Any] = {"t_span": t_span, "method": method, "step": step, "every": every, "columns": columns}
        self._names = [parameters] if isinstance(parameters, str) else list(parameters)
        first = sensitivity(self._model, self._names, **self._options)
        #: The names of the parameters, component by component, and their values in the model.
        self.parameters: list[str] = first.parameters
        self.x0: Array = first.parameter_values
        self.scales: Array = first.parameter_scales
        #: The names of the quantities, and the shape of each.
        self.shapes: dict[str, tuple[int, ...]] = {name: values.shape for name, values in first.values.items()}
        self.t: Array = first.t
        self.size: int = sum(values.size for values in first.values.values())
        self._last: tuple[Array, Array, Array] | None = None
        self._plain: tuple[Array, Array] | None = None
        self._keep(np.array(self.x0), first)

    def _keep(self, x: Array, found: Sensitivity) -> tuple[Array, Array]:
        values = self._joined(found)
        jac = np.concatenate([found.derivatives[name].reshape(-1, len(self.parameters)) for name in self.shapes])
        self._last = (x, values, jac)
        return values, jac

    def _joined(self, found: Sensitivity) -> Array:
        return np.concatenate([found.values[name].ravel() for name in self.shapes])

    def _at(self, x: npt.ArrayLike) -> Array:
        at = np.array(x, dtype=np.float64)
        if at.shape != (len(self.parameters),):
            raise ValueError(f"there are {len(self.parameters)} parameters, got an array of shape {at.shape}")
        return at

    def value_and_jac(self, x: npt.ArrayLike) -> tuple[Array, Array]:
        """Both, from one run."""
        at = self._at(x)
        last = self._last
        if last is not None and np.array_equal(last[0], at):
            return last[1], last[2]
        return self._keep(at, sensitivity(self._model, self._names, at=at, **self._options))

    def __call__(self, x: npt.ArrayLike) -> Array:
        """The quantities, one after the other, each row by row, from a run without derivatives."""
        at = self._at(x)
        for known in (self._last, self._plain):
            if known is not None and np.array_equal(known[0], at):
                return known[1].copy()
        values = self._joined(sensitivity(self._model, self._names, at=at, derivatives=False, **self._options))
        self._plain = (at, values)
        return values.copy()

    def jac(self, x: npt.ArrayLike) -> Array:
        """Their derivatives: a row for each number, a column for each parameter."""
        return self.value_and_jac(x)[1].copy()

    def split(self, values: Array) -> dict[str, Array]:
        """The numbers of a call as quantities by name."""
        found, at = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            found[name] = values[at : at + size].reshape(shape)
            at += size
        return found
