"""polhode beside scipy, MuJoCo, Exudyn and JAX: energy, accuracy over time, a chain, and gradients, in one run.

    python python/compare_others.py [FOLDER]

prints four tables and draws docs/comparison.png (or FOLDER/comparison.png). A package that is not installed is left out, and
said so. All programs solve the same problems on one core; every section checks that their energies at the start agree.
"""

from __future__ import annotations

import importlib
import io
import math
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode

Array = npt.NDArray[np.float64]

#: Colours that differ for colour-blind readers and in grey (Okabe and Ito), one for each program.
COLOURS = {"polhode": "#0072b2", "MuJoCo": "#d55e00", "Exudyn": "#009e73", "scipy": "#cc79a7", "JAX": "#e69f00"}
DASHES: list[Any] = ["-", "--", "-.", ":"]
MARKERS = "osD^"


def optional(name: str) -> Any:
    """A package, or None with a word about it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"{name} is left out: {error} (pip install {name.split('.')[0]})")
        return None


mujoco: Any = optional("mujoco")
rollout: Any = optional("mujoco.rollout") if mujoco else None
exudyn: Any = optional("exudyn")
utilities: Any = optional("exudyn.utilities") if exudyn else None
jax: Any = optional("jax")


@dataclass
class Curve:
    """Numbers of one method of one program."""

    program: str
    method: str
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.program} {self.method}"


def short(number: float) -> str:
    """A number in seven characters; a dash if there is none."""
    return f"{number:7.1e}" if math.isfinite(number) else "      -"


def head(title: str, *notes: str) -> None:
    """A title and what is to be known of the table below it."""
    print(f"\n{title}\n{'-' * len(title)}")
    for note in notes:
        print(note)


def agree(energies: dict[str, float]) -> None:
    """All programs must have been given the same body in the same motion."""
    values = np.array(list(energies.values()))
    assert np.ptp(values) < 1e-9 * np.max(np.abs(values)), energies
    print(f"The energy at t = 0 is {values[0]:.9g} J in {', '.join(energies)}.")


def seconds_of(task: Callable[[], object]) -> float:
    """The processor time of a task: the least mean of six batches, each long enough for the clock."""
    means = []
    for _ in range(6):
        start, count = time.process_time(), 0
        while count == 0 or time.process_time() - start < 0.03:
            task()
            count += 1
        means.append((time.process_time() - start) / count)
    return min(means)


# MuJoCo and Exudyn as all sections use them.


def mujoco_model(bodies: str, integrator: str, step: float, gravity: float) -> Any:
    """A model without contacts; a run that diverges is left to do so, and not put back to its start."""
    option = f'gravity="0 0 {-gravity!r}" timestep="{step!r}" integrator="{integrator}"'
    flags = '<flag contact="disable" energy="enable" autoreset="disable"/>'
    text = f"<mujoco><option {option}>{flags}</option><worldbody>{bodies}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(text)


def mujoco_run(model: Any, data: Any, steps: int) -> tuple[Array, float]:
    """The states of a run, t qpos qvel, from the start on, and its processor time: the loop over steps is in C."""
    # Otherwise warnings of runs that diverge are written to a file in the current folder.
    mujoco.set_mju_user_warning(lambda text: None)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    first = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, first, kind)
    start = time.process_time()
    states, _ = rollout.rollout(model, data, first, nstep=steps)
    took = time.process_time() - start
    # A run moves the data on; the next one is to start where this one did.
    mujoco.mj_setState(model, data, first, kind)
    return np.concatenate([first[None], states[0]]), took


#: What the tables call Exudyn's methods, and what it does.
SOLVERS = {"RK67": "RK67", "gen-alpha": "GeneralizedAlpha"}


def exudyn_settings(step: float, steps: int, period: float) -> Any:
    """Fixed steps, no dissipation in generalized-alpha, and Newton's method to the end; where that fails, a step is divided,
    as polhode does too."""
    settings = exudyn.SimulationSettings()
    ours = settings.timeIntegration
    ours.numberOfSteps, ours.endTime, ours.verboseMode = steps, steps * step, 0
    ours.automaticStepSize, ours.adaptiveStep = False, True
    ours.generalizedAlpha.spectralRadius = 1.0
    ours.newton.relativeTolerance, ours.newton.absoluteTolerance = 1e-10, 1e-12
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = period
    return settings


def exudyn_run(system: Any, solver: str, settings: Any) -> float:
    """The processor time of a run; one that does not get to its end is told by NaN."""
    exudyn.config.printToConsole = False
    start = time.process_time()
    try:
        done = system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, SOLVERS[solver]))
    except Exception:  # Whatever it is, the run has ended early.
        done = False
    took = time.process_time() - start
    exudyn.config.printToConsole = True
    return took if done else math.nan


def exudyn_body(inertia: Array, attitude: Array, omega_body: Array) -> tuple[Any, int]:
    """A body on a node whose rotation is updated on the group; its centre of mass is the reference point."""
    system = exudyn.SystemContainer().AddSystem()
    made = system.CreateRigidBody(
        inertia=utilities.RigidBodyInertia(mass=1, inertiaTensor=np.diag(inertia)),
        nodeType=exudyn.NodeType.RotationRotationVector,
        referenceRotationMatrix=attitude,
        initialAngularVelocity=list(attitude @ omega_body),
        returnDict=True,
    )
    return system, int(made["bodyNumber"])


# 1. A free body that tumbles.

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


# 2. The fast top.

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


# 3. A chain of ten links.

LINKS, LENGTH, LINK_MASS, RATE = 10, 0.2, 0.5, 2.0
ACROSS = LINK_MASS * LENGTH**2 / 12 + 1e-4
LINK_INERTIA = np.array([1e-4, ACROSS, ACROSS])
CHAIN_UNTIL = 5.0
#: What the chain loses in height from straight to hanging, for relative numbers.
FALL = LINKS * LINK_MASS * GRAVITY * LINKS * LENGTH / 2


def chain_energy(angles: Array, rates: Array) -> Array:
    """From angles and rates of the hinges, about y: the same few lines for all programs with such coordinates."""
    turn, rate = np.cumsum(angles, axis=1), np.cumsum(rates, axis=1)
    along = LENGTH * np.stack([np.cos(turn), -np.sin(turn)], axis=-1)
    moving = LENGTH * rate[..., None] * np.stack([-np.sin(turn), -np.cos(turn)], axis=-1)
    height = (np.cumsum(along, axis=1) - along / 2)[..., 1]
    speed = np.cumsum(moving, axis=1) - moving / 2
    each = 0.5 * LINK_MASS * np.sum(speed**2, axis=-1) + 0.5 * ACROSS * rate**2 + LINK_MASS * GRAVITY * height
    total: Array = np.sum(each, axis=1)
    return total


def chain_polhode(method: str, step: float) -> tuple[Array, float]:
    model = polhode.Model(name="chain").gravity([0, 0, -GRAVITY])
    for i in range(LINKS):
        model.body(f"link{i}", mass=LINK_MASS, center=[LENGTH / 2, 0, 0], inertia=LINK_INERTIA, position=[i * LENGTH, 0, 0])
    for i in range(LINKS):
        pair = ["ground" if i == 0 else f"link{i - 1}", f"link{i}"]
        rate = RATE if i == 0 else 0.0
        model.joint(f"hinge{i}", "revolute", pair, at=[i * LENGTH, 0, 0], axis=[0, 1, 0], rate=rate)
    names = [f"hinge{i}.{key}" for i in range(LINKS) for key in ("angle", "rate")]
    start = time.process_time()
    try:
        run = polhode.solve(model, CHAIN_UNTIL, method=method, step=step, columns=names)
    except polhode.ConvergenceError:
        return np.array([math.nan]), math.nan
    took = time.process_time() - start
    hinges = [run.joints[f"hinge{i}"] for i in range(LINKS)]
    return chain_energy(np.stack([h.angle for h in hinges], axis=1), np.stack([h.rate for h in hinges], axis=1)), took


def chain_mujoco(integrator: str, step: float) -> tuple[Array, float]:
    moments = " ".join(map(repr, LINK_INERTIA.tolist()))
    inertial = f'<inertial pos="{LENGTH / 2} 0 0" mass="{LINK_MASS}" diaginertia="{moments}"/>'
    bodies = ""
    for i in reversed(range(LINKS)):
        bodies = f'<body pos="{LENGTH if i else 0} 0 0"><joint axis="0 1 0"/>{inertial}{bodies}</body>'
    model = mujoco_model(bodies, integrator, step, GRAVITY)
    data = mujoco.MjData(model)
    data.qvel[0] = RATE
    mujoco.mj_forward(model, data)
    own = float(data.energy.sum())
    states, took = mujoco_run(model, data, round(CHAIN_UNTIL / step))
    with np.errstate(all="ignore"):
        energy = chain_energy(states[:, 1 : 1 + LINKS], states[:, 1 + LINKS : 1 + 2 * LINKS])
    assert abs(own - energy[0]) < 1e-9 * own, "the formula of the energy is not MuJoCo's"
    return energy, took


def chain_exudyn(solver: str, step: float) -> tuple[Array, float]:
    """As a tree in the coordinates of its hinges, which is Exudyn's fastest and most accurate form of a chain."""
    system = exudyn.SystemContainer().AddSystem()
    rest = [0.0] * LINKS
    rates = [RATE, *rest[1:]]
    coordinates = {"referenceCoordinates": rest, "initialCoordinates": rest, "initialCoordinates_t": rates}
    node = system.AddNode(utilities.NodeGenericODE2(numberOfODE2Coordinates=LINKS, **coordinates))
    offsets = [[0, 0, 0], *[[LENGTH, 0, 0]] * (LINKS - 1)]
    tree = utilities.ObjectKinematicTree(
        nodeNumber=node,
        jointTypes=[exudyn.JointType.RevoluteY] * LINKS,
        linkParents=list(range(-1, LINKS - 1)),
        jointTransformations=exudyn.Matrix3DList([np.eye(3)] * LINKS),
        jointOffsets=exudyn.Vector3DList(offsets),
        linkInertiasCOM=exudyn.Matrix3DList([np.diag(LINK_INERTIA)] * LINKS),
        linkCOMs=exudyn.Vector3DList([[LENGTH / 2, 0, 0]] * LINKS),
        linkMasses=[LINK_MASS] * LINKS,
        gravity=[0, 0, -GRAVITY],
    )
    system.AddObject(tree)
    kinds = exudyn.OutputVariableType
    sensors = [
        system.AddSensor(utilities.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind))
        for kind in (kinds.Coordinates, kinds.Coordinates_t)
    ]
    system.Assemble()
    took = exudyn_run(system, solver, exudyn_settings(step, round(CHAIN_UNTIL / step), step))
    angles, speeds = (np.asarray(system.GetSensorStoredData(sensor))[:, 1:] for sensor in sensors)
    energy = chain_energy(angles, speeds)
    return (energy if math.isfinite(took) else np.append(energy, math.nan)), took


