"""Methods that run other commands. A program that lacks a command is an error that says so."""

import subprocess

import pandas as pd
import pytest

import kft
from kft import KFTRegressor, _process

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


def test_explain_switches():
    """Ids that are yes or no are explained as they are predicted."""
    sales = pd.read_csv("sales.csv")
    cells = pd.DataFrame({"store": sales["store"], "winter": sales["month"].isin([12, 1, 2])})
    model = KFTRegressor(["store", "winter"], terms=["store", "winter"], duplicates="mean", sweeps=2, lambda_=1, ridge="uniform", verbose=False)
    model.fit(cells, sales["units"])
    assert [c["prediction"] for c in model.explain(cells.head(2))] == pytest.approx(model.predict(cells.head(2)), rel=1e-5)


def test_report(fitted, tables):
    model, X, y = fitted
    if missing := lacks("report"):
        with missing:
            model.report("report.html")
        return
    model.report("report.html", X, y)
    assert (tables / "report.html").read_text().lstrip().lower().startswith("<!doctype html")


def test_update(fitted):
    """New rows of a new item change its predictions; removed again they leave no trace."""
    point, X, y = fitted
    with pytest.raises(kft.KFTError, match="point estimate"):
        point.update(X.head(2), y.head(2), late=True)
    model = KFTRegressor(["store", "item", "time=year+month"], terms=["store", "item", "store,item:2"], inference="mean-field", sweeps=4, verbose=False)
    model.fit(X, y)
    rows = X[X["item"] == X["item"].iloc[0]].head(5).assign(item="new")
    values = 10 * y[rows.index]
    before = model.predict(rows)
    model.update(rows, values, late=True)
    assert model.update_["add"]["rows"] == 5
    assert model.update_["add"]["new"] == [{"mode": "item", "ids": 1}]
    assert (model.predict(rows) > 1.5 * before).all()
    model.update(remove=(rows, values))
    assert model.predict(rows) == pytest.approx(before, rel=1e-6)
    with pytest.raises(kft.InputError, match="before the last period"):
        model.update(rows, values)
