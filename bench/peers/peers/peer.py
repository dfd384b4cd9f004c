"""The interface of a peer, and functions shared by peers."""

import importlib
from typing import Any

import numpy as np

from peers.measure import Prediction
from peers.names import MODULES
from peers.residuals import residual_quantiles


class Peer:
    """A tool in one configuration.

    prepare is called once per set of rows, fit once per choice of values. fit returns
    predictions for the rows of valid and of ask, in this order: some tools predict
    rows that are known during training many times faster than later. Rows in ask have
    no targets.
    """

    configuration = ""
    package = ""  # its version identifies the tool; "" for numpy
    objective = "rmse"
    data = ("iowa", "movielens")
    version = 1  # increased when the behaviour changes, so that cells are run again
    notes = ""

    def first(self, table) -> dict[str, Any]:
        """Returns the values of trial 1: sensible defaults, or nothing if there is nothing to tune."""
        return {}

    def draw(self, rng: np.random.Generator, table) -> dict[str, Any]:
        """Returns the values of another trial."""
        return {}

    def values_from(self, data) -> str:
        """Returns the configuration whose tuned values are used instead of its own."""
        return ""

    def prepare(self, train, valid, ask, threads, seed) -> Any:
        raise NotImplementedError

    def fit(self, prepared, values, share) -> list[Prediction]:
        """Fits with a share of the iterations of a full fit."""
        raise NotImplementedError


def load_peer(configuration):
    module = importlib.import_module("peers." + MODULES[configuration])
    for c in module.PEERS:
        if c.configuration == configuration:
            return c()
    raise KeyError(configuration)


def log_uniform(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def smearing(y, scaled):
    """Returns the factor that turns exp of a predicted log1p into a mean.

    The validation set selects the factor with the smallest squared error: none, Duan's
    mean of exp(residual), or the ratio of the sums.
    """
    e = np.exp(scaled)
    candidates = {"none": 1.0, "duan": float(np.mean((1 + y) / e)), "ratio": float(np.sum(1 + y) / np.sum(e))}
    return min(candidates.values(), key=lambda f: float(np.mean((1 + y - f * e) ** 2)))


def from_log1p(predictions, valid_y):
    """Converts predictions of log1p(y) to predictions of y, the validation set first."""
    factor = smearing(valid_y, predictions[0])
    quantiles = residual_quantiles(predictions, np.log1p(valid_y), np.expm1)
    medians = better_medians([np.expm1(s) for s in predictions], quantiles, valid_y)
    return [
        Prediction(mean=factor * np.exp(s) - 1, median=m, quantiles=q, scaled=s, notes={"smearing": round(factor, 4)})
        for s, q, m in zip(predictions, quantiles, medians)
    ]


def from_cbrt1p(predictions, valid_y):
    """Converts predictions of cbrt(1 + y) to predictions of y, the validation set first.

    The mean is the cube, the cube plus 3 s v with v the variance of the residuals, or
    the cube times the ratio of the sums, whichever has the smallest squared error on
    the validation set.
    """
    s = predictions[0]
    v = float(np.mean((np.cbrt(1 + valid_y) - s) ** 2))
    ratio = float(np.sum(1 + valid_y) / np.sum(s**3))
    means = {"cube": lambda s: s**3, "moments": lambda s: s**3 + 3 * s * v, "ratio": lambda s: ratio * s**3}
    best = min(means, key=lambda name: float(np.mean((1 + valid_y - means[name](s)) ** 2)))
    quantiles = residual_quantiles(predictions, np.cbrt(1 + valid_y), cube_less_1)
    medians = better_medians([cube_less_1(s) for s in predictions], quantiles, valid_y)
    return [
        Prediction(mean=means[best](s) - 1, median=m, quantiles=q, notes={"mean": best})
        for s, q, m in zip(predictions, quantiles, medians)
    ]


def cube_less_1(s):
    return np.maximum(s, 0) ** 3 - 1


def from_means(predictions, valid_y):
    """Converts predictions of a model of the mean, the validation set first."""
    quantiles = residual_quantiles(predictions, valid_y, np.asarray)
    medians = better_medians(predictions, quantiles, valid_y)
    return [Prediction(mean=s, median=m, quantiles=q) for s, q, m in zip(predictions, quantiles, medians)]


def better_medians(predictions, quantiles, valid_y):
    """Returns the predictions themselves or those corrected by residuals, whichever is better on the validation set."""
    by_residuals = [q[0.5] for q in quantiles]
    off = [float(np.mean(np.abs(valid_y - m[0]))) for m in (predictions, by_residuals)]
    return predictions if off[0] <= off[1] else by_residuals