def chain() -> list[Curve]:
    steps = (4e-3, 1e-3)
    head(
        f"3. A chain of ten links falls for {CHAIN_UNTIL:g} s: change of energy, time per step",
        f"Relative to {FALL:.1f} J, the fall from straight to hanging; '-': failed or above 1.",
        "MuJoCo and Exudyn have ten angles as coordinates, polhode poses and joints.",
    )
    runs: dict[tuple[str, str], Callable[[str, float], tuple[Array, float]]] = {
        ("polhode", name): chain_polhode for name in ("geometric-alpha", "variational", "conserving")
    }
    if mujoco:
        runs |= {("MuJoCo", name): chain_mujoco for name in ("RK4", "implicitfast")}
    if exudyn:
        runs |= {("Exudyn", name): chain_exudyn for name in ("RK67", "gen-alpha")}
    print(f"{'':26}" + "".join(f"{f'h = {1e3 * h:g} ms':>12}{'us/step':>10}" for h in steps))
    curves, energies = [], {}
    for (program, method), run in runs.items():
        curve = Curve(program, method)
        cells = ""
        for h in steps:
            energy, took = run(method, h)
            if math.isfinite(energy[0]):
                energies[program] = float(energy[0])
            with np.errstate(all="ignore"):
                change = float(np.max(np.abs(energy - energy[0]))) / FALL
            # More energy than there is says as much as no number.
            change = change if change < 1 else math.nan
            curve.x.append(took)
            curve.y.append(change)
            each = f"{1e6 * took * h / CHAIN_UNTIL:.1f}" if math.isfinite(took) else "-"
            cells += f"{short(change):>12}{each:>10}"
        print(f"{curve.name:26}{cells}")
        curves.append(curve)
    agree(energies)
    return curves


