"""Tables of pandas, polars, pyarrow and NumPy as Arrow."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.utils.validation import column_or_1d

from ._errors import InputError, UnknownColumnError


def is_frame(X: Any) -> bool:
    """Report whether X is a table with named columns. A pandas frame whose columns are numbered is an array."""
    if is_pandas(X) and not any(isinstance(name, str) for name in X.columns):
        return False
    return hasattr(X, "__arrow_c_stream__") or isinstance(X, Mapping) and not hasattr(X, "toarray")  # a sparse dok matrix


def is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_polars(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "polars"


def eager(X: Any) -> Any:
    """Return the frame of a lazy frame of polars, anything else unchanged."""
    return X.collect() if is_polars(X) and hasattr(X, "collect") else X


def column_names(X: Any, what: str = "X") -> list[str]:
    if isinstance(X, Mapping):
        names = list(X)
    elif hasattr(X, "column_names") or hasattr(X, "columns"):
        names = list(getattr(X, "column_names", None) or X.columns)
    else:
        raise InputError(f"{what} is a {type(X).__name__}, which has no columns; pass a frame")
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{what} has {count} columns called {name!r}; rename all but one", column=str(name))
        if not isinstance(name, str):
            raise InputError(f"{what} has a column called {name!r}, which is not a text; rename it, or pass a NumPy array", column=str(name))
    return names


def to_arrow(X: Any, columns: Iterable[str] | None = None, what: str = "X") -> pa.Table:
    """Return columns of a frame, all by default, as an Arrow table."""
    X = eager(X)
    have = column_names(X, what)
    wanted = have if columns is None else list(columns)
    for name in wanted:
        if name not in have:
            raise unknown_column(what, name, have)
    if is_pandas(X):
        return pa.table({name: _pandas_column(X[name], what) for name in wanted})
    if isinstance(X, Mapping):
        arrays = {name: _column(X[name], name, what) for name in wanted}
        for name, array in arrays.items():
            if len(array) != len(arrays[wanted[0]]):
                text = f"{what}: column {name!r} has {len(array)} rows, but {wanted[0]!r} has {len(arrays[wanted[0]])}"
                raise InputError(text, column=name)
        return pa.table(arrays)
    if is_polars(X):
        X = X.select(wanted)
    table = pa.table(X).select(wanted)
    for i, field in enumerate(table.schema):
        table = table.set_column(i, field.name, _readable(table.column(i)))
    return table.unify_dictionaries()


def unknown_column(what: str, name: str, have: Sequence[str], field: str = "", remedy: str = "") -> UnknownColumnError:
    text = f"{what} has no column {name!r}; its columns are {', '.join(have)}" + (f"; {remedy}" if remedy else "")
    return UnknownColumnError(text, code="unknown_column", field=field, column=name)


def _pandas_column(series: Any, what: str) -> Any:
    if series.dtype == object:
        return _column(series.to_numpy(), series.name, what, from_pandas=True)
    if hasattr(series.dtype, "fill_value"):  # sparse
        series = series.sparse.to_dense()
    if hasattr(series.dtype, "freq"):  # periods: their first day or second
        series = series.dt.to_timestamp()
    try:
        return _readable(pa.Array.from_pandas(series))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # intervals of pandas.cut, say
        return pa.Array.from_pandas(series.astype(str).where(series.notna(), None))


def _column(values: Any, name: str, what: str, from_pandas: bool = False) -> Any:
    """Return a column of any values. One of several types is an error that names the rows."""
    try:
        return _readable(pa.array(values, from_pandas=from_pandas))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        first, kind = 0, None
        for row, value in enumerate(values, 1):
            if value is None or value != value:
                continue
            if kind is None:
                first, kind = row, type(value)
            elif type(value) is not kind:
                raise InputError(
                    f"{what}, row {row}, column {name!r}: {value!r} is of type {type(value).__name__}, but row {first} "
                    f"has type {kind.__name__}; convert the column to one type, for example to str",
                    code="input", column=str(name), row=row,
                ) from None
        raise InputError(f"{what}, column {name!r}: {error}", code="input", column=str(name)) from None


def _readable(column: Any) -> Any:
    """Return a column as a type that the program reads. Times with a time zone are those of its clocks, and durations are seconds."""
    kind = column.type
    if pa.types.is_duration(kind):
        return pc.divide(column.cast(pa.int64()).cast(pa.float64()), {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit])
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pc.local_timestamp(column)
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
        return column.cast(pa.dictionary(pa.int32(), pa.string()) if _is_text(kind.value_type) else kind.value_type)
    return column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_large_string(kind) or pa.types.is_string(kind))


def doubles(table: pa.Table) -> pa.Table:
    """Return a table whose floats have 64 bits."""
    return table.cast(pa.schema([f.with_type(pa.float64()) if pa.types.is_floating(f.type) else f for f in table.schema]))


def write(table: pa.Table, path: Path) -> None:
    """Write an uncompressed Arrow file."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 17)


