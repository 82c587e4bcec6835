"""The rigid benchmark mechanisms of IFToMM in polhode and in Exudyn: the processor time for an accuracy.

    python python/comparison/mechanisms.py [WORD...]

takes the mechanisms whose names have one of the words (all of them if there are none), prints what every method needs, and a
table in the end. Errors are against references of a third route.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polhode

from programs import Array, exudyn, exudyn_run, exudyn_settings, head, utilities, versions
from references import (
    ACROSS,
    ALONG,
    ARM,
    BALL,
    CENTRES,
    CORNERS,
    DAMPERS,
    GRAVITY,
    HELD,
    HINGE,
    KNOT,
    LINK_ANGLES,
    LINK_INERTIAS,
    LINK_MASSES,
    MEETINGS,
    REST,
    ROD,
    ROD_MOMENTS,
    RODS,
    SLIDER,
    SPIN,
    SPRING,
    SPRINGS,
    STARTING,
    STIFFNESS,
    TILT,
    TORQUE,
    WIDTH,
    C,
    bricard_reference,
    four_bars_reference,
    governor_moment,
    governor_reference,
    pendulum_reference,
    point,
    squeezer_reference,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Runs in s after which a method is given up, or in the time of the best one so far; a time is the least of so many runs.
LONGEST, FAR_BEHIND, REPEATS = 5.0, 2.0, 5
#: A system of Exudyn that is ready to run, and what reads the quantities of interest from its sensors after that.
Built = tuple[Any, Callable[[], Array]]


# The same mechanisms in Exudyn: each in the forms that suit it.


def sensors(system: Any, places: Sequence[Any]) -> Callable[[], list[Array]]:
    """Assembles a system; what its sensors have stored, without the times."""
    numbers = [system.AddSensor(place) for place in places]
    system.Assemble()
    return lambda: [np.asarray(system.GetSensorStoredData(number))[:, 1:] for number in numbers]


def sensed(kind: type[Any], quantity: str, **where: Any) -> Any:
    return kind(storeInternal=True, outputVariableType=getattr(exudyn.OutputVariableType, quantity), **where)


def tree(system: Any, kinds: str, rates: Sequence[float], parents: Sequence[int], **keys: Any) -> tuple[int, int]:
    """Links in the coordinates of their joints, as the words of `kinds` name them; the numbers of node and object."""
    names = [getattr(exudyn.JointType, name) for name in kinds.split()]
    rest = [0.0] * len(names)
    start = {"referenceCoordinates": rest, "initialCoordinates": rest, "initialCoordinates_t": list(rates)}
    node = system.AddNode(utilities.NodeGenericODE2(numberOfODE2Coordinates=len(names), **start))
    keys.setdefault("jointTransformations", [np.eye(3)] * len(names))
    for key in ("jointTransformations", "linkInertiasCOM"):
        keys[key] = exudyn.Matrix3DList(keys[key])
    for key in ("jointOffsets", "linkCOMs"):
        keys[key] = exudyn.Vector3DList([list(map(float, vector)) for vector in keys[key]])
    made = utilities.ObjectKinematicTree(nodeNumber=node, jointTypes=names, linkParents=list(parents), **keys)
    return node, system.AddObject(made)


def pendulum_point() -> Built:
    """A point of the plane at a distance from the ground."""
    system = exudyn.SystemContainer().AddSystem()
    node = system.AddNode(utilities.NodePoint2D(referenceCoordinates=[-1, 0]))
    system.AddObject(utilities.MassPoint2D(mass=1, nodeNumber=node))
    bob = system.AddMarker(utilities.MarkerNodePosition(nodeNumber=node))
    ground = system.AddMarker(utilities.MarkerBodyPosition(bodyNumber=system.AddObject(utilities.ObjectGround())))
    system.AddObject(utilities.DistanceConstraint(markerNumbers=[ground, bob], distance=1))
    system.AddLoad(utilities.Force(markerNumber=bob, loadVector=[0, -GRAVITY, 0]))
    stored = sensors(system, [sensed(utilities.SensorNode, name, nodeNumber=node) for name in ("Position", "Velocity")])

    def read() -> Array:
        (x, y, _), velocity = stored()[0].T, stored()[1]
        return np.stack([x, y, np.sum(velocity**2, axis=1) / 2 + GRAVITY * y], axis=1)

    return system, read


def pendulum_tree() -> Built:
    """One angle, without constraints, which explicit methods can have."""
    system = exudyn.SystemContainer().AddSystem()
    bob = {"linkMasses": [1.0], "linkCOMs": [[-1, 0, 0]], "linkInertiasCOM": [np.zeros((3, 3))]}
    node, _ = tree(system, "RevoluteZ", [0.0], [-1], jointOffsets=[[0, 0, 0]], gravity=[0, -GRAVITY, 0], **bob)
    names = ("Coordinates", "Coordinates_t")
    stored = sensors(system, [sensed(utilities.SensorNode, name, nodeNumber=node) for name in names])

    def read() -> Array:
        angle, rate = (values[:, 0] for values in stored())
        return np.stack([-np.cos(angle), -np.sin(angle), rate**2 / 2 - GRAVITY * np.sin(angle)], axis=1)

    return system, read


class Plane:
    """Bodies of the plane with three coordinates each, and hinges of two rows: nothing is redundant."""

    def __init__(self) -> None:
        self.system = exudyn.SystemContainer().AddSystem()
        self.ground = self.system.AddObject(utilities.ObjectGround())
        self.nodes: list[int] = []
        self.bodies: list[int] = []

    def body(self, mass: float, inertia: float, pose: Sequence[float], velocity: Sequence[float], weight: float = 0.0) -> None:
        node = self.system.AddNode(utilities.NodeRigidBody2D(referenceCoordinates=pose, initialVelocities=velocity))
        self.bodies.append(self.system.AddObject(utilities.RigidBody2D(nodeNumber=node, mass=mass, inertia=inertia)))
        self.nodes.append(node)
        if weight:
            centre = self.system.AddMarker(utilities.MarkerNodePosition(nodeNumber=node))
            self.system.AddLoad(utilities.Force(markerNumber=centre, loadVector=[0, -weight, 0]))

    def at(self, body: int, place: complex, kind: str = "MarkerBodyPosition") -> int:
        """A marker on a body at a point from its centre of mass; -1 is the ground."""
        number = self.ground if body < 0 else self.bodies[body]
        made = getattr(utilities, kind)(bodyNumber=number, localPosition=[place.real, place.imag, 0])
        return int(self.system.AddMarker(made))

    def hinge(self, one: int, place: complex, other: int, there: complex) -> None:
        self.system.AddObject(utilities.RevoluteJoint2D(markerNumbers=[self.at(one, place), self.at(other, there)]))


def four_bars_plane(windows: int) -> Built:
    plane = Plane()
    for i in range(windows + 1):
        plane.body(1, 1 / 12, [i, 0.5, math.pi / 2], [0.5, 0, -1], GRAVITY)
    for i in range(windows):
        plane.body(1, 1 / 12, [i + 0.5, 1, 0], [1, 0, 0], GRAVITY)
    for i in range(windows + 1):
        plane.hinge(-1, complex(i), i, -0.5)
    for i in range(windows):
        coupler = windows + 1 + i
        plane.hinge(i, 0.5, coupler, -0.5)
        plane.hinge(coupler, 0.5, i + 1, 0.5)
    top = sensed(utilities.SensorBody, "Position", bodyNumber=plane.bodies[0], localPosition=[0.5, 0, 0])
    stored = sensors(plane.system, [top])
    return plane.system, lambda: stored()[0][:, :2]


def squeezer_plane() -> Built:
    plane, turns = Plane(), np.exp(1j * LINK_ANGLES)
    for i, at in enumerate(CENTRES):
        fixed, turning = point(i, complex(at))
        place = fixed + complex(turning @ turns)
        plane.body(LINK_MASSES[i], LINK_INERTIAS[i], [place.real, place.imag, LINK_ANGLES[i]], [0, 0, 0])
    for link, (holder, at) in enumerate(HELD):
        plane.hinge(holder, at - (CENTRES[holder] if holder >= 0 else 0), link, -CENTRES[link])
    for link, at in MEETINGS:
        plane.hinge(1, KNOT - CENTRES[1], link, at - CENTRES[link])
    ends = [plane.at(-1, C), plane.at(2, SPRING - CENTRES[2])]
    plane.system.AddObject(utilities.SpringDamper(markerNumbers=ends, stiffness=STIFFNESS, referenceLength=REST))
    motor = utilities.LoadTorqueVector(markerNumber=plane.at(0, 0j, "MarkerBodyRigid"), loadVector=[0, 0, TORQUE])
    plane.system.AddLoad(motor)
    stored = sensors(plane.system, [sensed(utilities.SensorNode, "Coordinates", nodeNumber=plane.nodes[i]) for i in (0, 2)])
    return plane.system, lambda: np.stack([values[:, 2] for values in stored()], axis=1) + LINK_ANGLES[[0, 2]]


def bricard_tree() -> Built:
    """Five angles, and a joint that closes the loop, without the row that is redundant: a third of the time of bodies that are
    free, in Euler parameters."""
    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddObject(utilities.ObjectGround())
    rods = {"linkMasses": [1.0] * 5, "linkCOMs": RODS / 2, "linkInertiasCOM": [np.diag(row) for row in ROD_MOMENTS]}
    offsets = [np.zeros(3), *RODS[:4]]
    kinds = "RevoluteY RevoluteZ RevoluteX RevoluteY RevoluteZ"
    _, links = tree(system, kinds, [0] * 5, range(-1, 4), jointOffsets=offsets, gravity=[0, -GRAVITY, 0], **rods)
    last = {"objectNumber": links, "linkNumber": 4, "localPosition": list(RODS[4])}
    ends = [
        system.AddMarker(utilities.MarkerBodyRigid(bodyNumber=ground, localPosition=list(CORNERS[5]))),
        system.AddMarker(utilities.MarkerKinematicTreeRigid(**last)),
    ]
    system.AddObject(utilities.GenericJoint(markerNumbers=ends, constrainedAxes=[1, 1, 1, 0, 0, 1]))
    third = {"objectNumber": links, "linkNumber": 2, "localPosition": list(RODS[2])}
    stored = sensors(system, [sensed(utilities.SensorKinematicTree, "Position", **third)])
    return system, lambda: stored()[0]


def governor_tree() -> Built:
    """Four coordinates without constraints."""
    system = exudyn.SystemContainer().AddSystem()
    total = ROD + BALL
    across = ACROSS - ARM**2 / total
    shaft = np.array([(1 + WIDTH**2) / 12, (1 + WIDTH**2) / 12, WIDTH**2 / 6])
    node, links = tree(
        *(system, "RevoluteZ PrismaticZ RevoluteY RevoluteY", [SPIN, 0, 0, 0], [-1, 0, 0, 0]),
        jointTransformations=[np.eye(3), np.eye(3), utilities.RotationMatrixY(TILT), utilities.RotationMatrixY(math.pi - TILT)],
        jointOffsets=[[0, 0, 0], [0, 0, 0.5], [HINGE, 0, 1], [-HINGE, 0, 1]],
        linkMasses=[0.3, SLIDER, total, total],
        linkCOMs=[[0, 0, 0.5], [0, 0, 0], [ARM / total, 0, 0], [ARM / total, 0, 0]],
        linkInertiasCOM=[np.diag(0.3 * shaft), SLIDER / 600 * np.eye(3), *[np.diag([ALONG, across, across])] * 2],
        gravity=[0, 0, -GRAVITY],
    )
    for rod, side in ((2, HINGE), (3, -HINGE)):
        places = ((1, side), (rod, 0.5))
        ends = [
            system.AddMarker(utilities.MarkerKinematicTreeRigid(objectNumber=links, linkNumber=link, localPosition=[x, 0, 0]))
            for link, x in places
        ]
        spring = {"stiffness": SPRINGS, "damping": DAMPERS, "referenceLength": 0.5}
        system.AddObject(utilities.SpringDamper(markerNumbers=ends, **spring))
    names = ("Coordinates", "Coordinates_t")
    stored = sensors(system, [sensed(utilities.SensorNode, name, nodeNumber=node) for name in names])
    return system, lambda: np.stack([stored()[0][:, 1] + 0.5, stored()[1][:, 0]], axis=1)


# What is compared.


@dataclass(frozen=True)
class Setting:
    """How Exudyn solves: its method, the spectral radius, the relative tolerance of Newton's method, sparse matrices or not."""

    solver: str
    rho: float
    tolerance: float
    sparse: bool

    @property
    def name(self) -> str:
        words = f"{self.solver} {self.rho:g}" if self.solver == "gen-alpha" else self.solver
        return f"{words}, {self.tolerance:.0e}"


