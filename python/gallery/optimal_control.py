"""A satellite is turned by 120 degrees from rest to rest with little effort: the torques of ten intervals are sought.

Thirty parameters of one model, and an objective of a whole run. The derivatives come with the run; differences need thirty
more runs for each of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from _figures import pyplot, save, style
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import polhode

Array = npt.NDArray[np.float64]

INTERVALS, UNTIL = 10, 10.0
LENGTH = UNTIL / INTERVALS
TARGET = Rotation.from_rotvec(np.radians(120) * np.ones(3) / np.sqrt(3))
#: What an error of a radian, or a rad/s, at the end is worth in effort.
WEIGHT = 1e4
METHOD, STEP = "mkrk:rk4", 0.2


def satellite() -> polhode.Model:
    """At rest, with a torque of its own in each interval; all are one parameter, whose numbers are counted from 1."""
    model = polhode.Model(name="satellite").parameter("torque", [0] * (3 * INTERVALS))
    model.body("satellite", mass=40, inertia=[1.2, 2.0, 2.6])
    for k in range(INTERVALS):
        # `from` is a word of Python, so it cannot be written as an argument.
        on: dict[str, Any] = {"from": k * LENGTH, "until": (k + 1) * LENGTH}
        model.load(body="satellite", moment_body=[f"torque_{3 * k + i}" for i in (1, 2, 3)], **on)
    return model


def attitude_error() -> Array:
    """The matrix that takes a quaternion w x y z to its rotation vector from the target, where that is small."""
    x, y, z, w = TARGET.as_quat()
    return 2 * np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])


#: Of the run the objective knows the attitude and the angular velocity at the end.
AT_END = WEIGHT**0.5 * np.block([[attitude_error(), np.zeros((3, 3))], [np.zeros((3, 4)), np.eye(3)]])


def residuals(torques: Array, end: Array) -> Array:
    """Half the sum of their squares is the objective: effort, and the error at the end."""
    return np.concatenate([LENGTH**0.5 * torques, AT_END @ end])


@dataclass
class Search:
    """What a search found, and what it took."""

    torques: Array
    objective: float
    runs: int
    seconds: float
    slope: float


def search(
    f: polhode.Function, end: Callable[[Array], Array], jac: Any, count: Callable[[], int], tolerance: float
) -> Search:
    """Least squares from torques of zero; the slope that is left is computed with exact derivatives."""
    begin = time.perf_counter()
    limits: dict[str, Any] = {"xtol": tolerance, "ftol": tolerance, "gtol": tolerance}
    found = least_squares(lambda x: residuals(x, end(x)), np.zeros(3 * INTERVALS), jac=jac, **limits)
    seconds = time.perf_counter() - begin
    values, slopes = f.value_and_jac(found.x)
    slope = LENGTH * found.x + (AT_END @ slopes).T @ AT_END @ values
    return Search(found.x, float(found.cost), count(), seconds, float(np.max(np.abs(slope))))


def with_exact_derivatives(model: polhode.Model) -> Search:
    """Values and derivatives of one run."""
    f = polhode.Function(model, "torque", ["q_wxyz", "omega_body"], UNTIL, method=METHOD, step=STEP)
    at: set[bytes] = set()

    def end(x: Array) -> Array:
        at.add(x.tobytes())
        return f(x)

    def jac(x: Array) -> Array:
        at.add(x.tobytes())
        return np.concatenate([LENGTH**0.5 * np.eye(len(x)), AT_END @ f.jac(x)])

    # The last run is remembered: a place is run once.
    return search(f, end, jac, lambda: len(at), 1e-12)


def with_differences(model: polhode.Model) -> Search:
    """Plain runs, which are much faster than those with derivatives; differences are left to scipy."""
    f = polhode.Function(model, "torque", ["q_wxyz", "omega_body"], UNTIL, method=METHOD, step=STEP)
    runs, changing = 0, 0.0

    def end(x: Array) -> Array:
        nonlocal runs, changing
        runs += 1
        begin = time.perf_counter()
        changed = model.copy().set(torque=x)
        changing += time.perf_counter() - begin
        last = polhode.solve(changed, UNTIL, method=METHOD, step=STEP, columns=["q_wxyz", "omega_body"]).last
        return np.concatenate([last.q_wxyz, last.omega_body])

    found = search(f, end, "2-point", lambda: runs, 1e-12)
    print(f"of {found.seconds:.2f} s with differences, {changing:.2f} s went into models with changed numbers")
    return found


def draw(model: polhode.Model, searches: dict[str, Search]) -> Any:
    """The torques, the manoeuvre that they make, and what finding them took."""
    best = next(iter(searches.values())).torques.reshape(-1, 3)
    run = polhode.solve(model.copy().set(torque=best), UNTIL, method=METHOD, step=STEP)
    figure = pyplot.figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplot_mosaic("AC;BD", width_ratios=[1.8, 1])
    for i, name in enumerate("xyz"):
        axes["A"].stairs(best[:, i], np.linspace(0, UNTIL, INTERVALS + 1), baseline=None, label=f"$τ_{name}$", **style(i))
        axes["B"].plot(run.t, run.omega_body[:, i], label=f"$ω_{name}$", **style(i))
    left = np.degrees((TARGET.inv() * run.rotation).magnitude())
    axes["B"].set_xlabel("t in s")
    axes["A"].set_ylabel("torque in N m")
    axes["B"].set_ylabel("ω in rad/s")
    angle = axes["B"].twinx()
    angle.plot(run.t, left, color="#000000", linewidth=1)
    angle.set_ylabel("turn that is left in degrees")
    angle.grid(False)
    for key in "AB":
        axes[key].legend(loc="upper right" if key == "A" else "lower center", ncols=3)
    for key, label, values in (
        ("C", "runs", [found.runs for found in searches.values()]),
        ("D", "seconds", [found.seconds for found in searches.values()]),
    ):
        bars = axes[key].barh(list(searches), values, color=[style(0)["color"], style(1)["color"]], height=0.5)
        axes[key].bar_label(bars, [f"{value:.2g}" if key == "D" else str(value) for value in values], padding=3)
        axes[key].set_xlabel(label)
        axes[key].margins(x=0.25)
        axes[key].invert_yaxis()
    return figure


def main() -> None:
    model = satellite()
    searches = {"exact": with_exact_derivatives(model), "differences": with_differences(model)}
    save(draw(model, searches), __file__)

    for name, found in searches.items():
        took = f"{found.runs:4} runs, {found.seconds:.2f} s"
        print(f"{name:12} {took}, objective {found.objective:.12f}, largest slope that is left {found.slope:.0e}")
    exact, differences = searches["exact"], searches["differences"]
    assert 10 * exact.runs < differences.runs
    assert exact.objective < differences.objective * (1 + 1e-9)
    assert exact.slope < 1e-6


if __name__ == "__main__":
    main()
