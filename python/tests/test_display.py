from html import escape

import pandas as pd
import pytest

from kft import KFTRegressor

pytestmark = pytest.mark.filterwarnings("ignore::kft.KFTWarning")


@pytest.fixture
def fitted():
    sales = pd.read_csv("sales.csv").rename(columns={"store": "<store>"})
    X, y = sales.drop(columns="units"), sales["units"]
    return KFTRegressor(["<store>", "item"], rank=1, duplicates="sum", sweeps=2, verbose=False).fit(X, y), X, y


def test_html(fitted):
    model, X, y = fitted
    html = model._repr_mimebundle_()["text/html"]
    assert "&lt;store&gt;" in html and "<store>" not in html
    best = next(b for b in model.record_["baseline"] if b["best"])
    for text in ("units by", "model, test", escape(best["name"]) + ", test", "R2", "weights"):
        assert text in html
    assert "KFTRegressor" in KFTRegressor()._repr_mimebundle_()["text/html"]


def test_plot(fitted):
    model, X, y = fitted
    axes = model.plot(X, y)
    assert [a.get_ylabel() for a in axes] == ["value", "share of values inside"]
    assert len(model.plot(X, y, ax=axes[0])) == 1
