"""Intervals for tools that predict a single number: quantiles of the residuals on
the validation set for predictions of similar size.

The validation rows are divided into groups of equal size by predicted value. A
prediction uses the residual quantiles of its group. kft's conformal correction by
groups of the mean works the same way, so that the intervals of point models can be
compared as well.
"""

import numpy as np

from peers.measure import LEVELS

GROUPS = 50
LEAST = 200  # minimum number of rows per group


def residual_quantiles(scores, valid_scaled, backward):
    """Returns quantiles by level for each of scores, the validation set first.

    scores and valid_scaled are on the modelling scale, the quantiles on the original one.
    """
    groups = int(np.clip(len(valid_scaled) // LEAST, 1, GROUPS))
    cuts = np.quantile(scores[0], np.arange(1, groups) / groups)
    residual = valid_scaled - scores[0]
    of = np.searchsorted(cuts, scores[0], side="right")
    table = np.empty((groups, len(LEVELS)))
    for g in range(groups):
        inside = residual[of == g]
        table[g] = np.quantile(inside if len(inside) else residual, LEVELS)
    out = []
    for s in scores:
        shift = table[np.searchsorted(cuts, s, side="right")]
        out.append({level: backward(s + shift[:, k]) for k, level in enumerate(LEVELS)})
    return out
