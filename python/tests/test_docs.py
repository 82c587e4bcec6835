"""Every snippet of Python in the documentation runs, in the order of its page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


# Files that the snippets of a page read, as its commands write them.
FILES = {"results.md": ["motion.npz", "motion.parquet"]}


def snippets(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)], ids=lambda page: page.name)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in FILES.get(page.name, []):
        words = ["run", "four-bar", "--until", "0.1", "--no-reference", "--out", name]
        subprocess.run([sys.executable, "-m", "polhode", *words], check=True, capture_output=True)
    names: dict[str, object] = {}
    for text in snippets(page):
        exec(compile(text, os.fspath(page), "exec"), names)
