"""Checks the forecasts of peers on a small made-up panel.

    python test_forecasts.py
"""

import numpy as np
import pandas as pd

from peers.forecasts import History, Panel, Scores, lightgbm_forecasts


def panel():
    rng = np.random.default_rng(1)
    rows = []
    for store in range(6):
        for item in range(10):
            for month in range(30):
                if rng.random() < 0.9:
                    level = 2 + 0.3 * store + 0.1 * item + 0.5 * np.sin(2 * np.pi * month / 12)
                    rows.append((f"s{store}", f"i{item}", 2014 + month // 12, month % 12 + 1, round(float(np.exp(level + 0.1 * rng.standard_normal())))))
    frame = pd.DataFrame(rows, columns=["store", "item", "year", "month", "bottles"])
    return Panel(frame, "bottles", ["store", "item"], ["year", "month"])


def test_no_leak(p):
    """Features for a target month do not depend on months after the origin."""
    series = np.arange(len(p.y))
    before = History(p).features(series, 27, 2)
    later = panel()
    later.y[:, 26:] = 1e6
    assert np.array_equal(before, History(later).features(series, 27, 2), equal_nan=True)


def test_forecasts(p):
    origin, scores = 26, Scores()
    absolute, squared = p.changes(origin)
    for h, rows, prediction in lightgbm_forecasts(p, origin, 3, 1, 200):
        y = p.y[rows, origin + h]
        assert np.mean(np.abs(y - prediction.median)) < np.mean(np.abs(y - np.nanmean(p.y[rows, : origin + 1], axis=1)))
        scores.add("lightgbm", p.name(origin), h, y, prediction, absolute[rows], squared[rows])
    rows = list(scores.rows())
    assert [r[:3] for r in rows[:4]] == [["lightgbm", "", ""], ["lightgbm", "", 1], ["lightgbm", "", 2], ["lightgbm", "", 3]]
    assert rows[0][3] == sum(r[3] for r in rows[1:4]) and p.name(origin) == "2016-3"


if __name__ == "__main__":
    p = panel()
    test_no_leak(p)
    test_forecasts(p)
    print("forecasts: ok")
