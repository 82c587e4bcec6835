"""The inertia of a satellite from noisy gyroscopes: six numbers and the unknown start, with standard errors.

A body that tumbles freely shows the ratios of its moments of inertia only. Known moments of its thrusters set their scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from _figures import COLOURS, DASHES, pyplot, save

import polhode

Array = npt.NDArray[np.float64]

TRUE_INERTIA = [1.2, 2.0, 2.6, 0.1, -0.05, 0.08]
TRUE_OMEGA = [0.3, 0.8, -0.2]
NOISE = 5e-3
MOMENT = ["0.3 * sin(1.1 * t)", "0.2 * cos(0.7 * t)", "0.25 * sin(0.5 * t)"]


def satellite(inertia: list[float], omega: list[float]) -> polhode.Model:
    """A free body under known moments; the inertia is xx yy zz xy xz yz."""
    model = polhode.Model(name="satellite").body("satellite", mass=40, inertia=inertia, omega_body=omega)
    return model.load(body="satellite", moment_body=MOMENT)


def run(model: polhode.Model) -> polhode.Result:
    """Ten rows a second."""
    return polhode.solve(model, 30.0, method="mkrk:rk4", step=0.05, every=2, columns="omega_body")


def draw_motion(above: Any, below: Any, t: Array, measured: Array, fitted: Array) -> None:
    """Measured rates and the motion that was found, and what is left between them."""
    for i, name in enumerate("xyz"):
        above.plot(t, fitted[:, i], color=COLOURS[i], linestyle=DASHES[i], label=f"$ω_{name}$")
        above.plot(t[::3], measured[::3, i], ".", color=COLOURS[i], markersize=2.5)
        below.plot(t, 1e3 * (measured - fitted)[:, i], ".", color=COLOURS[i], markersize=2.5)
    for side in (-2, 2):
        below.axhline(1e3 * side * NOISE, color="#000000", linewidth=0.8, linestyle="--")
    above.set_ylabel("ω in rad/s")
    above.set_ylim(top=1.5)
    above.legend(loc="upper right", ncols=3)
    below.set_ylabel("residual in mrad/s")
    below.set_xlabel("t in s")


def draw_estimates(axes: Any, names: list[str], errors: Array, halves: Array) -> None:
    """How far estimates are from the truth, with their 95 % intervals."""
    rows = np.arange(len(names))[::-1]
    axes.errorbar(1e3 * errors, rows, xerr=1e3 * halves, fmt="o", color=COLOURS[0], capsize=3, markersize=4)
    axes.axvline(0, color="#000000", linewidth=0.8)
    axes.set_yticks(rows, names)
    axes.set_xlabel("estimate less the truth, with its 95 % interval,\nin 10⁻³ kg m² and 10⁻³ rad/s")


def main() -> None:
    truth = run(satellite(TRUE_INERTIA, TRUE_OMEGA))
    measured = truth.omega_body + np.random.default_rng(4).normal(0, NOISE, truth.omega_body.shape)
    data = {"t": truth.t, **{f"omega_body_{name}": measured[:, i] for i, name in enumerate("xyz")}}
    start = satellite([1.5, 1.5, 3.0, 0, 0, 0], [0.2, 1.0, 0.0])
    names = ["satellite.inertia", "satellite.omega_body"]
    found = polhode.fit(start, data, names, method="mkrk:rk4", step=0.05)

    values, half_widths, standard_errors = (
        np.array([table[name] for name in found.parameters])
        for table in (
            found["values"],
            {name: (found.intervals[name][1] - found.intervals[name][0]) / 2 for name in found.parameters},
            found.standard_errors,
        )
    )
    errors = values - np.array(TRUE_INERTIA + TRUE_OMEGA)
    fitted = run(satellite(list(values[:6]), list(values[6:]))).omega_body

    figure = pyplot.figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplot_mosaic("AC;BC", width_ratios=[1.4, 1], height_ratios=[1.4, 1])
    draw_motion(axes["A"], axes["B"], truth.t, measured, fitted)
    short = [name.removeprefix("satellite.").replace("omega_body", "omega") for name in found.parameters]
    draw_estimates(axes["C"], short, errors, half_widths)
    save(figure, __file__)

    for name, value, error, by in zip(short, values, standard_errors, errors, strict=True):
        print(f"{name:12} {value:8.4f} ± {error:.4f}, off by {by / error:+.1f} standard errors")
    assert found.converged and np.all(np.abs(errors) < 4 * standard_errors)
    # Three quarters or more of the intervals hold the truth; 95 % of them do over many data sets.
    assert np.mean(np.abs(errors) < half_widths) > 0.75
    assert all(abs(sigma / NOISE - 1) < 0.15 for sigma in found.sigma.to_dict().values())


if __name__ == "__main__":
    main()
