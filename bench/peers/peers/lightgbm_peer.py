"""LightGBM: trees on all ids and side columns, for bottles and log1p(bottles), and
quantile models.

Ids and categories are categorical features, all other columns are numeric. Training
stops early by the loss on the validation set. LightGBM updates the scores of
validation sets during training on binned rows; they equal the predictions of the
final model, which would have to traverse every tree for every row. Rows to predict
are therefore passed as a second validation set with targets of 0 that are not used.
"""

import lightgbm as lgb
import numpy as np

from peers.measure import PINBALL_LEVELS, Prediction, fill_levels, pinball
from peers.peer import Peer, cube_less_1, from_cbrt1p, from_log1p, from_means, log_uniform

FORWARD = {"identity": np.asarray, "log1p": np.log1p, "cbrt1p": lambda y: np.cbrt(1 + y)}
ROUNDS = 1000
PATIENCE = 30  # rounds without improvement


class _Tracker:
    """Keeps the scores of the best round."""

    def __init__(self, loss, sets, sizes):
        self.loss, self.sets = loss, sets
        self.now = {}
        self.best = [np.zeros(n) for n in sizes]
        self.best_loss, self.best_round = np.inf, 0

    def metric(self, scores, dataset):
        name = "ask"
        for k, s in enumerate(self.sets):
            if dataset is s:
                self.now[k] = scores
                name = "valid" if k == 0 else "ask"
        return name, 0.0, False

    def __call__(self, env):
        loss = self.loss(self.now[0])
        if loss < self.best_loss:
            self.best_loss, self.best_round = loss, env.iteration
            for k, b in enumerate(self.best):
                b[:] = self.now[k]
        elif env.iteration - self.best_round >= PATIENCE:
            raise lgb.callback.EarlyStopException(self.best_round, [])


class _Prepared:
    def __init__(self, train, valid, ask, threads, seed, scale):
        self.table, self.valid_y = train.table, valid.y
        self.threads, self.seed, self.scale = threads, seed, scale
        transform = FORWARD[scale]
        names, categorical = features(train.table)
        fixed = {
            "max_bin": 255,
            "feature_pre_filter": False,
            "bin_construct_sample_cnt": 2_000_000,
            "num_threads": threads,
            "verbosity": -1,
        }
        def data(rows, y, reference):
            d = lgb.Dataset(
                matrix(rows), label=y, feature_name=names, categorical_feature=categorical, params=fixed, reference=reference
            )
            return d.construct()

        self.train = data(train, transform(train.y), None)
        self.sets = [data(valid, transform(valid.y), self.train)]
        self.sets += [data(rows, np.zeros(len(rows)), self.train) for rows in ask]
        self.sizes = [len(valid)] + [len(rows) for rows in ask]
        self.fixed = fixed

    def run(self, values, share, objective, loss, **more):
        """Trains and returns the scores of valid and ask at the best round."""
        params = dict(self.fixed, **values, **more)
        params.update(
            objective=objective, metric="None", seed=self.seed, deterministic=True, force_col_wise=True, bagging_freq=1
        )
        track = _Tracker(loss, self.sets, self.sizes)
        names = ["valid"] + [f"ask{k}" for k in range(1, len(self.sets))]
        lgb.train(
            params,
            self.train,
            num_boost_round=max(1, round(share * ROUNDS)),
            valid_sets=self.sets,
            valid_names=names,
            feval=track.metric,
            callbacks=[track],
        )
        return track.best, track.best_round + 1


def features(table):
    numbers = [c + "_number" if c in table.modes or c in table.categories else c for c in table.numbers]
    categorical = [c for c in table.modes if c not in table.numbers] + list(table.categories)
    tags = [f"tag{k}" for k in range(table.tags.shape[1])] if table.tags is not None else []
    return categorical + numbers + tags, categorical


def matrix(rows):
    table = rows.table
    columns = [rows.of(v) for c, v in table.modes.items() if c not in table.numbers]
    columns += [rows.of(v) for v in table.categories.values()]
    columns += [rows.of(v) for v in table.numbers.values()]
    out = np.empty((len(rows), len(columns) + (table.tags.shape[1] if table.tags is not None else 0)), dtype=np.float32)
    for k, c in enumerate(columns):
        out[:, k] = c
    if table.tags is not None:
        out[:, len(columns) :] = table.tags[rows.of(table.modes[table.tagged])]
    return out