# 4. Derivatives.

NUMBERS = ["mgl", "omega_body_x", "omega_body_y", "omega_body_z", "inertia_xx", "inertia_yy", "inertia_zz"]
AT = np.array([MGL, 0, 0, SPIN, *TOP_INERTIA])


def derivatives_exact(method: str, step: float) -> Array:
    found = polhode.sensitivity(TOP, NUMBERS, TOP_UNTIL, method=method, step=step, columns="q_wxyz", every=None)
    last: Array = found.derivatives["q_wxyz"][-1]
    return last


def derivatives_by_differences(method: str, step: float, change: float) -> Array:
    """Central differences, two runs for each number."""
    columns = []
    for i, name in enumerate(NUMBERS):
        by = change * max(abs(AT[i]), 1.0)
        ends = []
        for value in (AT[i] - by, AT[i] + by):
            model = TOP.copy().set({name: value})
            run = polhode.solve(model, TOP_UNTIL, method=method, step=step, columns="q_wxyz", every=10**9)
            ends.append(np.array(run.last.q_wxyz))
        columns.append((ends[1] - ends[0]) / (2 * by))
    return np.stack(columns, axis=1)


def jax_derivatives(step: float) -> tuple[Callable[[], Array], float]:
    """A classical Runge-Kutta method of the top in JAX, compiled; the function, and how long it took to compile."""
    jax.config.update("jax_enable_x64", True)
    numpy = jax.numpy
    start = numpy.array(np.roll(TOP_ATTITUDE.as_quat(), 1))
    steps = round(TOP_UNTIL / step)

    def rates(state: Any, x: Any) -> Any:
        w, i, j, k, p, q, r = state
        moments = x[4:]
        turning = numpy.stack([p, q, r])
        torque = x[0] * numpy.stack([2 * (j * k + w * i), -2 * (i * k - w * j), 0.0 * w])
        turn = numpy.stack(quaternion_rates(w, i, j, k, p, q, r))
        return numpy.concatenate([turn, (numpy.cross(moments * turning, turning) + torque) / moments])

    def one(_: Any, carried: Any) -> Any:
        state, x = carried
        k_1 = rates(state, x)
        k_2 = rates(state + step / 2 * k_1, x)
        k_3 = rates(state + step / 2 * k_2, x)
        k_4 = rates(state + step * k_3, x)
        return state + step / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4), x

    def end(x: Any) -> Any:
        return jax.lax.fori_loop(0, steps, one, (numpy.concatenate([start, x[1:4]]), x))[0][:4]

    begin = time.perf_counter()
    compiled = jax.jit(jax.jacfwd(end))
    compiled(AT).block_until_ready()
    return lambda: np.asarray(compiled(AT).block_until_ready()), time.perf_counter() - begin


