"""Fitted models and forecasts in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else escape(str(value))


def _rows(rows: list[list[Any]], header: list[str]) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(h)}</th>" for h in header)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{_number(v)}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def model(name: str, spec: dict[str, Any], record: dict[str, Any]) -> str:
    """Describe a fitted model: what it is, and its scores beside those of the best formula."""
    data = spec["data"]
    rows: list[list[Any]] = []
    for part in ("train", "valid", "test"):
        score = record.get(part) or {}
        if score.get("n"):
            rows.append([f"model, {part}", score["n"], score["r2"], score["rmse"], score["mae"]])
    return (
        f"<div><b>{escape(name)}</b>: {escape(data['target'])} by {escape(', '.join(data['modes']))}<br>"
        f"{escape(' + '.join(spec['terms']))}; scale {escape(spec['transform'])}, "
        f"inference {escape(spec['uncertainty']['inference'])}, {_number(record.get('weights', 0))} weights"
        f"{_rows(rows, ['', 'rows', 'R2', 'RMSE', 'MAE'])}</div>"
    )
