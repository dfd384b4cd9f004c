"""myFM: a Bayesian factorization machine, fitted by Gibbs sampling.

The predictive distribution is normal, with the variance of the scores over the kept
samples plus the mean noise variance. Two variants have more features, on MovieLens
only. One adds features from myFM's own examples: to a user the movies rated in the
training set, and to a movie its users. The other adds the pairs of user and date and
of user and hour as columns, which kft has as joint cores.
"""

import myfm
import numpy as np
import scipy.sparse as sp

from peers.columns import id_columns, one_hot, one_hots, unit_tags
from peers.normal import normal_prediction
from peers.peer import Peer

ITERATIONS = {"movielens": 512, "iowa": 120}
BURNED = 1 / 8  # share of the iterations that is discarded; all others count, because consecutive ones are similar


class _Blocks:
    """The features of rows: a sparse matrix, and blocks that rows refer to."""

    def __init__(self, train):
        self.table, self.shapes, self.blocks = train.table, None, []

    def of(self, rows):
        x, self.shapes = one_hots(rows, self.names())
        return x, []

    def names(self):
        """Returns all columns except dates, which have no effect here on their own and reduce accuracy."""
        return [c for c in id_columns(self.table)[0] if c != "date"]


class _Sessions(_Blocks):
    def of(self, rows):
        x, shapes = one_hots(rows, self.names())
        pairs = [one_hot(rows.of(c), int(c.max()) + 1) for c in self.table.pairs.values()]
        self.shapes = shapes + [p.shape[1] for p in pairs]
        return sp.hstack([x, *pairs], format="csr"), []


class _Implicit(_Blocks):
    def __init__(self, train):
        super().__init__(train)
        t = train.table
        _, sizes = id_columns(t)
        user, movie = train.of(t.modes["user"]), train.of(t.modes["movie"])
        seen = sp.csr_matrix((np.ones(len(train)), (user, movie)), shape=(sizes["user"], sizes["movie"]))
        parts = {
            "user": [sp.identity(sizes["user"]), unit_rows(seen)],
            "movie": [sp.identity(sizes["movie"]), unit_rows(seen.T.tocsr()), sp.csr_matrix(unit_tags(t))],
        }
        self.data = {c: sp.hstack(p, format="csr").astype(np.float64) for c, p in parts.items()}
        self.sizes = {c: sizes[c] for c in ("hour", "year")}
        self.shapes = list(self.sizes.values()) + [p.shape[1] for c in parts for p in parts[c]]

    def of(self, rows):
        t = self.table
        columns, _ = id_columns(t)
        x = sp.hstack([one_hot(rows.of(columns[c]), n) for c, n in self.sizes.items()], format="csr")
        return x, [myfm.RelationBlock(rows.of(t.modes[c]).tolist(), d) for c, d in self.data.items()]


def unit_rows(x):
    length = np.sqrt(np.maximum(np.asarray(x.multiply(x).sum(axis=1)).ravel(), 1))
    return sp.diags(1 / length) @ x


class MyFM(Peer):
    configuration = "myfm"
    package = "myfm"
    objective = "rmse"
    features = _Blocks

    def first(self, table):
        return {"rank": 10, "init_stdev": 0.1}

    def draw(self, rng, table):
        return {"rank": int(rng.choice([4, 6, 8, 12, 16, 24, 32])), "init_stdev": float(rng.choice([0.03, 0.1, 0.3]))}

    def prepare(self, train, valid, ask, threads, seed):
        features = self.features(train)
        scale = train.table.scale
        y = np.log1p(train.y) if scale == "log1p" else train.y
        asked = [features.of(rows) for rows in (valid, *ask)]
        return features.of(train), features.shapes, y, asked, scale, seed, ITERATIONS[train.table.name]

    def fit(self, prepared, values, share):
        (x, blocks), shapes, y, asked, scale, seed, most = prepared
        iterations = max(20, round(most * share))
        kept = iterations - round(BURNED * iterations)
        fm = myfm.MyFMGibbsRegressor(rank=values["rank"], init_stdev=values["init_stdev"], random_seed=seed)
        fm.fit(x, y, X_rel=blocks, n_iter=iterations, n_kept_samples=kept, group_shapes=shapes)
        noise = float(np.mean([1 / h.alpha for h in fm.history_.hypers[-kept:]]))
        out = []
        for x, blocks in asked:
            total, squares = np.zeros(x.shape[0]), np.zeros(x.shape[0])
            for draw in fm.predictor_.samples:
                s = draw.predict_score(x, blocks)
                total += s
                squares += s * s
            n = len(fm.predictor_.samples)
            mean = total / n
            variance = np.maximum(squares / n - mean * mean, 0)
            notes = {"iterations": iterations, "samples": n, "noise": round(noise, 5)}
            out.append(normal_prediction(mean, np.sqrt(variance + noise), scale, notes))
        return out


class _Richer(MyFM):
    data = ("movielens",)

    def values_from(self, data):
        return "myfm"


class Implicit(_Richer):
    configuration = "myfm-implicit"
    features = _Implicit


class Sessions(_Richer):
    configuration = "myfm-sessions"
    features = _Sessions


PEERS = (MyFM, Implicit, Sessions)
