"""polhode beside scipy, MuJoCo, Exudyn and JAX: energy, accuracy over time, a chain, and gradients, in one run.

    python python/comparison/compare.py [FOLDER]

prints four tables and draws docs/comparison.png (or FOLDER/comparison.png). A package that is not installed is left out, and
said so. All programs solve the same problems on one core; every section checks that their energies at the start agree.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from body import tumbling
from chain import CHAIN_UNTIL, chain
from gradients import gradients, jax
from programs import COLOURS, DASHES, MARKERS, Curve, blank, folder_of_pictures, store, versions
from top import fast_top


def draw_curves(axes: Any, curves: list[Curve], title: str, x: str, y: str) -> None:
    """One curve for each method: colours are programs, dashes and markers are methods."""
    seen: dict[str, int] = {}
    for curve in curves:
        i = seen[curve.program] = seen.get(curve.program, -1) + 1
        style = {"color": COLOURS[curve.program], "linestyle": DASHES[i], "marker": MARKERS[i], "markersize": 4}
        axes.loglog(curve.x, np.maximum(curve.y, 1e-16), label=curve.name, linewidth=1.2, **style)
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def draw(sections: list[list[Curve]], folder: Path) -> None:
    """Four panels in one picture."""
    figure, axes = blank(2, 2, (10, 6.4))
    labels = [
        ("A free body, 100 000 steps", "|ω| h in rad", "largest change of energy"),
        ("The fast top", "processor time in ms", "error of the attitude in rad"),
        (f"A chain of ten links over {CHAIN_UNTIL:g} s, h = 4 and 1 ms", "processor time in s", "largest change of energy"),
        ("Derivatives of the fast top", "processor time in ms", "relative error of derivatives"),
    ]
    for panel, curves, (title, x, y) in zip(axes.ravel(), sections, labels, strict=True):
        draw_curves(panel, curves, title, x, y)
    axes[0, 0].set_xticks([0.1, 0.25, 0.5, 1], ["0.1", "0.25", "0.5", "1"])
    axes[0, 0].tick_params(axis="x", which="minor", bottom=False)
    store(figure, folder / "comparison.png")


def main() -> None:
    others = {"scipy": scipy.__version__}
    print(versions(others | {"JAX": jax.__version__} if jax else others))
    begin = time.perf_counter()
    sections = [tumbling(), fast_top(), chain(), gradients()]
    print(f"\n{time.perf_counter() - begin:.0f} s in all")
    draw(sections, folder_of_pictures())


if __name__ == "__main__":
    main()
