"""The ids of methods, as the registry of the library has them (written by a test)."""

from typing import Literal, get_args

BodyMethod = Literal[
    "forward-euler",
    "backward-euler",
    "forward-euler-m",
    "backward-euler-m",
    "trap",
    "imid",
    "trapm",
    "imidm",
    "swc1",
    "akw",
    "bbtrap",
    "bbtrapwd",
    "euler-parameters",
    "rotation-vector",
    "preserving:exp",
    "preserving:euler-rodrigues",
    "preserving:cayley",
    "preserving:wiener-milenkovic",
    "decaying:exp",
    "decaying:euler-rodrigues",
    "decaying:cayley",
    "decaying:wiener-milenkovic",
    "galpha:exp",
    "galpha:euler-rodrigues",
    "galpha:cayley",
    "galpha:wiener-milenkovic",
    "convected",
    "convected-reduced",
    "mkrk:euler",
    "mkrk:backward-euler",
    "mkrk:midpoint",
    "mkrk:trapezoid",
    "mkrk:kutta3",
    "mkrk:rk4",
    "mkrk:gauss1",
    "mkrk:gauss2",
    "mkrk:gauss3",
    "mkrk:gauss4",
]

SystemMethod = Literal[
    "geometric-alpha",
    "linear-alpha",
    "residual-alpha",
    "conserving",
    "decaying",
    "variational",
]

Method = Literal[BodyMethod, SystemMethod]

METHODS: list[str] = list(get_args(BodyMethod))
SYSTEM_METHODS: list[str] = list(get_args(SystemMethod))
