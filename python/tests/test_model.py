"""Models: from everywhere, set, built, saved, refused."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import polhode
import pytest

DOOR = """
gravity = [0, 0, -9.81]
[parameters]
m = 20
[bodies.door]
mass = "m"
shape = { box = [0.9, 0.04, 2.0] }
position = [0.45, 0, 1]
[joints.hinge]
type = "revolute"
between = ["ground", "door"]
at = [0, 0, 0]
axis = [0, 0, 1]
rate = 1.0
[outputs]
opening = "hinge.angle"
[run]
step = 1e-2
until = 1
"""


def built() -> polhode.Model:
    m = polhode.Model(name="door").gravity([0, 0, -9.81]).parameter("m", 20)
    m.body("door", mass="m", shape={"box": [0.9, 0.04, 2.0]}, position=np.array([0.45, 0, 1]))
    m.joint("hinge", "revolute", ["ground", "door"], at=[0, 0, 0], axis=[0, 0, 1], rate=1.0)
    return m.output("opening", "hinge.angle").run(step=1e-2, until=1)


def test_sources_agree(tmp_path):
    path = tmp_path / "door.toml"
    path.write_text(DOOR)
    sources = [DOOR, path, str(path), built()]
    if sys.version_info >= (3, 11):
        import tomllib

        sources.append(tomllib.loads(DOOR))
    ends = []
    for model in sources:
        result = polhode.solve(model)
        assert result.joints["hinge"].angle[-1] == result.outputs["opening"][-1]
        ends.append(result.bodies["door"].position[-1])
    assert all(np.array_equal(ends[0], end) for end in ends)
    # A hinge without a load turns at its rate, to the error of a method of second order.
    assert abs(result.outputs["opening"][-1] - 1.0) < 1e-4


def test_saved_models_run_on_the_command_line(tmp_path):
    path = tmp_path / "built.toml"
    built().save(path)
    ours = polhode.solve(built())
    words = [sys.executable, "-m", "polhode", "run", str(path), "--json", "--no-reference"]
    theirs = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert theirs["outputs"]["opening"] == ours.outputs["opening"][-1]


def test_numbers_that_were_set_are_saved(tmp_path):
    model = polhode.Model("heavy-top").set(mass=3).set("top.center_y", 0.5).set(inertia="1 2 2.5").set(mass=4)
    model.save(tmp_path / "set.toml")
    again = polhode.Model(tmp_path / "set.toml")
    assert again.numbers == model.numbers
    one, other = polhode.solve(model, 0.1), polhode.solve(again, 0.1)
    assert np.array_equal(one.position, other.position)
    with pytest.raises(ValueError, match="has a table .set. already"):
        again.set(mass=5).save(tmp_path / "twice.toml")


def test_parameters_are_set_by_name_and_path():
    model = polhode.Model("heavy-top", mass=3)
    assert model.parameters["mass"] == 3
    model.set("top.center_y", 0.5).set({"mass": 4})
    assert model.numbers["mass"] == 4
    other = model.copy().set(mass=5)
    assert (model.parameters["mass"], other.parameters["mass"]) == (4, 5)
    assert model.set(inertia=np.diag([1.0, 2.0, 2.5])).parameters["inertia"].shape == (6,)


def test_models_are_sent_elsewhere():
    model = polhode.Model("heavy-top", mass=3).event("low", "position_z")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        ends = [polhode.solve(m, 0.1, step=1e-2).position[-1] for m in (model, other)]
        assert np.array_equal(*ends) and other.parameters["mass"] == 3


def test_check_says_what_it_is():
    found = polhode.Model("four-bar").check()
    assert found["degrees_of_freedom"] == 1
    assert {"bodies", "joints", "redundant_rows", "methods", "reference", "parameters"} <= set(found)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[bodies.a]\nmass = 1\ninertia = [1, 1, 5]\n", 3, None),
        ("[bodies.a]\nmas = 1\n", 2, 1),
        ("[bodies.a]\nmass = 1\ninertia = [1, 1, 1]\nattitude = [2, 0, 0, 0]\n", 4, None),
        ("x = = 1\n", 1, None),
    ],
)
def test_mistakes_have_places(text, line, column):
    with pytest.raises(polhode.ModelError) as caught:
        polhode.solve(polhode.Model(text), 1.0, step=0.1)
    assert caught.value.line == line
    assert column is None or caught.value.column == column
    assert isinstance(caught.value, ValueError)


def test_refusals():
    for wrong, error in [
        (lambda: polhode.Model("fast-topp"), "fast-top"),
        (lambda: polhode.Model("nowhere.toml"), "nowhere.toml"),
        (lambda: polhode.Model("fast-top", mgll=3), "mgl"),
        (lambda: polhode.Model("fast-top").set(mgl=float("nan")), "finite"),
        (lambda: polhode.Model().body("a", mass=float("inf")).text, "finite"),
        (lambda: built().body("door"), "already"),
        (lambda: polhode.Model().run(stepp=1), "stepp"),
        (lambda: polhode.solve(polhode.Model().body("a", mass=1, inertia=[1, 1, 1])), "end time"),
        (lambda: polhode.solve(polhode.Model().body("a", mass=1, inertia=[1, 1, 1]), 1), "step"),
        (lambda: polhode.Model(3), "int"),
    ]:
        with pytest.raises((ValueError, TypeError), match=error):
            wrong()


def test_rotations_of_scipy_go_in_and_out():
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_euler("ZXZ", [0.3, 0.2, 0.1])
    model = polhode.Model().body("a", mass=1, inertia=[1, 2, 2.5], attitude=turned, omega_body=[0.1, 0.2, 0.3])
    result = polhode.solve(model, 0.5, step=0.1)
    assert (result.rotation[0] * turned.inv()).magnitude() < 1e-15
    assert np.allclose(result.rotation.as_matrix(), result.attitude, atol=1e-15, rtol=0)
    assert np.allclose(result.momentum_space, np.einsum("nij,nj->ni", result.attitude, result.momentum_body))
