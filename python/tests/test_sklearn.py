"""The checks of scikit-learn. Each exception has its reason."""

import warnings

import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_regressors_train, parametrize_with_checks

from kft import KFTRegressor

# Some checks have tables of two or three distinct rows, so all rows train and nothing is chosen by validation.
SMALL = KFTRegressor(rank=1, sweeps=10, lambda_=0.1, ridge="frequency", conformal="none", split="random:100/0/0", verbose=False)

EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "a repeated row is the same cell, so repeated rows are averaged; "
    "their mean has the weight of one row",
    "check_regressors_train": "one product of the effects of ten columns does not fit; test_regressors_train uses the default model",
}


@parametrize_with_checks([SMALL], expected_failed_checks=lambda _: EXPECTED)
@pytest.mark.filterwarnings("ignore")
def test_sklearn(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_regressors_train():
    check_regressors_train("KFTRegressor", KFTRegressor(effort="quick", verbose=False))


def sales():
    frame = pd.read_csv("sales.csv")
    return frame.drop(columns="units"), frame["units"]


SHUFFLED = KFold(2, shuffle=True, random_state=1)
MODES = ["store", "item", "time=year+month"]
FAST = KFTRegressor(MODES, rank=2, sweeps=3, inference="mean-field", scale="log1p", conformal="none", verbose=False)


def test_params():
    assert FAST.get_params()["sweeps"] == 3
    assert FAST.sweeps == 3
    other = clone(FAST).set_params(rank=2, cg_steps=4)
    assert other.get_params() == {**FAST.get_params(), "rank": 2, "cg_steps": 4}
    assert "cg_steps" not in FAST.get_params()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        FAST.nothing


@pytest.mark.filterwarnings("ignore::kft.KFTWarning")
def test_grid_search_in_pipeline():
    X, y = sales()
    pipeline = make_pipeline(FunctionTransformer(lambda frame: frame), FAST)
    search = GridSearchCV(pipeline, {"kftregressor__rank": [1, 2], "kftregressor__sweeps": [2]}, cv=SHUFFLED).fit(X, y)
    assert search.best_params_["kftregressor__rank"] in (1, 2)
    assert search.best_score_ > 0.2


def test_few_rows_do_not_warn_about_the_conformal_correction():
    X, y = sales()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KFTRegressor(rank=1, sweeps=2, inference="mean-field", verbose=False).fit(X[:200], y[:200])
    assert not [w for w in caught if "conformal" in str(w.message)]
    assert any("no conformal correction" in note for note in model.record_["notes"])


@pytest.mark.filterwarnings("ignore::kft.KFTWarning")
def test_cross_val_score():
    X, y = sales()
    assert cross_val_score(FAST, X, y, cv=SHUFFLED).max() > 0.2
