"""The energy of a chain of ten links over 100 s: polhode, MuJoCo, Exudyn and Drake at one step.

    python python/comparison/energy.py [FOLDER]

prints a table and draws docs/chain-energy.png (or FOLDER/chain-energy.png). A package that is not installed is left out, and said
so. The chain is that of compare.py; nothing in it takes energy, and what the methods can damp is switched off where that leaves a
method that runs. The energy comes from angles and rates of the hinges by the same few lines for all.
"""

from __future__ import annotations

import importlib.metadata
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chain import (
    FALL,
    LENGTH,
    LINK_INERTIA,
    LINK_MASS,
    LINKS,
    RATE,
    chain_energy,
    chain_exudyn,
    chain_mujoco,
    chain_polhode,
)
from programs import (
    COLOURS,
    DASHES,
    MARKERS,
    Array,
    agree,
    blank,
    exudyn,
    folder_of_pictures,
    head,
    mujoco,
    optional,
    short,
    store,
    versions,
)
from top import GRAVITY

drake: Any = optional("pydrake.all", "drake")

UNTIL = 100.0
#: At 4 ms `variational` and the alpha forms of polhode fail within 10 s, unless they are stabilized.
STEP = 2e-3
#: At this step MuJoCo's RK4 takes about the time of `conserving` at the common one.
SHORT_STEP = 5e-5
#: A generalized-alpha form that damps nothing, and what polhode calls it; the plain ones cannot do without damping.
UNDAMPED = {"alpha, undamped": "geometric-alpha,rho=1,constraints=stabilized"}
#: Drake's discrete mode; without contact its solvers are the same step, and this is the one to choose by hand.
DISCRETE = "discrete, sap"

Run = Callable[[str, float, float], tuple[Array, float]]


def chain_drake(scheme: str, step: float, until: float) -> tuple[Array, float]:
    """With the discrete step of the plant, or continuous with one of Drake's integrators, whose error control is off.

    Implicit ones solve their equations as far as they do by default: asked for more, radau3 loses more energy.
    """
    builder = drake.DiagramBuilder()
    plant = builder.AddSystem(drake.MultibodyPlant(time_step=step if scheme == DISCRETE else 0.0))
    if scheme == DISCRETE:
        plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
    central = drake.RotationalInertia(*LINK_INERTIA)
    inertia = drake.SpatialInertia.MakeFromCentralInertia(LINK_MASS, [LENGTH / 2, 0, 0], central)
    before = plant.world_frame()
    for i in range(LINKS):
        body = plant.AddRigidBody(f"link{i}", inertia)
        offset = drake.RigidTransform([LENGTH if i else 0, 0, 0])
        end = plant.AddFrame(drake.FixedOffsetFrame(f"end{i}", before, offset))
        before = body.body_frame()
        plant.AddJoint(drake.RevoluteJoint(f"hinge{i}", end, before, [0, 1, 0]))
    plant.Finalize()
    logger = drake.LogVectorOutput(plant.get_state_output_port(), builder, publish_period=step)
    simulator = drake.Simulator(builder.Build())
    context = simulator.get_mutable_context()
    own = plant.GetMyMutableContextFromRoot(context)
    plant.SetVelocities(own, [RATE] + [0.0] * (LINKS - 1))
    energy_at_start = plant.CalcKineticEnergy(own) + plant.CalcPotentialEnergy(own)
    if scheme != DISCRETE:
        integrator = drake.ResetIntegratorFromFlags(simulator, scheme, step)
        integrator.set_fixed_step_mode(True)
    start = time.process_time()
    try:
        simulator.Initialize()
        simulator.AdvanceTo(until)
    except RuntimeError:
        return np.array([math.nan]), math.nan
    took = time.process_time() - start
    states = logger.FindLog(context).data().T
    with np.errstate(all="ignore"):
        energy = chain_energy(states[:, :LINKS], states[:, LINKS:])
    assert abs(energy_at_start - energy[0]) < 1e-9 * energy_at_start, "the formula of the energy is not Drake's"
    return energy, took


@dataclass
class Line:
    """The energy of one method of one program over time, less that at the start, relative to the fall."""

    program: str
    method: str
    change: Array

    @property
    def name(self) -> str:
        return f"{self.program} {self.method}"

    @property
    def trend(self) -> float:
        """What the straight line nearest to it changes from the start to the end."""
        t = np.linspace(-0.5, 0.5, len(self.change))
        return float(t @ self.change / (t @ t))

    def by_seconds(self) -> Array:
        """A row for each second."""
        return self.change[1:].reshape(round(UNTIL), -1)


