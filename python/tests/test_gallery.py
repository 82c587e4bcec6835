"""The scripts of the gallery run, and what they assert holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parent.parent / "gallery"
SCRIPTS = sorted(path for path in GALLERY.glob("*.py") if not path.name.startswith("_"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script, tmp_path):
    words = [sys.executable, os.fspath(script), os.fspath(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=GALLERY.parent.parent)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 1000
