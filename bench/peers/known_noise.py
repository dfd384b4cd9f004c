"""Generated tables whose noise is known, with rows to predict apart.

    python known_noise.py line SEED FOLDER      # a line of four numbers and three grades, with errors of sd .02
    python known_noise.py months SEED FOLDER    # 600 series of 30 months, whose months have surprises of sd .12; four to forecast
    python known_noise.py weeks SEED FOLDER     # 300 series of 80 weeks, of sd .10; eight to forecast
    python known_noise.py calm SEED FOLDER      # as months, without surprises

Writes FOLDER/old.csv and FOLDER/new.csv.
"""

import pathlib
import sys

import numpy as np
import pandas as pd

PANELS = {"months": (600, 30, 4, 0.12, "MS"), "calm": (600, 30, 4, 0, "MS"), "weeks": (300, 80, 8, 0.10, "W-MON")}


def line(seed):
    rng, n = np.random.default_rng([seed, 11]), 1200
    x = rng.normal(size=(n, 5)) * [1, 10, 100, 2, 5] + [0, 50, 300, 5, 20]
    y = 3 + x @ [2, -0.5, 0.03, 1.2, 0]
    grade = rng.choice(list("abc"), n)
    y += np.select([grade == "b", grade == "c"], [1, -2], 0)
    table = pd.DataFrame(np.round(x, 3), columns=["pressure", "flow", "load", "speed", "age"])
    table["grade"], table["output"] = grade, np.round(y + rng.normal(0, 0.02, n), 4)
    new = rng.random(n) < 0.25
    return table[~new].sample(frac=1, random_state=1), table[new]


def panel(seed, series, periods, horizon, surprise, step):
    rng = np.random.default_rng([seed, 6, series, int(surprise * 100)])
    days, shared, rows = pd.date_range("2020-01-06", periods=periods, freq=step), rng.normal(0, surprise, periods), []
    for i in range(series):
        level, own = rng.normal(4, 0.8), 0
        for t in range(periods):
            own = 0.7 * own + rng.normal(0, 0.1)
            mean = np.exp(level + own + shared[t])
            rows.append((f"s{i % 20}", f"i{i // 20}", days[t].date(), round(mean * np.exp(0.15 * rng.normal()), 2)))
    table = pd.DataFrame(rows, columns=["store", "item", "month", "sales"])
    new = table.month.isin(np.sort(table.month.unique())[-horizon:])
    return table[~new], table[new]


if __name__ == "__main__":
    kind, seed, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    parts = line(seed) if kind == "line" else panel(seed, *PANELS[kind])
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in zip(("old", "new"), parts):
        part.to_csv(folder / f"{name}.csv", index=False)
