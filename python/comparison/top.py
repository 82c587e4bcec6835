"""The fast top: the error of the attitude over the time that it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from body import matrices, quaternion_rates
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
    seconds_of,
    utilities,
)

TOP = polhode.Model("fast-top")
TOP_INERTIA, MGL, SPIN = np.array([5.0, 5.0, 1.0]), 20.0, 50.0
TOP_ATTITUDE = Rotation.from_rotvec([0.3, 0, 0])
TOP_UNTIL = 1.0
GRAVITY, TOP_MASS = 9.81, 1.0
ARM = MGL / (GRAVITY * TOP_MASS)


def turn_between(found: Array, exact: Array) -> float:
    """The angle between two attitudes."""
    return float(np.linalg.norm(Rotation.from_matrix(found.T @ exact).as_rotvec()))


def top_polhode(method: str, step: float) -> tuple[Array, float]:
    def run() -> polhode.Result:
        return polhode.solve(TOP, TOP_UNTIL, method=method, step=step, columns="q_wxyz", every=10**9)

    return matrices(np.array(run().last.q_wxyz)), seconds_of(run)


def top_mujoco_start(integrator: str, step: float) -> tuple[Any, Any]:
    """A body on a ball joint: its inertia about the centre of mass is less than that about the tip."""
    moments = TOP_INERTIA - TOP_MASS * ARM**2 * np.array([1, 1, 0])
    words = " ".join(map(repr, moments.tolist()))
    inertia = f'<inertial pos="0 0 {ARM!r}" mass="{TOP_MASS!r}" diaginertia="{words}"/>'
    model = mujoco_model(f'<body><joint type="ball"/>{inertia}</body>', integrator, step, GRAVITY)
    data = mujoco.MjData(model)
    data.qpos[:] = np.roll(TOP_ATTITUDE.as_quat(), 1)
    data.qvel[:] = [0, 0, SPIN]
    mujoco.mj_forward(model, data)
    return model, data


def top_mujoco(integrator: str, step: float) -> tuple[Array, float]:
    model, data = top_mujoco_start(integrator, step)

    def run() -> Array:
        return mujoco_run(model, data, round(TOP_UNTIL / step))[0]

    return matrices(run()[-1, 1:5]), seconds_of(run)


def top_exudyn_start() -> tuple[Any, int]:
    """A free body that has the moments of the top about its tip, and whose weight pulls at the arm and is held at the
    centre: the same equation of the rotation, without the joint that Exudyn's explicit methods cannot have."""
    system, body = exudyn_body(TOP_INERTIA, TOP_ATTITUDE.as_matrix(), np.array([0, 0, SPIN]))
    for at, pull in ((ARM, -TOP_MASS * GRAVITY), (0.0, TOP_MASS * GRAVITY)):
        marker = system.AddMarker(utilities.MarkerBodyPosition(bodyNumber=body, localPosition=[0, 0, at]))
        system.AddLoad(utilities.LoadForceVector(markerNumber=marker, loadVector=[0, 0, pull]))
    system.Assemble()
    return system, body


def top_exudyn(solver: str, step: float) -> tuple[Array, float]:
    def run() -> tuple[Array, float]:
        system, body = top_exudyn_start()
        took = exudyn_run(system, solver, exudyn_settings(step, round(TOP_UNTIL / step), TOP_UNTIL))
        attitude = system.GetObjectOutputBody(body, exudyn.OutputVariableType.RotationMatrix)
        return np.reshape(np.asarray(attitude), (3, 3)), took

    # The model is made anew for each run, which is not to count.
    runs = [run() for _ in range(3)]
    return runs[0][0], min(took for _, took in runs)


def top_rates(_: float, state: Array) -> list[float]:
    """Of quaternion and angular velocity."""
    w, x, y, z, p, q, r = state.tolist()
    a, b = 2 * (x * z - w * y), 2 * (y * z + w * x)
    return [*quaternion_rates(w, x, y, z, p, q, r), (4 * q * r + MGL * b) / 5, (-4 * r * p - MGL * a) / 5, 0.0]


def top_scipy(method: str, tolerance: float) -> tuple[Array, float]:
    start = [*np.roll(TOP_ATTITUDE.as_quat(), 1), 0, 0, SPIN]

    def run() -> Any:
        return solve_ivp(top_rates, (0, TOP_UNTIL), start, method=method, rtol=tolerance, atol=tolerance)

    return matrices(run().y[:4, -1]), seconds_of(run)


