"""Ridge regression on hashed features: ids, categories, and pairs of ids.

Features are hashed with scikit-learn's signed MurmurHash, as in its FeatureHasher, but
by whole columns.
"""

import itertools

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.utils import murmurhash3_32

from peers.columns import id_columns
from peers.peer import log_uniform
from peers.scaled import Scaled, both_scales


def hashed(rows, bits, pairs):
    columns, sizes = id_columns(rows.table)
    keys = [rows.of(c).astype(np.int64) for c in columns.values()]
    if pairs:
        modes = list(rows.table.modes)
        for a, b in itertools.combinations(modes, 2):
            keys.append(rows.of(columns[a]).astype(np.int64) * sizes[b] + rows.of(columns[b]))
    n = len(rows)
    index = np.empty((n, len(keys)), dtype=np.int32)
    sign = np.empty((n, len(keys)), dtype=np.float32)
    for k, key in enumerate(keys):
        h = murmurhash3_32(np.ascontiguousarray(key.astype(np.int32)), seed=k)
        index[:, k] = np.abs(h.astype(np.int64)) % (1 << bits)
        sign[:, k] = np.where(h >= 0, 1, -1)
    start = np.arange(n + 1, dtype=np.int64) * len(keys)
    x = sp.csr_matrix((sign.ravel(), index.ravel(), start), shape=(n, 1 << bits))
    x.sum_duplicates()
    return x


class RidgeHashed(Scaled):
    configuration = "ridge-hashed"
    package = "scikit-learn"

    def first(self, table):
        return {"bits": 20, "pairs": True, "alpha": 3.0}

    def draw(self, rng, table):
        return {
            "bits": int(rng.integers(18, 23)),
            "pairs": bool(rng.random() < 0.8),
            "alpha": log_uniform(rng, 0.3, 100),
        }

    def prepare_standard(self, train, valid, ask, standard, threads, seed):
        return {"rows": (train, valid, *ask), "y": standard[0], "made": (None, None)}

    def fit_standard(self, inside, values, share):
        shape = values["bits"], values["pairs"]
        if inside["made"][0] != shape:
            inside["made"] = None, None
            inside["made"] = shape, [hashed(rows, *shape) for rows in inside["rows"]]
        train, *asked = inside["made"][1]
        # lsqr stops by its tolerance; the share of the budget limits its steps.
        model = Ridge(alpha=values["alpha"], solver="lsqr", tol=1e-4, max_iter=max(10, round(200 * share)))
        model.fit(train, inside["y"].astype(np.float32))
        return [model.predict(x) for x in asked], {"steps": int(np.max(model.n_iter_))}


PEERS = both_scales(RidgeHashed)
