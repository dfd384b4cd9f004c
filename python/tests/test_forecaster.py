"""The forecaster, with a program that adds kft forecast where the real one does not have it."""

import os
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kft
from kft import KFTForecaster, _process

pytestmark = [pytest.mark.filterwarnings("ignore::kft.KFTWarning"), pytest.mark.skipif(os.name == "nt", reason="a script as program")]
FAST = dict(terms="unique_id,ds:1", sweeps=2, lambda_=1, ridge="uniform", conformal="none", verbose=False)

# Repeats the last period, with the columns and flags of kft forecast.
FORECAST = """\
#!{python}
import os, sys
args = sys.argv[1:]
if args[0] != "forecast":
    os.execv({kft!r}, ["kft", *args])
import pyarrow as pa
flags = dict(a[2:].split("=", 1) for a in args if a.startswith("--") and "=" in a)
if "future" in flags:
    assert "horizon" not in flags and "price" in pa.ipc.open_file(flags["future"]).read_all().column_names
h, levels = int(flags.get("horizon", 1)), flags["level"].split(",")
rows = [(i, f"2024-{{m:02d}}-01") for i in ("a", "b") for m in range(13 - h, 13)]
table = {{"unique_id": [r[0] for r in rows], "ds": [r[1] for r in rows], "mean": [5.0] * len(rows), "median": [4.0] * len(rows)}}
for level in levels:
    table["lo-" + level], table["hi-" + level] = [1.0] * len(rows), [9.0] * len(rows)
table = pa.table(table)
with pa.OSFile(args[args.index("-o") + 1], "wb") as f, pa.ipc.new_file(f, table.schema) as w:
    w.write_table(table)
"""


@pytest.fixture
def forecasts(tmp_path, monkeypatch):
    """A program with a forecast."""
    program = tmp_path / "fake-kft"
    program.write_text(FORECAST.format(python=sys.executable, kft=_process.binary()))
    program.chmod(0o755)
    monkeypatch.setenv("KFT_BINARY", str(program))


def series():
    """Two series over the twelve months of 2024."""
    ds = pd.date_range("2024-01-01", periods=12, freq="MS")
    random = np.random.default_rng(1)
    return pd.DataFrame({"unique_id": np.repeat(["a", "b"], 12), "ds": np.tile(ds, 2), "y": random.normal(10, 1, 24)})


def test_fit_sends_dates():
    model = KFTForecaster(**FAST).fit(series())
    assert model.spec_["data"]["modes"] == ["unique_id", "ds"]
    assert model.spec_["data"]["target"] == "y"
    frame = series().rename(columns={"unique_id": "shop", "ds": "day", "y": "units"}).assign(item="i")
    other = KFTForecaster(["shop", "item"], "day", "units", terms="shop,day:1", sweeps=2, lambda_=1, ridge="uniform")
    with pytest.raises(kft.KFTError, match="item"):
        other.fit(frame)  # one item only
    frame["item"] = np.resize(["i", "j"], 24)
    assert other.fit(pl.from_pandas(frame)).spec_["data"]["modes"] == ["shop", "item", "day"]


def test_columns(forecasts):
    model = KFTForecaster(**FAST).fit(series())
    forecast = model.predict(3, level=[80, 95])
    assert list(forecast) == ["unique_id", "ds", "KFT", "KFT-median", "KFT-lo-80", "KFT-hi-80", "KFT-lo-95", "KFT-hi-95"]
    assert forecast["ds"].iloc[-1] == pd.Timestamp("2024-12-01")
    assert len(forecast) == 6
    html = forecast._repr_html_()
    assert "<svg" in html and "<table" in html
    assert isinstance(KFTForecaster(**FAST).fit(pl.from_pandas(series())).predict(1), pl.DataFrame)
    model.predict(X_df=series().assign(price=1.0))
    axes = model.plot(forecast, series())
    assert len(axes) == 2
    with pytest.raises(kft.InputError, match="1 or more"):
        model.predict(0)


def test_cross_validation(forecasts):
    windows = KFTForecaster(**FAST).cross_validation(series(), h=2, n_windows=3, step_size=2)
    assert list(windows) == ["unique_id", "ds", "cutoff", "KFT", "KFT-median", "KFT-lo-90", "KFT-hi-90", "y"]
    last = windows[windows["cutoff"] == pd.Timestamp("2024-10-01")]
    merged = last.merge(series(), on=["unique_id", "ds"], suffixes=("", "_true"))
    assert len(merged) == 4 and (merged["y"] == merged["y_true"]).all()
    with pytest.raises(kft.InputError, match="do not fit into 12 periods"):
        KFTForecaster(**FAST).cross_validation(series(), h=6, n_windows=4, step_size=3)


