"""The page of a run."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from . import _polhode
from ._model import Model

if TYPE_CHECKING:
    from ._solve import Watching


class Report:
    """A page for browsers, self-contained; shown in a notebook."""

    def __init__(self, text: str, path: Path | None) -> None:
        self.html = text
        self.path = path

    @staticmethod
    def of(model: Model, words: list[str], watching: Watching, path: str | os.PathLike[str] | None) -> Report:
        """Of the run that these words ask for, which looks for these events."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "report.html") if path is None else Path(path)
            _polhode.command(model._native(), [*words, "--report", os.fspath(place)], watching)
            return Report(place.read_text(encoding="utf-8"), None if path is None else place)

    def _repr_html_(self) -> str:
        inside = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{inside}" style="width: 100%; height: 720px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<polhode.Report, {len(self.html) // 1024} kB{f', in {self.path}' if self.path else ''}>"
