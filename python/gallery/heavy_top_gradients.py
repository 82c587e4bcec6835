"""The heavy top, and how its motion depends on its mass and its centre of mass.

The derivatives are exact ones of the computed motion. Beside them are differences of runs with changed numbers, whose
accuracy depends on how much the numbers are changed: too much is inaccurate, too little is round-off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from _figures import COLOURS, pyplot, save, style

import polhode

Array = npt.NDArray[np.float64]

UNTIL, STEP, METHOD = 0.6, 1e-3, "mkrk:gauss2"
TOP = polhode.Model("heavy-top")
NUMBERS = ["mass", "center_x", "center_y", "center_z"]
UNITS = {"mass": "m/kg", "center_x": "m/m", "center_y": "m/m", "center_z": "m/m"}


def height(name: str, value: float) -> Array:
    """The height of the centre of mass over time, with another value of one number."""
    changed = TOP.copy().set({name: value})
    return polhode.solve(changed, UNTIL, method=METHOD, step=STEP, columns="position").position[:, 2]


def differences(name: str, value: float, change: float, points: int) -> Array:
    """Central differences over three or five points."""
    weights = {3: {1: 1 / 2}, 5: {1: 2 / 3, 2: -1 / 12}}[points]
    slopes = [w * (height(name, value + k * change) - height(name, value - k * change)) for k, w in weights.items()]
    found: Array = np.sum(slopes, axis=0) / change
    return found


def draw_derivatives(all_axes: Any, t: Array, exact: dict[str, Array], found: dict[str, Array]) -> None:
    """Exact derivatives as curves, differences as circles."""
    for i, (axes, (name, curve)) in enumerate(zip(all_axes, exact.items(), strict=True)):
        axes.plot(t, curve, label="exact", **style(0))
        axes.plot(t[::20], found[name][::20], "o", markersize=3.5, fillstyle="none", color=COLOURS[1], label="differences")
        axes.set_ylabel(f"∂z/∂{name}\nin {UNITS[name]}")
        axes.tick_params(labelbottom=i == len(NUMBERS) - 1)
    all_axes[-1].set_xlabel("t in s")
    all_axes[0].legend(loc="lower left", fontsize=8)


def draw_changes(axes: Any, exact: Array, value: float) -> dict[int, float]:
    """The error of differences by the mass over the change that they are made with; the least error for both kinds."""
    changes = value * np.logspace(-9, -1, 17)
    least = {}
    for i, points in enumerate((3, 5)):
        gaps = [np.max(np.abs(differences("mass", value, change, points) - exact)) for change in changes]
        errors = np.array(gaps) / np.max(np.abs(exact))
        axes.loglog(changes / value, errors, marker="os"[i], markersize=4, label=f"{points} points", **style(i + 1))
        least[points] = float(np.min(errors))
    axes.set_xlabel("relative change of the mass")
    axes.set_ylabel("largest relative error of differences")
    axes.legend(title="differences over")
    return least


def main() -> None:
    run = polhode.sensitivity(TOP, ["mass", "center"], UNTIL, method=METHOD, step=STEP, columns="position")
    exact = {name: run.by(name)["position"][:, 2] for name in NUMBERS}
    values = dict(zip(run.parameters, run.parameter_values, strict=True))
    found = {name: differences(name, values[name], 1e-4 * max(abs(values[name]), 1.0), 5) for name in NUMBERS}

    figure = pyplot.figure(figsize=(9, 5.5), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.3, 1])
    left, right = halves
    draw_derivatives(left.subplots(len(NUMBERS), 1, sharex=True), run.t, exact, found)
    least = draw_changes(right.subplots(), exact["mass"], values["mass"])
    save(figure, __file__)

    for name in NUMBERS:
        gap = np.max(np.abs(found[name] - exact[name])) / np.max(np.abs(exact[name]))
        print(f"by {name:8} the largest derivative is {np.max(np.abs(exact[name])):9.3g}, differences agree to {gap:.1e}")
        assert gap < 1e-7
    print(f"the best that differences do by the mass: {least[3]:.0e} over three points, {least[5]:.0e} over five")
    assert least[5] < least[3] < 1e-6


if __name__ == "__main__":
    main()