def settings(solvers: str, tolerances: Sequence[float], rho: float = 0.95, sparse: bool = False) -> list[Setting]:
    return [Setting(solver, rho, tolerance, sparse) for solver in solvers.split() for tolerance in tolerances]


@dataclass
class Way:
    """One method of one program for a mechanism. It gives the values at all times, with so many steps from one time to the
    next, and the processor time; `seen` are its runs so far."""

    program: str
    name: str
    run: Callable[[int], tuple[Array, float]]
    seen: dict[int, tuple[Array, float]] = field(default_factory=dict)


@dataclass
class Found:
    """The largest step of a way for an accuracy, in parts of the time between rows; its error and time."""

    way: Way
    each: int
    error: float
    took: float


@dataclass
class Mechanism:
    """A benchmark with its models and methods in both programs. `rows` are the times at which it is looked at; an accuracy has
    a word of what it is, a limit, and the weights of the quantities in an error."""

    name: str
    until: float
    rows: int
    reference: Callable[[Array], Array]
    columns: list[str]
    models: list[tuple[str | polhode.Model, list[str]]]
    forms: list[tuple[Callable[[], Built], list[Setting]]]
    accuracies: list[tuple[str, float, list[float]]]
    #: The fewest steps between rows that are tried.
    first: int = 1

    @property
    def period(self) -> float:
        return self.until / self.rows

    def nothing(self) -> Array:
        """The values of a run that failed."""
        return np.full((self.rows + 1, len(self.columns)), math.nan)

    def run_polhode(self, model: polhode.Model, method: str, each: int) -> tuple[Array, float]:
        start = time.process_time()
        try:
            step = self.period / each
            found = polhode.solve(model, self.until, method=method, step=step, columns=self.columns, every=each)
        except polhode.ConvergenceError:
            return self.nothing(), time.process_time() - start
        took = time.process_time() - start
        return np.stack([found.columns[name] for name in self.columns], axis=1), took

    def run_exudyn(self, build: Callable[[], Built], setting: Setting, each: int) -> tuple[Array, float]:
        system, read = build()
        made = exudyn_settings(self.period / each, self.rows * each, self.period)
        made.timeIntegration.generalizedAlpha.spectralRadius = setting.rho
        newton = made.timeIntegration.newton
        newton.relativeTolerance, newton.absoluteTolerance = setting.tolerance, setting.tolerance / 100
        # One Jacobian for a step, which is the fastest for all these mechanisms.
        newton.useModifiedNewton = newton.modifiedNewtonJacUpdatePerStep = True
        newton.numericalDifferentiation.jacobianConnectorDerivative = False
        if setting.sparse:
            made.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
            made.linearSolver.reuseAnalyzedPattern = True
        start = time.process_time()
        took = exudyn_run(system, setting.solver, made)
        if math.isnan(took):
            return self.nothing(), time.process_time() - start
        return read(), took

    def ways(self) -> list[Way]:
        """Those of polhode, and those of Exudyn if it is there."""
        found = []
        for source, methods in self.models:
            model = source if isinstance(source, polhode.Model) else polhode.Model(EXAMPLES / f"{source}.toml")
            found += [Way("polhode", method, partial(self.run_polhode, model, method)) for method in methods]
        for build, all_settings in self.forms if exudyn else []:
            found += [Way("Exudyn", each.name, partial(self.run_exudyn, build, each)) for each in all_settings]
        return found


