"""Two formulas with a pseudo-count of 1. Package baseline of the product chooses among more.

Let A and B be the two modes with the most ids in the training data, B the larger:

    p1 = (sum_ab y + mean_b) / (n_ab + 1)
    p2 = p1 (sum_bt y + mean_b) / (sum_bt p1 + mean_b)

where t is the last mode and mean_b is itself shrunk to the overall mean.
"""

import numpy as np

from peers.measure import Prediction
from peers.peer import Peer


class Sums:
    """Sums by key, with lookup."""

    def __init__(self, key, *values):
        self.keys, inverse = np.unique(key, return_inverse=True)
        self.sums = [np.bincount(inverse, weights=v) for v in values]

    def at(self, key):
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        known = self.keys[place] == key
        return [np.where(known, s[place], 0.0) for s in self.sums]


class Formulas:
    def __init__(self, train):
        table, y = train.table, train.y
        self.codes = [c.astype(np.int64) for c in table.modes.values()]
        self.sizes = [int(c.max()) + 1 for c in self.codes]
        occurring = [len(np.unique(train.of(c))) for c in self.codes]
        order = sorted(range(len(self.codes)), key=lambda m: -occurring[m])
        last = len(self.codes) - 1
        self.large = order[0]
        self.pair = order[:2]
        self.by = [1 - self.large] if last == 1 else [order[1] if self.large == last else self.large, last]
        if last == 0:
            self.by = []
        total = y.mean()
        b = train.of(self.codes[self.large])
        n = np.bincount(b, minlength=self.sizes[self.large])
        s = np.bincount(b, weights=y, minlength=self.sizes[self.large])
        self.mean = (s + total) / (n + 1)
        # An id without training rows is predicted by the overall mean.
        self.mean[n == 0] = total
        self.pairs = Sums(self.key(self.pair, train), y, np.ones(len(y)))
        first, _ = self.first(train)
        self.factors = Sums(self.key(self.by, train), y, first) if self.by else None

    def key(self, modes, rows):
        key = np.zeros(len(rows), dtype=np.int64)
        for m in modes:
            key = key * self.sizes[m] + rows.of(self.codes[m])
        return key

    def first(self, rows):
        mean = self.mean[rows.of(self.codes[self.large])]
        if len(self.pair) < 2:
            return mean, mean
        s, n = self.pairs.at(self.key(self.pair, rows))
        return (s + mean) / (n + 1), mean

    def second(self, rows):
        first, mean = self.first(rows)
        if self.factors is None:
            return first
        y, p = self.factors.at(self.key(self.by, rows))
        good = (p + mean > 0) & (y + mean > 0)
        return np.where(good, first * (y + mean) / np.where(good, p + mean, 1), first)


class Pair(Peer):
    configuration = "baseline-pair"
    objective = "r2"

    def prepare(self, train, valid, ask, threads, seed):
        return Formulas(train), [valid, *ask]

    def fit(self, prepared, values, share):
        formulas, asked = prepared
        return [Prediction(mean=self.formula(formulas, rows)) for rows in asked]

    def formula(self, formulas, rows):
        return formulas.first(rows)[0]


class Factor(Pair):
    configuration = "baseline-factor"

    def formula(self, formulas, rows):
        return formulas.second(rows)


PEERS = (Pair, Factor)
