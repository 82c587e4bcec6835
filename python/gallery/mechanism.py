"""A slider-crank with the forces in its joints: the crank turns at a given speed against a spring on the slider.

Reactions of joints are results of a run. With the acceleration of a body they satisfy Newton's law, and the effort of the
drive is what the change of energy needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from _figures import COLOURS, pyplot, save, style

import polhode

Array = npt.NDArray[np.float64]

CRANK, ROD, SPEED = 0.1, 0.3, 30.0
GRAVITY = np.array([0, -9.81, 0])
ROD_MASS, SLIDER_MASS = 0.4, 1.0


def slider_crank() -> polhode.Model:
    """Drawn stretched along x; the crank is driven, and a spring pulls the slider back to where it is drawn."""
    model = polhode.Model(name="slider-crank").gravity(GRAVITY)
    model.body("crank", mass=0.2, shape={"rod": CRANK})
    model.body("rod", mass=ROD_MASS, shape={"rod": ROD}, position=[CRANK, 0, 0])
    model.body("slider", mass=SLIDER_MASS, shape={"box": [0.08, 0.05, 0.05]}, position=[CRANK + ROD, 0, 0])
    model.joint("bearing", "revolute", ["ground", "crank"], at=[0, 0, 0], axis=[0, 0, 1], drive=f"{SPEED} * t")
    model.joint("crankpin", "revolute", ["crank", "rod"], at=[CRANK, 0, 0], axis=[0, 0, 1])
    model.joint("wristpin", "revolute", ["rod", "slider"], at=[CRANK + ROD, 0, 0], axis=[0, 0, 1])
    model.joint("rail", "prismatic", ["ground", "slider"], at=[CRANK + ROD, 0, 0], axis=[1, 0, 0], stiffness=500)
    return model


def center_acceleration(body: polhode.Series, center: Array) -> Array:
    """The acceleration of the centre of mass, which is at `center` in the body frame, in space axes."""
    omega, rate = body.omega_body, body.omega_rate
    in_body = np.cross(rate, center) + np.cross(omega, np.cross(omega, center))
    turned: Array = np.einsum("tij,tj->ti", body.attitude, in_body)
    return body.acceleration + turned


def draw(run: polhode.Result) -> Any:
    """Where the slider goes, the forces of the pins and the rail, and the moment of the drive."""
    figure, (path, forces, effort) = pyplot.subplots(3, 1, figsize=(8, 6), sharex=True, layout="constrained")
    path.plot(run.t, 1e3 * (run.bodies["slider"].position[:, 0] - CRANK - ROD), **style(0))
    path.set_ylabel("slider in mm")
    for i, (joint, name) in enumerate({"crankpin": "crank pin", "wristpin": "wrist pin"}.items()):
        forces.plot(run.t, np.linalg.norm(run.joints[joint].force, axis=1), label=f"{name}, magnitude", **style(i))
    forces.plot(run.t, run.joints["rail"].force[:, 1], label="rail, across", **style(2))
    forces.set_ylabel("force in N")
    effort.plot(run.t, run.joints["bearing"].moment_axis, color=COLOURS[3])
    effort.set_ylabel("moment of the drive\nin N m")
    effort.set_xlabel("t in s")
    forces.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def main() -> None:
    run = polhode.solve(slider_crank(), 0.5, method="geometric-alpha", step=5e-4, columns="*")
    save(draw(run), __file__)

    rod, slider = run.bodies["rod"], run.bodies["slider"]
    crankpin, wristpin, rail = (run.joints[name] for name in ("crankpin", "wristpin", "rail"))
    # A joint's force acts on the second of its bodies, and with the other sign on the first.
    on_slider = wristpin.force + rail.force + SLIDER_MASS * GRAVITY
    on_rod = crankpin.force - wristpin.force + ROD_MASS * GRAVITY
    slider_gap = np.max(np.abs(on_slider - SLIDER_MASS * slider.acceleration))
    rod_gap = np.max(np.abs(on_rod - ROD_MASS * center_acceleration(rod, np.array([ROD / 2, 0, 0]))))
    largest = np.max(np.abs(wristpin.force))
    print(f"forces up to {largest:.0f} N; Newton's law holds to {slider_gap:.1e} N (slider) and {rod_gap:.1e} N (rod)")
    assert slider_gap < 1e-8 * largest and rod_gap < 1e-8 * largest

    power = run.joints["bearing"].moment_axis * SPEED
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.t))])
    gained = run.energy - run.energy[0]
    gap = np.max(np.abs(work - gained)) / np.ptp(gained)
    print(f"the work of the drive is the change of energy to {gap:.1e} of it")
    assert gap < 1e-3


if __name__ == "__main__":
    main()
