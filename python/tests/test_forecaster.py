import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kft
from kft import KFTForecaster

pytestmark = pytest.mark.filterwarnings("ignore::kft.KFTWarning")
FAST = dict(terms=["unique_id", "ds.month"], ridge="uniform", lambda_=0.1, sweeps=6, scale="log1p", conformal="none", verbose=False)


def series():
    """Two series over three years, with a season."""
    ds = pd.date_range("2022-01-01", periods=36, freq="MS")
    random = np.random.default_rng(1)
    season = np.tile(10 + 5 * np.sin(2 * np.pi * np.arange(36) / 12), 2)
    return pd.DataFrame({"unique_id": np.repeat(["a", "b"], 36), "ds": np.tile(ds, 2), "y": season * random.uniform(0.9, 1.1, 72)})


@pytest.fixture
def fitted():
    return KFTForecaster(**FAST).fit(series())


def test_forecast(fitted):
    forecast = fitted.predict(3, level=[80, 95])
    assert list(forecast) == ["unique_id", "ds", "KFT", "KFT-median", "KFT-lo-80", "KFT-hi-80", "KFT-lo-95", "KFT-hi-95"]
    assert forecast["unique_id"].tolist() == ["a"] * 3 + ["b"] * 3
    assert forecast["ds"].tolist() == 2 * list(pd.date_range("2025-01-01", periods=3, freq="MS"))
    assert (forecast["KFT-lo-95"] < forecast["KFT-lo-80"]).all() and (forecast["KFT-lo-80"] < forecast["KFT"]).all()
    last_year = series().set_index(["unique_id", "ds"])["y"].loc["a"].iloc[24:27]
    assert forecast["KFT"].head(3).to_numpy() == pytest.approx(last_year.to_numpy(), rel=0.3)
    with pytest.raises(kft.InputError, match="1 or more"):
        fitted.predict(0)


@pytest.mark.parametrize("name", ["h", "fh", "forecast", "periods", "steps"])
def test_other_names_of_horizon(name):
    with pytest.raises(kft.SpecificationError, match=f"^unknown option {name}, use horizon$"):
        KFTForecaster(**FAST, **{name: 7}).fit(series())


def test_without_horizon():
    """A model that is chosen without a horizon knows the season of the future."""
    model = KFTForecaster(effort="quick", verbose=False).fit(series())
    assert model.spec_["split"] == "time:last=3"
    assert model.predict(12)["KFT"].head(12).std() > 2
    assert KFTForecaster(effort="quick", rank=1, verbose=False).fit(series()).spec_["split"].startswith("random")
    windows = KFTForecaster(effort="quick", verbose=False).cross_validation(series(), h=2)
    assert windows["KFT"].std() > 0


def test_chosen_rows(fitted):
    assert fitted.predict(2, only="unique_id=b")["unique_id"].tolist() == ["b", "b"]
    assert len(fitted.predict(2, by="total")) == 2
    rows = pd.DataFrame({"unique_id": ["b"], "ds": [pd.Timestamp("2025-02-01")]})
    one = fitted.predict(X_df=rows)
    assert one["KFT"].tolist() == fitted.predict(2)["KFT"].tolist()[3:]
    with pytest.raises(kft.KFTError, match="2022"):
        fitted.predict(X_df=rows.assign(ds=pd.Timestamp("2022-02-01")))


def test_kinds_of_frames(fitted):
    """Several ids, types of ids, names of columns and frames."""
    want = fitted.predict(2)
    forecast = KFTForecaster(**FAST).fit(pl.from_pandas(series())).predict(2)
    assert isinstance(forecast, pl.DataFrame)
    assert forecast["KFT"].to_list() == want["KFT"].tolist()
    frame = series().assign(shop=lambda f: np.where(f.pop("unique_id") == "a", 1, 2), item=np.resize(["i", "j"], 72))
    frame = frame.rename(columns={"ds": "day", "y": "units"})
    options = {**FAST, "terms": ["shop", "item", "day.month"]}
    other = KFTForecaster(["shop", "item"], "day", "units", horizon=2, **options).fit(frame)
    assert other.spec_["data"]["modes"] == ["shop", "item", "day"] and other.spec_["split"] == "time:last=2"
    forecast = other.predict()
    assert forecast["shop"].dtype == frame["shop"].dtype and forecast["shop"].unique().tolist() == [1, 2]
    with pytest.raises(kft.InputError, match="df is a ndarray, which has no columns"):
        KFTForecaster(**FAST).fit(frame.to_numpy())
    with pytest.raises(kft.UnknownColumnError, match="df has no column 'unique_id'.*id_cols, \\[\\] for one series"):
        KFTForecaster(**FAST).fit(frame)


