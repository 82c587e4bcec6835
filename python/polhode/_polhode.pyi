from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

_Array = npt.NDArray[np.float64]

__version__: str
__all__ = [
    "Checkpoint",
    "ConvergenceError",
    "Dense",
    "ModelError",
    "Part",
    "Problem",
    "Run",
    "State",
    "SweepPlan",
    "__version__",
    "command",
    "merge",
    "methods",
    "problems",
    "run_program",
    "sensitivity",
    "solve",
    "step_for_error",
]

class ModelError(ValueError):
    file: str | None
    line: int | None
    column: int | None

class ConvergenceError(RuntimeError):
    t: float | None
    steps: int | None
    state: State | None
    result: Any

@final
class Part:
    def __getattr__(self, key: str, /) -> Any: ...

@final
class State:
    @property
    def t(self) -> float: ...
    @property
    def bodies(self) -> dict[str, Part]: ...
    @property
    def joints(self) -> dict[str, Part]: ...
    @property
    def coordinates(self) -> dict[str, Part]: ...
    @property
    def outputs(self) -> dict[str, float]: ...
    def __getattr__(self, key: str, /) -> Any: ...
    def __dir__(self) -> list[str]: ...

@final
class Problem:
    @staticmethod
    def find(word: str) -> Problem: ...
    @staticmethod
    def read(name: str, text: str, folder: str) -> Problem: ...
    def with_values(self, pairs: Sequence[tuple[str, str]]) -> Problem: ...
    def with_load(
        self, body: str, function: Callable[..., Any], with_slopes: bool, by_differences: bool, vectorized: bool
    ) -> Problem: ...
    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def defaults(self) -> tuple[str, float | None, float | None, int | None]: ...
    @property
    def data(self) -> list[tuple[str, list[float], str]]: ...
    def parameters(self) -> list[tuple[str, float]]: ...
    def group(self) -> str: ...
    def quantities(self) -> list[tuple[str, str, str, str, str, list[str], bool]]: ...
    def names(self) -> tuple[list[str], list[str]]: ...

@final
class Checkpoint: ...

@disjoint_base
class Run:
    def __new__(cls, problem: Problem, method: str, step: float) -> Self: ...
    def step(self, n: int = 1, h: float | None = None) -> float: ...
    @property
    def t(self) -> float: ...
    @property
    def method(self) -> str: ...
    @property
    def steps(self) -> int: ...
    @property
    def state(self) -> State: ...
    def between(self, t: float) -> State | None: ...
    @property
    def drift(self) -> dict[str, float]: ...
    @property
    def stopped(self) -> str | None: ...
    @property
    def controls(self) -> list[tuple[str, str, list[str]]]: ...
    def get_load(self, name: str, part: str) -> list[float]: ...
    def set_load(self, name: str, parts: Sequence[tuple[str, Any]]) -> None: ...
    def save(self) -> Checkpoint: ...
    def restore(self, checkpoint: Checkpoint) -> None: ...

@final
class Dense:
    @property
    def t_max(self) -> float: ...
    def at(self, times: _Array, items: Sequence[int]) -> dict[str, Any]: ...

@final
class SweepPlan:
    def __new__(
        cls,
        name: str,
        text: str,
        folder: str,
        *,
        set: Sequence[str],
        vary: Sequence[str],
        cases: str | None,
        runs: int | None,
        seed: int | None,
        sampling: str | None,
        keep: Sequence[str],
        method: str | None,
        step: float | None,
        until: float | None,
        limit: float | None,
    ) -> Self: ...
    @property
    def hash(self) -> str: ...
    @property
    def runs(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def usual_chunk(self) -> int: ...
    def compute(self, first: int, last: int, path: str, threads: int) -> None: ...
    def give_up(self, run: int, reason: str, path: str) -> None: ...
    def has(self, path: str, first: int, last: int) -> bool: ...

def merge(parts: Sequence[str], out: str) -> str: ...
def solve(
    problem: Problem,
    method: str,
    step: float,
    until: float,
    items: Sequence[int],
    every: int,
    t_eval: _Array | None,
    dense: bool,
    events: Sequence[tuple[str, Callable[..., float], float, bool]],
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
def step_for_error(
    problem: Problem, method: str, until: float, error: float, budget: float
) -> float: ...
def sensitivity(
    problem: Problem,
    parameters: Sequence[str],
    method: str,
    step: float,
    until: float,
    items: Sequence[int],
    every: int,
    at: Sequence[float] | None,
    derivatives: bool,
) -> dict[str, Any]: ...
def command(
    problem: Problem | None,
    words: Sequence[str],
    events: Sequence[tuple[str, Callable[[float, State], float], float, bool]] = ...,
) -> tuple[str | None, list[str]]: ...
def run_program(words: Sequence[str]) -> int: ...
def methods() -> tuple[list[str], list[str]]: ...
def problems() -> list[str]: ...
