"""A run in the hand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import Any

import numpy as np

from . import _polhode
from ._methods import Method
from ._model import Array, Model, as_model
from ._solve import _step


class Loads(MutableMapping[str, Any]):
    """The loads of a run that have names, to be set between steps.

    A load of one part is three numbers; one of several (a force and a moment) is a dict of them.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._parts = {name: parts for name, _, parts in run.controls}

    def _of(self, name: str) -> list[str]:
        if name not in self._parts:
            known = ", ".join(self._parts) or "none: give a load of the model a name"
            raise KeyError(f"no load is called '{name}'; there are {known}")
        return self._parts[name]

    def __getitem__(self, name: str) -> Array | dict[str, Array]:
        values = {part: np.array(self._run.get_load(name, part)) for part in self._of(name)}
        return values if len(values) > 1 else next(iter(values.values()))

    def __setitem__(self, name: str, value: Any) -> None:
        parts = self._of(name)
        if not isinstance(value, Mapping):
            if len(parts) > 1:
                raise ValueError(f"the load '{name}' has {' and '.join(parts)}: set it to a dict of them")
            value = {parts[0]: value}
        self._run.set_load(name, list(value.items()))

    def __delitem__(self, name: str) -> None:
        raise TypeError("a load cannot be taken away; set it to zero")

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return repr({name: self[name] for name in self})


class Run(_polhode.Run):
    """A run under way: ``step()`` takes one, ``state`` is where it is, ``load[name]`` sets a load in between."""

    @cached_property
    def load(self) -> Loads:
        """The loads that have names."""
        return Loads(self)


def start(
    model: Model | str | os.PathLike[str] | Mapping[str, Any],
    *,
    method: Method | str | None = None,
    step: float | None = None,
) -> Run:
    """A run at its start, to be held in the hand: for control loops, games and everything that decides between steps.

    >>> import polhode
    >>> run = polhode.start("fast-top", step=1e-3)
    >>> run.step(), run.step(n=9)
    (0.001, 0.01)
    >>> run.state.omega_body.shape
    (3,)
    """
    model = as_model(model)
    return Run(model._native(), str(method) if method is not None else model.method, _step(model, step))


def step(run: Run, n: int = 1, h: float | None = None) -> float:
    """Takes `n` steps of a run, and returns its time."""
    return run.step(n, h)
