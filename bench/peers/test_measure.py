"""Checks that kft evaluate and peers.measure agree on the same predictions.

    python test_measure.py KFT
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

from peers.measure import LEVELS, Prediction, fill_levels, measure

COMPARED = ("n", "r2", "rmse", "mae", "pinball", "xi", "coverage90", "width90")


def check(kft, transform):
    with tempfile.TemporaryDirectory() as folder:
        table, model, out = (os.path.join(folder, f) for f in ("sales.csv", "model.kft", "out.csv"))
        rng = np.random.default_rng(1)
        frame = pd.DataFrame(
            {"store": rng.integers(20, size=6000), "item": rng.integers(40, size=6000), "month": rng.integers(12, size=6000)}
        ).drop_duplicates()
        effect = 0.8 * rng.normal(size=20)[frame.store] + 0.6 * rng.normal(size=40)[frame.item]
        frame["units"] = np.round(np.exp(1.5 + effect + 0.5 * rng.normal(size=len(frame))), 3)
        frame.to_csv(table, index=False)
        run = lambda *a: subprocess.run([kft, *a], check=True, capture_output=True, text=True).stdout
        run("fit", "--data", table, "--target", "units", "--modes", "store,item,month", "--rank", "2",
            "--transform", transform, "--inference", "mean-field", "-o", model, "-q")
        theirs = json.loads(run("evaluate", model, table, "--json"))
        run("predict", model, table, "--quantiles", ",".join(map(str, LEVELS)), "-o", out, "-q")
        found = pd.read_csv(out)
    quantiles = {q: found[f"q{q:g}"].to_numpy() for q in LEVELS}
    p = Prediction(mean=found["prediction"].to_numpy(), median=found["median"].to_numpy(), quantiles=quantiles)
    ours = measure(found["units"].to_numpy(), p)
    for name in COMPARED:
        there, here = find(theirs, name), ours[name]
        # Predictions are written with about seven digits; a row at the edge of an interval may differ.
        allowed = 2e-3 if name in ("xi", "coverage90") else 1e-4 * max(1, abs(there))
        if not abs(there - here) <= allowed:
            raise SystemExit(f"{transform}: {name}: kft evaluate gives {there}, measure.py gives {here}")


def find(tree, name):
    """Returns the first value with the given key in a JSON tree, breadth first."""
    level = [tree]
    while level:
        for node in level:
            if name in node:
                return node[name]
        level = [v for node in level for v in node.values() if isinstance(v, dict)]
    raise SystemExit(f"kft evaluate --json does not contain {name}")


def check_interpolation():
    five = {q: np.array([q, 10 * q]) for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
    filled = fill_levels(five, np.asarray, np.asarray)
    assert sorted(filled) == sorted(LEVELS)
    for q in LEVELS:
        np.testing.assert_allclose(filled[q], [q, 10 * q])


if __name__ == "__main__":
    check_interpolation()
    for transform in ("identity", "log1p"):
        check(sys.argv[1], transform)
    print("kft evaluate and measure.py agree")
