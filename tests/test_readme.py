"""What the README and the guide show is what runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/guide/*.md"))]


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.gpu
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")])
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """The blocks of a page, run in order as one script, print what the page's text blocks show."""
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(page, "python")))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    shown = "".join(blocks(page, "text"))
    # Paths differ from machine to machine; a page shows them as FILE.
    assert done.stdout.replace(str(script), "FILE") == shown
