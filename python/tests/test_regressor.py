import datetime
import pickle
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kft
from kft import KFTRegressor, _process

MODES = ["store", "item", "time=year+month"]
FAST = dict(rank=2, sweeps=4, lambda_=0.1, ridge="frequency", scale="log1p", verbose=False)
pytestmark = pytest.mark.filterwarnings("ignore::kft.KFTWarning")


def sales():
    frame = pd.read_csv("sales.csv")
    return frame.drop(columns="units"), frame["units"]


@pytest.fixture
def fitted():
    X, y = sales()
    return KFTRegressor(MODES, **FAST).fit(X, y)


def test_same_bits_as_the_command_line(fitted, tables):
    """The same table, specification and seed give the same model file and the same predictions."""
    X, y = sales()
    table = pa.Table.from_pandas(X.assign(units=y), preserve_index=False)
    with pa.OSFile("X", "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    flags = "--target units --rank 2 --sweeps 4 --lambda 0.1 --ridge frequency --transform log1p --refit auto -q -o m.kft".split()
    subprocess.run([_process.binary(), "fit", "X", "--modes", ",".join(MODES), *flags], check=True, stdout=subprocess.DEVNULL)
    assert (tables / "m.kft").read_bytes() == fitted.model_.data
    subprocess.run([_process.binary(), "predict", "m.kft", "X", "-q", "--quantiles", ".05", "--samples", "2", "-o", "p.arrow"], check=True)
    with pa.memory_map("p.arrow") as source:
        want = pa.ipc.open_file(source).read_all()
    np.testing.assert_array_equal(fitted.predict(X), want["prediction"].to_numpy())
    np.testing.assert_array_equal(fitted.predict_quantiles(X, 0.05).to_numpy()[:, 0], want["q0.05"].to_numpy())
    np.testing.assert_array_equal(fitted.sample(X, 2)[:, 1], want["sample_2"].to_numpy())
    np.testing.assert_array_equal(KFTRegressor(MODES, random_state=0, n_jobs=1, **FAST).fit(X, y).predict(X), fitted.predict(X))
    assert (KFTRegressor(MODES, random_state=np.random.RandomState(3), **FAST).fit(X, y).predict(X) != fitted.predict(X)).any()


def test_kinds_of_frames(fitted):
    """Frames of all kinds with the same values give the same predictions."""
    X, y = sales()
    want = fitted.predict(X)
    frames = {
        "object": X.astype(object),
        "category": X.astype("category"),
        "polars": pl.from_pandas(X),
        "lazy": pl.from_pandas(X).lazy(),
        "polars categories": pl.from_pandas(X).with_columns(pl.col("store", "item").cast(pl.Categorical)),
        "pyarrow": pa.Table.from_pandas(X),
        "string view": pa.table({**{c: X[c] for c in X}, "store": pa.array(X["store"]).cast(pa.string_view())}),
        "dict": {c: X[c].to_numpy() for c in X},
        "more columns": X.assign(other=[[1]] * len(X), prediction="p"),
    }
    for kind, frame in frames.items():
        np.testing.assert_array_equal(fitted.predict(frame), want, err_msg=kind)
        again = KFTRegressor(MODES, **FAST).fit(frame, y)
        np.testing.assert_array_equal(again.predict(X), want, err_msg=kind)


def test_dates_and_targets():
    """Dates are ids, and a target may be integers, floats, a polars series or a list."""
    X, y = sales()
    X["day"] = [datetime.date(a, b, 1) for a, b in zip(X.pop("year"), X.pop("month"))]
    modes = ["store", "item", "yearmonth(day)"]
    want = KFTRegressor(modes, **FAST).fit(X, y).predict(X)
    stamps = X.assign(day=pd.to_datetime(X["day"]))
    for frame, target in ((stamps, y.astype(float)), (pl.from_pandas(stamps), pl.Series(y.to_numpy())), (X, list(y))):
        np.testing.assert_array_equal(KFTRegressor(modes, **FAST).fit(frame, target).predict(stamps), want)


def test_names_and_intervals_as_ids():
    """Names with signs of the grammar and intervals of pandas.cut are modes."""
    X, y = sales()
    frame = pd.DataFrame({"price (USD)": X["item"], "third of the year": pd.cut(X["month"], 3)})
    model = KFTRegressor(list(frame), rank=1, duplicates="mean").fit(frame, y)
    assert model.spec_["data"]["modes"] == ['price_USD="price (USD)"', "third of the year"]
    assert len(np.unique(model.predict(frame))) > 40


def test_quantiles_and_intervals(fitted):
    X, y = sales()
    quantiles = fitted.predict_quantiles(X, alpha=[0.95, 0.05])
    assert list(quantiles.columns) == [("units", 0.95), ("units", 0.05)]
    interval = fitted.predict_interval(X, coverage=[0.9, 0.5])
    assert list(interval.columns) == [("units", c, e) for c in (0.9, 0.5) for e in ("lower", "upper")]
    np.testing.assert_array_equal(interval[("units", 0.9, "upper")], quantiles[("units", 0.95)])
    inside = (interval[("units", 0.9, "lower")] <= y) & (y <= interval[("units", 0.9, "upper")])
    assert 0.85 < inside.mean() < 0.97
    variance = fitted.predict_var(X)["units"]
    np.testing.assert_allclose(variance, fitted.predict_table(X)["sd"].astype(float) ** 2)
    assert list(fitted.predict_interval(pl.from_pandas(X)).columns) == ["0.9_lower", "0.9_upper"]
    assert list(fitted.predict_quantiles(pl.from_pandas(X), [0.5]).columns) == ["q0.5"]
    assert fitted.predict_quantiles(pa.Table.from_pandas(X)).shape == (len(X), 3)
    assert fitted.sample(X, 7).shape == (len(X), 7)


def test_skpro_measures(fitted):
    """skpro's measures accept the frames."""
    from skpro.metrics import EmpiricalCoverage, PinballLoss

    X, y = sales()
    truth = y.to_frame("units")
    coverage = EmpiricalCoverage()(truth, fitted.predict_interval(X, coverage=[0.9]))
    assert 0.85 < float(np.asarray(coverage).mean()) < 0.97
    loss = PinballLoss()(truth, fitted.predict_quantiles(X, alpha=[0.05, 0.25, 0.5, 0.75, 0.95]))
    assert float(np.asarray(loss).mean()) == pytest.approx(fitted.evaluate(X, y)["pinball"], rel=1e-3)


def test_files_and_pickles(fitted, tables):
    X, _ = sales()
    want = fitted.predict(X)
    fitted.save("m.kft")
    loaded = KFTRegressor.load("m.kft", n_jobs=1)
    np.testing.assert_array_equal(loaded.predict(X), want)
    assert loaded.spec_ == fitted.spec_ and loaded.record_["test"] == fitted.record_["test"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), want)
    (tables / "m.kft").write_bytes(b"no model")
    with pytest.raises(kft.ModelFileError, match="m.kft"):
        KFTRegressor.load("m.kft")
    with pytest.raises(FileNotFoundError, match="missing.kft"):
        KFTRegressor.load("missing.kft")


