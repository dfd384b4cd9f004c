"""Runs the Python code of the documentation and compares what it prints with the page."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


@pytest.mark.filterwarnings("ignore::kft.KFTWarning")
@pytest.mark.parametrize("page", ["README.md", "docs/concepts/python.md", "python/README.md"])
def test_page(page, request):
    text = (ROOT / page).read_text()
    names: dict[str, object] = {}
    found = list(BLOCK.finditer(text))
    assert found, f"{page} has no Python code"
    renewed, end = "", 0
    for match in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(match[1], page, "exec"), names)
        shown = match[2] or ""
        if not request.config.getoption("--update"):
            assert out.getvalue() == shown, f"{page}: the output of\n{match[1]}"
        block = f"```python\n{match[1]}```\n" + (f"\n```text\n{out.getvalue()}```\n" if out.getvalue() else "")
        renewed += text[end : match.start()] + block
        end = match.end()
    if request.config.getoption("--update"):
        (ROOT / page).write_text(renewed + text[end:])