def error_of(values: Array, exact: Array, weights: Sequence[float]) -> float:
    """The largest error of the quantities; NaN if one is no number."""
    with np.errstate(invalid="ignore"):
        return float(np.max(np.abs(values - exact) * weights))


def search(way: Way, exact: Array, limit: float, weights: Sequence[float], first: int, longest: float) -> Found | None:
    """Halves the step until the error is small enough, then goes back by the order that the errors show. None if that takes
    too long."""

    def error(each: int) -> float:
        if each not in way.seen:
            way.seen[each] = way.run(each)
        return error_of(way.seen[each][0], exact, weights)

    few, many = 0, first
    while not error(many) <= limit:
        # Runs that fail take longer with large steps than with small ones.
        if way.seen[many][1] > (longest if error(many) < math.inf else LONGEST):
            return None
        few, many = many, 2 * many
    for _ in range(3):
        if many - few <= max(1, many // 16):
            break
        order = math.log2(error(few) / error(many)) / math.log2(many / few) if few else math.nan
        between = many * (error(many) / limit) ** (1 / order) * 1.01 if order > 0.5 else (few + many) / 2
        middle = min(max(math.ceil(between), few + 1), many - 1)
        few, many = (few, middle) if error(middle) <= limit else (middle, many)
    return Found(way, many, error(many), way.seen[many][1])


def compare(mechanism: Mechanism) -> list[str]:
    """Prints what all ways need; the lines of the table for the best of both programs."""
    exact, ways = mechanism.reference(np.linspace(0, mechanism.until, mechanism.rows + 1)), mechanism.ways()
    programs = list(dict.fromkeys(way.program for way in ways))
    lines: list[str] = []
    for what, limit, weights in mechanism.accuracies:
        head(f"{mechanism.name}: {what}", f"{'':56}{'step':>10}{'error':>10}{'ms':>10}{'us/step':>10}")
        best: dict[str, Found] = {}
        for way in ways:
            least = best[way.program].took if way.program in best else math.inf
            found = search(way, exact, limit, weights, mechanism.first, min(LONGEST, FAR_BEHIND * least))
            name = f"{way.program:8}{way.name}"
            if not found:
                print(f"{name:56}{'-':>10}{'-':>10}{'-':>10}{'-':>10}")
                continue
            if found.took < FAR_BEHIND / 2 * least:
                found.took = min([found.took] + [way.run(found.each)[1] for _ in range(REPEATS)])
            step, each = mechanism.period / found.each, 1e6 * found.took / (mechanism.rows * found.each)
            print(f"{name:56}{step:10.2e}{found.error:10.1e}{1e3 * found.took:10.3f}{each:10.2f}")
            if found.took < least:
                best[way.program] = found
        # So both come to the reference as steps become small: it is the same mechanism.
        assert set(best) == set(programs), f"{mechanism.name}: {list(best)} alone reach {what}"
        for program, found in best.items():
            step, ratio = mechanism.period / found.each, found.took / best["polhode"].took
            start = f"{mechanism.name:20}{what:18}{program:9}{found.way.name:42}"
            after = f"{ratio:9.2f}" if program == "Exudyn" else ""
            lines.append(f"{start}{step:9.2e}{found.error:9.1e}{1e3 * found.took:10.3f}{after}")
    return lines


def same_start() -> None:
    """Energies and accelerations at the start, where they are not zero: in both programs, and by hand."""
    moving = {"four-bars-2": 1.5, "governor": 0.5 * governor_moment(TILT) * SPIN**2}
    for name, energy in moving.items():
        found = polhode.solve(EXAMPLES / f"{name}.toml", 1e-3, step=1e-3, columns="kinetic_energy").kinetic_energy[0]
        assert math.isclose(found, energy, rel_tol=1e-9), name
    beside = ["k1.omega_rate", "k2.omega_rate"]
    begun = polhode.solve(EXAMPLES / "squeezer.toml", 1e-6, step=1e-6, columns=beside).bodies
    found = [begun[name].omega_rate[0, 2] for name in ("k1", "k2")]
    assert np.allclose(found, STARTING, rtol=1e-9)
    if not exudyn:
        return
    builders: list[Callable[[], Built]] = [partial(four_bars_plane, 2), governor_tree]
    for (name, energy), build in zip(moving.items(), builders, strict=True):
        system, _ = build()
        rates = np.asarray(system.systemData.GetODE2Coordinates_t(configuration=exudyn.ConfigurationType.Initial))
        kinetic = 0.5 * rates @ np.asarray(system.ComputeLinearizedSystem()[0]) @ rates
        assert math.isclose(kinetic, energy, rel_tol=1e-9), name
    system, _ = squeezer_plane()
    exudyn_run(system, "gen-alpha", exudyn_settings(1e-8, 1, 1e-8))
    assert np.allclose(np.asarray(system.systemData.GetODE2Coordinates_tt())[[2, 5]], STARTING, rtol=1e-3)
    print("Energies and accelerations at the start are the same in both programs.")


PIVOTED = """
title = "a pendulum of the same period, as a body that turns about a point"
gravity = [0, -9.81, 0]
[bodies.bob]
mass = 2
center = [-0.5, 0, 0]
inertia_origin = [1, 1, 1]
fixed_point = true
[outputs]
x = "-attitude_xx"
y = "-attitude_yx"
"""
ALPHA, STABILIZED = "geometric-alpha,rho=0.95", "geometric-alpha,rho=1,constraints=stabilized"
CONSERVING = ["conserving,constraints=index3", "compose:conserving:4", "compose:conserving:6"]
VARIATIONAL = ["variational", "compose:variational:4", "compose:variational:6", "compose:variational:8"]
LOOSE, TIGHT = (1e-4, 1e-6, 1e-8), (1e-10,)
MECHANISMS = [
    Mechanism(
        *("A01 pendulum, joint", 10.0, 40, pendulum_reference, ["x", "y", "energy"]),
        [("pendulum", [ALPHA, STABILIZED, *CONSERVING, *VARIATIONAL])],
        [(pendulum_point, settings("gen-alpha trapezoidal", LOOSE))],
        [("5e-5 J and 1e-2 m", 5e-5, [5e-3, 5e-3, 1]), ("1e-6 m", 1e-6, [1, 1, 0])],
    ),
    Mechanism(
        *("A01 pendulum, turn", 10.0, 40, pendulum_reference, ["x", "y", "energy"]),
        [(polhode.Model(PIVOTED), ["mkrk:rk4", "akw", "imidm", "mkrk:gauss3"])],
        [(pendulum_tree, settings("RK67 RK44", TIGHT) + settings("gen-alpha", LOOSE, 1.0))],
        [("5e-5 J and 1e-2 m", 5e-5, [5e-3, 5e-3, 1]), ("1e-6 m", 1e-6, [1, 1, 0])],
    ),
    Mechanism(
        *("A02 four-bars, 2", 10.0, 50, partial(four_bars_reference, 2), ["b0_x", "b0_y"]),
        [("four-bars-2", [*VARIATIONAL, ALPHA, STABILIZED, *CONSERVING])],
        [(partial(four_bars_plane, 2), settings("gen-alpha", LOOSE))],
        [("1e-3 m", 1e-3, [1, 1]), ("1e-5 m", 1e-5, [1, 1])],
    ),
    Mechanism(
        *("A02 four-bars, 40", 20.0, 50, partial(four_bars_reference, 40), ["b0_x", "b0_y"]),
        [("four-bars-40", [ALPHA, CONSERVING[0], VARIATIONAL[0]])],
        [(partial(four_bars_plane, 40), settings("gen-alpha", LOOSE[:2], sparse=True))],
        [("1e-1 m", 1e-1, [1, 1]), ("1e-3 m", 1e-3, [1, 1])],
        first=10,
    ),
    Mechanism(
        *("A03 squeezer", 0.05, 25, squeezer_reference, ["crank", "triangle"]),
        [("squeezer", ["linear-alpha,rho=0.95,map=cayley", ALPHA, STABILIZED, *CONSERVING])],
        [(squeezer_plane, settings("trapezoidal", LOOSE, sparse=True) + settings("gen-alpha", [1e-6], sparse=True))],
        [("1e-3 rad", 1e-3, [1, 1]), ("1e-6 rad", 1e-6, [1, 1])],
    ),
    Mechanism(
        *("A04 Bricard", 10.0, 50, bricard_reference, ["p3_x", "p3_y", "p3_z"]),
        [("bricard", [*VARIATIONAL, ALPHA, STABILIZED, *CONSERVING])],
        [(bricard_tree, settings("gen-alpha", LOOSE) + settings("trapezoidal", [1e-6]))],
        [("1e-3 m", 1e-3, [1, 1, 1]), ("1e-6 m", 1e-6, [1, 1, 1])],
    ),
    Mechanism(
        *("A05 governor", 10.0, 50, governor_reference, ["s", "rate"]),
        [("governor", ["geometric-alpha", ALPHA, STABILIZED, CONSERVING[0]])],
        [(governor_tree, settings("gen-alpha", LOOSE, 1.0) + settings("RK33 RK44", TIGHT))],
        [("1e-3 m", 1e-3, [1, 0]), ("1e-6 m", 1e-6, [1, 0])],
    ),
]


def main() -> None:
    print(versions({}))
    begin = time.perf_counter()
    same_start()
    words = sys.argv[1:]
    chosen = [mechanism for mechanism in MECHANISMS if not words or any(word in mechanism.name for word in words)]
    lines = [line for mechanism in chosen for line in compare(mechanism)]
    titles = f"{'mechanism':20}{'accuracy':18}{'program':9}{'method':42}{'step':>9}{'error':>9}{'ms':>10}{'ratio':>9}"
    head("The least time of each program", titles)
    print("\n".join(lines))
    print(f"\n{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