def test_side_information():
    """A frame and a file are the same side table; new ids are predicted from a side table of their own."""
    X, y = sales()
    stores = pd.read_csv("stores.csv")
    options = {**FAST, "inference": "mean-field", "sweeps": 6}
    for name in ("lambda_", "ridge"):
        options.pop(name)
    by_file = KFTRegressor(MODES, {"store": "stores.csv"}, **options).fit(X, y)
    by_frame = KFTRegressor(MODES, {"store": stores, "time": "@month:cycle12"}, **options).fit(X, y)
    both = KFTRegressor(MODES, {"store": stores}, **options).fit(X, y)
    np.testing.assert_array_equal(by_file.predict(X), both.predict(X))
    assert by_frame.spec_["side"]["tables"] == ["store=store.arrow", "time=@month:cycle12"]
    cell = X.head(1).assign(store="NEW")
    assert by_file.predict_table(cell)["unseen"].tolist() == ["store"]
    new = stores.head(1).assign(store="NEW")
    assert by_file.predict(cell, side={"store": new}) != by_file.predict(cell)
    with pytest.raises(kft.UnknownColumnError, match='store.arrow, column "town"'):
        KFTRegressor(MODES, {"store": (stores, "town:cat")}, **options).fit(X, y)
    with pytest.raises(kft.UnseenIDError, match='"NEW"'):
        by_file.predict_table(cell, strict=True)


