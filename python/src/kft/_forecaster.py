"""KFTForecaster."""

from __future__ import annotations

import numbers
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from . import _display, _options, _plot, _process, _table
from ._base import KFTEstimator
from ._errors import InputError, SpecificationError

_NAME = "KFT"


class KFTForecaster(KFTEstimator):
    """Forecasts of many series in one model, with the columns that users of Nixtla's packages know.

    Args:
        id_cols: the column, or columns, that identify a series; [] for one series without ids.
        time_col: the column of times.
        target_col: the column of values.
        horizon: number of periods that will be forecast; the model is then chosen and measured on the last
            periods, ``split="time:last=H"``. Without it, a split, terms and rank, these are a tenth of the
            periods, at most 24.
        refit: by default the chosen model is trained again on all rows.
        side, terms, scale, split, random_state, n_jobs, verbose, options: as for KFTRegressor.

    Example, with a frame of the columns unique_id, ds and y::

        model = KFTForecaster(horizon=6).fit(sales)
        forecast = model.predict(6, level=[80, 95])   # unique_id, ds, KFT, KFT-median, KFT-lo-80, ...
        windows = model.cross_validation(sales, h=3, n_windows=4)
    """

    def __init__(
        self,
        id_cols: str | Sequence[str] = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
        side: Any = None,
        *,
        horizon: int | None = None,
        terms: Sequence[str] | str | None = None,
        scale: str | None = None,
        split: str | None = None,
        refit: str = "all",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__(options)
        self.id_cols = id_cols
        self.time_col = time_col
        self.target_col = target_col
        self.side = side
        self.horizon = horizon
        self.terms = terms
        self.scale = scale
        self.split = split
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _given(self) -> dict[str, Any]:
        given = super()._given()
        for name in ("h", "fh", "forecast", "periods", "steps"):  # names of the program, of predict and of others
            if name in given:
                raise SpecificationError(f"unknown option {name}, use horizon", code="usage")
        horizon = given.pop("horizon")
        horizon = self._measured if horizon is None else horizon
        if self.split is None and horizon is not None:
            given["split"] = f"time:last={horizon}"
        return given

    _measured: int | None = None  # periods that a model without a horizon is chosen on

    def _set_measured(self, time: Any) -> None:
        """Choose the periods that a model without a horizon is chosen on; one of a random split may know nothing of the future."""
        chosen = self.terms is not None or "rank" in self._options
        periods = len(pc.unique(time))
        self._measured = None if chosen or periods < 10 else min(periods // 10, 24)

    def _ids(self) -> list[str]:
        return [self.id_cols] if isinstance(self.id_cols, str) else list(self.id_cols)

    def fit(self, df: Any) -> KFTForecaster:
        """Fit the model to a long frame: one row per series and time."""
        self._like = _kind(df)
        table, kind = self._long(df)
        self._set_measured(table.column(self.time_col))
        self._types = {field.name: _plain(field.type) for field in table.schema} | {self.time_col: kind}
        ids = {name: table.column(name).cast(_plain(table.column(name).type)) for name in self._ids()}
        self._constant = {name: column[0] for name, column in ids.items() if len(pc.unique(column)) == 1}
        self._fit_table(table, self.target_col, [*(name for name in self._ids() if name not in self._constant), self.time_col], [])
        return self

    def _naming(self, name: str) -> str:
        """Return what to do if a frame lacks a column of its own."""
        if name == self.time_col:
            return "pass the column of times as time_col; an index becomes a column by df.reset_index()"
        if name == self.target_col:
            return "pass the column of values as target_col"
        return "pass the columns of ids as id_cols, [] for one series without ids"

    def _long(self, df: Any, needed: Sequence[str] = ()) -> tuple[pa.Table, pa.DataType]:
        """Return the columns of ids, times and values, those needed and those that the options name; and the type of the times of df."""
        df = _table.eager(df)
        named = " ".join(str(v) for v in self._given().values() if v is not None)
        own = [*self._ids(), self.time_col, self.target_col]
        have = _table.column_names(df, "df")
        for name in own:
            if name not in have:
                raise _table.unknown_column("df", name, have, remedy=self._naming(name))
        more = [name for name in have if (name in named or name in needed) and name not in own]
        table = _table.to_arrow(df, own + more, what="df")
        bad = np.flatnonzero(_missing(table.column(self.target_col)))
        if len(bad):
            text = f"df, row {bad[0] + 1}, column {self.target_col!r}: the value is missing, {len(bad)} in total; leave these rows out"
            raise InputError(text, field="data.target", column=self.target_col, row=int(bad[0]) + 1)
        at = own.index(self.time_col)
        kind = _time_type(df, self.time_col, table.column(at).type)
        return table.set_column(at, self.time_col, _dates(table.column(at))), kind

    def predict(
        self, h: int | None = None, level: float | Sequence[float] | None = (90,), X_df: Any = None, side: Any = None, **options: Any
    ) -> Any:
        """Forecast h periods of every series.

        Args:
            h: number of periods; by default the horizon.
            level: central intervals in percent; None for no intervals.
            X_df: the rows to forecast instead of h periods of every series, with the columns of covariates that are known in advance.
            side: side rows of new ids.
            options: other flags of ``kft forecast``: ``only="store=S01"``, ``active=12``, ``by="store"``.

        Returns:
            A frame of the kind of the data with the ids, the time, KFT (the mean), KFT-median, and KFT-lo-90
            and KFT-hi-90 for each level.
        """
        check_is_fitted(self)
        h = self.horizon if h is None else h
        if X_df is None and (not isinstance(h, numbers.Integral) or h < 1):
            raise InputError("h is the number of periods to forecast; use 1 or more")
        levels = [] if level is None else np.atleast_1d(level).tolist()
        args = ["--future=X_df" if X_df is not None else f"--horizon={h}", *_options.flags({**options, "level": levels}), *self._threads()]
        with _process.workspace() as folder:
            args += _options.side_flags(side, folder)
            (folder / "model.kft").write_bytes(self.model_.data)
            if X_df is not None:
                future = _table.to_arrow(X_df, what="X_df")
                at = future.schema.get_field_index(self.time_col)
                _table.write(future.set_column(at, self.time_col, _dates(future.column(at))) if at >= 0 else future, folder / "X_df")
            _process.run(["forecast", "model.kft", "-q", "-o", "forecast.arrow", *args], folder)
            table = pa.ipc.open_file(pa.BufferReader((folder / "forecast.arrow").read_bytes())).read_all()
        if not levels:
            table = table.drop_columns([name for name in table.column_names if name in ("lo-90", "hi-90")])
        return self._frame(self._renamed(_table.doubles(table)))

    def update(self, df: Any = None, *, remove: Any = None, late: bool = False, side: Any = None) -> KFTForecaster:
        """Add new rows of the series without training again and without the old rows, as ``kft update``.

        Forecasts then start after the last time of df.

        Args:
            df: the new rows, with the columns of the frame of the fit. It may have new series.
            remove: rows to remove; the model must have been fitted to them or updated with them.
            late: whether to accept rows of times before the last one of the model.
            side: side rows of new ids.

        The attribute update_ says what changed, and whether a new fit is due.
        """
        check_is_fitted(self)
        if df is None and remove is None:
            raise InputError("pass rows to add, or rows to remove")
        rows = None if df is None else self._new(df)
        self._update(rows, None if remove is None else self._new(remove), late, side, "df")
        return self

    def _new(self, df: Any) -> pa.Table:
        """Return the columns of rows that the model reads, and the target."""
        table, _ = self._long(df, [name for names in self.model_.columns(self._threads()) for name in names])
        for name, value in self._constant.items():
            ids = table.column(name)
            if pc.any(pc.not_equal(ids, value.cast(ids.type))).as_py():
                raise InputError(f"df, column {name!r}: the model was fitted to one series, {value}; fit a model to all series to take in others", column=name)
        return table

    def _renamed(self, table: pa.Table) -> pa.Table:
        """Return a forecast with the names that users expect and the types of the data."""
        start = table.column_names.index("mean")  # ids, times and covariates come before
        names = table.column_names[:start] + [_NAME] + [f"{_NAME}-{name}" for name in table.column_names[start + 1 :]]
        table = table.rename_columns(names)
        for at, name in enumerate(self._ids()):
            if name in self._constant and name not in names:  # the id of a single series is no mode
                table = table.add_column(at, name, pa.repeat(self._constant[name], len(table)))
                names.insert(at, name)
                start += 1
        for at, name in enumerate(names[:start]):
            if name in self._types:
                table = table.set_column(at, name, _typed(table.column(at), self._types[name]))
        return table

    def cross_validation(
        self, df: Any, h: int, n_windows: int = 1, step_size: int = 1, level: float | Sequence[float] | None = (90,)
    ) -> Any:
        """Fit and forecast at several origins; the last window ends with the data.

        Covariates are those of the rows of each window.

        Returns:
            The forecasts with the columns cutoff, the last time of the training data, and the actual value.
        """
        table, kind = self._long(df)
        for at, field in enumerate(table.schema):
            table = table.set_column(at, field.name, table.column(at).cast(_plain(field.type)))
        time = table.column(self.time_col)
        order = _times(time).to_numpy()
        if order.dtype == object:
            raise InputError(f"df, column {self.time_col!r}: {order[0]!r} is not a time; convert the column to dates", column=self.time_col)
        times, first = np.unique(order, return_index=True)
        if n_windows < 1 or h < 1 or step_size < 1 or len(times) <= h + (n_windows - 1) * step_size:
            raise InputError(f"{n_windows} windows of {h} periods with steps of {step_size} do not fit into {len(times)} periods")
        ids = self._ids()
        keys = [*ids, self.time_col]
        results = []
        for window in range(n_windows):
            last = len(times) - h - (n_windows - 1 - window) * step_size - 1
            past = table.filter(pa.array(order <= times[last]))
            actual = table.filter(pa.array((order > times[last]) & (order <= times[last + h])))
            future = None
            if len(table.column_names) > len(keys) + 1:
                future = actual.drop_columns([self.target_col]).join(past.select(ids), ids, join_type="left semi")
            model = clone(self)
            if self.horizon is None and self.terms is None and "rank" not in self._options:
                model.horizon = h
            forecast = model.fit(past).predict(h, level, X_df=future)
            values = [name for name in forecast.column_names if name.startswith(_NAME)]
            actual = actual.select([*keys, self.target_col])
            joined = forecast.select([*keys, *values]).join(actual, keys, join_type="inner").sort_by([(k, "ascending") for k in keys])
            cutoff = pa.repeat(time[int(first[last])], len(joined))
            joined = joined.set_column(len(ids), self.time_col, _typed(joined.column(self.time_col), kind))
            results.append(joined.add_column(len(keys), "cutoff", _typed(cutoff, kind)))
        self._like = _kind(df)
        return self._frame(pa.concat_tables(results))

    def report(self, path: str | os.PathLike[str], df: Any = None, **options: Any) -> None:
        """Write an HTML report of the model, as ``kft report``; the table of the fit adds scores by group, residuals and series."""
        self._write_report(path, None if df is None else self._long(df)[0], options)

    def plot(self, forecast: Any, history: Any = None, most: int = 4, ax: Any = None) -> Any:
        """Draw the first series of a forecast, with their history; needs matplotlib."""
        return _plot.forecast(forecast, history, self._ids(), self.time_col, self.target_col, most, ax)

    def _frame(self, table: pa.Table) -> Any:
        """Return a table as a frame of the kind of the data."""
        if self._like == "pandas":
            return _display.forecast(table.to_pandas(), self._ids(), self.time_col)
        if self._like == "polars":
            import polars

            return polars.DataFrame(table)
        return table

    @classmethod
    def load(cls, path: str | os.PathLike[str], **params: Any) -> KFTForecaster:
        """Read a model file whose modes are id columns and, last, the time; covariates come after them."""
        model = cls(**params)
        model._restore(path)
        covariate = re.compile(r"(^|=)(number|level|joint|lag|periods)\(")
        *ids, time = (mode for mode in model.spec_["data"]["modes"] if not covariate.search(mode))
        model.id_cols, model.time_col, model.target_col = ids, time, model.spec_["data"]["target"]
        split = str(model.spec_["split"])
        if model.horizon is None and split.startswith("time:last="):
            model.horizon = int(split.rsplit("=", 1)[1])
        model._like, model._types, model._constant = "pandas", {time: pa.timestamp("ns")}, {}
        return model


def _kind(df: Any) -> str:
    return "pandas" if _table.is_pandas(df) else "polars" if _table.is_polars(df) else "pyarrow"


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _missing(column: Any) -> np.ndarray[Any, Any]:
    """Report which values are null or NaN."""
    missing = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    return np.asarray(missing.to_numpy())


def _time_type(df: Any, name: str, read: pa.DataType) -> pa.DataType:
    """Return the type of a column of times, with its time zone; read is the type that was read."""
    kind = read
    if _table.is_pandas(df):
        kind = pa.Array.from_pandas(df[name].head(0)).type
    elif hasattr(df, "select"):
        kind = pa.table(df.select([name])).schema.types[0]
    return kind if pa.types.is_timestamp(kind) else read


def _typed(column: Any, kind: pa.DataType) -> Any:
    """Return ids of a forecast as the type that the data have."""
    if not pa.types.is_temporal(kind):
        return column.cast(kind)
    column = _times(column)
    if not pa.types.is_timestamp(column.type):
        return column
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = pc.assume_timezone(column, kind.tz, ambiguous="earliest", nonexistent="latest")
    return column.cast(kind)


def _dates(column: Any) -> Any:
    """Return times that all are at midnight as dates, which are shorter ids; others unchanged."""
    if not pa.types.is_timestamp(column.type):
        return column
    dates = column.cast(pa.date32(), safe=False)
    return dates if pc.all(pc.equal(dates.cast(column.type), column)).as_py() else column


def _times(column: Any) -> Any:
    """Return ids of periods as times, if they are dates."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.string())
        texts = pc.if_else(pc.match_substring_regex(column, r"^\d{4}-\d{2}$"), pc.binary_join_element_wise(column, "01", "-"), column)
        try:
            return texts.cast(pa.timestamp("ns"))
        except pa.ArrowInvalid:
            return column
    return column.cast(pa.timestamp("ns")) if pa.types.is_temporal(column.type) else column
