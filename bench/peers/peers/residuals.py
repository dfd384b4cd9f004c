"""Intervals for tools that predict one number: quantiles of what they were off on
the valid part, for predictions of the same size.

The rows of the valid part are cut into groups of equal number by the predicted
value; a prediction takes the residual quantiles of its group. It is what kft's
conformal layer by groups of the mean does, so that a point model is compared by
its intervals as well.
"""

import numpy as np

from peers.measure import LEVELS

GROUPS = 50
LEAST = 200  # rows a group


def residual_quantiles(scores, valid_scaled, backward):
    """Quantiles by level for each of scores, those of the valid part first.

    scores and valid_scaled are on the modelling scale, quantiles are not.
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
