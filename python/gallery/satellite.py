"""The polhode of a satellite: started next to the axis of its middle moment of inertia, it turns over again and again.

Kinetic energy and momentum fix the curve that the angular velocity runs along in body axes, the polhode. The time between
two flips is known in closed form, an elliptic integral, and the run is measured against it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from _figures import COLOURS, pyplot, save, style
from scipy.special import ellipk

import polhode

Array = npt.NDArray[np.float64]

INERTIA = np.array([1.0, 2.0, 3.0])
ENERGY = 1.0
#: Angular velocities at the start: directions in body axes, scaled to the one energy whose ellipsoid is drawn.
STARTS = {
    "near the middle axis": [0.08, 1.0, 0.01],
    "beyond the separatrix": [0.01, 1.0, 0.05],
    "about the smallest moment": [1.0, 0.35, 0.15],
    "about the largest moment": [0.25, 0.30, 1.0],
}


def tumbling(direction: list[float]) -> polhode.Model:
    """The satellite, with an event wherever the angular velocity about the middle axis changes its sign."""
    omega = np.array(direction)
    omega *= np.sqrt(2 * ENERGY / (INERTIA @ omega**2))
    model = polhode.Model(name="satellite").body("satellite", mass=10, inertia=INERTIA, omega_body=omega)
    return model.event("flip", "omega_body_y")


def time_between_flips(omega: Array) -> float:
    """Half a period of the middle component: 2 K(m) over its rate, from energy and momentum alone."""
    twice_energy, square = float(INERTIA @ omega**2), float((INERTIA * omega) @ (INERTIA * omega))
    small, middle, large = INERTIA
    if square < twice_energy * middle:
        # The polhode goes around the axis of the smallest moment: the two outer axes change their places.
        small, large = large, small
    m = (middle - small) * (twice_energy * large - square) / ((large - middle) * (square - twice_energy * small))
    rate = np.sqrt((large - middle) * (square - twice_energy * small) / (small * middle * large))
    return float(2 * ellipk(m) / rate)


def draw_polhodes(axes: Any, runs: dict[str, polhode.Result]) -> None:
    """The curves on the ellipsoid of constant energy; what lies behind it is drawn faintly."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, np.pi, 25))
    radii = np.sqrt(2 * ENERGY / INERTIA)
    sphere = np.array([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    axes.plot_wireframe(*(radii[:, None, None] * sphere), color="#bbbbbb", linewidth=0.4, rstride=3, cstride=4)
    azimuth, elevation = np.radians(35), np.radians(22)
    eye = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    for i, run in enumerate(runs.values()):
        # The normal of the ellipsoid is along the momentum.
        hidden = (run.omega_body * INERTIA) @ eye < 0
        for part, alpha in ((~hidden, 1.0), (hidden, 0.25)):
            axes.plot(*np.where(part[:, None], run.omega_body, np.nan).T, color=COLOURS[i], alpha=alpha, linewidth=1.8)
    axes.view_init(elev=22, azim=35)
    axes.set_box_aspect(radii / radii.max(), zoom=0.85)
    axes.locator_params(nbins=4)
    axes.zaxis.set_rotate_label(False)
    for name, label in zip("xyz", ("ω₁", "ω₂", "ω₃"), strict=True):
        getattr(axes, f"set_{name}label")(f"{label} in rad/s", rotation=90 if name == "z" else None)


def draw_over_time(axes: Any, runs: dict[str, polhode.Result]) -> None:
    """The middle component, whose zeros are the flips."""
    for i, (name, run) in enumerate(runs.items()):
        axes.plot(run.t, run.omega_body[:, 1], label=name, **style(i))
        axes.plot(run.events["flip"], 0 * run.events["flip"], "o", color=COLOURS[i], markersize=3)
    axes.set_xlabel("t in s")
    axes.set_ylabel("ω₂, about the middle axis, in rad/s")
    axes.set_ylim(-1.15, 1.75)
    axes.legend(loc="upper right", fontsize=8, ncols=2)


def main() -> None:
    runs = {
        name: polhode.solve(tumbling(direction), 40.0, method="mkrk:gauss3", step=0.02) for name, direction in STARTS.items()
    }
    figure = pyplot.figure(figsize=(9, 4), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.1, 1.3])
    left, right = halves
    draw_polhodes(left.add_subplot(projection="3d"), runs)
    draw_over_time(right.subplots(), runs)
    save(figure, __file__)

    for name, run in runs.items():
        exact = time_between_flips(run.omega_body[0])
        found = np.diff(run.events["flip"])
        momentum = np.linalg.norm(run.omega_body * INERTIA, axis=1)
        energy = 0.5 * (run.omega_body**2) @ INERTIA
        print(f"{name:26} a flip every {exact:7.4f} s, off by {np.max(np.abs(found - exact)):.1e} s")
        assert len(found) > 0 and np.allclose(found, exact, rtol=1e-9)
        assert np.ptp(energy) < 1e-11 * ENERGY and np.ptp(momentum) < 1e-11 * momentum[0]
        assert np.max(np.abs(run.momentum_space - run.momentum_space[0])) < 1e-11 * momentum[0]


if __name__ == "__main__":
    main()
