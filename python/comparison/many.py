"""Free bodies and tops by the million: polhode's ensembles, an RK4 written by hand in the same registers, and MuJoCo's rollout.

    python python/comparison/many.py [BODIES]

runs `cargo bench --bench ensemble` and then MuJoCo on the same bodies with the same steps, on one core and on all. MuJoCo keeps
every state that it computes, so that its bodies come in batches. Of both the best share counts, which says least of what else the
machine does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from programs import Array, mujoco, mujoco_model, rollout
from top import ARM, GRAVITY, TOP_ATTITUDE, TOP_INERTIA, TOP_MASS

STEP, STEPS, BATCH, BATCHES = 1e-3, 1000, 100, 10


def spinning(integrator: str, gravity: float) -> Any:
    """A body on a ball joint."""
    moments = TOP_INERTIA - TOP_MASS * ARM**2 * np.array([1, 1, 0])
    words = " ".join(map(repr, moments.tolist()))
    inertia = f'<inertial pos="0 0 {ARM!r}" mass="{TOP_MASS!r}" diaginertia="{words}"/>'
    return mujoco_model(f'<body><joint type="ball"/>{inertia}</body>', integrator, STEP, gravity)


def starts(model: Any) -> Array:
    """One for each body of a batch: they differ in their spin."""
    data, kind = mujoco.MjData(model), mujoco.mjtState.mjSTATE_FULLPHYSICS
    found = np.zeros((BATCH, mujoco.mj_stateSize(model, kind)))
    for row, spin in zip(found, np.linspace(50, 40, BATCH), strict=True):
        data.qpos[:] = np.roll(TOP_ATTITUDE.as_quat(), 1)
        data.qvel[:] = [0.1, 0, spin]
        mujoco.mj_getState(model, data, row, kind)
    return found


def nanoseconds(integrator: str, gravity: float, threads: int) -> float:
    """Of one step of one body, in the best batch."""
    model = spinning(integrator, gravity)
    data, first = [mujoco.MjData(model) for _ in range(threads)], starts(model)
    states = np.zeros((BATCH, STEPS, first.shape[1]))
    best = np.inf
    for _ in range(BATCHES):
        begin = time.perf_counter()
        rollout.rollout(model, data, first, nstep=STEPS, state=states, skip_checks=False, persistent_pool=True)
        best = min(best, time.perf_counter() - begin)
    assert np.all(np.isfinite(states))
    return best / (BATCH * STEPS) * 1e9


def main() -> None:
    bodies = sys.argv[1] if len(sys.argv) > 1 else "1e5"
    command = ["cargo", "bench", "--quiet", "-p", "polhode", "--bench", "ensemble", "--", bodies, str(STEPS)]
    subprocess.run(command, check=True, cwd=Path(__file__).resolve().parents[2])
    if not (mujoco and rollout):
        return
    print(f"MuJoCo {mujoco.__version__}, mujoco.rollout, best of {BATCHES} batches of {BATCH} bodies, {STEPS} steps")
    for name, gravity in (("free bodies", 0.0), ("tops", GRAVITY)):
        for integrator in ("RK4", "Euler"):
            for threads in sorted({1, os.cpu_count() or 1}):
                ns = nanoseconds(integrator, gravity, threads)
                print(f"  {name:<12} {integrator:<6} {threads} threads {ns:8.0f} ns {1e3 / ns:8.2f} million body-steps/s")


if __name__ == "__main__":
    main()