def without_ids(X: Any) -> bool:
    """Report whether all columns are floats, so that none of them can identify a cell."""
    if not is_frame(X):
        return True
    if is_pandas(X):
        return all(getattr(t, "kind", "O") == "f" for t in X.dtypes)
    return all(pa.types.is_floating(t) for t in to_arrow(X).slice(0, 1).schema.types)


class Bins:
    """Cuts columns of floats with many values at their quantiles, so that they can be modes."""

    def __init__(self, columns: Mapping[str, np.ndarray[Any, Any]], most: int) -> None:
        self.edges: dict[str, np.ndarray[Any, Any]] = {}
        for name, values in columns.items():
            if values.dtype.kind == "f" and len(np.unique(values)) > most:
                self.edges[name] = np.unique(np.quantile(values, np.linspace(0, 1, most + 1)[1:-1]))

    @classmethod
    def of(cls, edges: dict[str, np.ndarray[Any, Any]]) -> Bins:
        """Return the bins with the edges that a model file has."""
        bins = cls({}, 1)
        bins.edges = edges
        return bins

    def apply(self, columns: Mapping[str, np.ndarray[Any, Any]]) -> pa.Table:
        return pa.table({
            name: np.searchsorted(self.edges[name], values, side="right") if name in self.edges else _column(values, name, "X", from_pandas=True)
            for name, values in columns.items()
        })


def describes(columns: Mapping[str, np.ndarray[Any, Any]]) -> bool:
    """Report whether a column of an array of objects has values that are no ids: floats, truth values or times."""
    kinds = pa.table({name: _column(values[:1000], name, "X", from_pandas=True) for name, values in columns.items()}).schema.types
    return any(pa.types.is_floating(k) or pa.types.is_boolean(k) or pa.types.is_temporal(k) or pa.types.is_decimal(k) for k in kinds)


def array_columns(X: np.ndarray[Any, Any], names: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: X[:, i] for i, name in enumerate(names)}


def target(y: Any) -> np.ndarray[Any, Any]:
    """Return the target as numbers."""
    if y is None:
        raise InputError("y is missing; pass the values of the rows of X")
    values: np.ndarray[Any, Any] = column_or_1d(np.asarray(y), warn=True)
    if values.dtype.kind not in "iuf":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            kinds = sorted({str(value) for value in values.tolist()})
            if len(kinds) == 2:
                text = f"y has the values {kinds[0]!r} and {kinds[1]!r}; pass y == {kinds[1]!r}, and predict returns the probability"
            else:
                text = f"y is not a column of numbers: {error}"
            raise InputError(text) from None
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        kind = "NaN" if np.isnan(values[bad[0]]) else "infinity"
        raise InputError(
            f"Input y contains {kind}: row {bad[0] + 1}, and {len(bad)} in total; leave these rows out",
            row=int(bad[0]) + 1,
        )
    return values


def in_another_order(X: Any, y: Any) -> bool:
    """Report whether the rows of frames of pandas have the same labels in another order, so that y was hardly meant by position."""
    if not is_pandas(X) or not hasattr(y, "iloc") or len(X) != len(y) or X.index.equals(y.index):
        return False
    return bool(X.index.is_unique and y.index.is_unique and X.index.isin(y.index).all())


def target_name(y: Any) -> str:
    """Return the name of a series, or that of the column of a frame with one column; y if there is none."""
    if not isinstance(y, Mapping) and hasattr(y, "__arrow_c_stream__") and (hasattr(y, "columns") or hasattr(y, "column_names")):
        names = list(getattr(y, "column_names", None) or y.columns)
        return str(names[0]) if len(names) == 1 else "y"
    return str(getattr(y, "name", None) or "y")


def free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