def test_weights():
    X, y = sales()
    one = KFTRegressor(MODES, **FAST).fit(X, y).predict(X)
    weights = np.where(X["store"] == X["store"][0], 5.0, 1.0)
    weighted = KFTRegressor(MODES, **FAST).fit(X, y, sample_weight=weights)
    assert weighted.spec_["data"]["weight"] == "sample_weight"
    assert (weighted.predict(X) != one).any()
    dropped = KFTRegressor(MODES, **FAST).fit(X, y, sample_weight=np.arange(len(X)) % 2)
    assert dropped.record_["train"]["n"] < len(X) * 0.4


def test_guessed_modes_and_bins(tmp_path):
    X, y = sales()
    assert KFTRegressor(**FAST).fit(X, y).spec_["data"]["modes"] == MODES
    random = np.random.default_rng(1)
    Z = random.normal(size=(500, 2))
    target = np.sin(Z[:, 0]) + Z[:, 1]
    model = KFTRegressor(terms=["x0", "x1"], inference="mean-field", bins=20, conformal="split").fit(Z, target)
    assert model.score(Z, target) > 0.9
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Z), model.predict(Z))
    model.save(tmp_path / "m.kft")
    loaded = KFTRegressor.load(tmp_path / "m.kft")
    np.testing.assert_array_equal(loaded.predict(Z), model.predict(Z))
    assert loaded.n_features_in_ == 2
    with pytest.raises(ValueError, match="2 features"):
        loaded.predict(Z[:, :1])
    frame = pd.DataFrame(Z, columns=["a", "b"])
    KFTRegressor(terms=["a", "b"], inference="mean-field", conformal="split").fit(frame, target).save(tmp_path / "f.kft")
    assert KFTRegressor.load(tmp_path / "f.kft").predict(frame).shape == (500,)
    ids = np.column_stack([X["store"], X["item"], X["month"]])
    assert KFTRegressor(terms=["x0,x1:2"], duplicates="mean", scale="log1p").fit(ids, y).spec_["data"]["modes"] == ["x0", "x1", "x2"]


def test_floats_are_covariates(tmp_path):
    """Without terms, rank or bins a curve is learned of each float; a constant is left out."""
    random = np.random.default_rng(1)
    Z = random.normal(size=(500, 3))
    Z[:, 2] = 1
    target = np.sin(2 * Z[:, 0]) + Z[:, 1] ** 2 + 0.1 * random.normal(size=500)
    frame = pd.DataFrame(Z, columns=["price (USD)", "b", "constant"])
    for X, modes in ((Z, ["number(x0)", "number(x1)"]), (frame, ['price_USD=number("price (USD)")', "number(b)"])):
        model = KFTRegressor().fit(X[:400], target[:400])
        assert model.spec_["data"]["modes"][:2] == modes
        assert model.spec_["data"]["duplicates"] == "keep"
        assert model.score(X[400:], target[400:]) > 0.85
        model.save(tmp_path / "m.kft")
        np.testing.assert_array_equal(KFTRegressor.load(tmp_path / "m.kft").predict(X), model.predict(X))
    both = pd.DataFrame({"u": target, "v": Z[:, 0]})
    assert KFTRegressor(effort="quick").fit(Z[:, :2], both).spec_["data"]["modes"][:2] == ["x0", "x1"]
    assert KFTRegressor(bins=16, effort="quick").fit(Z[:, :2], target).spec_["data"]["modes"] == ["x0", "x1"]