def gradients() -> list[Curve]:
    exact = derivatives_exact("mkrk:gauss4", 1e-3)
    head(
        "4. Derivatives of the top's attitude after one second by seven numbers",
        "Error: largest one of the quaternion's derivatives, over the largest of them;",
        "reference: mkrk:gauss4 with h = 1e-3 s.",
    )
    tasks: list[tuple[str, str, Callable[[float], tuple[Callable[[], Array], float]], list[float]]] = [
        ("polhode", "mkrk:rk4", lambda h: (lambda: derivatives_exact("mkrk:rk4", h), 0.0), [4e-3, 2e-3, 1e-3, 5e-4]),
        ("polhode", "mkrk:gauss3", lambda h: (lambda: derivatives_exact("mkrk:gauss3", h), 0.0), [4e-2, 2e-2, 1e-2]),
        (
            "polhode",
            "rk4, differences",
            lambda h: (lambda: derivatives_by_differences("mkrk:rk4", h, 1e-5), 0.0),
            [4e-3, 2e-3, 1e-3, 5e-4],
        ),
    ]
    if jax:
        tasks.append(("JAX", "RK4, jacfwd", jax_derivatives, [4e-3, 2e-3, 1e-3, 5e-4]))
    print(f"{'':28}{'h in s':>10}{'error':>12}{'ms':>10}{'compiled in s':>16}")
    curves = []
    for program, method, make, steps in tasks:
        curve = Curve(program, method)
        for h in steps:
            task, compiling = make(h)
            error = float(np.max(np.abs(task() - exact)) / np.max(np.abs(exact)))
            curve.y.append(error)
            curve.x.append(1e3 * seconds_of(task))
            waiting = f"{compiling:16.2f}" if compiling else ""
            print(f"{curve.name:28}{h:10.0e}{short(error):>12}{curve.x[-1]:10.3f}{waiting}")
        curves.append(curve)
    return curves


