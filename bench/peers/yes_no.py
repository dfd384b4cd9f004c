"""Compares kft with LightGBM on yes/no targets, on five random 60/20/20 splits each.

    .venv/bin/python yes_no.py KFT [ratings.csv of MovieLens small]

The tables are whether a rating is 4 or more, by user and movie, and a generated table of
shops, items and months. Both tools get the same columns; LightGBM takes them as
categories. Of six settings, with early stopping, the one with the least log loss on the
validation set is taken. Prints log loss, Brier score and AUC on the test set, and the
reliability of both tools: mean prediction minus share of ones by decile of the
prediction, in points. A decile of one split has few rows, so its difference is partly
chance; for comparison, the script prints how many deciles would be 2 points off if all
probabilities were exact. For the generated table, whose probabilities are known, it also
prints mean prediction minus mean probability, which has no such chance.
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
    truth = 1 / (1 + np.exp(-f))
    y = (rng.random(rows) < truth).astype(int)
    table = [(f"S{s[k]}", f"I{i[k]}", f"2023-{m[k] + 1:02d}", y[k]) for k in range(rows)]
    return ["shop", "item", "month", "bought"], table, truth


def movielens(path):
    with open(path, newline="") as file:
        table = [(r["userId"], r["movieId"], int(float(r["rating"]) >= 4)) for r in csv.DictReader(file)]
    return ["userId", "movieId", "liked"], table, None


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
                       bagging_fraction=0.8, bagging_freq=1, seed=1, deterministic=True, num_threads=1, verbose=-1)
        data = lightgbm.Dataset(x[train], y[train], categorical_feature=columns)
        model = lightgbm.train(setting, data, 2000, valid_sets=[lightgbm.Dataset(x[valid], y[valid], categorical_feature=columns, reference=data)],
                               callbacks=[lightgbm.early_stopping(50, verbose=False)])
        loss = model.best_score["valid_0"]["binary_logloss"]
        if best is None or loss < best[0]:
            best = (loss, model)
    return best[1].predict(x[test])


def deciles(p):
    return np.array_split(np.argsort(p, kind="stable"), 10)


def gaps(p, y):
    return np.array([100 * (p[rows].mean() - y[rows].mean()) for rows in deciles(p)])


def by_chance(p, rng):
    """The number of deciles that are more than 2 points off if p is exact, on average."""
    return np.mean([(np.abs(gaps(p, rng.random(len(p)) < p)) > 2).sum() for _ in range(200)])


def predicted(kft, model, path, test, folder):
    rows, result = os.path.join(folder, "rows.csv"), os.path.join(folder, "predictions.csv")
    with open(path) as file, open(rows, "w") as out:
        lines = file.readlines()
        out.writelines([lines[0]] + [line for line, taken in zip(lines[1:], test) if taken])
    subprocess.run([kft, "predict", model, rows, "-q", "-o", result], check=True, capture_output=True)
    with open(result, newline="") as file:
        return np.array([float(row["prediction"]) for row in csv.DictReader(file)])


def compare(kft, name, header, table, truth, folder):
    path = os.path.join(folder, name + ".csv")
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header] + table)
    x = np.array([np.unique([row[c] for row in table], return_inverse=True)[1] for c in range(len(header) - 1)]).T
    y = np.array([row[-1] for row in table])
    rng, found = np.random.default_rng(1), {}
    for seed in range(1, 6):
        split, model = os.path.join(folder, "split.csv"), os.path.join(folder, "model.kft")
        subprocess.run([kft, "split", path, "--seed", str(seed), "-o", split, "--force"], check=True, capture_output=True)
        with open(split, newline="") as file:
            part = np.array([row["part"] for row in csv.DictReader(file)])
        test = part == "test"
        run = subprocess.run([kft, "fit", path, "-q", "--target", header[-1], "--modes", ",".join(header[:-1]), "--split", "file:" + split, "--seed", str(seed),
                              "-o", model, "--force", "--json"], check=True, capture_output=True, text=True)
        formula = next(f for f in json.loads(run.stdout)["baseline"] if f.get("best"))["test"]["binary"]
        line = [name, "split", str(seed)]
        for tool, p in ("kft", predicted(kft, model, path, test, folder)), ("lightgbm", boosted(x, y, part)):
            line += [tool, "%.4f %.4f %.4f" % scores(y[test], p)]
            against = [gaps(p, y[test])] + ([gaps(p, truth[test])] if truth is not None else [])
            found.setdefault(tool, []).append((against, by_chance(p, rng)))
        print(*line, "formula %.4f %.4f %.4f" % (formula["log_loss"], formula["brier"], formula["auc"]), flush=True)
    for tool, splits in found.items():
        for k, what in enumerate(["share of ones", "probability"][:1 + (truth is not None)]):
            each = np.array([against[k] for against, _ in splits])
            print(name, tool, "prediction - %s by decile, mean of splits:" % what, " ".join("%.1f" % g for g in each.mean(axis=0)),
                  "| single deciles: largest %.1f, above 2 points %d of 50" % (np.abs(each).max(), (np.abs(each) > 2).sum()),
                  "(%.1f by chance)" % sum(chance for _, chance in splits) if k == 0 else "", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 2:
            compare(sys.argv[1], "movielens", *movielens(sys.argv[2]), folder)
        compare(sys.argv[1], "generated", *generated(), folder)


main()
