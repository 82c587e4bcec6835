"""What the scripts of the gallery share: where pictures go, and what their curves look like."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot  # noqa: E402
from PIL import Image  # noqa: E402

__all__ = ["COLOURS", "DASHES", "pyplot", "save", "style"]

#: Colours that differ for colour-blind readers and in grey (Okabe and Ito), with dashes beside them.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
DASHES: list[Any] = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-"]

pyplot.rcParams.update({"font.size": 9, "lines.linewidth": 1.3})
pyplot.rcParams.update({"axes.grid": True, "grid.alpha": 0.3, "legend.frameon": False})


def style(i: int) -> dict[str, Any]:
    """Colour and dash of the curve `i`."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}


def save(figure: Any, script: str) -> None:
    """Writes the picture of a script into the folder that the command line names, docs/gallery if it names none."""
    root = Path(__file__).resolve().parents[2]
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "docs" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{Path(script).stem}.png"
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110)
    pyplot.close(figure)
    # A palette makes a file of half the size, and nothing of the day or the machine is in it.
    Image.open(drawn).convert("RGB").quantize(255).save(path, optimize=True)
    print(f"picture in {path}")
