"""Pictures by matplotlib, which is optional: pip install kft[plot]."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(count: int, ax: Any) -> Any:
    if ax is not None:
        return np.atleast_1d(ax)
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib; install it with pip install kft[plot]") from None
    _, axes = pyplot.subplots(1, count, figsize=(4.5 * count, 4), squeeze=False, layout="constrained")
    return axes[0]


def fit(y: Any, predicted: Any, score: dict[str, Any], ax: Any) -> Any:
    """Draw values against predictions, and the coverage of intervals against their level."""
    axes = _axes(2, ax)
    axes[0].scatter(predicted, y, s=4, alpha=min(1.0, 2000 / max(1, len(y))))
    axes[0].axline((float(np.mean(y)),) * 2, slope=1, color="black", linewidth=1)
    axes[0].set(xlabel="prediction", ylabel="value", title=f"R2 {score['r2']:.3f}, MAE {score['mae']:.3g}")
    if len(axes) == 1:
        return axes
    levels = [0.0, *sorted(x["level"] for x in score["xi_by_level"]), 1.0]
    shares = [0.0, *(x["share"] for x in sorted(score["xi_by_level"], key=lambda x: x["level"])), 1.0]
    axes[1].plot(levels, shares, marker="o")
    axes[1].axline((0, 0), slope=1, color="black", linewidth=1)
    axes[1].set(xlabel="level of the interval", ylabel="share of values inside", title="coverage")
    return axes


def forecast(frame: Any, history: Any, ids: list[str], time: str, target: str, most: int, ax: Any) -> Any:
    """Draw the first series of a forecast in pandas or polars, with their history."""
    frame, history = (f.to_pandas() if hasattr(f, "to_pandas") else f for f in (frame, history))
    ids = [name for name in ids if name in frame]
    series = frame[ids].drop_duplicates().head(most if ids else 1)
    if history is not None:  # a forecast of totals has fewer ids
        history = history.groupby([*ids, time], as_index=False, observed=True)[target].sum()
    axes = _axes(len(series), ax)
    levels = sorted((float(c.rsplit("-", 1)[1]) for c in frame.columns if c.startswith("KFT-lo-")), reverse=True)
    for panel, (_, key) in zip(axes, series.iterrows()):
        def rows(table: Any, key: Any = key) -> Any:
            return table[(table[ids] == key).all(axis=1)].sort_values(time)

        part = rows(frame)
        if history is not None:
            past = rows(history)
            panel.plot(past[time], past[target], color="black", linewidth=1)
        for level in levels:
            panel.fill_between(part[time], part[f"KFT-lo-{level:g}"], part[f"KFT-hi-{level:g}"], alpha=0.25, color="C0", label=f"{level:g} %")
        panel.plot(part[time], part["KFT"], color="C0")
        panel.set_title(", ".join(str(v) for v in key) or "total")
        panel.tick_params(axis="x", rotation=45)
    return axes
