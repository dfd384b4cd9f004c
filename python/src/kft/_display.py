"""Fitted models and forecasts in notebooks."""

from __future__ import annotations

import functools
import pickle
from html import escape
from typing import Any


def _number(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else escape(str(value))


def _rows(rows: list[list[Any]], header: list[str]) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(h)}</th>" for h in header)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{_number(v)}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def model(name: str, spec: dict[str, Any], record: dict[str, Any]) -> str:
    """Describe a fitted model: what it is, and its scores beside those of the best formula."""
    data = spec["data"]
    scores = [(f"model, {part}", record.get(part) or {}) for part in ("train", "valid", "test")]
    scores += [(f"{b['name']}, test", b.get("test") or {}) for b in record.get("baseline") or [] if b.get("best")]
    measures = ("n", "r2", "rmse", "mae", "coverage90")
    rows = [[label, *(score.get(m, "") for m in measures)] for label, score in scores if score.get("n")]
    return (
        f"<div><b>{escape(name)}</b>: {escape(data['target'])} by {escape(', '.join(data['modes']))}<br>"
        f"{escape(' + '.join(spec['terms']))}; scale {escape(spec['transform'])}, "
        f"inference {escape(spec['uncertainty']['inference'])}, {_number(record.get('weights', 0))} weights"
        f"{_rows(rows, ['', 'rows', 'R2', 'RMSE', 'MAE', 'values in 90 % intervals'])}</div>"
    )


def forecast(frame: Any, ids: list[str], time: str) -> Any:
    """Give a pandas frame of forecasts a display with a picture of its first series."""
    made = _frame_class()(frame)
    object.__setattr__(made, "_shown", (ids, time))
    return made


@functools.cache
def _frame_class() -> Any:
    """Return the class of forecasts. It is one class, because pandas takes frames of two classes for unequal."""
    import pandas

    base: Any = pandas.DataFrame

    class Forecast(base):  # type: ignore[misc]
        """Forecasts in long form."""

        @property
        def _constructor(self) -> Any:
            return pandas.DataFrame

        def __reduce_ex__(self, protocol: Any) -> Any:  # a pickle is one of pandas
            return pickle.loads, (pickle.dumps(base(self), protocol),)

        def _repr_html_(self) -> str:
            return _picture(self, *self._shown) + str(base._repr_html_(self) or "")

    return Forecast


def _picture(frame: Any, ids: list[str], time: str) -> str:
    """Draw the mean and the widest interval of the first series."""
    if "KFT" not in frame or time not in frame or len(frame) == 0:
        return ""
    ids = [name for name in ids if name in frame]  # totals have fewer
    first = frame[(frame[ids] == frame[ids].iloc[0]).all(axis=1)].sort_values(time)
    low = [c for c in frame.columns if str(c).startswith("KFT-lo-")]
    low_name = max(low, key=lambda c: float(c.rsplit("-", 1)[1])) if low else "KFT"
    low_, high, mean = (first[c].to_numpy(float) for c in (low_name, low_name.replace("lo", "hi"), "KFT"))
    width, height, bottom, top = 300, 60, float(low_.min()), float(high.max())
    at = [width * (i + 0.5) / len(mean) for i in range(len(mean))]

    def points(values: Any, places: list[float]) -> str:
        scale = height / ((top - bottom) or 1.0)
        return " ".join(f"{x:.1f},{height - (v - bottom) * scale:.1f}" for x, v in zip(places, values))

    label = escape(", ".join(str(v) for v in first[ids].iloc[0]) or "total")
    band = points([*low_, *high[::-1]], [*at, *at[::-1]])
    return (
        f"<div>{label}: {_number(bottom)} to {_number(top)}<br>"
        f"<svg width='{width}' height='{height}' role='img' aria-label='forecast of {label}'>"
        f"<polygon points='{band}' fill='#9ec5e8'/><polyline points='{points(mean, at)}' fill='none' stroke='#1f5f99' stroke-width='2'/>"
        "</svg></div>"
    )