def cost_of(curve: Curve, error: float) -> float:
    """The time for an error, between the two runs beside it; NaN beyond them."""
    x, y = np.log(curve.x), np.log(np.maximum(curve.y, 1e-16))
    for i in range(len(x) - 1):
        if y[i] >= np.log(error) >= y[i + 1]:
            share = (y[i] - np.log(error)) / (y[i] - y[i + 1])
            return float(np.exp(x[i] + share * (x[i + 1] - x[i])))
    return math.nan


def top_energies() -> dict[str, float]:
    height = TOP_ATTITUDE.as_matrix()[2, 2]
    found = {"polhode": float(polhode.solve(TOP, 1e-3, step=1e-3).energy[0])}
    found["closed form"] = 0.5 * SPIN**2 * TOP_INERTIA[2] + MGL * height
    if mujoco:
        _, data = top_mujoco_start("RK4", 1e-3)
        found["MuJoCo"] = float(data.energy.sum())
    if exudyn:
        system, body = top_exudyn_start()
        kinds, start = exudyn.OutputVariableType, exudyn.ConfigurationType.Initial
        omega = np.asarray(system.GetObjectOutputBody(body, kinds.AngularVelocityLocal, [0, 0, 0], start))
        tip = system.GetObjectOutputBody(body, kinds.Position, [0, 0, ARM], start)
        found["Exudyn"] = float(0.5 * omega**2 @ TOP_INERTIA + TOP_MASS * GRAVITY * tip[2])
    return found


def fast_top() -> list[Curve]:
    exact, _ = top_polhode("mkrk:gauss4", 1e-3)
    gap = turn_between(top_scipy("DOP853", 1e-13)[0], exact)
    head(
        "2. The fast top after one second: milliseconds for an error of the attitude",
        f"Reference: mkrk:gauss4 with h = 1e-3 s; DOP853 at 1e-13 agrees to {gap:.0e} rad.",
        "Between the runs of a method the time is interpolated; '-' is beyond them.",
        "The right-hand side for scipy is in Python.",
    )
    assert gap < 1e-9
    runs: dict[tuple[str, str], tuple[Callable[[str, float], tuple[Array, float]], list[float]]] = {
        ("polhode", "mkrk:rk4"): (top_polhode, [5e-2, 2e-2, 5e-3, 2e-3, 1e-3, 5e-4]),
        ("polhode", "mkrk:gauss3"): (top_polhode, [1e-1, 5e-2, 2e-2, 1e-2]),
        ("polhode", "imidm"): (top_polhode, [2e-2, 5e-3, 1e-3, 2e-4]),
    }
    if mujoco:
        runs[("MuJoCo", "RK4")] = (top_mujoco, [2e-2, 5e-3, 1e-3, 5e-4, 2e-4, 1e-4])
        runs[("MuJoCo", "implicitfast")] = (top_mujoco, [5e-3, 1e-3, 1e-4, 1e-5])
    if exudyn:
        runs[("Exudyn", "RK67")] = (top_exudyn, [5e-2, 2e-2, 1e-2, 5e-3, 2e-3])
        runs[("Exudyn", "gen-alpha")] = (top_exudyn, [2e-2, 5e-3, 1e-3, 2e-4])
    runs[("scipy", "DOP853")] = (top_scipy, [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
    runs[("scipy", "Radau")] = (top_scipy, [1e-3, 1e-5, 1e-7])
    print(f"{'error in rad':20}{'1e-3':>10}{'1e-6':>10}{'1e-9':>10}    least error")
    curves = []
    for (program, method), (run, settings) in runs.items():
        curve = Curve(program, method)
        for setting in settings:
            found, took = run(method, setting)
            curve.x.append(1e3 * took)
            curve.y.append(turn_between(found, exact))
        needed = [cost_of(curve, error) for error in (1e-3, 1e-6, 1e-9)]
        costs = "".join(f"{cost:10.3f}" if math.isfinite(cost) else f"{'-':>10}" for cost in needed)
        print(f"{curve.name:20}{costs}    {min(curve.y):.0e} in {curve.x[int(np.argmin(curve.y))]:.3g} ms")
        curves.append(curve)
    agree(top_energies())
    return curves