def test_update():
    """New rows move the forecasts, which start after them; a loaded model takes them in too."""
    frame = series()
    frame["price"] = np.tile(np.linspace(1, 4, 36), 2)
    late = frame["ds"] >= "2024-10-01"
    options = {**FAST, "inference": "mean-field", "terms": ["unique_id", "ds.month", "price"], "covariate": "price"}
    del options["ridge"], options["lambda_"]
    model = KFTForecaster(**options).fit(frame[~late])
    model.save("before.kft")
    more = pd.concat([frame[late], frame[late & (frame["unique_id"] == "a")].assign(unique_id="c", y=lambda f: f["y"] * 3)])
    rows = pd.DataFrame({"unique_id": ["a", "b", "c"], "ds": pd.Timestamp("2025-01-01"), "price": 2.0})
    before = model.predict(X_df=rows)["KFT"]
    assert model.update(more) is model
    assert model.update_["add"]["rows"] == 9 and {"mode": "unique_id", "ids": 1} in model.update_["add"]["new"]
    after = model.predict(X_df=rows)["KFT"]
    assert after[2] > before[2]
    loaded = KFTForecaster.load("before.kft").update(pl.from_pandas(more))
    assert loaded.model_.data == model.model_.data
    with pytest.raises(kft.KFTError, match="^df: .* 2024-10-01 is before the last period .*; pass late=True"):
        model.update(frame[late].head(1))
    model.update(remove=more)
    assert model.predict(X_df=rows)["KFT"].tolist() == pytest.approx(before.tolist())
    with pytest.raises(kft.InputError, match="rows to add"):
        model.update()
    with pytest.raises(kft.KFTError, match="point estimate"):
        KFTForecaster(**FAST).fit(frame).update(frame)
    single = KFTForecaster(**{**options, "terms": ["ds.month", "price"]}).fit(frame[~late & (frame["unique_id"] == "a")])
    with pytest.raises(kft.InputError, match="fitted to one series, a"):
        single.update(frame[late])
    single.update(frame[late & (frame["unique_id"] == "a")])
    assert single.update_["add"]["rows"] == 3


def test_files(fitted):
    want = fitted.predict(2)
    fitted.save("m.kft")
    assert KFTForecaster.load("m.kft").predict(2)["KFT"].tolist() == want["KFT"].tolist()
    KFTForecaster(horizon=2, **FAST).fit(series()).save("m.kft")
    assert len(KFTForecaster.load("m.kft").predict()) == 4


def test_display_and_plot(fitted):
    forecast = fitted.predict(3, level=[80, 95])
    html = forecast._repr_html_()
    assert "<svg" in html and "<table" in html
    assert type(pickle.loads(pickle.dumps(forecast))) is pd.DataFrame
    assert fitted.predict(2).equals(fitted.predict(2))
    assert "y by unique_id, ds" in fitted._repr_html_()
    axes = fitted.plot(forecast, series())
    assert [a.get_title() for a in axes] == ["a", "b"]


def test_cross_validation():
    model = KFTForecaster(**FAST)
    windows = model.cross_validation(series(), h=2, n_windows=3, step_size=2)
    assert list(windows) == ["unique_id", "ds", "cutoff", "KFT", "KFT-median", "KFT-lo-90", "KFT-hi-90", "y"]
    assert windows["cutoff"].unique().tolist() == [pd.Timestamp(2024, m, 1) for m in (6, 8, 10)]
    assert ((windows["ds"] > windows["cutoff"]) & (windows["ds"] <= windows["cutoff"] + pd.DateOffset(months=2))).all()
    merged = windows.merge(series(), on=["unique_id", "ds"], suffixes=("", "_true"))
    assert len(merged) == 12 and (merged["y"] == merged["y_true"]).all()
    past = series()[series()["ds"] <= pd.Timestamp("2024-06-01")]
    first = windows[windows["cutoff"] == pd.Timestamp("2024-06-01")]
    assert first["KFT"].tolist() == KFTForecaster(**FAST).fit(past).predict(2)["KFT"].tolist()
    with pytest.raises(kft.InputError, match="do not fit into 36 periods"):
        model.cross_validation(series(), h=12, n_windows=4, step_size=12)


