"""A free body that tumbles: what is left of its energy and momentum."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from programs import (
    Array,
    Curve,
    agree,
    exudyn,
    exudyn_body,
    exudyn_run,
    exudyn_settings,
    head,
    mujoco,
    mujoco_model,
    mujoco_run,
    short,
    utilities,
)

INERTIA = np.array([1.0, 2.0, 2.5])
OMEGA = np.array([0.3, 1.0, 0.2]) / np.linalg.norm([0.3, 1.0, 0.2])
TUMBLING_STEPS = 100_000
SHARE = 40


def changes(omega: Array, attitude: Array) -> tuple[float, float, float]:
    """The energy at the start, and the largest relative changes of energy and of the momentum in space."""
    with np.errstate(all="ignore"):
        energy = 0.5 * omega**2 @ INERTIA
        momentum = np.einsum("tij,tj->ti", attitude, omega * INERTIA)
        gap = np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])
    return float(energy[0]), float(np.max(np.abs(energy / energy[0] - 1))), float(np.max(gap))


def matrices(q_wxyz: Array) -> Array:
    """Rotation matrices, body to space."""
    found: Array = Rotation.from_quat(np.roll(q_wxyz, -1, axis=-1)).as_matrix()
    return found


def tumble_polhode(method: str, step: float) -> tuple[float, float, float, float]:
    model = polhode.Model(name="free").body("free", mass=1, inertia=INERTIA, omega_body=OMEGA)
    start = time.process_time()
    run = polhode.solve(model, TUMBLING_STEPS * step, method=method, step=step, columns=["q_wxyz", "omega_body"])
    took = time.process_time() - start
    return *changes(run.omega_body, run.attitude), took


def tumble_mujoco(integrator: str, step: float) -> tuple[float, float, float, float]:
    inertia = " ".join(map(str, INERTIA))
    body = f'<body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="{inertia}"/></body>'
    model = mujoco_model(body, integrator, step, 0.0)
    data = mujoco.MjData(model)
    data.qvel[3:6] = OMEGA
    states, took = mujoco_run(model, data, TUMBLING_STEPS)
    return *changes(states[:, 11:14], matrices(states[:, 4:8])), took


def tumble_exudyn(solver: str, step: float) -> tuple[float, float, float, float]:
    system, body = exudyn_body(INERTIA, np.eye(3), OMEGA)
    kinds = exudyn.OutputVariableType
    sensors = [
        system.AddSensor(utilities.SensorBody(bodyNumber=body, storeInternal=True, outputVariableType=kind))
        for kind in (kinds.AngularVelocityLocal, kinds.RotationMatrix)
    ]
    system.Assemble()
    took = exudyn_run(system, solver, exudyn_settings(step, TUMBLING_STEPS, step))
    omega, attitude = (np.asarray(system.GetSensorStoredData(sensor))[:, 1:] for sensor in sensors)
    return *changes(omega, attitude.reshape(-1, 3, 3)), took


def free_rates(_: float, y: Array) -> list[float]:
    """Of quaternion and angular velocity, in plain numbers, which are faster than short arrays."""
    w, x, y_, z, p, q, r = y.tolist()
    a, b, c = 1.0, 2.0, 2.5
    return [*quaternion_rates(w, x, y_, z, p, q, r), (b - c) / a * q * r, (c - a) / b * r * p, (a - b) / c * p * q]


def quaternion_rates(w: float, x: float, y: float, z: float, p: float, q: float, r: float) -> list[float]:
    """The derivative of a quaternion w x y z with the angular velocity p q r in body axes."""
    return [
        0.5 * (-x * p - y * q - z * r),
        0.5 * (w * p + y * r - z * q),
        0.5 * (w * q + z * p - x * r),
        0.5 * (w * r + x * q - y * p),
    ]


def tumble_scipy(method: str, tolerance: float, until: float) -> tuple[float, float, float, float, int]:
    start = time.process_time()
    run = solve_ivp(free_rates, (0, until), [1, 0, 0, 0, *OMEGA], method=method, rtol=tolerance, atol=tolerance)
    took = time.process_time() - start
    # The quaternion is taken with the length that it has: to normalise it is not scipy's task but the caller's.
    return *changes(run.y[4:].T, matrices(run.y[:4].T)), took, len(run.t) - 1


def tumbling() -> list[Curve]:
    sizes = (0.25, 0.5, 1.0)
    head(
        f"1. A free body, {TUMBLING_STEPS} steps: relative changes of energy E and momentum L",
        f"|omega| = 1 rad/s, moments {INERTIA} kg m^2; |omega| h is 0.25, 0.5 and 1.",
    )
    runs: dict[tuple[str, str], Callable[[str, float], tuple[float, float, float, float]]] = {
        ("polhode", "akw"): tumble_polhode,
        ("polhode", "mkrk:rk4"): tumble_polhode,
        ("polhode", "mkrk:gauss3"): tumble_polhode,
    }
    if mujoco:
        # Its third one, implicit, has the same numbers for a free body.
        runs |= {("MuJoCo", name): tumble_mujoco for name in ("RK4", "implicitfast")}
    if exudyn:
        runs |= {("Exudyn", name): tumble_exudyn for name in ("RK67", "gen-alpha")}
    print(f"{'':20}" + "".join(f"  E {h:4}  L {h:4}" for h in sizes) + " us/step")
    curves, energies = [], {}
    for (program, method), run in runs.items():
        curve = Curve(program, method)
        cells, took = [], math.nan
        for h in sizes:
            energies[program], energy, momentum, took = run(method, h)
            curve.x.append(h)
            curve.y.append(energy)
            cells += [short(energy), short(momentum)]
        print(f"{curve.name:20}" + "".join(f" {cell}" for cell in cells) + f" {1e6 * took / TUMBLING_STEPS:7.2f}")
        curves.append(curve)
    print(f"scipy, with steps of its own, over a {SHARE}th of the time of |omega| h = 0.25:")
    for method, tolerance in (("DOP853", 1e-13), ("Radau", 1e-10)):
        until = 0.25 * TUMBLING_STEPS / SHARE
        energies["scipy"], energy, momentum, took, steps = tumble_scipy(method, tolerance, until)
        cells = [short(energy), short(momentum)]
        name = f"scipy {method} {tolerance:.0e}"
        timing = f"mean step {until / steps:.3f} s, {1e6 * took / steps:.0f} us/step"
        print(f"{name:20}" + "".join(f" {cell}" for cell in cells) + f"   {timing}")
        curves.append(Curve("scipy", f"{method},\n1/{SHARE} of the time", [until / steps], [energy]))
    agree(energies)
    return curves
