"""Predictions of tools that return a mean and a standard deviation per row."""

import numpy as np
from scipy.special import ndtri

from peers.measure import LEVELS, Prediction


def normal_prediction(mean, sd, scale="identity", notes=None):
    """Returns the predictive distribution N(mean, sd^2) on the identity or log1p scale."""
    notes = dict(notes or {})
    back = np.expm1 if scale == "log1p" else np.asarray
    quantiles = {q: back(mean + sd * ndtri(q)) for q in LEVELS}
    if scale == "log1p":
        return Prediction(
            mean=np.exp(mean + sd * sd / 2) - 1, median=np.expm1(mean), quantiles=quantiles, scaled=mean, notes=notes
        )
    return Prediction(mean=mean, median=mean, quantiles=quantiles, notes=notes)