class LightGBM(Peer):
    package = "lightgbm"

    def first(self, table):
        small = len(table) < 1_000_000
        return {
            "num_leaves": 31 if small else 1023,
            "learning_rate": 0.08,
            "min_data_in_leaf": 20,
            "lambda_l2": 5.0,
            "bagging_fraction": 0.8,
            "feature_fraction": 1.0,
            "cat_smooth": 10.0,
        }

    def draw(self, rng, table):
        return {
            "num_leaves": int(round(log_uniform(rng, 31, 1023 if len(table) < 1_000_000 else 4095))),
            "learning_rate": log_uniform(rng, 0.05, 0.3),
            "min_data_in_leaf": int(round(log_uniform(rng, 5, 100))),
            "lambda_l2": log_uniform(rng, 0.01, 30),
            "bagging_fraction": float(rng.uniform(0.6, 1)),
            "feature_fraction": float(rng.uniform(0.6, 1)),
            "cat_smooth": log_uniform(rng, 1, 100),
        }


class _OneNumber(LightGBM):
    """A model that predicts one number per row on one scale."""

    scale = ""

    def prepare(self, train, valid, ask, threads, seed):
        return _Prepared(train, valid, ask, threads, seed, self.scale)

    def fit(self, prepared, values, share):
        y = prepared.valid_y
        scores, rounds = prepared.run(values, share, "regression", lambda s: self.off(y, s))
        out = self.predictions(scores, y)
        for p in out:
            p.notes["rounds"] = rounds
        return out


class Identity(_OneNumber):
    configuration = "lightgbm-identity"
    objective, scale = "r2", "identity"
    predictions = staticmethod(from_means)

    @staticmethod
    def off(y, s):
        return float(np.mean((y - s) ** 2))


class Log1p(_OneNumber):
    configuration = "lightgbm-log1p"
    objective, scale = "mae", "log1p"
    data = ("iowa",)
    predictions = staticmethod(from_log1p)

    @staticmethod
    def off(y, s):
        return float(np.mean(np.abs(y - np.expm1(s))))


class Cbrt1p(Log1p):
    """Like Log1p, with its tuned values, on a scale between bottles and their logarithm."""

    configuration = "lightgbm-cbrt1p"
    scale = "cbrt1p"
    predictions = staticmethod(from_cbrt1p)

    def values_from(self, data):
        return Log1p.configuration

    @staticmethod
    def off(y, s):
        return float(np.mean(np.abs(y - cube_less_1(s))))


class Quantiles(LightGBM):
    """One model for each of five levels, with the values tuned for the mean."""

    configuration = "lightgbm-quantiles"
    objective = "pinball"
    notes = "five quantile models, sorted by row; other levels on lines between them on the modelling scale"

    def values_from(self, data):
        return "lightgbm-identity" if data == "movielens" else "lightgbm-log1p"

    def prepare(self, train, valid, ask, threads, seed):
        return _Prepared(train, valid, ask, threads, seed, train.table.scale)

    def fit(self, prepared, values, share):
        log = prepared.scale == "log1p"
        forward, backward = (np.log1p, np.expm1) if log else (np.asarray, np.asarray)
        y = prepared.valid_y
        levels, rounds = [], []
        for level in PINBALL_LEVELS:
            scores, best = prepared.run(
                values, share, "quantile", lambda s: pinball(level, backward(s), y), alpha=level
            )
            levels.append(scores)
            rounds.append(best)
        out = []
        for k in range(len(prepared.sizes)):
            found = np.stack([scores[k] for scores in levels])
            crossing = float(np.mean(np.any(np.diff(found, axis=0) < 0, axis=0)))
            found = backward(np.sort(found, axis=0))
            quantiles = fill_levels(dict(zip(PINBALL_LEVELS, found)), forward, backward)
            p = Prediction(median=quantiles[0.5], quantiles=quantiles, crossing=crossing, notes={"rounds": rounds})
            out.append(p)
        return out


PEERS = (Identity, Log1p, Cbrt1p, Quantiles)
