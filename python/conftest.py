import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "docs" / "concepts" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the outputs on the pages of the documentation")


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in a folder with the tables of the documentation, and with the same digits everywhere."""
    for file in DATA.glob("*.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KFT_CPU", "generic")
    return tmp_path
