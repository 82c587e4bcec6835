#!/usr/bin/env python3
"""Time per step of exudyn on hanging chains of rigid bodies, beside polhode if asked.

The chain: N equal slender bars, 1 kg and 1 m each, joined end to end and to the
ground by spherical joints or by hinges about y. It starts straight along x, under
gravity along -z. With hinges it starts at rest; with spherical joints it turns as
one rigid line about z, at 1 rad/s unless told otherwise.

What is timed is the loop over the steps and nothing else: building the model, the
initial accelerations and the output are left out. To be fair to exudyn

* its module without range checks is loaded (where the processor has AVX2),
* nothing is printed, written or recorded while it runs,
* each body's node sits in its centre of mass, where its mass matrix is constant,
* the spherical joints use position markers, which cost less than rigid-body ones,
* several linear solvers and Newton strategies are tried for each N and the fastest
  is the one that counts (--all shows the others).

Both programs use one thread. Runs of the two alternate, so that they see the same
load of the machine, and the best of the runs is taken for each.

Needs: pip install exudyn numpy
"""

import argparse
import contextlib
import importlib.metadata
import io
import json
import math
import platform
import subprocess
import sys
import time

import numpy as np

sys.exudynFast = True  # must be set before exudyn is first imported
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn as exu
    from exudyn import itemInterface as item

MASS = 1.0
LENGTH = 1.0
INERTIA = np.array([0.005, 0.085, 0.085])  # about the centre of mass, body axes
GRAVITY = 9.81
SPIN = 1.0  # rad/s about z unless --spin says otherwise, spherical joints only

# Newton strategies. `linear` is exudyn's linear solver; `jacobian` says when the
# Jacobian is renewed: in every "iteration", in every "step", or "kept" over the steps
# until an iteration shrinks the residual by less than the factor `contraction`.
STRATEGIES = {
    "dense, each step": dict(linear="EXUdense", jacobian="step", most_bodies=16),
    "Eigen dense, each step": dict(linear="EigenDense", jacobian="step", most_bodies=16),
    "sparse, each step": dict(linear="EigenSparse", jacobian="step"),
    "sparse, each iteration": dict(linear="EigenSparse", jacobian="iteration"),
    "sparse, kept (0.2)": dict(linear="EigenSparse", jacobian="kept", contraction=0.2),
    "sparse, kept (0.5)": dict(linear="EigenSparse", jacobian="kept", contraction=0.5),
    "sparse, kept (0.8)": dict(linear="EigenSparse", jacobian="kept", contraction=0.8),
}
REFERENCE = "sparse, each iteration"

# Rounds of the search for the fastest strategy; one slower than the fastest by the
# factor HOPELESS leaves the search.
TRIALS = 3
HOPELESS = 1.6

# Runs of short chains take milliseconds, so they are repeated for at least this long.
LEAST_SECONDS = 0.5
MOST_RUNS = 50


def default_steps(bodies):
    """Steps of a run: enough to time small chains, few enough to wait for long ones."""
    return 2000 if bodies <= 8 else 1000 if bodies <= 128 else 500 if bodies <= 256 else 200


# --- exudyn ---------------------------------------------------------------------------


