"""Derivatives, fits, comparisons."""

import numpy as np
import polhode
import pytest


def test_derivatives_against_differences():
    found = polhode.sensitivity("heavy-top", ["mass", "center"], 0.1, method="linear-alpha", step=2e-3)
    assert found.parameters == ["mass", "center_x", "center_y", "center_z"]
    h = 1e-5
    ends = [polhode.solve(polhode.Model("heavy-top", mass=15 + s * h), 0.1, method="linear-alpha", step=2e-3) for s in (-1, 1)]
    slope = (ends[1].position - ends[0].position) / (2 * h)
    assert np.max(np.abs(found.by("mass")["position"] - slope)) < 1e-7
    # W with R' = R spin(W) is twice the vector part of q⁻¹ q'.
    q, dq = found.values["q_wxyz"], found.derivatives["q_wxyz"][..., 0]
    turn = 2 * (q[:, :1] * dq[:, 1:] - q[:, 1:] * dq[:, :1] - np.cross(q[:, 1:], dq[:, 1:]))
    assert np.max(np.abs(turn - found.turns["q_wxyz"][..., 0])) < 1e-12


def test_functions_for_scipy():
    from scipy.optimize import least_squares

    f = polhode.Function("fast-top", ["mgl", "omega_body_z"], ["omega_body", "q_wxyz"], 0.2, method="akw", step=1e-2, every=1)
    x = f.x0 * [1.01, 0.99]
    h = 1e-6 * f.scales
    differences = np.stack([(f(x + e) - f(x - e)) / (2 * h[k]) for k, e in enumerate(np.diag(h))], axis=1)
    assert np.max(np.abs(f.jac(x) - differences)) < 1e-6
    truth = f(f.x0)
    found = least_squares(lambda x: f(x) - truth, x, jac=f.jac, x_scale=f.scales, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.allclose(found.x, f.x0, rtol=1e-9)
    assert list(f.shapes) == ["omega_body", "q_wxyz"] and f.split(truth)["omega_body"].shape == (21, 3)
    plain = polhode.Function("fast-top", ["mgl", "omega_body_z"], ["omega_body", "q"], 0.2, method="akw", step=1e-2, every=1)
    assert np.array_equal(plain(x), f.value_and_jac(x)[0])
    with pytest.raises(ValueError, match="2 parameters"):
        f([1.0])


def test_fits_of_columns_and_frames():
    truth = polhode.solve(polhode.Model("fast-top", mgl=21), 1.0, step=1e-2)
    rng = np.random.default_rng(1)
    data = {"t": truth.t} | {
        f"omega_body_{axis}": truth.omega_body[:, i] + 1e-3 * rng.standard_normal(101) for i, axis in enumerate("xyz")
    }
    import pandas

    for given in (data, pandas.DataFrame(data)):
        found = polhode.fit("fast-top", given, "mgl", step=1e-2)
        error = found.standard_errors["mgl"]
        assert abs(found.values["mgl"] - 21) < 5 * error and error < 0.1
    with pytest.raises(ValueError, match="one length"):
        polhode.fit("fast-top", {"t": [0, 1], "omega_body_x": [1]}, "mgl")


def test_comparisons():
    orders = polhode.converge("fast-top", ["akw", "mkrk:rk4"], steps=[2e-3, 1e-3], until=0.1)
    assert [round(row.order_attitude) for row in orders.rows] == [2, 4]
    beside = polhode.compare("fast-top", ["akw", "imidm"], step=1e-3, until=0.1)
    assert {row.method for row in beside.rows} == {"akw", "imidm"}
    with pytest.raises(ValueError, match="akww"):
        polhode.compare("fast-top", ["akww"])


def test_figures(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    for problem in ("fast-top", "four-bar"):
        result = polhode.solve(problem, 0.1, step=1e-3)
        result.plot().savefig(tmp_path / "plot.png")
        result.plot_invariants().savefig(tmp_path / "invariants.png")
        result.animate(frames=3).save(tmp_path / "motion.gif", writer="pillow")
    matplotlib.pyplot.close("all")


def test_jax():
    jax = pytest.importorskip("jax")
    import polhode.jax

    jax.config.update("jax_enable_x64", True)
    plain = polhode.Function("heavy-top", ["mass"], ["position"], 0.1, step=2e-3)
    f = polhode.jax.of(plain)
    jac = plain.jac(plain.x0)
    x = jax.numpy.array(plain.x0)
    assert np.allclose(jax.grad(lambda x: f(x)[2])(x), jac[2], rtol=1e-14)
    assert np.allclose(jax.jit(jax.jacfwd(f))(x), jac, rtol=1e-14)
    assert np.allclose(jax.jacrev(f)(x), jac, rtol=1e-14)
    assert np.allclose(jax.vmap(f)(jax.numpy.stack([x, 1.1 * x]))[1], plain(1.1 * plain.x0), rtol=1e-14)


def test_torch():
    torch = pytest.importorskip("torch")
    import polhode.torch

    plain = polhode.Function("heavy-top", ["mass"], ["position"], 0.1, step=2e-3)
    f = polhode.torch.of(plain)
    x = torch.tensor(plain.x0, requires_grad=True)
    f(x)[2].backward()
    assert np.allclose(x.grad.numpy(), plain.jac(plain.x0)[2], rtol=1e-14)
