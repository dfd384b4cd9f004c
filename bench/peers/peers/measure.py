"""The metrics of `kft evaluate --json`, for predictions of any tool.

A tool provides what it has: means, medians, quantiles. Metrics that need something else
are absent, never 0. Means are scored by R2 and RMSE, medians by MAE. If a tool has only
means, they are used for MAE too. Quantile models have no mean.
"""

from dataclasses import dataclass, field

import numpy as np

PINBALL_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
INTERVALS = (0.9, 0.7, 0.5, 0.3, 0.1)  # coverages of the central intervals that Xi sums over
# The lower and upper quantiles of INTERVALS, and the median.
LEVELS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55, 0.65, 0.75, 0.85, 0.95)


@dataclass
class Prediction:
    """Predictions of rows, in the units of the target."""

    mean: np.ndarray | None = None
    median: np.ndarray | None = None
    quantiles: dict[float, np.ndarray] | None = None  # by level
    scaled: np.ndarray | None = None  # of log1p(y), if that was modelled
    crossing: float | None = None  # share of rows whose quantiles crossed before sorting
    crps: np.ndarray | None = None  # by row, if the tool has a full predictive distribution
    notes: dict = field(default_factory=dict)


def fill_levels(quantiles, forward, backward):
    """Interpolates five quantiles linearly to LEVELS on the modelling scale."""
    have = sorted(quantiles)
    known = np.stack([forward(quantiles[q]) for q in have])
    out = {}
    for level in LEVELS:
        if level in quantiles:
            out[level] = quantiles[level]
            continue
        k = int(np.clip(np.searchsorted(have, level), 1, len(have) - 1))
        share = (level - have[k - 1]) / (have[k] - have[k - 1])
        out[level] = backward(known[k - 1] + share * (known[k] - known[k - 1]))
    return out


def pinball(level, quantile, y):
    d = y - quantile
    return float(np.mean(np.maximum(level * d, (level - 1) * d)))


def r_squared(y, predicted):
    total = float(np.sum((y - y.mean()) ** 2))
    return 1 - float(np.sum((y - predicted) ** 2)) / total if total > 0 else None


def measure(y, p: Prediction):
    """Returns the metrics of predictions of the values y."""
    y = np.asarray(y, dtype=np.float64)
    out = {"n": int(len(y))}
    if p.mean is not None:
        mean = np.asarray(p.mean, dtype=np.float64)
        out["r2"] = r_squared(y, mean)
        out["rmse"] = float(np.sqrt(np.mean((y - mean) ** 2)))
    middle = p.median if p.median is not None else p.mean
    out["mae"] = float(np.mean(np.abs(y - middle)))
    if p.scaled is not None:
        out["r2_scale"] = r_squared(np.log1p(y), p.scaled)
    if p.quantiles:
        losses = [pinball(q, p.quantiles[q], y) for q in PINBALL_LEVELS]
        out["pinball"] = float(np.mean(losses))
        out["pinball_by_level"] = [{"level": q, "loss": v} for q, v in zip(PINBALL_LEVELS, losses)]
        low, high = p.quantiles[0.05], p.quantiles[0.95]
        out["width90"] = float(np.mean(high - low))
        out["coverage90"] = float(np.mean((low <= y) & (y <= high)))
        if all(q in p.quantiles for q in LEVELS):
            shares = [
                float(np.mean((p.quantiles[LEVELS[i]] <= y) & (y <= p.quantiles[LEVELS[-1 - i]])))
                for i in range(len(INTERVALS))
            ]
            out["xi_by_level"] = [{"level": c, "share": s} for c, s in zip(INTERVALS, shares)]
            out["xi"] = float(sum(abs(s - c) for s, c in zip(shares, INTERVALS)))
    if p.crossing is not None:
        out["crossing"] = p.crossing
    if p.crps is not None:
        out["crps"] = float(np.mean(p.crps))
    return {k: v for k, v in out.items() if v is not None and not (isinstance(v, float) and not np.isfinite(v))}


# The metric of each objective and its sign: the loss is minimized.
OBJECTIVES = {"r2": ("r2", -1), "rmse": ("rmse", 1), "mae": ("mae", 1), "pinball": ("pinball", 1)}


def loss(objective, measures):
    name, sign = OBJECTIVES[objective]
    return sign * measures[name]
