"""Runs in the hand, and loads that Python computes or sets."""

import numpy as np
import polhode
import pytest

SATELLITE = """
[bodies.satellite]
mass = 4
inertia = [1, 2, 2.5]
omega_body = [0.3, 0.1, -0.2]
[[loads]]
name = "wheel"
body = "satellite"
moment_body = [0, 0, 0]
[run]
method = "akw"
step = 0.01
until = 1
"""


def test_steps_are_those_of_solve():
    for problem in ("fast-top", "four-bar"):
        whole = polhode.solve(problem, 0.1, step=1e-3, columns="*")
        run = polhode.start(problem, step=1e-3)
        for n in range(1, 100):
            assert run.step() == whole.t[n]
            assert run.state.energy == whole.energy[n]
        # The last step of a plan takes up what rounding has left.
        run.step()
        assert run.steps == 100 and abs(run.state.energy - whole.energy[-1]) < 1e-13 * whole.energy[-1]


def test_runs_are_put_aside():
    run = polhode.start("double-pendulum", step=1e-2)
    run.step(n=10)
    aside = run.save()
    polhode.step(run, 10)
    end = run.state.bodies["lower"].position
    run.restore(aside)
    assert run.steps == 10
    run.step(n=10)
    assert np.array_equal(run.state.bodies["lower"].position, end)


@pytest.mark.parametrize("method", ["akw", "geometric-alpha", "linear-alpha", "conserving"])
def test_a_controller_sets_loads(method):
    """A moment that is switched by hand is that of a model that switches it itself."""
    written = SATELLITE.replace('name = "wheel"\n', "").replace("[0, 0, 0]", "[0.5, 0, -0.2]\nfrom = 0.3\nuntil = 0.7")
    whole = polhode.solve(written, 1.0, method=method, step=0.01)
    run = polhode.start(SATELLITE, method=method)
    other = polhode.start(SATELLITE, method=method)
    run.step(n=30)
    run.load["wheel"] = np.array([0.5, 0, -0.2])
    run.step(n=40)
    assert np.array_equal(run.load["wheel"], [0.5, 0, -0.2]) and list(run.load) == ["wheel"]
    run.load["wheel"] = [0, 0, 0]
    run.step(n=30)
    assert np.max(np.abs(run.state.q_wxyz - whole.q_wxyz[-1])) < 1e-12
    assert np.array_equal(other.load["wheel"], [0, 0, 0]), "another run is another matter"
    with pytest.raises(KeyError, match="wheel"):
        run.load["wheels"] = [0, 0, 0]
    for wrong in ([1, 2], [1, 2, float("nan")], "abc", {"force_body": [1, 2, 3]}):
        with pytest.raises(ValueError, match="wheel"):
            run.load["wheel"] = wrong
    assert np.array_equal(run.load["wheel"], [0, 0, 0])


def test_loads_are_put_aside_with_their_run():
    run = polhode.start(SATELLITE, method="geometric-alpha")
    run.load["wheel"] = [0.5, 0, -0.2]
    run.step(n=10)
    aside = run.save()
    run.step(n=10)
    end = run.state.q_wxyz
    run.load["wheel"] = [0, 0, 0]
    other = polhode.start(SATELLITE, method="geometric-alpha")
    for again in (run, other):
        again.restore(aside)
        assert np.array_equal(again.load["wheel"], [0.5, 0, -0.2])
        again.step(n=10)
        assert np.array_equal(again.state.q_wxyz, end)


def drag(t, motion):
    return -0.3 * motion.omega_body


def drag_with_slopes(t, motion):
    slopes = np.zeros((3, 12))
    slopes[:, 9:] = -0.3 * np.eye(3)
    return -0.3 * motion.omega_body, slopes


def test_loads_by_functions():
    body = {"mass": 4, "inertia": [1, 2, 2.5], "omega_body": [0.3, 0.1, -0.2]}
    written = polhode.Model().body("satellite", **body)
    written.load(body="satellite", moment_body=["-0.3*omega_body_x", "-0.3*omega_body_y", "-0.3*omega_body_z"])
    for method in ("akw", "mkrk:rk4", "geometric-alpha"):
        exact = polhode.solve(written, 1.0, method=method, step=0.01)
        for function, options in [
            (drag_with_slopes, {"slopes": True}),
            (drag, {"slopes": "differences"}),
            (drag, {"slopes": "differences", "vectorized": True}),
        ]:
            model = polhode.Model().body("satellite", **body).load(body="satellite", function=function, **options)
            result = polhode.solve(model, 1.0, method=method, step=0.01)
            assert np.max(np.abs(result.q_wxyz - exact.q_wxyz)) < 1e-12, (method, options)
    timed = polhode.Model().body("satellite", **body)
    timed.load(body="satellite", function=lambda t, motion: [0, 0, 0, 0, 0, np.sin(t)], slopes="none")
    assert polhode.solve(timed, 1.0, method="akw", step=0.01).success


def test_slopes_are_asked_for():
    model = polhode.Model("fast-top")
    with pytest.raises(TypeError, match="slopes"):
        model.load(body=model.bodies[0], function=drag)


def test_exceptions_of_functions_come_through():
    class Broken(Exception):
        pass

    def load(t, motion):
        if t > 0.5:
            raise Broken("at last")
        return [0.0, 0.0, 0.1]

    model = polhode.Model().body("a", mass=1, inertia=[1, 1, 1]).load(body="a", function=load, slopes="none")
    with pytest.raises(Broken, match="at last") as caught:
        polhode.solve(model, 1.0, step=0.01)
    assert any(entry.name == "load" for entry in caught.traceback)
    run = polhode.start(model, step=0.01)
    with pytest.raises(Broken):
        run.step(n=100)
    assert 0.4 < run.t <= 0.5
    for wrong in (lambda t, m: [1, 2], lambda t, m: "abc", lambda t, m: None):
        model = polhode.Model().body("a", mass=1, inertia=[1, 1, 1]).load(body="a", function=wrong, slopes="none")
        with pytest.raises((ValueError, TypeError)):
            polhode.solve(model, 1.0, step=0.01)

    def event(t, state):
        raise Broken("an event")

    with pytest.raises(Broken, match="an event"):
        polhode.solve("fast-top", 0.1, events=event)
