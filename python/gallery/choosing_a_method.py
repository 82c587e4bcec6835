"""Which method for which task: errors over the step, what accuracy costs, and the energy in the long run.

The top is fast: some eight turns about its axis in a second. Its motion is known in closed form, so errors are true errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _figures import pyplot, save, style

import polhode

METHODS = ["akw", "imidm", "swc1", "mkrk:rk4", "mkrk:gauss2", "mkrk:gauss3"]
STEPS = [2e-2, 1e-2, 5e-3, 2.5e-3]
MARKERS = "osv^D*"
#: Errors below this are round-off as much as they are the method's.
ROUND_OFF = 1e-11


def observed_order(row: Any) -> float:
    """The slope of the error over the step, over the points that are errors of the method."""
    points = [(np.log(point.step), np.log(point.attitude_angle)) for point in row.points if point.attitude_angle > ROUND_OFF]
    # The largest steps are not yet where the order shows.
    (h_1, e_1), (h_2, e_2) = points[-2:]
    return float((e_2 - e_1) / (h_2 - h_1))


def draw_errors(by_step: Any, by_cost: Any, studies: list[list[Any]]) -> None:
    """Errors at the end, over the step and over the time that the run took, which is the shortest of all studies."""
    for i, same in enumerate(zip(*studies, strict=True)):
        row = same[0]
        errors = [point.attitude_angle for point in row.points]
        cost = np.min([[1e-3 * point.ns_per_step * point.steps for point in one.points] for one in same], axis=0)
        by_step.loglog([1e3 * h for h in STEPS], errors, marker=MARKERS[i], markersize=4, label=row.method, **style(i))
        by_cost.loglog(cost, errors, marker=MARKERS[i], markersize=4, **style(i))
    by_step.set_xticks([1e3 * h for h in STEPS], [f"{1e3 * h:g}" for h in STEPS])
    by_step.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    by_step.set_xlabel("step in ms")
    by_step.set_ylabel("error of the attitude after 1 s in rad")
    by_cost.set_xlabel("time of the run in µs")
    by_cost.tick_params(labelleft=False)


def growth(run: polhode.Result) -> float:
    """The largest change of energy in the last twentieth of a run over that in the first."""
    change = np.abs(run.energy / run.energy[0] - 1)
    part = len(change) // 20
    return float(np.max(change[-part:]) / np.max(change[:part]))


def draw_energy(axes: Any, runs: dict[str, polhode.Result]) -> None:
    """The change of energy over a run that is long for the step."""
    for i, run in enumerate(runs.values()):
        change = np.abs(run.energy / run.energy[0] - 1)
        largest = np.maximum.accumulate(change)
        axes.loglog(run.t[1:], np.maximum(largest[1:], 1e-17), **style(i))
    axes.set_xlabel("t in s")
    axes.set_ylabel("largest change of energy so far")


def main() -> None:
    studies = [polhode.converge("fast-top", METHODS, steps=STEPS, until=1.0).rows for _ in range(5)]
    runs = {method: polhode.solve("fast-top", 200.0, method=method, step=1e-2, every=5) for method in METHODS}
    figure, (by_step, by_cost, energy) = pyplot.subplots(1, 3, figsize=(9.5, 3.8), layout="constrained")
    draw_errors(by_step, by_cost, studies)
    by_cost.sharey(by_step)
    draw_energy(energy, runs)
    figure.legend(loc="outside upper center", ncols=len(METHODS))
    save(figure, __file__)

    for row in studies[0]:
        order = observed_order(row)
        drift = runs[row.method].drift["energy"]
        print(f"{row.method:12} order {order:5.2f}, claimed {row.order_claimed}, drift of the energy {drift:.1e}")
        # Of the method of order six the next term is still seen at these steps.
        assert abs(order - row.order_claimed) < (0.1 if row.order_claimed < 6 else 1.0)
    # akw holds the energy, and the midpoint rule keeps it within a bound; that of Runge and Kutta's method drifts.
    assert runs["akw"].drift["energy"] < 1e-13
    assert growth(runs["imidm"]) < 1.1
    assert growth(runs["mkrk:rk4"]) > 5


if __name__ == "__main__":
    main()