def methods() -> dict[tuple[str, str], Run]:
    """What is run, by program and by the name in table and picture."""
    names = ("conserving", "variational", "geometric-alpha", "linear-alpha", "residual-alpha", *UNDAMPED)
    found: dict[tuple[str, str], Run] = {("polhode", name): chain_polhode for name in names}
    if mujoco:
        found |= {("MuJoCo", name): chain_mujoco for name in ("RK4", "implicitfast", "Euler")}
    if exudyn:
        found |= {("Exudyn", name): chain_exudyn for name in ("RK67", "gen-alpha")}
    if drake:
        found |= {("Drake", name): chain_drake for name in ("runge_kutta5", "runge_kutta3", "radau3", DISCRETE)}
    return found


def measure() -> list[Line]:
    head(
        f"A chain of ten links over {UNTIL:g} s at steps of {1e3 * STEP:g} ms: change of energy, time per step",
        f"Relative to {FALL:.1f} J, the fall from straight to hanging; '-': the run failed, or left the range of numbers.",
        "trend: what the straight line nearest to the energy changes over the run.",
        "MuJoCo, Exudyn and Drake have ten angles as coordinates, polhode poses and joints.",
    )
    print(f"{'':28}{'largest':>10}{'at the end':>12}{'trend':>10}{'us/step':>10}")
    lines, energies = [], {}

    def row(program: str, method: str, run: Run, step: float, note: str = "") -> Line:
        energy, took = run(UNDAMPED.get(method, method), step, UNTIL)
        whole = len(energy) == round(UNTIL / step) + 1 and bool(np.all(np.isfinite(energy)))
        line = Line(program, method, (energy - energy[0]) / FALL if whole else np.array([math.nan]))
        largest = float(np.max(np.abs(line.change)))
        numbers = f"{short(largest):>10}{short(line.change[-1]):>12}{short(line.trend):>10}"
        print(f"{line.name + note:28}{numbers}{f'{1e6 * took * step / UNTIL:.1f}' if whole else '-':>10}", flush=True)
        if whole:
            energies[program] = float(energy[0])
        return line

    for (program, method), run in methods().items():
        lines.append(row(program, method, run, STEP))
    if mujoco:
        row("MuJoCo", "RK4", chain_mujoco, SHORT_STEP, f", {1e3 * SHORT_STEP:g} ms")
    agree(energies)
    return lines


def draw(lines: list[Line], folder: Path) -> None:
    """How large the change is, and which way it goes: colours are programs, dashes and markers methods."""
    figure, (size, way) = blank(1, 2, (10, 4.6))
    t = np.arange(round(UNTIL)) + 0.5
    seen: dict[str, int] = {}
    for count, line in enumerate(lines):
        i = seen[line.program] = seen.get(line.program, -1) + 1
        # Markers stand apart, so that curves on top of each other are told by them.
        style: dict[str, Any] = {"color": COLOURS[line.program], "linestyle": DASHES[i], "marker": MARKERS[i]}
        style |= {"markersize": 4, "markevery": (3 * count % 10, 10), "linewidth": 1.1, "label": line.name}
        if not math.isfinite(line.change[-1]):
            size.plot([], [], **style | {"label": f"{line.name} (fails)"})
            continue
        seconds = line.by_seconds()
        size.semilogy(t, np.maximum(np.max(np.abs(seconds), axis=1), 1e-16), **style)
        way.plot(t, np.mean(seconds, axis=1), **style)
    size.set_title(f"Largest change of energy within each second, h = {1e3 * STEP:g} ms", loc="left", fontsize=9)
    way.set_title("Mean change of energy within each second", loc="left", fontsize=9)
    way.set_yscale("symlog", linthresh=1e-2)
    for axes in (size, way):
        axes.set_xlabel("t in s")
        axes.set_xlim(0, UNTIL)
        axes.grid(alpha=0.3)
    size.set_ylim(bottom=1e-15)
    size.set_ylabel("relative to the fall from straight to hanging")
    handles, labels = size.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=7, frameon=False, handlelength=4)
    store(figure, folder / "chain-energy.png")


def main() -> None:
    print(versions({"Drake": importlib.metadata.version("drake")} if drake else {}))
    draw(measure(), folder_of_pictures())


if __name__ == "__main__":
    main()
