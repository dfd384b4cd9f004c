"""Forecasts of peers on rolling origins, in the table of `kft backtest --format csv`.

LightGBM: one direct model per origin and horizon on lags 1 to 7 before the origin, lags 11
to 13 before the target, the history of the pair, its item and its store, and the month, for
log1p of the target; intervals from residuals on the last months before the origin.
statsforecast: AutoETS, SeasonalNaive and CrostonSBA on a sample of series, whose missing
months are filled with 0, because these methods need regular series. All methods are
scored on the rows of the table, so months without rows do not count.
"""

import argparse
import csv
import sys
import time

import numpy as np
import pandas as pd

from peers.measure import PINBALL_LEVELS, Prediction, pinball, r_squared
from peers.peer import from_log1p

LAGS = range(1, 8)  # before the origin
SEASONAL = range(11, 14)  # before the target
SEASON = 12
MONTHS = 30  # most target months to train on
PATIENCE = 30
PARAMETERS = {
    "objective": "regression",
    "num_leaves": 255,
    "learning_rate": 0.06,
    "min_data_in_leaf": 50,
    "lambda_l2": 5.0,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "feature_fraction": 0.8,
    "verbosity": -1,
    "deterministic": True,
    "force_col_wise": True,
    "metric": "None",
}
COLUMNS = ["method", "origin", "horizon", "n", "mae", "rmse", "r2", "r2_log1p", "wape", "bias", "mase", "rmsse", "pinball", "coverage90", "width90"]


class Panel:
    """Series x months of a target; NaN where the table has no row."""

    def __init__(self, frame, target, keys, when):
        number = frame[when[0]].astype(int)
        if len(when) > 1:
            number = 12 * number + frame[when[1]].astype(int) - 1
        self.first = int(number.min())
        self.when = when
        month = (number - self.first).to_numpy()
        codes = [pd.factorize(frame[k].astype(str), sort=True) for k in keys]
        combined = codes[0][0].astype(np.int64)
        for c, names in codes[1:]:
            combined = combined * len(names) + c
        series, first_row = np.unique(combined, return_index=True)
        at = np.searchsorted(series, combined)
        self.y = np.full((len(series), month.max() + 1), np.nan)
        self.y[at, month] = frame[target].to_numpy(dtype=np.float64)
        self.ids = np.stack([c[first_row] for c, _ in codes])  # by key and series
        self.sizes = [len(names) for _, names in codes]

    @property
    def months(self):
        return self.y.shape[1]

    def name(self, month):
        n = self.first + month
        return f"{n // 12}-{n % 12 + 1}" if len(self.when) > 1 else str(n)

    def changes(self, origin):
        """Returns mean absolute and squared change of each series from row to row; NaN if unknown."""
        absolute, squared, count = (np.zeros(len(self.y)) for _ in range(3))
        last = np.full(len(self.y), np.nan)
        for t in range(origin + 1):
            now = self.y[:, t]
            both = ~np.isnan(now) & ~np.isnan(last)
            d = now[both] - last[both]
            absolute[both] += np.abs(d)
            squared[both] += d * d
            count[both] += 1
            last = np.where(np.isnan(now), last, now)
        with np.errstate(invalid="ignore", divide="ignore"):
            a, s = absolute / count, squared / count
        return np.where(a > 0, a, np.nan), np.where(s > 0, s, np.nan)


class History:
    """Sums over the months up to each month, on log1p."""

    def __init__(self, panel):
        self.panel = panel
        z = np.log1p(panel.y)
        known = ~np.isnan(z)
        filled = np.where(known, z, 0)
        self.z = z.astype(np.float32)
        self.sum, self.count = np.cumsum(filled, axis=1), np.cumsum(known, axis=1)
        self.groups = []
        for ids, size in zip(panel.ids, panel.sizes):
            total, n = np.zeros((size, panel.months)), np.zeros((size, panel.months))
            np.add.at(total, ids, filled)
            np.add.at(n, ids, known)
            self.groups.append((np.cumsum(total, axis=1), np.cumsum(n, axis=1), total, n))
        month = np.where(known, np.arange(panel.months), -1)
        self.latest = np.maximum.accumulate(month, axis=1)

    def features(self, series, target, horizon):
        """Returns the features of series for a target month, known horizon months before."""
        p, origin = self.panel, target - horizon
        columns = [p.ids[k][series] for k in range(len(p.ids))]
        with np.errstate(invalid="ignore", divide="ignore"):
            for lag in LAGS:
                at = origin - lag + 1
                columns.append(self.z[series, at] if at >= 0 else np.full(len(series), np.nan))
            for lag in SEASONAL:
                at = target - lag
                columns.append(self.z[series, at] if 0 <= at <= origin else np.full(len(series), np.nan))
            columns += [self.sum[series, origin] / self.count[series, origin], self.count[series, origin] / (origin + 1)]
            latest = self.latest[series, origin]
            columns.append(np.where(latest >= 0, origin - latest, np.nan))
            columns.append(np.where(latest >= 0, self.z[series, np.maximum(latest, 0)], np.nan))
            before = origin - 3
            recent = self.count[series, origin] - (self.count[series, before] if before >= 0 else 0)
            columns.append((self.sum[series, origin] - (self.sum[series, before] if before >= 0 else 0)) / recent)
            columns.append(recent)
            for ids, (total, n, own, rows) in zip(p.ids, self.groups):
                g = ids[series]
                columns += [total[g, origin] / n[g, origin], own[g, origin] / rows[g, origin], n[g, origin]]
                season = target - SEASON
                columns.append(own[g, season] / rows[g, season] if 0 <= season <= origin else np.full(len(series), np.nan))
        columns.append(np.full(len(series), (p.first + target) % SEASON))
        return np.column_stack(columns).astype(np.float32)


