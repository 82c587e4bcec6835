"""Every snippet of Python in the documentation runs, in the order of its page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


# What writes the files that the snippets of a page read.
RUN = ["run", "four-bar", "--until", "0.1", "--no-reference", "--out"]
SWEEP = ["sweep", os.fspath(ROOT / "examples" / "attitude.toml"), "--runs", "8", "--until", "60"]
BEFORE = {
    "results.md": [[*RUN, "motion.npz"], [*RUN, "motion.parquet"]],
    "sweeps.md": [[*SWEEP, "--keep", "max(pointing)", "--out", "attitude.parquet"]],
}


def snippets(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for words in BEFORE.get(page.name, []):
        subprocess.run([sys.executable, "-m", "polhode", *words], check=True, capture_output=True)
    names: dict[str, object] = {"__name__": "__main__"}
    for text in snippets(page):
        exec(compile(text, os.fspath(page), "exec"), names)
