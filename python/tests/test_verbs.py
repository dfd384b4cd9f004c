"""Methods that run other commands. A program that lacks a command is an error that says so."""

import subprocess

import pandas as pd
import pytest

import kft
from kft import KFTForecaster, KFTRegressor, _process

pytestmark = pytest.mark.filterwarnings("ignore::kft.KFTWarning")


def lacks(verb):
    """Expect an error if the program lacks a command, else nothing."""
    if subprocess.run([_process.binary(), "help", verb], capture_output=True).returncode == 0:
        return None
    return pytest.raises(kft.BinaryError, match=f"has no command {verb}; install a newer kft")


@pytest.fixture
def fitted():
    sales = pd.read_csv("sales.csv")
    X, y = sales.drop(columns="units"), sales["units"]
    return KFTRegressor(["store", "item", "time=year+month"], rank=2, sweeps=4, lambda_=0.1, ridge="frequency", verbose=False).fit(X, y), X, y


def test_explain(fitted):
    model, X, _ = fitted
    if missing := lacks("explain"):
        with missing:
            model.explain(X.head(2))
        return
    cells = model.explain(X.head(2), neighbours=1)
    assert [c["cell"]["item"] for c in cells] == X["item"].head(2).tolist()
    assert [c["prediction"] for c in cells] == pytest.approx(model.predict(X.head(2)), rel=1e-5)
    assert "terms" in model.explain()


def test_report(fitted, tables):
    model, X, y = fitted
    if missing := lacks("report"):
        with missing:
            model.report("report.html")
        return
    model.report("report.html", X, y)
    assert (tables / "report.html").read_text().lstrip().lower().startswith("<!doctype html")


def test_update(fitted):
    model, X, y = fitted
    if missing := lacks("update"):
        with missing:
            model.update(X.head(2), y.head(2))


def test_forecast():
    sales = pd.read_csv("sales.csv")
    sales["month"] = pd.to_datetime(sales[["year", "month"]].assign(day=1))
    model = KFTForecaster(["store", "item"], "month", "units", terms=["store*item"], inference="mean-field", scale="log1p", sweeps=4)
    model.fit(sales)
    if missing := lacks("forecast"):
        with missing:
            model.predict(2)
        return
    forecast = model.predict(2, level=[80])
    assert list(forecast) == ["store", "item", "month", "KFT", "KFT-median", "KFT-lo-80", "KFT-hi-80"]
    assert sorted(forecast["month"].unique()) == [pd.Timestamp("2025-01-01"), pd.Timestamp("2025-02-01")]
    assert (forecast["KFT-lo-80"] < forecast["KFT-median"]).all() and (forecast["KFT-median"] < forecast["KFT-hi-80"]).all()
