"""Derivatives of the top's attitude with respect to seven numbers: error and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import polhode
from body import quaternion_rates
from programs import Array, Curve, head, optional, seconds_of, short
from top import MGL, SPIN, TOP, TOP_ATTITUDE, TOP_INERTIA, TOP_UNTIL

jax: Any = optional("jax")

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