def build_chain(bodies, joints, nodes, spin):
    """The assembled system, its bodies, and the pair of markers of each joint."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(item.ObjectGround())
    if joints == "revolute":
        spin = 0.0

    def marker(body, x):
        kind = item.MarkerBodyPosition if joints == "spherical" else item.MarkerBodyRigid
        return system.AddMarker(kind(bodyNumber=body, localPosition=[x, 0, 0]))

    # exudyn's hinge turns about the z axis of its own frame: send that axis to y.
    hinge = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])

    links, pairs = [], []
    above = marker(ground, 0)
    for i in range(bodies):
        x = (i + 0.5) * LENGTH
        if nodes == "lie":
            node = item.NodeRigidBodyRotVecLG(
                referenceCoordinates=[x, 0, 0, 0, 0, 0],
                initialVelocities=[0, spin * x, 0, 0, 0, spin],
            )
        else:
            node = item.NodeRigidBodyEP(
                referenceCoordinates=[x, 0, 0, 1, 0, 0, 0],
                initialVelocities=[0, spin * x, 0, 0, 0, 0, spin / 2],
            )
        node = system.AddNode(node)
        body = system.AddObject(
            item.ObjectRigidBody(mass=MASS, inertia=[*INERTIA, 0, 0, 0], nodeNumber=node)
        )
        centre = system.AddMarker(item.MarkerNodePosition(nodeNumber=node))
        weight = [0, 0, -MASS * GRAVITY]
        system.AddLoad(item.LoadForceVector(markerNumber=centre, loadVector=weight))
        upper, lower = marker(body, -LENGTH / 2), marker(body, LENGTH / 2)
        if joints == "spherical":
            joint = item.ObjectJointSpherical(markerNumbers=[above, upper])
        else:
            joint = item.ObjectJointRevoluteZ(
                markerNumbers=[above, upper], rotationMarker0=hinge, rotationMarker1=hinge
            )
        system.AddObject(joint)
        links.append(body)
        pairs.append((above, upper))
        above = lower
    system.Assemble()
    return container, system, links, pairs


def make_settings(steps, options, strategy, tolerance):
    """exudyn's settings: fixed steps, one thread, position-level (index 3) constraints."""
    settings = exu.SimulationSettings()
    settings.parallel.numberOfThreads = 1
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = getattr(exu.LinearSolverType, strategy["linear"])
    settings.linearSolver.reuseAnalyzedPattern = True
    settings.linearSolver.showCausingItems = False

    run = settings.timeIntegration
    run.numberOfSteps = steps
    run.endTime = steps * options.step
    run.adaptiveStep = False
    run.verboseMode = 0
    run.stepInformation = 0
    run.reuseConstantMassMatrix = True

    newton = run.newton
    newton.relativeTolerance = tolerance
    newton.absoluteTolerance = 1e-10
    newton.useModifiedNewton = strategy["jacobian"] != "iteration"
    newton.modifiedNewtonJacUpdatePerStep = strategy["jacobian"] == "step"
    newton.modifiedNewtonContractivity = strategy.get("contraction", 0.5)

    alpha = run.generalizedAlpha
    alpha.spectralRadius = options.rho
    alpha.useIndex2Constraints = False
    alpha.useNewmark = False
    alpha.lieGroupSimplifiedKinematicRelations = options.variant == "bruls-cardona"
    # The sparse solvers have no tangent operator and refuse the flag.
    alpha.lieGroupAddTangentOperator = "Sparse" not in strategy["linear"]
    return settings


def worst_gap(system, pairs, joints):
    """Largest violation of a joint: distance of its points, for hinges also of its axes."""
    out = exu.OutputVariableType
    worst = 0.0
    for one, two in pairs:
        gap = np.subtract(
            system.GetMarkerOutput(one, out.Position), system.GetMarkerOutput(two, out.Position)
        )
        worst = max(worst, np.abs(gap).max())
        if joints == "revolute":
            axes = [
                np.reshape(system.GetMarkerOutput(m, out.RotationMatrix), (3, 3))[:, 1]
                for m in (one, two)
            ]
            worst = max(worst, np.abs(axes[0] - axes[1]).max())
    return worst


def motion(system, links):
    """Positions of the centres, kinetic and potential energy."""
    out = exu.OutputVariableType

    def ask(what):
        return np.array([system.GetObjectOutputBody(b, what, [0, 0, 0]) for b in links])

    x, v, w = ask(out.Position), ask(out.Velocity), ask(out.AngularVelocityLocal)
    kinetic = 0.5 * MASS * np.sum(v * v) + 0.5 * np.sum(INERTIA * w * w)
    return x, kinetic, MASS * GRAVITY * np.sum(x[:, 2])


def run_exudyn(bodies, steps, options, strategy, tolerance):
    """One run. None if the solver gave up, otherwise a dict of what was measured."""
    container, system, links, pairs = build_chain(
        bodies, options.joints, options.nodes, options.spin
    )
    settings = make_settings(steps, options, strategy, tolerance)
    _, kinetic, potential = motion(system, links)
    before = kinetic + potential

    solver = exu.MainSolverImplicitSecondOrder()
    try:
        if not solver.InitializeSolver(system, settings):
            return None
        start = time.perf_counter()
        done = solver.SolveSteps(system, settings)
        seconds = time.perf_counter() - start
        solver.FinalizeSolver(system, settings)
    except (RuntimeError, ValueError):
        return None
    if not done or solver.it.currentStepIndex != steps + 1:
        return None

    x, kinetic, potential = motion(system, links)
    if not np.isfinite(x).all():
        return None
    return dict(
        seconds_per_step=seconds / steps,
        newton=solver.it.newtonStepsCount / steps,
        jacobians=solver.it.newtonJacobiCount / steps,
        gap=worst_gap(system, pairs, options.joints),
        energy=abs(kinetic + potential - before) / max(kinetic, abs(before)),
        x=x,
    )


