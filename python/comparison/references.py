"""References of the rigid benchmark mechanisms of IFToMM, by scipy in coordinates that none of the programs has: the angle of a
single swing, the angles of seven links in the plane, those of the hinges of a loop, and a governor that stays symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from programs import Array

GRAVITY = 9.81
Start = Sequence[float] | Array
Rates = Callable[[float, Array], Start]


def solution(rates: Rates, start: Start, times: Array, method: str = "DOP853", tolerance: float = 1e-12) -> Array:
    """The states at these times, a row for each."""
    run = solve_ivp(rates, (0, times[-1]), start, method=method, t_eval=times, rtol=tolerance, atol=tolerance)
    assert run.success, run.message
    states: Array = run.y.T
    return states


def swing(times: Array, ratio: float, angle: float, rate: float) -> Array:
    """Where a point on a circle is that turns by one angle from the top, and its angular velocity."""
    found = solution(lambda _, y: [y[1], ratio * math.sin(y[0])], [angle, rate], times, tolerance=1e-13)
    return np.stack([np.sin(found[:, 0]), np.cos(found[:, 0]), found[:, 1]], axis=1)


def pendulum_reference(times: Array) -> Array:
    x, y, rate = swing(times, GRAVITY, -math.pi / 2, 0.0).T
    return np.stack([x, y, rate**2 / 2 + GRAVITY * y], axis=1)


def four_bars_reference(windows: int, times: Array) -> Array:
    """All posts turn by the same angle, and couplers do not turn, so it swings as one pendulum."""
    moment, arm = (windows + 1) / 3 + windows, (windows + 1) / 2 + windows
    return swing(times, arm * GRAVITY / moment, 0.0, 1.0)[:, :2]


# Andrews' squeezer: points of the plane are complex numbers, and x + iy of a link is turned by exp(i angle) of the link.
A, B, C = -0.06934 - 0.00227j, -0.03635 + 0.03273j, 0.014 + 0.072j
LINK_MASSES = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])
LINK_INERTIAS = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])
TORQUE, STIFFNESS, REST = 0.033, 4530.0, 0.07785
BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON = (
    *(-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885),
    *(0.487364979543842550, -0.222668390165885885, 1.23054744454982119),
)
LINK_ANGLES = np.array([BETA, BETA + THETA, GAMMA, PHI + DELTA, DELTA, OMEGA + EPSILON, EPSILON])
#: Centres of mass in their links; the links that hold each link and where (-1 is the ground); where links meet the second.
CENTRES = [0.00092, -0.0115, 0.01043 - 0.01874j, -0.00579j, 0.02308 + 0.00916j, 0.00579, -0.00449 - 0.01228j]
HELD = [(-1, 0j), (0, 0.007 + 0j), (-1, B), (4, 0.04 + 0j), (-1, A), (6, -0.04j), (-1, A)]
KNOT, MEETINGS = -0.028 + 0j, [(2, -0.035j), (3, -0.02j), (5, 0.02 + 0j)]
SPRING = 0.02 - 0.018j
#: Accelerations of the first two links at the start, as they are published: one is that of the joint between them.
STARTING = np.cumsum([14222.44391995411, -10666.83293996559])


def point(link: int, at: complex) -> tuple[complex, Any]:
    """A point of a link: a fixed part, and the factors of exp(i angle) of all links."""
    fixed, turning = (at, np.zeros(7, complex)) if link < 0 else point(*HELD[link])
    if link >= 0:
        turning[link] += at
    return fixed, turning


def squeezer_reference(times: Array) -> Array:
    """Angles of crank and triangle, from all angles with multipliers for the loops."""
    centres = np.array([point(i, complex(at))[1] for i, at in enumerate(CENTRES)])
    products = centres.conj().T @ (LINK_MASSES[:, None] * centres)
    loops = np.array([point(1, KNOT)[1] - point(link, at)[1] for link, at in MEETINGS])

    def rates(_: float, state: Array) -> Array:
        angle, rate = state[:7], state[7:]
        turn: Any = np.exp(1j * angle)
        pairs: Any = turn.conj()[:, None] * products * turn
        stretch = B + SPRING * turn[2] - C
        pull = -STIFFNESS * (abs(stretch) - REST) * stretch / abs(stretch)
        force = pairs.imag @ rate**2
        force[0] += TORQUE
        force[2] += (pull * (1j * SPRING * turn[2]).conjugate()).real
        slopes, bends = 1j * loops * turn, loops @ (turn * rate**2)
        rows = np.concatenate([slopes.real, slopes.imag])
        matrix = np.block([[pairs.real + np.diag(LINK_INERTIAS), rows.T], [rows, np.zeros((6, 6))]])
        found: Array = np.linalg.solve(matrix, np.concatenate([force, bends.real, bends.imag]))
        return np.concatenate([rate, found[:7]])

    start = np.concatenate([LINK_ANGLES, np.zeros(7)])
    assert np.allclose(rates(0.0, start)[[7, 8]], STARTING, rtol=1e-9)
    found = solution(rates, start, times)
    gaps = np.exp(1j * found[:, :7]) @ loops.T
    assert np.max(np.abs(gaps - gaps[0])) < 1e-10, "the loops have opened"
    return found[:, [0, 2]]


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
RODS = np.diff(CORNERS, axis=0)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]
#: Moments of the rods about their middles in axes of space at the start.
ROD_MOMENTS = np.where(RODS != 0, 1 / 600, 1.01 / 12)


def bricard_reference(times: Array) -> Array:
    """P3, from the angles of five hinges, with multipliers for the sixth: one of its five rows is redundant, so what is found
    is the least of all solutions."""

    def motion(angle: Array, rate: Array) -> tuple[Any, Any, Array]:
        """The matrix and the right side for the accelerations, and the corners."""
        mass, force, corners = np.zeros((5, 5)), np.zeros(5), [np.zeros(3)]
        turn: Array
        turn, omega, fall = np.eye(3), np.zeros(3), np.array([0, GRAVITY, 0])
        spins, swings, bend = np.zeros((3, 5)), np.zeros((3, 5)), np.zeros(3)
        for i in range(5):
            axis = turn @ AXES[i]
            spins, bend = spins.copy(), bend + np.cross(omega, axis) * rate[i]
            spins[:, i] = axis
            omega = omega + axis * rate[i]
            turn = turn @ Rotation.from_rotvec(AXES[i] * angle[i]).as_matrix()
            rod = turn @ RODS[i]
            # A half of the rod from its corner to its middle, and the other half to the next corner.
            slopes = np.cross(spins.T, rod).T
            pull = np.cross(bend, rod) + np.cross(omega, np.cross(omega, rod))
            middle, inertia = swings + slopes / 2, turn * ROD_MOMENTS[i] @ turn.T
            mass += middle.T @ middle + spins.T @ inertia @ spins
            force -= middle.T @ (fall + pull / 2) + spins.T @ (inertia @ bend + np.cross(omega, inertia @ omega))
            swings, fall = swings + slopes, fall + pull
            corners.append(corners[-1] + rod)
        # The last corner stays, and the axis there stays along x.
        end, across = turn @ AXES[5], np.eye(3)[1:]
        rows = np.concatenate([swings, across @ np.cross(spins.T, end).T])
        bends = np.concatenate([fall - [0, GRAVITY, 0], across @ (np.cross(bend, end) + np.cross(omega, np.cross(omega, end)))])
        matrix = np.block([[mass, rows.T], [rows, np.zeros((5, 5))]])
        return matrix, np.concatenate([force, -bends]), np.array(corners)

    def rates(_: float, state: Array) -> Array:
        matrix, right, _corners = motion(state[:5], state[5:])
        least: Any = np.linalg.lstsq(matrix, right, rcond=1e-9)[0]
        return np.concatenate([state[5:], least[:5]])

    states = solution(rates, np.zeros(10), times)
    corners = np.array([motion(state[:5], state[5:])[2] for state in states])
    assert np.max(np.abs(corners[:, 5] - CORNERS[5])) < 1e-8, "the loop has opened"
    return corners[:, 3]


SPIN, TILT, HINGE, WIDTH, DENSITY, BALL = 2 * math.pi, math.pi / 6, 0.05, 0.01, 3000.0, 5.0
ROD, SLIDER, SPRINGS, DAMPERS = 0.3, 3.0, 8e5, 4e4
ALONG, ACROSS = ROD * WIDTH**2 / 6, ROD * (4 + WIDTH**2) / 12 + BALL
SPINDLE = 0.3 * WIDTH**2 / 6 + SLIDER * 0.1**2 / 6
ARM = ROD / 2 + BALL


def governor_moment(tilt: float) -> float:
    """The moment of inertia of all about the shaft."""
    c, s = math.cos(tilt), math.sin(tilt)
    return 2 * ((ROD + BALL) * HINGE**2 + 2 * HINGE * ARM * c + ACROSS * c**2 + ALONG * s**2) + SPINDLE


def governor_reference(times: Array) -> Array:
    """Height of the slider and rate of the shaft; both rods have the same tilt, and the momentum about the shaft stays."""
    momentum = governor_moment(TILT) * SPIN

    def rates(_: float, state: Array) -> Sequence[float]:
        tilt, turning, height, rising = state.tolist()
        c, s = math.cos(tilt), math.sin(tilt)
        across, above = c / 2, height - 1 + s / 2
        length = math.hypot(across, above)
        by_tilt, by_height = (-across * s + above * c) / (2 * length), above / length
        pull = SPRINGS * (length - 0.5) + DAMPERS * (by_tilt * turning + by_height * rising)
        slope = -2 * (HINGE * ARM + (ACROSS - ALONG) * c) * s
        around = (momentum / governor_moment(tilt)) ** 2 * slope / 2
        speeding = (around + GRAVITY * ARM * c - pull * by_tilt) / ACROSS
        return [turning, speeding, rising, -GRAVITY - 2 * pull * by_height / SLIDER]

    found = solution(rates, [TILT, 0.0, 0.5, 0.0], times, "Radau", 1e-11)
    return np.stack([found[:, 2], [momentum / governor_moment(tilt) for tilt in found[:, 0]]], axis=1)
