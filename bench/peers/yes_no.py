"""Compares kft with LightGBM on yes/no targets, on five random 60/20/20 splits each.

    .venv/bin/python yes_no.py KFT [ratings.csv of MovieLens small]

The tables are whether a rating is 4 or more, by user and movie, and a generated table of
shops, items and months. Both tools get the same columns; LightGBM takes them as
categories. Of six settings, with early stopping, the one with the least log loss on the
validation set is taken. Prints log loss, Brier score and AUC on the test set, and the
difference between mean prediction and share of ones by decile, pooled over the splits.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import lightgbm
import numpy as np

SETTINGS = [(7, 20, 0.05, 10), (15, 20, 0.05, 10), (31, 20, 0.05, 10), (31, 50, 0.03, 50), (63, 20, 0.05, 10), (127, 30, 0.03, 10)]


def generated():
    rng = np.random.default_rng(7)
    shops, items, months, rows = 120, 400, 12, 60000
    cells = rng.choice(shops * items * months, rows, replace=False)
    s, i, m = cells // (items * months), (cells // months) % items, cells % months
    a, b, c = rng.normal(0, 0.8, shops), rng.normal(0, 1, items), 0.5 * np.sin(2 * np.pi * np.arange(months) / 12)
    u, v = rng.normal(0, 0.7, (shops, 3)), rng.normal(0, 0.7, (items, 3))
    f = -0.5 + a[s] + b[i] + c[m] + (u[s] * v[i]).sum(1)
    y = (rng.random(rows) < 1 / (1 + np.exp(-f))).astype(int)
    table = [(f"S{s[k]}", f"I{i[k]}", f"2023-{m[k] + 1:02d}", y[k]) for k in range(rows)]
    return ["shop", "item", "month", "bought"], table


def movielens(path):
    with open(path, newline="") as file:
        table = [(r["userId"], r["movieId"], int(float(r["rating"]) >= 4)) for r in csv.DictReader(file)]
    return ["userId", "movieId", "liked"], table


def scores(y, p):
    p = np.clip(p, 1e-6, 1 - 1e-6)
    order = np.argsort(p, kind="stable")
    ranks = np.empty(len(p))
    ranks[order] = np.arange(1, len(p) + 1)
    ones = y.sum()
    auc = (ranks[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones))
    return -np.mean(np.where(y == 1, np.log(p), np.log1p(-p))), np.mean((y - p) ** 2), auc


def boosted(x, y, part):
    train, valid, test = (part == name for name in ("train", "valid", "test"))
    columns = list(range(x.shape[1]))
    best = None
    for leaves, rows, rate, smooth in SETTINGS:
        setting = dict(objective="binary", num_leaves=leaves, min_data_in_leaf=rows, learning_rate=rate, cat_smooth=smooth, feature_fraction=0.9,
                       bagging_fraction=0.8, bagging_freq=1, seed=1, deterministic=True, num_threads=2, verbose=-1)
        data = lightgbm.Dataset(x[train], y[train], categorical_feature=columns)
        model = lightgbm.train(setting, data, 2000, valid_sets=[lightgbm.Dataset(x[valid], y[valid], categorical_feature=columns, reference=data)],
                               callbacks=[lightgbm.early_stopping(50, verbose=False)])
        loss = model.best_score["valid_0"]["binary_logloss"]
        if best is None or loss < best[0]:
            best = (loss, model)
    return scores(y[test], best[1].predict(x[test]))


def compare(kft, name, header, table, folder):
    path = os.path.join(folder, name + ".csv")
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header] + table)
    x = np.array([np.unique([row[c] for row in table], return_inverse=True)[1] for c in range(len(header) - 1)]).T
    y = np.array([row[-1] for row in table])
    gaps = []
    for seed in range(1, 6):
        split, model = os.path.join(folder, "split.csv"), os.path.join(folder, "model.kft")
        subprocess.run([kft, "split", path, "--seed", str(seed), "-o", split, "--force"], check=True, capture_output=True)
        with open(split, newline="") as file:
            part = np.array([row["part"] for row in csv.DictReader(file)])
        run = subprocess.run([kft, "fit", path, "-q", "--target", header[-1], "--modes", ",".join(header[:-1]), "--split", "file:" + split, "--seed", str(seed),
                              "-o", model, "--force", "--json"], check=True, capture_output=True, text=True)
        report = json.loads(run.stdout)
        ours = report["test"]["binary"]
        formula = next(f for f in report["baseline"] if f.get("best"))["test"]["binary"]
        gaps.append([100 * (r["predicted"] - r["actual"]) for r in ours["reliability"]])
        theirs = boosted(x, y, part)
        print(name, "split", seed, "kft %.4f %.4f %.4f" % (ours["log_loss"], ours["brier"], ours["auc"]), "lightgbm %.4f %.4f %.4f" % theirs,
              "formula %.4f %.4f %.4f" % (formula["log_loss"], formula["brier"], formula["auc"]), flush=True)
    print(name, "reliability by decile, points:", " ".join("%.1f" % g for g in np.mean(gaps, axis=0)), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            compare(sys.argv[1], "movielens", *movielens(sys.argv[2]), folder)
        compare(sys.argv[1], "generated", *generated(), folder)


main()
