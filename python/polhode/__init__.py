"""Structure-preserving time integration of rigid bodies and mechanisms, with exact sensitivities.

>>> import polhode
>>> result = polhode.solve("fast-top")
>>> result.omega_body[-1].shape
(3,)

A model is a file, a text, a dict or a built-in id (``Model``); ``solve`` runs it, ``start`` gives a run in the hand,
``sensitivity`` and ``Function`` have derivatives, ``converge``, ``compare`` and ``fit`` do what the program does.

Rotations are active, from body to space; quaternions are w x y z; units are SI and radians; time is the first axis.
"""

from __future__ import annotations

from ._methods import METHODS, SYSTEM_METHODS, Method
from ._model import Model
from ._polhode import ConvergenceError, ModelError, Part, State, __version__
from ._report import Report
from ._run import Loads, Run, start, step
from ._solve import Motion, Quantity, Result, Series, Solution, quantities, solve
from ._sweep import EngineLost, Mismatch, Plan, Sweep, plan, sweep
from ._tools import Answer, Function, Sensitivity, compare, converge, fit, sensitivity

__all__ = [
    "METHODS",
    "SYSTEM_METHODS",
    "Answer",
    "ConvergenceError",
    "EngineLost",
    "Function",
    "Loads",
    "Method",
    "Mismatch",
    "Model",
    "ModelError",
    "Motion",
    "Part",
    "Plan",
    "Quantity",
    "Report",
    "Result",
    "Run",
    "Sensitivity",
    "Series",
    "Solution",
    "State",
    "Sweep",
    "__version__",
    "compare",
    "converge",
    "fit",
    "plan",
    "problems",
    "quantities",
    "sensitivity",
    "solve",
    "start",
    "step",
    "sweep",
]


def problems() -> list[str]:
    """The ids of the built-in problems."""
    from . import _polhode

    return _polhode.problems()