# --- polhode --------------------------------------------------------------------------


def polhode_command(program, bodies, steps, options):
    """The command line of one run."""
    spherical = options.joints == "spherical"
    return [
        program, "run", "chain",
        "--method", f"geometric-alpha,rho={options.rho:g}",
        "--set", f"bodies={bodies}",
        "--set", f"joint={0 if spherical else 1}",
        "--set", f"spin={options.spin if spherical else 0:g}",
        "--step", f"{options.step:g}",
        "--until", f"{steps * options.step:g}",
        "--no-reference", "--json",
    ]  # fmt: skip


def polhode_result(report):
    """What the table needs, from the JSON report of a run."""
    newton = report["newton"]
    return dict(
        seconds_per_step=report["ns_per_step"] * 1e-9,
        newton=newton["per_step"],
        jacobians=newton["jacobians"] / report["steps"],
    )


def run_polhode(bodies, steps, options):
    """One run, as `run_exudyn`; what goes wrong is told on stderr."""
    command = polhode_command(options.polhode, bodies, steps, options)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return polhode_result(json.loads(done.stdout))
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip()
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = repr(error)
    print(f"{' '.join(command)}\n  failed: {reason}", file=sys.stderr)
    return None


def polhode_version(program):
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{program}: {error}")


# --- the comparison -------------------------------------------------------------------


def faster(*results):
    """The fastest of the results; those of failed runs are None."""
    return min(filter(None, results), key=lambda r: r["seconds_per_step"], default=None)


def measure(bodies, options):
    """Steps of a run, name of the fastest strategy, all results of exudyn, polhode's result.

    First every strategy is tried, to find the fastest; then that one is timed against
    polhode, turn by turn. The best of exudyn includes the trials.
    """
    steps = options.steps or default_steps(bodies)
    trials = {n: None for n, s in STRATEGIES.items() if bodies <= s.get("most_bodies", math.inf)}
    names = list(trials)
    for _ in range(TRIALS):
        for name in names:
            result = run_exudyn(bodies, steps, options, STRATEGIES[name], options.tolerance)
            trials[name] = faster(trials[name], result)
        best = faster(*trials.values())
        names = [
            n for n in names
            if trials[n] and trials[n]["seconds_per_step"] <= HOPELESS * best["seconds_per_step"]
        ]  # fmt: skip
    if not names:
        return steps, None, trials, None
    fastest = next(n for n in trials if trials[n] is best)

    other, runs, spent = None, 0, 0.0
    polhode_runs = options.polhode is not None
    while runs < options.repeat or (spent < LEAST_SECONDS and runs < MOST_RUNS):
        result = run_exudyn(bodies, steps, options, STRATEGIES[fastest], options.tolerance)
        best = faster(best, result)
        if polhode_runs:
            result_of_polhode = run_polhode(bodies, steps, options)
            other = faster(other, result_of_polhode)
            polhode_runs = result_of_polhode is not None
        runs += 1
        spent += result["seconds_per_step"] * steps
    trials[fastest] = best

    # How far the Newton tolerance has moved the result: the same steps, solved tighter.
    # Long chains of hinges cannot be solved much tighter.
    tight = None
    for factor in (100, 10):
        tolerance = options.tolerance / factor
        tight = tight or run_exudyn(bodies, steps, options, STRATEGIES[REFERENCE], tolerance)
    for result in filter(None, trials.values()):
        result["newton_error"] = np.abs(result["x"] - tight["x"]).max() if tight else math.nan
    return steps, fastest, trials, other


def print_head(options):
    beside = f", {polhode_version(options.polhode)}" if options.polhode else ""
    module = exu.SystemContainer.__module__.rpartition(".")[2]
    print(f"exudyn {importlib.metadata.version('exudyn')} ({module})", end=", ")
    print(f"python {platform.python_version()}, numpy {np.__version__}{beside}")
    print(
        f"{options.joints} joints, "
        + (f"{options.spin:g} rad/s, " if options.joints == "spherical" else "")
        + f"step {options.step:g} s, generalized alpha with "
        f"spectral radius {options.rho:g}, "
        + (f"Lie group nodes ({options.variant})" if options.nodes == "lie" else "Euler parameters")
        + f", relative tolerance {options.tolerance:g}, best of {options.repeat} runs or more"
    )
    print()
    head = (
        f"{'bodies':>6} {'steps':>5} {'us/step':>9} {'newton':>6} {'jac':>6} "
        f"{'gap':>8} {'energy':>8} {'newt.err':>8}  {'fastest settings':<22}"
    )
    if options.polhode:
        head += f" {'polhode':>9} {'newton':>6} {'jac':>6} {'ratio':>7}"
    print(head.rstrip())


