"""KFTRegressor."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import RegressorMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import _options, _plot, _process, _table
from ._base import KFTEstimator
from ._errors import InputError, KFTWarning, ModelFileError, UnknownColumnError
from ._server import FittedModel

_MOMENTS = 5  # prediction, median, sd, sd_model, sd_noise come before the quantiles


class KFTRegressor(RegressorMixin, KFTEstimator):  # type: ignore[misc]
    """Tensor regression with side information and calibrated intervals.

    A table has one row per observed cell. Some columns of X, the modes, identify the cell; y is its value.

    Args:
        modes: columns that identify a cell: ``["store", "item", "time=year+month"]`` or the same as one
            text, as in ``kft fit --modes``. By default kft recognises them, as ``kft init`` does, and
            uses the columns that describe rows, such as a price, as covariates (``covariate="none"`` switches this off). If X is an
            array or has float columns only, there are no ids to recognise. Floats are then covariates, and the
            model learns a curve for each. The columns of an array of objects are recognised like those of a frame if some
            of them are floats, booleans or times. In an array of integers or texts only, or with ``terms``, ``rank`` or
            ``bins``, every column is a mode instead, and a column of floats with more than ``bins`` values is cut at
            its quantiles into that many bins; rows of the same cell are averaged unless ``duplicates`` is given.
        side: side information by mode: frames, ``(frame, "city:cat,lat,lon")``, file names, or texts such as
            ``"@year,@month:cycle12"``.
        terms, rank, effort, inference, split, duplicates: as the flags of ``kft fit``.
        refit: by default the model is measured and then trained again on all rows, except for some splits; see ``--refit``.
        scale: the scale on which the target is modelled, ``--transform`` of ``kft fit``.
        bins: see modes; None is 16 where floats are modes.
        random_state: the seed, as ``--seed``, or a generator; None and 0 are the default, 1.
        n_jobs: number of threads; None or -1 are all CPUs. The result does not depend on it.
        verbose: whether to show a progress bar; None shows one on a terminal and in a notebook.
        options: any other flag of ``kft fit``: ``sweeps=10``, ``lambda_=0.1``, ``time_budget="60s"``.

    Ctrl-C during a fit ends training and keeps the best model so far, with a warning.

    Example:
        >>> import pandas as pd
        >>> sales = pd.read_csv("sales.csv")
        >>> model = KFTRegressor(modes=["store", "item", "time=year+month"], rank=2, scale="log1p")
        >>> model = model.fit(sales.drop(columns="units"), sales["units"])
        >>> cells = pd.DataFrame({"store": ["S01"], "item": ["A06"], "year": [2024], "month": [12]})
        >>> model.predict(cells).round(1)
        array([14.8])
        >>> model.predict_interval(cells, coverage=0.9).shape
        (1, 2)
    """

    n_features_in_: int

    def __init__(
        self,
        modes: Sequence[str] | str | None = None,
        side: Mapping[str, Any] | Sequence[str] | str | None = None,
        *,
        terms: Sequence[str] | str | None = None,
        rank: int | None = None,
        effort: str | None = None,
        scale: str | None = None,
        inference: str | None = None,
        split: str | None = None,
        refit: str | None = "auto",
        duplicates: str | None = None,
        bins: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__(options)
        self.modes = modes
        self.side = side
        self.terms = terms
        self.rank = rank
        self.effort = effort
        self.scale = scale
        self.inference = inference
        self.split = split
        self.refit = refit
        self.duplicates = duplicates
        self.bins = bins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self._curves()
        return tags

    def _curves(self) -> bool:
        """Report whether columns of floats are covariates, whose values may be missing, rather than modes."""
        return all(given is None for given in (self.modes, self.terms, self.rank, self.bins, self.side))

    # Fit.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KFTRegressor:
        """Fit the model to the cells X with values y.

        The noise variance of a row of weight w is 1/w of that of a row of weight 1. Rows of weight 0 are left out.

        If y is a frame of several columns, one model of several targets is fitted. Values may be missing, and modes
        must be given. predict then returns one column per target, and for_target the estimator of one of them,
        which has all other methods.
        """
        if y is None:
            raise InputError("KFTRegressor requires y to be passed, but the target y is None")
        X = given_X = _table.eager(X)
        more: list[str] = []
        modes = self.modes
        self._bins: _table.Bins | None = None
        if _table.is_frame(X) and not (modes is None and _table.without_ids(X)):
            self.n_features_in_ = len(_table.column_names(X))
            _check_feature_names(self, X, reset=True)
            table = self._needed(X)
            self._names: list[str] | None = None
        else:
            X = validate_data(self, X, dtype=None, ensure_min_samples=2, ensure_all_finite="allow-nan" if self._curves() else True)
            self._names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])]))
            columns = _table.array_columns(X, self._names)
            varying = [name for name, values in columns.items() if _varies(values)]
            one = self._curves() and bool(varying) and len(_columns_of(y)) == 1
            curves = one and X.dtype.kind == "f"
            recognised = one and X.dtype.kind == "O" and _table.describes(columns)  # as the columns of a frame
            if not curves and not recognised:
                assert_all_finite(X, input_name="X")
            self._bins = _table.Bins(columns, self.bins or 16 if modes is None and not curves and not recognised else len(X))
            table = self._bins.apply(columns)
            if modes is None and not recognised:
                modes = _covariates(varying) if curves else self._names
                more += [] if self.duplicates else [f"--duplicates={'keep' if curves else 'mean'}"]
        if _table.in_another_order(given_X, y):
            text = "X and y have the same index in another order, but rows are matched by position; pass y.loc[X.index] if labels belong together"
            warnings.warn(text, KFTWarning, stacklevel=2)
        names = []
        for given, target in _columns_of(y):
            check_consistent_length(table, target)
            names.append(_table.free_name(given, table.column_names))
            table = table.append_column(names[-1], pa.array(target, from_pandas=True))
        name = ",".join(names)
        if sample_weight is not None:
            weight = _table.free_name("sample_weight", table.column_names)
            table = table.append_column(weight, pa.array(_check_sample_weight(sample_weight, table, ensure_non_negative=True)))
            more.append(f"--weight={weight}")
        try:
            self._fit_table(table, name, _quoted(modes, table.column_names), more, self._client())
        except UnknownColumnError as error:
            if error.file != "X":  # a side table
                raise
            raise _table.unknown_column("X", error.column, self._names or _table.column_names(X), error.field) from None
        return self

    def _needed(self, X: Any) -> pa.Table:
        """Return the columns that the modes or options name; all if kft chooses the modes."""
        if self.modes is None or "spec" in self._options:
            return _table.to_arrow(X)
        named = " ".join([*_options.mode_flags(self.modes), *_options.flags(self._given())])
        columns = [name for name in _table.column_names(X) if name in named]
        return _table.to_arrow(X, columns or None)

    # Predictions. The names are those of skpro.

    def predict(self, X: Any, side: Any = None) -> np.ndarray[Any, Any]:
        """Return the mean of each cell. side has rows of ids that are not in the side tables of the fit."""
        if hasattr(self, "model_") and self._targets():
            return np.column_stack([self.for_target(name).predict(X, side) for name in self._targets()])
        return _numbers(self._predicted(X, side, only=["prediction"]).column(0))

    def predict_quantiles(self, X: Any, alpha: float | Sequence[float] = (0.05, 0.5, 0.95), side: Any = None) -> Any:
        """Return quantiles, one column per level of alpha.

        The result is a frame with the columns of skpro for pandas, a frame with columns q0.05 for polars, and
        an array otherwise.
        """
        levels = _levels("alpha", alpha)
        return self._framed(X, [(level,) for level in levels.tolist()], self._quantiles(X, levels, side))

    def predict_interval(self, X: Any, coverage: float | Sequence[float] = 0.9, side: Any = None) -> Any:
        """Return central intervals: the columns lower and upper for each coverage; see predict_quantiles."""
        wanted = _levels("coverage", coverage)
        levels = np.round(np.column_stack([0.5 - wanted / 2, 0.5 + wanted / 2]).ravel(), 12)
        names = [(c, side_) for c in wanted.tolist() for side_ in ("lower", "upper")]
        return self._framed(X, names, self._quantiles(X, levels, side))

    def predict_var(self, X: Any, side: Any = None) -> Any:
        """Return the variance of each cell, as predict_quantiles does."""
        return self._framed(X, [()], _numbers(self._predicted(X, side).column(2))[:, None] ** 2)

    def sample(self, X: Any, n_samples: int = 100, side: Any = None) -> np.ndarray[Any, Any]:
        """Return joint samples, one column each: the sums of a column are samples of the sum."""
        if n_samples < 1:
            raise InputError(f"n_samples is {n_samples}; use 1 or more", code="samples")
        table = self._predicted(X, side, samples=n_samples)
        return np.column_stack([_numbers(table.column(_MOMENTS + i)) for i in range(n_samples)])

    def predict_table(self, X: Any, alpha: Sequence[float] = (), side: Any = None, strict: bool = False) -> Any:
        """Return the columns that ``kft predict`` adds: prediction, median, sd, sd_model, sd_noise, the quantiles
        of alpha, and unseen, the modes whose id is not in the training data. With strict, such an id is an error.
        """
        table = _table.doubles(self._predicted(X, side, quantiles=sorted(alpha), strict=strict))
        if _table.is_polars(X):
            import polars

            return polars.DataFrame(table)
        if _table.is_pandas(X):
            frame = table.to_pandas()
            frame.index = X.index
            return frame
        return table

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """Measure the model: R2, RMSE, MAE, CRPS, coverage of intervals and more, as ``kft evaluate --json``."""
        result: dict[str, Any] = json.loads(self._run_verb("evaluate", "--json", *self._threads(), table=self._with_target(X, y)))
        return result

    def explain(self, X: Any = None, **options: Any) -> Any:
        """Explain predictions, one per row of X, or without X the model, as ``kft explain --json``.

        Options are the flags of that command: ``neighbours=3``, ``what_if="item.price=12.5"``.
        """
        cells = []
        if X is not None:
            cells = [",".join(f"{name}={_text(v)}" for name, v in row.items()) for row in self._columns(X, self.model_).to_pylist()]
        output = self._run_verb("explain", "--json", *_options.flags(options), "--", *cells).decode()
        decoder, found, at = json.JSONDecoder(), [], 0
        while at < len(output):
            value, at = decoder.raw_decode(output, at)
            found.append(value)
            at += len(output[at:]) - len(output[at:].lstrip())
        return found if X is not None else found[0]

    def update(self, X: Any = None, y: Any = None, *, remove: tuple[Any, Any] | None = None, late: bool = False, side: Any = None) -> KFTRegressor:
        """Add the rows X, y without training again and without the old rows, as ``kft update``.

        Args:
            X, y: the new rows.
            remove: rows (X, y) to remove; the model must have been fitted to them or updated with them.
            late: whether to accept rows of periods before the last one of the model.
            side: side rows of new ids.

        The attribute update_ says what changed. The model needs a posterior: inference="mean-field".
        """
        check_is_fitted(self)
        if X is None and remove is None:
            raise InputError("pass rows to add, or rows to remove")
        rows = None if X is None else self._with_target(X, y)
        self._update(rows, None if remove is None else self._with_target(*remove), late, side)
        return self

    def _with_target(self, X: Any, y: Any) -> pa.Table:
        """Return the columns that the model reads, and the target."""
        table, target = self._columns(X, self.model_), _table.target(y)
        check_consistent_length(table, target)
        return table.append_column(self.spec_["data"]["target"], pa.array(target))

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None, **options: Any) -> None:
        """Write an HTML report of the model, as ``kft report``; the table of the fit adds scores by group, residuals and series."""
        table = None
        if X is not None:
            X = _table.eager(X)
            table = self._needed(X) if self._names is None else self._columns(X, self.model_)
            table = table.append_column(self.spec_["data"]["target"], pa.array(_table.target(y)))
        self._write_report(path, table, options)

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """Draw values against predictions and, unless ax is one axis, the coverage of intervals; needs matplotlib."""
        return _plot.fit(_table.target(y), self.predict(X), self.evaluate(X, y), ax)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **params: Any) -> KFTRegressor:
        """Read a model file of save or ``kft fit``. Parameters such as n_jobs may be given."""
        model = cls(**params)
        model._restore(path)
        model.modes = model.spec_["data"]["modes"]
        model._read_client(model.record_.get("client"))
        return model

    def _client(self) -> Any:
        """Return what a model file of an array needs besides the model: its columns and their bins."""
        if self._bins is None:
            return None
        edges = {name: values.tolist() for name, values in self._bins.edges.items()}
        return {"columns": self._names, "named": hasattr(self, "feature_names_in_"), "edges": edges}

    def _read_client(self, client: Any) -> None:
        """Set what _client returned; None for the model of a frame."""
        self._bins, self._names = None, None
        if not isinstance(client, dict) or "edges" not in client:
            return
        try:
            self._names = [str(name) for name in client["columns"]]
            self._bins = _table.Bins.of({str(name): np.asarray(values, dtype=float) for name, values in client["edges"].items()})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(f"the bins of float columns in the model file are damaged: {error}", code="model_file") from None
        self.n_features_in_ = len(self._names)
        if client.get("named"):
            self.feature_names_in_ = np.asarray(self._names, dtype=object)

    def _columns(self, X: Any, model: FittedModel) -> pa.Table:
        """Return the columns that the model reads."""
        check_is_fitted(self)
        X = _table.eager(X)
        needed, optional = model.columns(self._threads())
        if self._names is not None:
            covariates = any(re.search(r"(^|=)(number|level)\(", mode) for mode in self.spec_["data"]["modes"])
            X = validate_data(self, X, dtype=None, reset=False, ensure_all_finite="allow-nan" if covariates else True)
            assert self._bins is not None
            return self._bins.apply(_table.array_columns(X, self._names)).select(needed)
        if not _table.is_frame(X):
            raise InputError("X has no column names, but the model was fitted to a table; pass a frame")
        have = _table.column_names(X)
        return _table.to_arrow(X, [*needed, *(name for name in optional if name in have)])

    def _predicted(self, X: Any, side: Any, **request: Any) -> pa.Table:
        """Return the columns that kft predict adds."""
        check_is_fitted(self)
        if self._targets():
            raise InputError(f"the model has the targets {', '.join(self._targets())}; use for_target to choose one")
        if side is None:
            return self.model_.predict(self._columns(X, self.model_), self._threads(), **request)
        extended = FittedModel(self.model_.data, self.model_.target)
        with _process.workspace() as folder:
            flags = [*self._threads(), *_options.side_flags(side, folder, absolute=True)]
            extended.columns(flags)  # starts the server, which reads the side tables
            try:
                return extended.predict(self._columns(X, extended), flags, **request)
            finally:
                extended.rest()

    def _quantiles(self, X: Any, levels: np.ndarray[Any, Any], side: Any) -> np.ndarray[Any, Any]:
        ordered, back = np.unique(levels, return_inverse=True)
        table = self._predicted(X, side, quantiles=ordered.tolist())
        return np.column_stack([_numbers(table.column(_MOMENTS + i)) for i in back.tolist()])

    def _framed(self, X: Any, names: list[tuple[Any, ...]], values: np.ndarray[Any, Any]) -> Any:
        """Return columns as a frame of the kind of X, an array if it is none."""
        target = self.spec_["data"]["target"]
        if _table.is_pandas(X):
            import pandas

            labels = [(target, *name) for name in names]
            columns = pandas.MultiIndex.from_tuples(labels) if len(labels[0]) > 1 else [target]
            return pandas.DataFrame(values, index=X.index, columns=columns)
        if _table.is_polars(X):
            import polars

            texts = ["_".join(f"{part:g}" if isinstance(part, float) else part for part in name) for name in names]
            if len(names[0]) == 1:
                texts = ["q" + text for text in texts]
            return polars.DataFrame(values, schema=texts if names[0] else ["var"])
        return values


def _varies(values: np.ndarray[Any, Any]) -> bool:
    """Report whether a column has several values. A missing one, NaN, is one of them."""
    if values.dtype.kind == "f":
        return len(np.unique(values)) > 1
    return len(values) > 0 and bool((values != values[0]).any())


def _columns_of(y: Any) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """Return the names and the values of the targets: one, or the columns of a frame with several."""
    y = _table.eager(y)
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] > 1 and _table.is_frame(y):
        table = _table.to_arrow(y)
        return [(name, _numbers(table.column(name))) for name in table.column_names]
    return [(_table.target_name(y), _table.target(y))]


def _text(value: Any) -> str:
    """Return a value of a cell as kft reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)


