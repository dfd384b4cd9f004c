"""Time to accuracy of LightGBM on the Iowa table: the seconds from the start of the
process, with imports, reading and binning, until the validation pinball has a value.

    python -m peers.accuracy FOLDER SPLIT --threads 2

It trains lightgbm-cbrt1p with the values of its first trial. Half of the validation rows
give the residual quantiles, in 50 groups by size of the prediction, and the other half is
scored, as kft does. A line of JSON per measurement goes to standard output; the clock
stands still while it is made. Training ends after some rounds without improvement.
"""

import argparse
import json
import os
import time

STARTED = time.monotonic()

import lightgbm as lgb  # noqa: E402  (imports count)
import numpy as np  # noqa: E402

from peers.data import load_iowa, part_of, read_parts  # noqa: E402
from peers.lightgbm_peer import Cbrt1p, _Prepared  # noqa: E402
from peers.measure import PINBALL_LEVELS, pinball  # noqa: E402
from peers.peer import cube_less_1  # noqa: E402
from peers.residuals import residual_quantiles  # noqa: E402

PATIENCE = 60  # rounds without improvement


class _Clock:
    """Measures every few rounds, and not the time that this takes."""

    def __init__(self, y, every):
        self.y, self.every = y, every
        self.paused, self.best, self.best_round = 0.0, np.inf, 0
        order = np.random.default_rng(1).permutation(len(y))
        self.held, self.scored = order[: len(y) // 2], order[len(y) // 2 :]
        self.scores = None

    def metric(self, scores, dataset):
        self.scores = scores
        return "valid", 0.0, False

    def __call__(self, env):
        rounds = env.iteration + 1
        if rounds % self.every and rounds > 8:
            return
        begin = time.monotonic()
        seconds = begin - STARTED - self.paused
        s, y = np.asarray(self.scores), self.y
        _, quantiles = residual_quantiles([s[self.held], s[self.scored]], np.cbrt(1 + y[self.held]), cube_less_1)
        loss = float(np.mean([pinball(q, quantiles[q], y[self.scored]) for q in PINBALL_LEVELS]))
        print(json.dumps({"seconds": round(seconds, 3), "rounds": rounds, "pinball": loss}), flush=True)
        if loss < self.best:
            self.best, self.best_round = loss, rounds
        self.paused += time.monotonic() - begin
        if rounds - self.best_round >= PATIENCE:
            raise lgb.callback.EarlyStopException(env.iteration, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", help="the folder with sales_2015_2016.csv.gz, stores.csv and items.csv")
    parser.add_argument("split", help="the file with the part of each row")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=1000, help="the largest number of rounds (default: 1000)")
    parser.add_argument("--every", type=int, default=10, help="rounds between two measurements (default: 10)")
    parser.add_argument("--leaves", type=int, help="leaves of a tree (default: those of the first trial)")
    a = parser.parse_args()
    table = load_iowa(a.folder)
    parts = read_parts(a.split)
    train, valid = part_of(table, parts, "train"), part_of(table, parts, "valid")
    prepared = _Prepared(train, valid, [], a.threads, 1, Cbrt1p.scale)
    values = Cbrt1p().first(table)
    if a.leaves:
        values["num_leaves"] = a.leaves
    clock = _Clock(valid.y, a.every)
    params = dict(prepared.fixed, **values)
    params.update(objective="regression", metric="None", seed=1, deterministic=True, force_col_wise=True, bagging_freq=1)
    lgb.train(
        params,
        prepared.train,
        num_boost_round=a.rounds,
        valid_sets=prepared.sets,
        valid_names=["valid"],
        feval=clock.metric,
        callbacks=[clock],
    )


if __name__ == "__main__":
    main()