def lightgbm_forecasts(panel, origin, horizon, threads, rounds):
    """Yields the series with a row and their prediction, for each month ahead."""
    import lightgbm as lgb

    history = History(panel)
    for h in range(1, horizon + 1):
        held = min(horizon, max(1, (origin - h) // 4))  # months for early stopping and residuals
        months = range(max(h, origin - MONTHS + 1), origin + 1)
        sets = {"train": [], "valid": []}
        for t in months:
            rows = np.flatnonzero(~np.isnan(panel.y[:, t]))
            part = "valid" if t > origin - held else "train"
            sets[part].append((history.features(rows, t, h), np.log1p(panel.y[rows, t])))
        (train_x, train_y), (valid_x, valid_y) = [tuple(np.concatenate(c) for c in zip(*sets[s])) for s in ("train", "valid")]
        categorical = list(range(len(panel.ids)))
        parameters = dict(PARAMETERS, num_threads=threads, seed=h)

        def data(x, y, reference=None):
            return lgb.Dataset(x, label=y, categorical_feature=categorical, reference=reference, free_raw_data=False)

        train = data(train_x, train_y)
        valid = data(valid_x, valid_y, train)
        booster = lgb.train(
            dict(parameters, metric="l2"), train, rounds, valid_sets=[valid], callbacks=[lgb.early_stopping(PATIENCE, verbose=False)]
        )
        best = booster.best_iteration
        valid_scores = booster.predict(valid_x, num_iteration=best, num_threads=threads)
        again = lgb.train(parameters, data(np.concatenate([train_x, valid_x]), np.concatenate([train_y, valid_y])), best)
        rows = np.flatnonzero(~np.isnan(panel.y[:, origin + h]))
        scores = again.predict(history.features(rows, origin + h, h), num_threads=threads)
        yield h, rows, from_log1p([valid_scores, scores], np.expm1(valid_y))[1]


def classic_forecasts(panel, origin, horizon, names, sample, threads):
    """Yields name, months ahead, series and prediction of statsforecast's methods."""
    from statsforecast import StatsForecast
    from statsforecast.models import AutoETS, CrostonSBA, SeasonalNaive

    models = {
        "AutoETS": lambda: AutoETS(season_length=SEASON),
        "SeasonalNaive": lambda: SeasonalNaive(season_length=SEASON),
        "CrostonSBA": CrostonSBA,
    }
    known = panel.y[sample, : origin + 1]
    begins = np.argmax(~np.isnan(known), axis=1)
    frames = [
        pd.DataFrame({"unique_id": i, "ds": np.arange(b, origin + 1), "y": np.nan_to_num(known[i, b:])})
        for i, b in enumerate(begins)
        if not np.isnan(known[i]).all()
    ]
    long = pd.concat(frames)
    for name in names:
        engine = StatsForecast(models=[models[name]()], freq=1, n_jobs=threads, fallback_model=SeasonalNaive(season_length=SEASON))
        level = [50, 90] if name != "CrostonSBA" else None
        out = engine.forecast(df=long, h=horizon, **({"level": level} if level else {}))
        for h in range(1, horizon + 1):
            part = out[out["ds"] == origin + h].set_index("unique_id")
            at = part.index.to_numpy()
            has = ~np.isnan(panel.y[sample[at], origin + h])
            part, rows = part[has], sample[at[has]]
            # A series that is too short for a method takes its mean.
            own = np.nanmean(panel.y[rows, : origin + 1], axis=1)
            point = np.maximum(filled(part[name], own), 0)
            quantiles = None
            if level:
                columns = {0.05: "-lo-90", 0.25: "-lo-50", 0.5: "", 0.75: "-hi-50", 0.95: "-hi-90"}
                quantiles = {q: np.maximum(filled(part[name + c], point), 0) for q, c in columns.items()}
            yield name, h, rows, Prediction(mean=point, median=point, quantiles=quantiles)


def filled(column, otherwise):
    values = column.to_numpy(dtype=np.float64)
    return np.where(np.isnan(values), otherwise, values)


class Scores:
    """The rows that methods were scored on, by method, origin and horizon."""

    def __init__(self):
        self.parts = []

    def add(self, method, origin, horizon, y, p, absolute, squared):
        self.parts.append((method, origin, horizon, y, p, absolute, squared))

    def rows(self):
        methods = list(dict.fromkeys(p[0] for p in self.parts))
        origins = list(dict.fromkeys(p[1] for p in self.parts))
        horizons = sorted({p[2] for p in self.parts})
        for origin in ["", *origins]:
            for horizon in ["", *horizons]:
                for method in methods:
                    parts = [p for p in self.parts if p[0] == method and origin in ("", p[1]) and horizon in ("", p[2])]
                    if parts:
                        yield [method, origin, horizon, *score(parts)]


def score(parts):
    y = np.concatenate([p[3] for p in parts])
    mean, median = (np.concatenate([getattr(p[4], name) for p in parts]) for name in ("mean", "median"))
    absolute, squared = (np.concatenate([p[k] for p in parts]) for k in (5, 6))
    error = np.abs(y - median)
    # LightGBM predicts the mean of log1p; of a method with one number, its logarithm is taken.
    logs = np.concatenate([p[4].scaled if p[4].scaled is not None else np.log1p(np.maximum(p[4].mean, 0)) for p in parts])
    out = [len(y), error.mean(), np.sqrt(np.mean((y - mean) ** 2)), r_squared(y, mean), r_squared(np.log1p(y), logs)]
    out += [error.sum() / np.abs(y).sum(), mean.sum() / y.sum()]
    out += [np.nanmean(error / absolute), np.sqrt(np.nanmean((y - mean) ** 2 / squared))]
    if all(p[4].quantiles for p in parts):
        q = {level: np.concatenate([p[4].quantiles[level] for p in parts]) for level in PINBALL_LEVELS}
        out.append(np.mean([pinball(level, q[level], y) for level in PINBALL_LEVELS]))
        out += [np.mean((q[0.05] <= y) & (y <= q[0.95])), np.mean(q[0.95] - q[0.05])]
    else:
        out += ["", "", ""]
    return [out[0], *(f"{v:.8g}" if v != "" else "" for v in out[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--target", default="bottles")
    parser.add_argument("--series", default="store,item", help="columns that distinguish series")
    parser.add_argument("--time", default="year,month", help="columns of year and month, or one of running numbers")
    parser.add_argument("--windows", type=int, default=4)
    parser.add_argument("--horizon", type=int, default=3)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--methods", default="lightgbm,AutoETS,SeasonalNaive,CrostonSBA")
    parser.add_argument("--sample", type=int, default=2000, help="series for the methods of statsforecast")
    parser.add_argument("--rounds", type=int, default=1500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", default="-")
    o = parser.parse_args()
    panel = Panel(pd.read_csv(o.table, low_memory=False), o.target, o.series.split(","), o.time.split(","))
    methods = o.methods.split(",")
    classic = [m for m in methods if m != "lightgbm"]
    scores = Scores()
    for k in range(o.windows):
        origin = panel.months - 1 - o.horizon - (o.windows - 1 - k) * o.step
        began, name = time.time(), panel.name(origin)
        absolute, squared = panel.changes(origin)
        alive = np.flatnonzero((~np.isnan(panel.y[:, : origin + 1])).sum(axis=1) > 0)
        sample = np.sort(np.random.default_rng(k).choice(alive, min(o.sample, len(alive)), replace=False))

        def add(method, h, rows, p):
            scores.add(method, name, h, panel.y[rows, origin + h], p, absolute[rows], squared[rows])

        if "lightgbm" in methods:
            for h, rows, p in lightgbm_forecasts(panel, origin, o.horizon, o.threads, o.rounds):
                add("lightgbm", h, rows, p)
                if classic:
                    inside = np.isin(rows, sample)
                    quantiles = {q: v[inside] for q, v in p.quantiles.items()}
                    part = Prediction(mean=p.mean[inside], median=p.median[inside], scaled=p.scaled[inside], quantiles=quantiles)
                    add("lightgbm, sample", h, rows[inside], part)
        if classic:
            for method, h, rows, p in classic_forecasts(panel, origin, o.horizon, classic, sample, o.threads):
                add(method + ", sample", h, rows, p)
        print(f"origin {name}: {time.time() - began:.0f} s", file=sys.stderr, flush=True)
    with sys.stdout if o.output == "-" else open(o.output, "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(COLUMNS)
        writer.writerows(scores.rows())


if __name__ == "__main__":
    main()