def exudyn_cells(bodies, steps, name, result):
    if result is None:
        return f"{bodies:6d} {steps:5d} {'failed':>9} {'':39}  {name:<22}"
    return (
        f"{bodies:6d} {steps:5d} {result['seconds_per_step'] * 1e6:9.1f} "
        f"{result['newton']:6.2f} {result['jacobians']:6.3f} {result['gap']:8.1e} "
        f"{result['energy']:8.1e} {result['newton_error']:8.1e}  {name:<22}"
    )


def print_row(bodies, steps, fastest, trials, other, options):
    best = trials.get(fastest)
    row = exudyn_cells(bodies, steps, fastest or "(none)", best)
    if options.polhode:
        if other is None:
            row += f" {'failed':>9}"
        else:
            row += f" {other['seconds_per_step'] * 1e6:9.1f} {other['newton']:6.2f}"
            row += f" {other['jacobians']:6.3f}"
            row += f" {best['seconds_per_step'] / other['seconds_per_step']:7.2f}"
    print(row.rstrip(), flush=True)
    if options.all:
        for name in trials:
            if name != fastest:
                print(exudyn_cells(bodies, steps, name, trials[name]).rstrip(), flush=True)


def positive(kind):
    def convert(text):
        value = kind(text)
        if not value > 0:
            raise ValueError(text)
        return value

    convert.__name__ = f"positive {kind.__name__}"
    return convert


def body_list(text):
    return [positive(int)(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description="Time per step of exudyn on hanging chains of rigid bodies.",
        epilog="Columns: Newton iterations and Jacobians per step; largest joint violation, "
        "relative energy error and effect of the Newton tolerance on the positions (m), all "
        "at the end of the run; ratio = exudyn's time per step over polhode's.",
    )
    parser.add_argument(
        "--bodies", type=body_list, metavar="N,N,...",
        default=[2**k for k in range(11)], help="lengths of chain (1,2,4,...,1024)",
    )  # fmt: skip
    parser.add_argument("--joints", choices=["spherical", "revolute"], default="spherical")
    parser.add_argument("--polhode", metavar="PATH", help="the polhode program to run beside it")
    parser.add_argument("--step", type=positive(float), default=1e-3, help="time step (1e-3 s)")
    parser.add_argument("--steps", type=positive(int), help="steps of a run (200 to 2000, by N)")
    parser.add_argument(
        "--spin", type=float, default=SPIN,
        help="initial angular velocity of a chain with spherical joints (1 rad/s); exudyn's "
        "Newton iteration slows down with step * spin * length, and at 1e-3 s and 1 rad/s "
        "no longer converges for 1024 bodies",
    )  # fmt: skip
    parser.add_argument("--repeat", type=positive(int), default=3, help="least number of runs (3)")
    parser.add_argument("--rho", type=positive(float), default=0.8, help="spectral radius (0.8)")
    parser.add_argument(
        "--tolerance", type=positive(float), default=1e-8,
        help="relative tolerance of exudyn's Newton iteration (1e-8, its default)",
    )  # fmt: skip
    parser.add_argument(
        "--nodes", choices=["lie", "euler"], default="lie",
        help="exudyn's coordinates: Lie group or Euler parameters (lie)",
    )  # fmt: skip
    parser.add_argument(
        "--variant", choices=["sigma", "bruls-cardona"], default="sigma",
        help="form of the Lie group method (sigma, exudyn's default)",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="show every strategy")
    options = parser.parse_args()

    exu.config.printToConsole = False
    exu.config.suppressWarnings = True
    print_head(options)
    whole = True
    for bodies in options.bodies:
        steps, fastest, trials, other = measure(bodies, options)
        print_row(bodies, steps, fastest, trials, other, options)
        whole = whole and fastest is not None and (other is not None or not options.polhode)
    if not whole:
        sys.exit(1)


if __name__ == "__main__":
    main()