def _levels(name: str, values: Any) -> np.ndarray[Any, Any]:
    """Return probabilities as an array."""
    levels = np.atleast_1d(np.asarray(values, dtype=float))
    bad = levels[~((levels > 0) & (levels < 1))]
    if len(levels) == 0 or len(bad):
        text = f"{bad[0]:g} is not between 0 and 1" if len(bad) else "the list is empty"
        raise InputError(f"{name}: {text}; use levels such as 0.5 and 0.9", code="quantiles")
    return levels


def _numbers(column: Any) -> np.ndarray[Any, Any]:
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _covariates(columns: Sequence[str]) -> list[str]:
    """Return columns as modes that describe rows."""
    quoted = [_quoted([name], columns)[0] for name in columns]
    return [f"covariate({name})" if "=" not in name else "{}=covariate({})".format(*name.split("=", 1)) for name in quoted]


def _quoted(modes: Any, columns: Sequence[str]) -> Any:
    """Quote and name the modes that are the name of a column with a sign of the grammar, as price_USD="price (USD)"."""
    if modes is None or isinstance(modes, str):
        return modes
    signs = re.compile("[-+,=():*. ]+")
    return [f'{signs.sub("_", m).strip("_")}="{m}"' if m in columns and re.search("[+,=():*]", m) else m for m in modes]
