"""Figures of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._model import Array

if TYPE_CHECKING:
    from ._solve import Motion, Quantity, Result

#: Colours that differ for colour-blind readers and in grey (Okabe and Ito), with dashes beside them.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
DASHES: list[Any] = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-"]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'polhode[plot]'") from error
    return pyplot


def _panel(axes: Any, t: Array, curves: dict[str, Array], label: str) -> None:
    for i, (name, values) in enumerate(curves.items()):
        axes.plot(t, values, color=COLOURS[i % len(COLOURS)], linestyle=DASHES[i % len(DASHES)], label=name, linewidth=1.2)
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    if len(curves) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def _panels(curves: list[tuple[str, dict[str, Array]]], t: Array, title: str) -> Any:
    pyplot = _pyplot()
    figure, all_axes = pyplot.subplots(
        len(curves), 1, sharex=True, squeeze=False, figsize=(7.5, 0.8 + 1.9 * len(curves)), layout="constrained"
    )
    for axes, (label, lines) in zip(all_axes[:, 0], curves, strict=True):
        _panel(axes, t, lines, label)
    all_axes[-1, 0].set_xlabel("t in s")
    all_axes[0, 0].set_title(title, loc="left", fontsize="medium")
    return figure


def plot(result: Motion, columns: str | Sequence[str] | None) -> Any:
    """Quantities over time."""
    from ._solve import chosen

    usual = {"q_wxyz", "omega_body", "energy", "position", "angle", "distance"}
    shown = [q for q in result.quantities if q.key in usual or q.kind == "outputs"]
    wanted = (shown or result.quantities)[:8] if columns is None else chosen(result.quantities, columns)

    def lines(quantity: Quantity) -> dict[str, Array]:
        array = result._data[result.quantities.index(quantity)]
        parts = {name: array[:, i] for i, name in enumerate(quantity.columns)} if quantity.components else {quantity.whole: array}
        return {name.rsplit("_", 1)[-1] if quantity.components else name: values for name, values in parts.items()}

    def label(quantity: Quantity) -> str:
        unit = f"\nin {quantity.unit}" if quantity.unit not in ("", "1") else ""
        return f"{quantity.whole}{unit}"

    return _panels([(label(q), lines(q)) for q in wanted], result.t, result.model.title or result.model.id)


def plot_invariants(result: Result) -> Any:
    """The change of energy and momenta since the start."""
    curves: list[tuple[str, dict[str, Array]]] = []
    for quantity, array in zip(result.quantities, result._data, strict=True):
        if quantity.key == "energy":
            size = abs(array[0]) or 1.0
            curves.append(("relative change\nof energy", {"energy": (array - array[0]) / size}))
        elif quantity.key == "momentum_space":
            size = float(np.linalg.norm(array[0])) or 1.0
            change = {part: (array[:, i] - array[0, i]) / size for i, part in enumerate("xyz")}
            name = f"{quantity.owner} " if quantity.owner else ""
            curves.append((f"relative change of\n{name}angular momentum", change))
    if not curves:
        raise ValueError("this run kept neither energy nor momenta; name them in columns")
    return _panels(curves, result.t, f"{result.model.id} under {result.method}")


def animate(result: Result, seconds: float | None, frames: int) -> Any:
    """The axes of all bodies, moving."""
    pyplot = _pyplot()
    from matplotlib.animation import FuncAnimation

    from ._solve import matrices

    at = np.unique(np.linspace(0, len(result.t) - 1, min(frames, len(result.t))).astype(int))
    poses = []
    for part in result.bodies.values():
        places = part._arrays.get("position", np.zeros((len(result.t), 3)))
        poses.append((places[at], matrices(part.q_wxyz[at])))
    everywhere = np.concatenate([places for places, _ in poses])
    low, high = everywhere.min(axis=0), everywhere.max(axis=0)
    size = max(float(np.max(high - low)), 1e-9)
    length = 0.25 * size if len(poses) > 1 or size > 1e-6 else 1.0
    middle, reach = (low + high) / 2, 0.5 * size + length
    figure = pyplot.figure(figsize=(6, 6))
    axes = figure.add_subplot(projection="3d")
    for name, centre in zip("xyz", middle, strict=True):
        getattr(axes, f"set_{name}lim")(centre - reach, centre + reach)
        getattr(axes, f"set_{name}label")(f"{name} in m")
    axes.set_box_aspect((1, 1, 1))
    lines = [[axes.plot([], [], [], color=COLOURS[k], linewidth=2)[0] for k in range(3)] for _ in poses]
    title = axes.set_title("")

    def draw(frame: int) -> list[Any]:
        for (places, turned), three in zip(poses, lines, strict=True):
            for k, line in enumerate(three):
                ends = np.stack([places[frame], places[frame] + length * turned[frame][:, k]])
                line.set_data_3d(*ends.T)
        title.set_text(f"{result.model.id}, t = {result.t[at[frame]]:.3f} s")
        return [*(line for three in lines for line in three), title]

    lasts = seconds if seconds is not None else 5.0
    return FuncAnimation(figure, draw, frames=len(at), interval=1000 * lasts / len(at), blit=False)
