"""A chain of ten links that falls: its energy, and the time of a step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

import polhode
from programs import (
    Array,
    Curve,
    agree,
    exudyn,
    exudyn_run,
    exudyn_settings,
    head,
    mujoco,
    mujoco_model,
    mujoco_run,
    short,
    utilities,
)
from top import GRAVITY

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


def chain_polhode(method: str, step: float, until: float = CHAIN_UNTIL) -> tuple[Array, float]:
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
        run = polhode.solve(model, until, method=method, step=step, columns=names)
    except polhode.ConvergenceError:
        return np.array([math.nan]), math.nan
    took = time.process_time() - start
    hinges = [run.joints[f"hinge{i}"] for i in range(LINKS)]
    return chain_energy(np.stack([h.angle for h in hinges], axis=1), np.stack([h.rate for h in hinges], axis=1)), took


def chain_mujoco(integrator: str, step: float, until: float = CHAIN_UNTIL) -> tuple[Array, float]:
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
    states, took = mujoco_run(model, data, round(until / step))
    with np.errstate(all="ignore"):
        energy = chain_energy(states[:, 1 : 1 + LINKS], states[:, 1 + LINKS : 1 + 2 * LINKS])
    assert abs(own - energy[0]) < 1e-9 * own, "the formula of the energy is not MuJoCo's"
    return energy, took


def chain_exudyn(solver: str, step: float, until: float = CHAIN_UNTIL) -> tuple[Array, float]:
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
    took = exudyn_run(system, solver, exudyn_settings(step, round(until / step), step))
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
