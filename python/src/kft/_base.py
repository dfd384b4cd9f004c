"""What the estimators share: options, fitting, the model file, display."""

from __future__ import annotations

import copy
import json
import numbers
import os
import warnings
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _display, _options, _process, _table
from ._errors import InputError, KFTError, KFTWarning, ModelFileError, in_python
from ._server import FittedModel

Self = TypeVar("Self", bound="KFTEstimator")


class KFTEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators.

    Attributes:
        record_: the scores and the course of the fit, as ``kft fit --json`` prints them.
        spec_: the full specification of the fitted model.
    """

    modes: Any
    side: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool | None
    model_: FittedModel
    record_: dict[str, Any]
    spec_: dict[str, Any]

    def __init__(self, options: dict[str, Any]) -> None:
        if "transform" in options:  # with such an attribute scikit-learn would take this for a transformer
            raise TypeError(f"{type(self).__name__} has no option transform; use scale")
        self._options = options

    # Parameters: those of the signature, and options, which may have any name.

    def __getattr__(self, name: str) -> Any:
        options = self.__dict__.get("_options", {})
        if name in options:
            return options[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with the options."""
        return {**super().get_params(deep), **self._options}

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters or options. An option that kft does not have is an error of fit."""
        own = set(super().get_params(deep=False))
        for name, value in params.items():
            if name in own:
                setattr(self, name, value)
            else:
                self._options[name] = value
        return self

    def _given(self) -> dict[str, Any]:
        """Return all options of the program, by name."""
        own = super().get_params(deep=False)
        for name in ("modes", "side", "random_state", "n_jobs", "verbose", "bins", "id_cols", "time_col", "target_col"):
            own.pop(name, None)
        own["term"], own["transform"] = own.pop("terms"), own.pop("scale")
        return {**own, **self._options}

    def _threads(self) -> list[str]:
        return [] if self.n_jobs is None or self.n_jobs < 1 else [f"--threads={self.n_jobs}"]

    # Fitting and files.

    def _fit_table(self, table: pa.Table, target: str, modes: Any, more: list[str], client: Any = None) -> None:
        """Run kft fit on a table, which is called X. The model file keeps the client's value."""
        seed = self.random_state
        if isinstance(seed, np.random.Generator):
            seed = seed.integers(1, 2**31 - 1)
        elif seed is not None and not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(1, 2**31 - 1)
        more = more if seed is None else [*more, f"--seed={int(seed) or 1}"]
        with _process.workspace() as folder:
            _table.write(table, folder / "X")
            args = ["fit", "X", "-o", "model.kft", "--json", f"--target={target}", *_options.mode_flags(modes)]
            if client is not None:
                (folder / "client.json").write_text(json.dumps(client), encoding="utf-8")
                args.append("--client=client.json")
            args += _options.flags(self._given()) + _options.side_flags(self.side, folder)
            report = json.loads(_process.run([*args, *more, *self._threads()], folder, verbose=self.verbose, keep=True))
            self.model_ = FittedModel((folder / "model.kft").read_bytes())
        self.spec_ = report.pop("spec")
        self.record_ = report
        for text in report.get("warnings") or []:
            warnings.warn(in_python(text), KFTWarning, stacklevel=3)

    def _run_verb(self, verb: str, *args: str, table: pa.Table | None = None, result: str = "") -> bytes:
        """Run a verb on the model and a table called X; return standard output, or the file called result."""
        check_is_fitted(self)
        with _process.workspace() as folder:
            (folder / "model.kft").write_bytes(self.model_.data)
            tables = []
            if table is not None:
                _table.write(table, folder / "X")
                tables = ["X"]
            output = _process.run([verb, "model.kft", *tables, *self.model_.flags(), *args], folder)
            return (folder / result).read_bytes() if result else output

    def _update(self, rows: pa.Table | None, removed: pa.Table | None, late: bool, side: Any, name: str = "X") -> None:
        """Run kft update with tables of rows to add and to remove, which errors call by the name of the argument; None is no table."""
        with _process.workspace() as folder:
            (folder / "model.kft").write_bytes(self.model_.data)
            args = ["update", "model.kft"]
            flags = ["-o", "new.kft", "--json", *self._threads(), *(["--late"] if late else [])]
            if side is not None:
                flags += _options.side_flags(side, folder, absolute=True)
            if rows is not None:
                _table.write(rows, folder / name)
                args.append(name)
            if removed is not None:
                _table.write(removed, folder / "removed")
                flags.append("--remove=removed")
            try:
                output = _process.run([*args, *flags], folder)
            except KFTError as error:
                if "only on request" in error.message:  # rows of earlier periods
                    error.message += "; pass late=True to take them in"
                    error.args = (error.message,)
                raise
            self.update_: dict[str, Any] = json.loads(output)
            self.model_ = FittedModel((folder / "new.kft").read_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, completely or not at all. The command line reads it too."""
        check_is_fitted(self)
        _process.replace(path, self.model_.data)

    def _restore(self, path: str | os.PathLike[str]) -> None:
        """Read a model file."""
        model = FittedModel(Path(path).read_bytes())
        try:
            model.columns(self._threads())
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)}: {error}", code=error.code) from None
        with _process.workspace() as folder:
            described = json.loads(_process.run(["inspect", os.path.abspath(path), "--json"], folder))
        self.model_ = model
        self.spec_ = described["spec"]
        self.record_ = {**described["training"], "weights": described["weights"]}

    def _targets(self) -> list[str]:
        """Return the names of several targets, none if there is one."""
        names = [name.strip() for name in self.spec_["data"]["target"].split(",")]
        return names if len(names) > 1 else []

    def for_target(self: Self, name: str) -> Self:
        """Return the estimator of one of several targets, which shares the fitted model."""
        check_is_fitted(self)
        if name not in self._targets():
            raise InputError(f"the model has no target {name!r}; its targets are {', '.join(self._targets()) or self.spec_['data']['target']}")
        one = copy.copy(self)
        one.model_ = FittedModel(self.model_.data, name)
        one.spec_ = {**self.spec_, "data": {**self.spec_["data"], "target": name}}
        return one

    def _write_report(self, path: str | os.PathLike[str], table: pa.Table | None, options: dict[str, Any]) -> None:
        """Run kft report."""
        flags = _options.flags(options)
        _process.replace(path, self._run_verb("report", "-q", "-o", "report.html", *flags, table=table, result="report.html"))

    # Display.

    def _repr_html_(self) -> str:
        if not hasattr(self, "model_"):
            return str(super()._repr_html_inner())
        return _display.model(type(self).__name__, self.spec_, self.record_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

