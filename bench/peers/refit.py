"""Measures what a second training gives on new rows of small tables: kft with different flags, on the same held-out rows.

    python refit.py KFT FOLDER WORKERS 'none: --refit none' 'valid: --refit valid' 'default:'
    python refit.py NEW FOLDER WORKERS 'before@OLD:' 'now:'        # two programs

FOLDER has CSV tables with a header. A fifth of the rows of each, at random, is held out; kft fits the others with one thread, guesses what
the flags do not say, and predicts the held-out rows. Tables that it refuses, or whose target is not a number, are left out. Differences are
logarithms of ratios to the first set of flags, in percent; the pinball loss is the mean of that of eleven levels.
"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

LEVELS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]


def divide(table, folder):
    """Writes the rows to learn from and the others, and returns their names."""
    with open(table, newline="") as file:
        header, *rows = csv.reader(file)
    random.Random(5).shuffle(rows)
    names = []
    for name, part in (("new", rows[: len(rows) // 5]), ("old", rows[len(rows) // 5 :])):
        names.append(folder / f"{table.stem}.{name}.csv")
        with open(names[-1], "w", newline="") as file:
            csv.writer(file).writerows([header, *part])
    return names


def measure(default, table, folder, sets):
    """Returns pinball loss, RMSE, coverage of 90 % and seconds of each set of flags, or None."""
    new, old = divide(table, folder)
    found, target = [], []
    for k, (program, flags) in enumerate(sets):
        kft = program or default
        model, out = old.with_suffix(f".{k}.kft"), old.with_suffix(f".{k}.out.csv")
        began = time.time()
        run = subprocess.run([kft, "fit", old, "--threads", "1", "--json", "-q", "-o", model, *target, *flags], capture_output=True, text=True)
        seconds = time.time() - began
        if run.returncode:
            return None
        name = json.loads(run.stdout)["spec"]["data"]["target"]
        target = ["--target", name]
        levels = ",".join(map(str, LEVELS))
        if subprocess.run([kft, "predict", model, new, "--quantiles", levels, "--threads", "1", "-q", "-o", out], capture_output=True).returncode:
            return None
        with open(out, newline="") as file:
            rows = list(csv.DictReader(file))
        try:
            rows = [row for row in rows if row[name] not in ("", "NA")]
            y, mean = (np.array([float(row[c]) for row in rows]) for c in (name, "prediction"))
            quantiles = np.array([[float(row[f"q{q}"]) for q in LEVELS] for row in rows])
        except (ValueError, KeyError):
            return None
        error = y[:, None] - quantiles
        pinball = np.maximum(LEVELS * error, (np.array(LEVELS) - 1) * error).mean()
        inside = ((y >= quantiles[:, 0]) & (y <= quantiles[:, -1])).mean()
        found.append((pinball, np.sqrt(np.mean((y - mean) ** 2)), inside, seconds))
    return np.array(found), len(y)


def main():
    kft, folder, workers = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    sets = {}  # program, if it is another one, and flags
    for name, flags in (a.split(":", 1) for a in sys.argv[4:]):
        name, _, program = name.partition("@")
        sets[name] = (program, flags.split())
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(workers) as pool:
        tables = sorted(folder.glob("*.csv"))
        results = list(pool.map(lambda t: measure(kft, t, pathlib.Path(place), sets.values()), tables))
    known = [(t, *r) for t, r in zip(tables, results) if r and r[0][:, :2].min() > 0]
    for t, r, n in known:
        print(f"{t.stem:40} {n:6}", *(f"{x:+6.1f}" for x in 100 * np.log(r[1:, 0] / r[0, 0])), *(f"{x:.2f}" for x in r[:, 2]))
    all_, rows = np.array([r for _, r, _ in known]), np.array([n for *_, n in known])
    for least in (0, 60, 200):
        some = all_[rows >= least]
        print(f"\n{len(some)} tables of {least} held-out rows or more")
        for k, name in enumerate(sets):
            d = 100 * np.log(some[:, k] / some[:, 0])
            print(f"{name:20} pinball mean {d[:, 0].mean():+.1f} median {np.median(d[:, 0]):+.1f}, better by 2 % {np.sum(d[:, 0] < -2)}, worse {np.sum(d[:, 0] > 2)};",
                  f"RMSE mean {d[:, 1].mean():+.1f} median {np.median(d[:, 1]):+.1f}; inside 90 % {some[:, k, 2].mean():.3f}; {some[:, k, 3].sum():.0f} s")


if __name__ == "__main__":
    main()
