"""Models."""

from __future__ import annotations

import copy
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _polhode, _toml

Array = npt.NDArray[np.float64]

Slopes = Literal["none", "differences"] | bool
"""How the slopes of a load by a callable are known: it returns them (True), it depends on time alone ("none"), or by
central differences of its values ("differences")."""


def _is_text(source: str) -> bool:
    return "\n" in source or "=" in source or source.lstrip().startswith("<")


def _plain(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keys as files have them: those that are words of Python end in an underscore here."""
    return {name.rstrip("_"): given for name, given in keys.items()}


class Model:
    """A mechanical model: bodies, joints, forces, loads, and how to run them.

    The source is the id of a built-in problem (``polhode.problems()``), the path of a model file (TOML, URDF or MJCF), the
    text of one, or a dict with the same keys; without one the model is empty, and the methods add to it.

    Methods change the model and return it, so that they can be chained; ``copy()`` makes another one.

    >>> import polhode
    >>> m = polhode.Model()
    >>> m = m.body("plate", mass=20, shape={"box": [0.9, 0.04, 2.0]}, omega_body=[0.1, 0, 1])
    >>> polhode.solve(m, 1.0, step=0.01).success
    True
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        /,
        *,
        name: str | None = None,
        **values: Any,
    ) -> None:
        self._base = ""
        self._folder = "."
        self._name = name or "model"
        self._top: dict[str, Any] = {}
        self._tables: dict[str, dict[str, Mapping[str, Any]]] = {}
        self._loads: list[Mapping[str, Any]] = []
        self._run: dict[str, Any] = {}
        self._sets: list[tuple[str, str]] = []
        self._functions: list[tuple[str, Callable[..., Any], bool, bool, bool]] = []
        self._found: _polhode.Problem | None = None
        self._made: _polhode.Problem | None = None
        self._facts: tuple[_polhode.Problem, Any, list[str]] | None = None
        if isinstance(source, Mapping):
            self._base = _toml.document(source)
        elif isinstance(source, str) and _is_text(source):
            self._base = source
        elif source is not None:
            word = os.fspath(source)
            if not isinstance(word, str):
                raise TypeError(f"a model is text, the name of a file or a dict, not {type(source).__name__}")
            if not isinstance(source, str) and os.sep not in word:
                word = os.path.join(".", word)
            self._found = _polhode.Problem.find(word)
            self._base = self._found.text
            self._name = name or self._found.id
            self._folder = str(Path(word).parent)
        if source is not None:
            native = self._native()
            # A robot has become a model file.
            self._base = native.text
        if values:
            self.set(values)

    # What it is.

    @property
    def id(self) -> str:
        """The id of a built-in problem, or the name of the file."""
        return self._name

    @property
    def title(self) -> str:
        """One line of what it is."""
        return self._native().title

    @property
    def text(self) -> str:
        """The model as the text of a file."""
        parts = [_toml.table("", self._top)] if self._top else []
        parts += [self._base] if self._base else []
        for group, entries in self._tables.items():
            parts += [_toml.table(f"[{group}.{_toml.key(name)}]", entry) for name, entry in entries.items()]
        parts += [_toml.table("[[loads]]", load) for load in self._loads]
        return "\n".join(part.rstrip("\n") + "\n" for part in parts)

    @property
    def method(self) -> str:
        """The method that a run takes if no other is asked for."""
        return str(self._run.get("method") or self._native().defaults[0])

    @property
    def step(self) -> float | None:
        """The step that a run takes if no other is asked for, in s."""
        said = self._run.get("step")
        return self._native().defaults[1] if said is None else float(said)

    @property
    def until(self) -> float | None:
        """The time at which a run ends if no other is asked for, in s."""
        said = self._run.get("until")
        return self._native().defaults[2] if said is None else float(said)

    @property
    def group(self) -> str:
        """``so3`` for a body on a fixed point, ``se3`` for one in flight, ``system`` for everything else."""
        return self._native().group()

    @property
    def bodies(self) -> list[str]:
        """The names of its bodies."""
        return self._native().names()[0]

    @property
    def joints(self) -> list[str]:
        """The names of its joints."""
        return self._native().names()[1]

    @property
    def parameters(self) -> dict[str, float | Array]:
        """Its own parameters, as they are set; those that are not set are left out."""
        all_ = ((name, values) for name, values, _ in self._native().data if values)
        return {name: values[0] if len(values) == 1 else np.array(values) for name, values in all_}

    @property
    def numbers(self) -> dict[str, float]:
        """Every number that derivatives can be taken with respect to: components of parameters, and numbers of elements
        by their paths, as in ``top.mass``."""
        return dict(self._native().parameters())

    def check(self) -> dict[str, Any]:
        """What the program understands of the model: bodies, joints, degrees of freedom, redundant rows, methods that
        apply, the reference that it has, parameters. A model that cannot be raises ``ModelError``."""
        found, notes = _polhode.command(self._native(), ["check", "-", "--json"])
        for note in notes:
            warnings.warn(note, stacklevel=2)
        result: dict[str, Any] = json.loads(found or "{}")
        return result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that ``polhode run`` takes."""
        if self._functions:
            raise ValueError("a model with loads by Python functions cannot be written to a file")
        text = self.text
        if self._run:
            if "\n[run]" in f"\n{text}":
                raise ValueError("the text of this model has a table [run] already; set step and method there")
            text += "\n" + _toml.table("[run]", self._run)
        if self._sets:
            if "\n[set]" in f"\n{text}":
                raise ValueError("the text of this model has a table [set] already; set numbers there")
            last = {name: values.replace(",", " ").split() for name, values in self._sets}
            text += "\n[set]\n" + "".join(f'"{name}" = [{", ".join(values)}]\n' for name, values in last.items())
        Path(path).write_text(text, encoding="utf-8")

    def copy(self) -> Model:
        """Another model, equal to this one."""
        other = copy.copy(self)
        other._top, other._run = dict(self._top), dict(self._run)
        other._tables = {group: dict(entries) for group, entries in self._tables.items()}
        other._loads, other._sets, other._functions = list(self._loads), list(self._sets), list(self._functions)
        return other

    def __getstate__(self) -> dict[str, Any]:
        # What the library made of it is made again.
        return {**self.__dict__, "_found": None, "_made": None, "_facts": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.copy()

    def __repr__(self) -> str:
        try:
            native = self._native()
        except ValueError:
            return f"<polhode.Model '{self._name}', unfinished>"
        return f"<polhode.Model '{self._name}', {len(native.names()[0])} bodies, {len(native.names()[1])} joints>"

    # What changes it.

    def set(self, values: Mapping[str, Any] | str | None = None, value: Any = None, /, **more: Any) -> Model:
        """Sets parameters, by name as in ``set(mass=2)``, or by path as in ``set("top.mass", 2)`` or
        ``set({"top.mass": 2})``."""
        pairs = dict(more)
        if isinstance(values, str):
            if value is None:
                raise TypeError(f"set('{values}', ...) needs a value")
            pairs = {values: value, **pairs}
        elif values is not None:
            pairs = {**values, **pairs}
        sets = [(name, _setting(name, given)) for name, given in pairs.items()]
        self._made = self._native().with_values(sets)
        self._sets += sets
        return self

    def gravity(self, acceleration: Sequence[float] | Array) -> Model:
        """The acceleration of gravity in space, in m/s²."""
        self._top["gravity"] = acceleration
        return self._changed()

    def parameter(self, name: str, value: Any) -> Model:
        """A parameter, which expressions may use."""
        return self._add_line("parameters", name, value)

    def body(self, name: str, **keys: Any) -> Model:
        """A body, with the keys of a model file: ``mass``, ``inertia``, ``center``, ``shape``, ``position``,
        ``attitude`` (a ``Rotation`` of scipy too), ``velocity``, ``omega_body``, ``fixed_point``."""
        return self._add("bodies", name, keys)

    def frame(self, name: str, body: str, **keys: Any) -> Model:
        """A frame on a body: ``at``, ``attitude``."""
        return self._add("frames", name, {"body": body, **keys})

    def joint(self, name: str, type: str, between: Sequence[str], **keys: Any) -> Model:
        """A joint between two bodies or frames: ``at``, ``axis``, ``angle``, ``rate``, ``stiffness``, ``damping``,
        ``moment``, ``drive``."""
        return self._add("joints", name, {"type": type, "between": list(between), **keys})

    def force(self, name: str, type: str, between: Sequence[str], **keys: Any) -> Model:
        """A force between two bodies or frames: ``stiffness``, ``damping``, ``length``, ``force``."""
        return self._add("forces", name, {"type": type, "between": list(between), **keys})

    def output(self, name: str, expression: str) -> Model:
        """A quantity of one's own."""
        return self._add_line("outputs", name, expression)

    def event(self, name: str, when: str, *, direction: str = "both", stop: bool = False) -> Model:
        """Something that happens where an expression crosses zero."""
        return self._add("events", name, {"when": when, "direction": direction, "stop": stop})

    def run(self, **keys: Any) -> Model:
        """How to run it if nothing else is said: ``method``, ``step``, ``until``, ``every``."""
        unknown = set(keys) - {"method", "step", "until", "every"}
        if unknown:
            raise TypeError(f"run takes method, step, until and every, not {', '.join(sorted(unknown))}")
        self._run |= keys
        return self

    def load(
        self,
        name: str | None = None,
        /,
        *,
        body: str,
        function: Callable[..., Any] | None = None,
        slopes: Slopes | None = None,
        vectorized: bool = False,
        **keys: Any,
    ) -> Model:
        """A load on a body.

        With the keys of a model file (``moment_body``, ``force_space``, ``at``, ``potential``, ..., and ``from_`` for
        ``from``) it is numbers or expressions. One with a name is numbers that ``run.load[name]`` sets between steps.

        With a ``function`` it is what ``function(t, motion)`` returns: three numbers, the moment about the origin of the
        body frame, or six, force and moment, in body axes; ``motion`` has ``q_wxyz``, ``position``, ``velocity_body`` and
        ``omega_body``. The solver needs its slopes: with ``slopes=True`` it returns a pair, the value and an array of 3 or
        6 rows and 12 columns, the derivatives by position, by a turn of the body in its axes, by velocity_body and by
        omega_body; ``slopes="none"`` says that it depends on time alone; ``slopes="differences"`` asks for differences.
        One that is ``vectorized`` takes arrays of times and motions and returns a row for each.
        """
        if function is None:
            if slopes is not None or vectorized:
                raise TypeError("slopes and vectorized are for loads with a function")
            entry = {"body": body, **({} if name is None else {"name": name}), **_plain(keys)}
            self._loads.append(entry)
            return self._changed()
        if keys or name is not None:
            raise TypeError("a load with a function takes no other value; make two loads")
        if not callable(function):
            raise TypeError("function must be callable")
        if slopes is None:
            raise TypeError(
                "say how the slopes of the function are known: slopes=True if it returns (value, slopes), slopes='none' if it "
                "depends on time alone, slopes='differences' for differences of its values"
            )
        if slopes not in (True, "none", "differences"):
            raise ValueError(f"slopes must be True, 'none' or 'differences', got {slopes!r}")
        if slopes is True and vectorized:
            raise ValueError("a function that returns slopes is called with one state at a time; leave out vectorized")
        self._functions.append((body, function, slopes is True, slopes == "differences", vectorized))
        return self._changed()

    # How it is made.

    def _add(self, group: str, name: str, keys: Mapping[str, Any]) -> Model:
        entries = self._tables.setdefault(group, {})
        if name in entries:
            raise ValueError(f"there is a '{name}' among the {group} already")
        entries[name] = _plain(keys)
        return self._changed()

    def _add_line(self, group: str, name: str, value: Any) -> Model:
        if re.search(rf"^\s*\[?{group}\b", self._base, re.MULTILINE):
            raise ValueError(f"the text of this model has {group} already; add the line there")
        lines = self._top.setdefault(group, {})
        if name in lines:
            raise ValueError(f"there is a '{name}' among the {group} already")
        lines[name] = value
        return self._changed()

    def _changed(self) -> Model:
        self._made = None
        self._found = None
        return self

    def _known(self) -> tuple[Any, list[str]]:
        """What its runs can keep, and the names of its bodies, read once."""
        native = self._native()
        if self._facts is None or self._facts[0] is not native:
            self._facts = (native, native.quantities(), native.names()[0])
        return self._facts[1:]

    def _native(self) -> _polhode.Problem:
        if self._made is None:
            made = self._found or _polhode.Problem.read(self._name, self.text, self._folder)
            made = made.with_values(self._sets) if self._sets else made
            for body, function, with_slopes, by_differences, vectorized in self._functions:
                made = made.with_load(body, function, with_slopes, by_differences, vectorized)
            self._made = made
        return self._made


def _setting(name: str, given: Any) -> str:
    """A value as ``--set`` takes it."""
    if isinstance(given, str):
        return given
    if hasattr(given, "as_rotvec"):
        given = given.as_rotvec()
    numbers = np.asarray(given, dtype=np.float64)
    if not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name} must be finite, got {given}")
    if numbers.shape == (3, 3):
        if not np.array_equal(numbers, numbers.T):
            raise ValueError(f"{name} must be symmetric")
        i, j = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
        numbers = numbers[i, j]
    return ",".join(repr(float(x)) for x in numbers.ravel())


def as_model(model: Model | str | os.PathLike[str] | Mapping[str, Any]) -> Model:
    """A model, or what makes one."""
    return model if isinstance(model, Model) else Model(model)