def test_missing_values_of_floats(tmp_path):
    """Frames and arrays of floats may have missing values where they are covariates."""
    random = np.random.default_rng(2)
    Z = random.normal(size=(600, 3))
    target = np.sin(2 * Z[:, 0]) + Z[:, 1] + 0.1 * random.normal(size=600)
    Z[random.random(Z.shape) < 0.1] = np.nan
    Z[:, 2] = np.nan
    for X in (Z, pd.DataFrame(Z, columns=["a", "b", "empty"])):
        model = KFTRegressor(effort="quick").fit(X[:500], target[:500])
        assert len(model.spec_["data"]["modes"]) == 2
        assert model.score(X[500:], target[500:]) > 0.6
        model.save(tmp_path / "m.kft")
        for again in (KFTRegressor.load(tmp_path / "m.kft"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
    for options, y in (({"rank": 1}, target), ({"bins": 4}, target), ({}, pd.DataFrame({"u": target, "v": target}))):
        with pytest.raises(ValueError, match="contains NaN"):
            KFTRegressor(**options).fit(Z, y)


def bad_input():
    X, y = sales()
    twice = pd.concat([X, X[["store"]]], axis=1)
    mixed = X.assign(store=[7, *X["store"][1:]])
    nan, hole = y.astype(float), X.copy()
    nan[6] = np.nan
    hole.loc[4::8, "item"] = None  # more than a few
    return {
        "missing column": (MODES, {}, X.drop(columns="item"), y, kft.UnknownColumnError, "no column 'item'; its columns are year, month, store"),
        "duplicate columns": (MODES, {}, twice, y, kft.InputError, "2 columns called 'store'"),
        "mixed types": (MODES, {}, mixed, y, kft.InputError, "row 2, column 'store': 'S01' is of type str, but row 1 has type int"),
        "target": (MODES, {}, X, nan, kft.InputError, "NaN: row 7, and 1 in total"),
        "text target": (MODES, {}, X, ["a"] * len(X), kft.InputError, "y is not a column of numbers"),
        "missing id": (MODES, {}, hole, y, kft.InputError, 'X, row 5, column "item"'),
        "lengths": (MODES, {}, X, y[:-1], ValueError, "inconsistent numbers of samples"),
        "repeated cell": (["store", "item"], {}, X, y, kft.InputError, "set duplicates to sum"),
        "option": (MODES, {"sweep": 3}, X, y, kft.SpecificationError, '^unknown option sweep, did you mean one of "sweeps", "random_state"[?]$'),
        "value": (MODES, {"solver": "magic"}, X, y, kft.SpecificationError, "^solver: unknown"),
        "ours": (MODES, {"output": "x"}, X, y, kft.SpecificationError, "output"),
        "exposure": (MODES, {"exposure": "days"}, X, y, kft.SpecificationError, "^exposure: "),
    }


@pytest.mark.parametrize("name", "missing column,duplicate columns,mixed types,target,text target,missing id,lengths,repeated cell,option,value,ours,exposure".split(","))
def test_bad_input(name):
    modes, options, X, y, error, text = bad_input()[name]
    with pytest.raises(error, match=text) as caught:
        KFTRegressor(modes, **{**FAST, **options}).fit(X, y)
    if name == "value":
        assert caught.value.field == "fit.solver" and caught.value.code == "specification"
    if name == "missing id":
        assert (caught.value.row, caught.value.column) == (5, "item")
    if isinstance(caught.value, kft.KFTError):
        assert pickle.loads(pickle.dumps(caught.value)).__dict__ == caught.value.__dict__


def test_columns_that_describe_cells():
    """A price beside guessed modes is used, unless no column shall be."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame([(f"s{s}", f"2024-01-{d:02d}") for s in range(25) for d in range(1, 29)], columns=["store", "date"])
    X["price"] = rng.uniform(1, 3, len(X)).round(2)
    y = 10 - 2 * X["price"] + rng.normal(size=25).repeat(28) + rng.normal(0, 0.2, len(X))
    model = KFTRegressor(effort="quick", verbose=False).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(kft.InputError, match="price"):
        model.predict(X[["store", "date"]])
    without = KFTRegressor(effort="quick", verbose=False, covariate="none").fit(X, y)
    assert without.score(X, y) < 0.7
    assert len(without.predict(X[["store", "date"]])) == len(X)


def test_few_missing_ids():
    X, y = sales()
    X.loc[4, "item"] = None
    with pytest.warns(kft.KFTWarning, match='1 row left out, because an id is empty; the first is row 5, column item'):
        KFTRegressor(modes=MODES, terms=["store", "item"]).fit(X, y)


def test_bad_predictions(fitted):
    X, _ = sales()
    with pytest.raises(kft.UnknownColumnError, match="no column 'item'; its columns are"):
        fitted.predict(X.drop(columns="item"))
    with pytest.raises(kft.InputError, match="pass a frame"):
        fitted.predict(X.to_numpy())
    with pytest.raises(kft.InputError, match="quantile|level"):
        fitted.predict_quantiles(X, [1.5])
    with pytest.raises(kft.InputError, match="no id of the 3517 rows is in the training data"):
        fitted.predict(X.assign(store="s", item="i", year=1))
    assert len(fitted.predict(X)) == len(X)  # the process goes on
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        KFTRegressor().predict(X)


def test_several_targets(tmp_path):
    table = pd.read_csv("revenue.csv")
    X, y = table[["store", "item", "year", "month"]], table[["units", "revenue"]]
    assert y["revenue"].isna().any()
    terms = ["store*target", "item*target", "target"]
    model = KFTRegressor(["store", "item", "time=year+month"], terms=terms, inference="mean-field", scale="log1p", verbose=False).fit(X, y)
    both = model.predict(X.head(5))
    assert both.shape == (5, 2)
    revenue = model.for_target("revenue")
    assert revenue.predict(X.head(5)) == pytest.approx(both[:, 1])
    interval = revenue.predict_interval(X.head(5))
    assert interval.columns[0][0] == "revenue"
    assert (interval.iloc[:, 0] < both[:, 1]).all()
    known = y["revenue"].notna()
    assert revenue.evaluate(X[known], y["revenue"][known])["r2"] > 0.2
    with pytest.raises(kft.InputError, match="use for_target"):
        model.predict_interval(X)
    with pytest.raises(kft.InputError, match="no target 'sales'"):
        model.for_target("sales")
    model.save(tmp_path / "two.kft")
    assert KFTRegressor.load(tmp_path / "two.kft").predict(X.head(5)) == pytest.approx(both)


@pytest.mark.parametrize(("call", "text"), [
    (lambda m, X: m.predict(X.iloc[0]), "X is a Series, which has no columns"),
    (lambda m, X: m.predict({"store": ["S01", "S02"], "item": ["A06"], "year": [2024], "month": [12]}), "'item' has 1 rows, but 'store' has 2"),
    (lambda m, X: m.predict_interval(X, coverage=90), "coverage: 90 is not between 0 and 1"),
    (lambda m, X: m.predict_quantiles(X, alpha=[]), "alpha: the list is empty"),
    (lambda m, X: m.sample(X, 0), "n_samples is 0"),
    (lambda m, X: m.evaluate(X, None), "y is missing"),
    (lambda m, X: KFTRegressor(3).fit(X, X["year"]), "modes is a list of texts"),
    (lambda m, X: KFTRegressor(MODES, {"store": 3}).fit(X, X["year"]), "side.'store'. is a frame, a file name"),
    (lambda m, X: KFTRegressor(MODES, ["time=@year", "time=@month"]).fit(X, X["year"]), "already has the side table"),
])
def test_wrong_arguments(fitted, call, text):
    """A wrong argument is an error that names it."""
    with pytest.raises((kft.InputError, kft.SpecificationError), match=text) as caught:
        call(fitted, sales()[0])
    assert caught.value.code != "failed"


def test_times_with_zones_and_periods():
    """Times with a zone are those of its clocks, and a period is its first day."""
    day = pd.date_range("2020-01-01", periods=200).repeat(3)
    frame = pd.DataFrame({"group": np.tile(["a", "b", "c"], 200), "day": day})
    y = np.random.default_rng(1).gamma(3, size=600)
    options = dict(rank=1, sweeps=2, lambda_=1, ridge="uniform", conformal="none", duplicates="mean", verbose=False)
    modes = ["group", "yearmonth(day)"]
    want = KFTRegressor(modes, **options).fit(frame, y).predict(frame)
    zoned = frame.assign(day=day.tz_localize("Europe/Berlin"))
    for other in (zoned, pl.from_pandas(zoned), frame.assign(day=day.to_period("D"))):
        np.testing.assert_array_equal(KFTRegressor(modes, **options).fit(other, y).predict(other), want)


def test_names_of_targets_and_seeds():
    X, y = sales()
    for target in (y.to_frame(), pl.DataFrame({"units": y.to_numpy()}), pa.table({"units": y})):
        assert KFTRegressor(MODES, **FAST).fit(X, target).spec_["data"]["target"] == "units"
    assert KFTRegressor(MODES, random_state=np.random.default_rng(1), **FAST).fit(X, y).spec_["seed"] > 1
    with pytest.raises(kft.SpecificationError, match="random_state"):
        KFTRegressor(MODES, random_state=-3, **FAST).fit(X, y)


def described(n=400):
    """Rows of two ids, a truth value, a time and a price, with their values."""
    random = np.random.default_rng(2)
    store, item, promo, price = random.integers(0, 8, n), random.integers(0, 6, n), random.random(n) < 0.4, random.uniform(1, 9, n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 50, n), unit="D")
    frame = pd.DataFrame({"store": [f"s{k}" for k in store], "item": [f"i{k}" for k in item], "day": day, "promo": promo, "price": price})
    return frame, 10 + 0.5 * store - item + 4 * promo - price + 0.2 * random.normal(size=n)


def test_arrays_of_objects_are_recognised(tmp_path):
    """The columns of an array, or of a frame without names, are those of a frame, not all modes."""
    frame, y = described()
    fast = dict(effort="quick", verbose=False)
    want = KFTRegressor(**fast).fit(frame, y).predict(frame)
    assert 1 - np.var(y - want) / np.var(y) > 0.97
    values = frame.to_numpy()
    for X in (values, frame.set_axis(range(5), axis=1), frame.set_axis(pd.MultiIndex.from_product([["a"], frame]), axis=1)):
        np.testing.assert_allclose(KFTRegressor(**fast).fit(X, y).predict(X), want, rtol=1e-6)
    model = KFTRegressor(**fast).fit(values, y)
    model.save(tmp_path / "m.kft")
    values[3, 4] = None
    np.testing.assert_array_equal(KFTRegressor.load(tmp_path / "m.kft").predict(values), model.predict(values))


def test_sparse_columns_and_durations():
    frame, y = described()
    sparse = frame.assign(price=pd.arrays.SparseArray(frame["price"]), promo=pd.arrays.SparseArray(frame["promo"].astype(int)))
    fast = dict(modes=["store", "item"], covariate=["price", "promo"], duplicates="keep", effort="quick", verbose=False)
    dense = frame.astype({"promo": int})
    np.testing.assert_array_equal(KFTRegressor(**fast).fit(sparse, y).predict(sparse), KFTRegressor(**fast).fit(dense, y).predict(dense))
    seconds = dense.assign(price=dense["price"].round(3))
    durations = seconds.assign(price=pd.to_timedelta(seconds["price"] * 1000, unit="ms"))
    np.testing.assert_allclose(KFTRegressor(**fast).fit(durations, y).predict(durations), KFTRegressor(**fast).fit(seconds, y).predict(seconds))


def test_truth_values_and_midnights_in_other_words():
    frame, y = described()
    model = KFTRegressor(effort="quick", verbose=False).fit(frame, y)
    want = model.predict(frame)
    for other in (frame["promo"].astype(int), frame["promo"].astype(str), frame["promo"].map({True: "yes", False: "no"})):
        np.testing.assert_array_equal(model.predict(frame.assign(promo=other)), want)
    dates = frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d"))
    pd.testing.assert_frame_equal(model.predict_table(dates), model.predict_table(frame))


def test_texts_as_numbers():
    frame, y = described()
    model = KFTRegressor(effort="quick", verbose=False).fit(frame, y)
    with pytest.raises(kft.InputError, match="price=cheap is not a finite number"):
        model.predict(frame.assign(price="cheap"))


def test_rows_in_another_order():
    frame, y = described(100)
    fast = dict(modes=["store", "item"], rank=1, duplicates="mean", verbose=False)
    with pytest.warns(kft.KFTWarning, match="same index in another order"):
        KFTRegressor(**fast).fit(frame.iloc[::-1], pd.Series(y))


def test_words_as_targets():
    frame, y = described(50)
    with pytest.raises(kft.InputError, match="'no' and 'yes'; pass y == 'yes'"):
        KFTRegressor(verbose=False).fit(frame, np.where(y > 5, "yes", "no"))