# The figure.


def draw_curves(axes: Any, curves: list[Curve], title: str, x: str, y: str) -> None:
    """One curve for each method: colours are programs, dashes and markers are methods."""
    seen: dict[str, int] = {}
    for curve in curves:
        i = seen[curve.program] = seen.get(curve.program, -1) + 1
        style = {"color": COLOURS[curve.program], "linestyle": DASHES[i], "marker": MARKERS[i], "markersize": 4}
        axes.loglog(curve.x, np.maximum(curve.y, 1e-16), label=curve.name, linewidth=1.2, **style)
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def draw(sections: list[list[Curve]], folder: Path) -> None:
    """Four panels in one picture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from PIL import Image

    pyplot.rcParams.update({"font.size": 8})
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    labels = [
        ("A free body, 100 000 steps", "|ω| h in rad", "largest change of energy"),
        ("The fast top", "processor time in ms", "error of the attitude in rad"),
        (f"A chain of ten links over {CHAIN_UNTIL:g} s, h = 4 and 1 ms", "processor time in s", "largest change of energy"),
        ("Derivatives of the fast top", "processor time in ms", "relative error of derivatives"),
    ]
    for panel, curves, (title, x, y) in zip(axes.ravel(), sections, labels, strict=True):
        draw_curves(panel, curves, title, x, y)
    axes[0, 0].set_xticks([0.1, 0.25, 0.5, 1], ["0.1", "0.25", "0.5", "1"])
    axes[0, 0].tick_params(axis="x", which="minor", bottom=False)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110)
    pyplot.close(figure)
    # A palette makes a file of half the size.
    Image.open(drawn).convert("RGB").quantize(255).save(folder / "comparison.png", optimize=True)
    print(f"\npicture in {folder / 'comparison.png'}")


def versions() -> str:
    """What is compared."""
    found = {"polhode": polhode.__version__, "scipy": importlib.import_module("scipy").__version__}
    found |= {name: package.__version__ for name, package in (("MuJoCo", mujoco), ("JAX", jax)) if package}
    if exudyn:
        found["Exudyn"] = exudyn.config.Version()
    compared = ", ".join(f"{name} {version}" for name, version in found.items())
    return f"{compared}\nPython {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one core"


def main() -> None:
    print(versions())
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs"
    begin = time.perf_counter()
    sections = [tumbling(), fast_top(), chain(), gradients()]
    print(f"\n{time.perf_counter() - begin:.0f} s in all")
    draw(sections, folder)


if __name__ == "__main__":
    main()
