"""Point models on one of two scales: the target or its log1p."""

import numpy as np

from peers.peer import Peer, from_log1p, from_means


class Scaled(Peer):
    """Standardizes the target on its scale; prepare_standard and fit_standard use that."""

    scale = "identity"

    def prepare(self, train, valid, ask, threads, seed):
        f = np.log1p if self.scale == "log1p" else np.asarray
        target = f(train.y)
        middle, spread = float(target.mean()), float(target.std()) or 1.0
        standard = (target - middle) / spread, (f(valid.y) - middle) / spread
        inside = self.prepare_standard(train, valid, ask, standard, threads, seed)
        return inside, middle, spread, valid.y

    def fit(self, prepared, values, share):
        inside, middle, spread, valid_y = prepared
        found, notes = self.fit_standard(inside, values, share)
        found = [middle + spread * np.asarray(p, dtype=np.float64) for p in found]
        if self.scale == "log1p":
            out = from_log1p(found, valid_y)
        else:
            out = from_means(found, valid_y)
        for p in out:
            p.notes.update(notes)
        return out

    def prepare_standard(self, train, valid, ask, standard, threads, seed):
        raise NotImplementedError

    def fit_standard(self, inside, values, share):
        """Returns standardized predictions of valid and ask, and notes."""
        raise NotImplementedError


def both_scales(base):
    """Returns one configuration per scale: the first is tuned by R2, the second by MAE."""

    class Identity(base):
        configuration = base.configuration + "-identity"
        scale, objective = "identity", "r2"

    class Log1p(base):
        configuration = base.configuration + "-log1p"
        scale, objective, data = "log1p", "mae", ("iowa",)

    return Identity, Log1p
