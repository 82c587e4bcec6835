"""The programs that are compared, as all sections use them."""

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

import polhode

Array = npt.NDArray[np.float64]

#: Colours that differ for colour-blind readers and in grey (Okabe and Ito), one for each program.
COLOURS = {
    "polhode": "#0072b2",
    "MuJoCo": "#d55e00",
    "Exudyn": "#009e73",
    "Drake": "#000000",
    "scipy": "#cc79a7",
    "JAX": "#e69f00",
}
DASHES: list[Any] = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3))]
MARKERS = "osD^vP"


def optional(name: str, package: str = "") -> Any:
    """A module of a package, or None with a word about it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"{name} is left out: {error} (pip install {package or name.split('.')[0]})")
        return None


mujoco: Any = optional("mujoco")
rollout: Any = optional("mujoco.rollout") if mujoco else None
# Without checks of ranges, which is how it is fastest; where the processor cannot, it says so and takes the usual one.
setattr(sys, "exudynFast", True)
exudyn: Any = optional("exudyn")
utilities: Any = optional("exudyn.utilities") if exudyn else None


def versions(others: dict[str, str]) -> str:
    """What is compared: the programs of all sections that are there, and others with their versions."""
    found = {"polhode": polhode.__version__}
    if mujoco:
        found["MuJoCo"] = mujoco.__version__
    if exudyn:
        found["Exudyn"] = exudyn.config.Version()
    compared = ", ".join(f"{name} {version}" for name, version in (found | others).items())
    return f"{compared}\nPython {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one core"


def blank(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure and its panels."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 8})
    return pyplot.subplots(rows, columns, figsize=size, layout="constrained")


def store(figure: Any, path: Path) -> None:
    """A figure as a PNG with a palette, which makes a file of half the size."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110)
    Image.open(drawn).convert("RGB").quantize(255).save(path, optimize=True)
    print(f"\npicture in {path}")


def folder_of_pictures() -> Path:
    """What the first argument says, or docs."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "docs"


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
SOLVERS = {
    "gen-alpha": "GeneralizedAlpha",
    "trapezoidal": "TrapezoidalIndex2",
    **{name: name for name in ("RK33", "RK44", "RK67")},
}


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