def kinds_of_times():
    frame = series()
    number = frame["ds"].dt.year * 12 + frame["ds"].dt.month - 1
    return {
        "zone": frame.assign(ds=frame["ds"].dt.tz_localize("Europe/Berlin")),
        "days": frame.assign(ds=frame["ds"].dt.date),
        "texts": frame.assign(ds=frame["ds"].dt.strftime("%Y-%m-%d")),
        "numbers": frame.assign(ds=number),
        "polars": pl.from_pandas(frame),
        "days of polars": pl.from_pandas(frame).with_columns(pl.col("ds").cast(pl.Date)),
    }


@pytest.mark.parametrize("kind", kinds_of_times())
def test_kinds_of_times(kind):
    """Times of a forecast have the type of the data, so that the two can be joined."""
    frame = kinds_of_times()[kind]
    options = {**FAST, "terms": ["unique_id", "ds"]}
    ends = frame["ds"].max() if kind != "texts" else "2024-12-01"
    forecast = KFTForecaster(**options).fit(frame).predict(2)
    windows = KFTForecaster(**options).cross_validation(frame, h=2)
    if isinstance(frame, pl.DataFrame):
        assert forecast.schema["ds"] == windows.schema["ds"] == windows.schema["cutoff"] == frame.schema["ds"]
    else:
        assert forecast["ds"].dtype == windows["ds"].dtype == windows["cutoff"].dtype == frame["ds"].dtype
    assert forecast["ds"].min() > ends and windows["ds"].max() == ends and len(windows) == 4


def test_periods_of_pandas():
    frame = series().assign(ds=lambda f: f["ds"].dt.to_period("M"))
    assert KFTForecaster(**FAST).fit(frame).predict(1)["ds"].tolist() == [pd.Timestamp("2025-01-01")] * 2


def test_levels(fitted):
    assert list(fitted.predict(1, level=None)) == ["unique_id", "ds", "KFT", "KFT-median"]
    assert list(fitted.predict(1, level=80)) == ["unique_id", "ds", "KFT", "KFT-median", "KFT-lo-80", "KFT-hi-80"]
    assert list(fitted.predict(1, level=None, quantiles=[0.1, 0.9]))[4:] == ["KFT-q0.1", "KFT-q0.9"]


def test_missing_values():
    frame = series()
    frame.loc[6, "y"] = np.nan
    with pytest.raises(kft.InputError, match="df, row 7, column 'y': the value is missing, 1 in total") as caught:
        KFTForecaster(**FAST).fit(frame)
    assert (caught.value.row, caught.value.column) == (7, "y")


def test_covariates():
    """A covariate keeps its name; a window of the cross-validation knows its values."""
    price = np.random.default_rng(2).uniform(1, 3, 72)
    frame = series().assign(price=price, y=lambda f: f["y"] * price)
    model = KFTForecaster(**{**FAST, "terms": ["unique_id", "price"]}, covariate=["price"])
    windows = model.cross_validation(frame, h=3, n_windows=2, step_size=3)
    assert list(windows) == ["unique_id", "ds", "cutoff", "KFT", "KFT-median", "KFT-lo-90", "KFT-hi-90", "y"]
    assert len(windows) == 12 and np.corrcoef(windows["KFT"], windows.merge(frame, on=["unique_id", "ds"])["price"])[0, 1] > 0.9
    future = pl.LazyFrame({"unique_id": ["a"], "ds": [pd.Timestamp("2025-01-01")], "price": [2.0]})
    assert list(model.fit(frame).predict(X_df=future, level=None)) == ["unique_id", "ds", "price", "KFT", "KFT-median"]


def test_totals_and_polars_in_pictures(fitted):
    total = fitted.predict(3, by="total")
    assert "total" in total._repr_html_() and "<svg" in total._repr_html_()
    assert [a.get_title() for a in fitted.plot(total, series())] == ["total"]
    frame = pl.from_pandas(series())
    assert [a.get_title() for a in fitted.plot(pl.from_pandas(fitted.predict(3)), frame)] == ["a", "b"]


@pytest.mark.parametrize("kind", ["str", "category"])
def test_one_series(kind):
    """The id of a single series is in the forecast, as that of many."""
    one = series().query("unique_id == 'a'").astype({"unique_id": kind}).assign(region=7)
    model = KFTForecaster(["region", "unique_id"], **{**FAST, "terms": ["ds.month"]}).fit(one)
    for forecast in (model.predict(2), pickle.loads(pickle.dumps(model)).predict(2)):
        assert list(forecast)[:3] == ["region", "unique_id", "ds"]
        assert forecast["unique_id"].tolist() == ["a", "a"] and forecast["region"].tolist() == [7, 7]
    windows = model.cross_validation(one, h=2)
    assert len(windows) == 2 and list(windows)[:4] == ["region", "unique_id", "ds", "cutoff"]
