"""Interruption, crashes and what remains of them."""

import os
import signal
import subprocess
import sys
import tempfile
import time

import pandas as pd
import pytest

import kft
from kft import KFTRegressor, _process, _server

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="signals"), pytest.mark.filterwarnings("ignore:(the model is behind|the intervals)")]
ENDLESS = dict(rank=4, sweeps=100000, patience=100000, lambda_=3, ridge="uniform", scale="log1p", conformal="none", verbose=False)
MODES = ["store", "item", "time=year+month"]


def sales():
    frame = pd.read_csv("sales.csv")
    return frame.drop(columns="units"), frame["units"]


@pytest.fixture(autouse=True)
def nothing_left(tmp_path, monkeypatch):
    """Whatever happens, no temporary file and no process of a fit is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    started = []
    popen = subprocess.Popen

    def record(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(_process.subprocess, "Popen", record)
    yield started
    assert list(folder.iterdir()) == []
    assert all(p.poll() is not None for p in started if "fit" in p.args)


def at_sweep(monkeypatch, act, sweep=2):
    """Call act when the training reports a sweep."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in tests in the background
    done = []

    def show(self, message):
        if message.get("sweep", 0) >= sweep and not done:
            done.append(True)
            act()

    monkeypatch.setattr(_process._Bar, "show", show)


def test_interrupt_keeps_the_model(monkeypatch):
    at_sweep(monkeypatch, lambda: signal.raise_signal(signal.SIGINT))
    X, y = sales()
    with pytest.warns(kft.KFTWarning, match="interrupted: the best model so far"):
        model = KFTRegressor(MODES, **ENDLESS).fit(X, y)
    assert model.record_["stop"] == "interrupted"
    assert model.score(X, y) > 0


def test_interrupt_without_a_model(monkeypatch):
    at_sweep(monkeypatch, lambda: signal.raise_signal(signal.SIGINT), sweep=0)
    X, y = sales()
    with pytest.raises(KeyboardInterrupt, match="nothing was written"):
        KFTRegressor(MODES, verbose=False).fit(X, y)  # seconds of comparisons come before the first sweep


def test_killed_program(monkeypatch, nothing_left):
    at_sweep(monkeypatch, lambda: nothing_left[0].kill())
    X, y = sales()
    with pytest.raises(kft.BinaryError, match="signal 9"):
        KFTRegressor(MODES, **ENDLESS).fit(X, y)


def test_killed_server():
    X, y = sales()
    model = KFTRegressor(MODES, rank=1, sweeps=2, lambda_=1, ridge="uniform", conformal="none").fit(X, y)
    want = model.predict(X)
    server = model.model_._server
    server._process.kill()
    server._process.wait()
    assert (model.predict(X) == want).all()  # by another process
    server = model.model_._server
    server._process.kill()
    with pytest.raises(kft.BinaryError, match="signal 9"):
        server.ask({}, b"")


def test_servers_end():
    """Only a few servers run at a time, and each ends with its model."""
    X, y = sales()
    models = [KFTRegressor(MODES, rank=1, sweeps=1, lambda_=1, ridge="uniform", conformal="none") for _ in range(_server._MOST + 2)]
    for model in models:
        model.fit(X, y).predict(X)
    processes = [m.model_._server._process for m in models if m.model_._server is not None]
    assert len(processes) == _server._MOST
    assert models[0].predict(X.head(1)).shape == (1,)
    del model, models
    assert all(p.wait(10) is not None for p in processes)


def test_killed_python(nothing_left):
    """The program does not outlive Python, even if that is killed."""
    script = (
        "import os, pandas as pd, sys\nfrom kft import KFTRegressor, _process\n"
        "f = pd.read_csv('sales.csv')\n"
        "popen = _process.subprocess.Popen\n"
        "def start(*a, **k):\n    p = popen(*a, **k)\n    print(p.pid, flush=True)\n    return p\n"
        "_process.subprocess.Popen = start\n"
        f"KFTRegressor({MODES!r}, **{ENDLESS!r}).fit(f.drop(columns='units'), f['units'])\n"
    )
    python = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": os.getcwd()})
    child = int(python.stdout.readline())
    python.kill()
    python.wait()
    python.stdout.close()
    for _ in range(200):
        try:
            with open(f"/proc/{child}/stat") as stat:
                if stat.read().rsplit(")")[1].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.05)
    pytest.fail("the program still runs")


def test_full_disk():
    """A table that cannot be written is an error that says where."""
    script = (
        "import pandas as pd, resource\nimport kft\n"
        "f = pd.read_csv('sales.csv')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "try:\n    kft.KFTRegressor(['store', 'item', 'time=year+month'], rank=1).fit(f.drop(columns='units'), f['units'])\n"
        "except kft.KFTError as e:\n    print(e.code, e)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("disk_full") and "TMPDIR" in done.stdout


def test_full_disk_later(tmp_path):
    """A model or a report that cannot be written is such an error too, and leaves nothing."""
    script = (
        "import pandas as pd, resource\nimport kft\n"
        "f = pd.read_csv('sales.csv')\nX, y = f.drop(columns='units'), f['units']\n"
        "m = kft.KFTRegressor(['store', 'item', 'time=year+month'], rank=1, sweeps=1, lambda_=1, ridge='uniform', conformal='none').fit(X, y)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "for call in (lambda: m.save('full.kft'), lambda: m.report('full.html'), lambda: m.update(X, y), lambda: m.evaluate(X, y)):\n"
        "    try:\n        call()\n    except kft.KFTError as e:\n        print(e.code, e)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["disk_full"] * 4
    assert "full.kft cannot be written" in lines[0] and all("TMPDIR" in line for line in lines[1:])
    assert not [f.name for f in tmp_path.iterdir() if "full." in f.name]
    with pytest.raises(FileNotFoundError, match="'nowhere/m.kft'$"):
        _process.replace("nowhere/m.kft", b"")


def test_missing_program(monkeypatch, tmp_path):
    monkeypatch.setenv("KFT_BINARY", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    if os.path.isfile(os.path.join(os.path.dirname(_process.__file__), "bin", "kft")):
        pytest.skip("the package contains the program")
    with pytest.raises(kft.BinaryError, match="was not found"):
        _process.binary()


def test_progress_bar(capsys):
    X, y = sales()
    KFTRegressor(MODES, rank=1, sweeps=3, lambda_=1, ridge="uniform", conformal="none", verbose=True).fit(X, y)
    assert "training" in capsys.readouterr().err
