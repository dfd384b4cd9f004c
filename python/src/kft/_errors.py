"""Exceptions. Each carries the message of kft and, where there is one, the place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any


class KFTError(Exception):
    """An error of kft.

    Attributes:
        code: a word for the kind of error, such as ``unknown_column``; it does not change
            between versions.
        field: the path of the specification field that can fix it, as in ``data.modes``.
        file: the table that it concerns: X for the one of fit and predict.
        column: the column of the table that it concerns.
        row: the row of the table that it concerns, counted from 1.
    """

    _code = "failed"  # unless the program says more

    def __init__(
        self, message: str, *, code: str = "", field: str = "", file: str = "", column: str = "", row: int = 0
    ) -> None:
        super().__init__(message)
        self.message, self.code, self.field = message, code or self._code, field
        self.file, self.column, self.row = file, column, row

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,), self.__dict__


class InputError(KFTError, ValueError):
    """A table, a target or a weight that kft cannot use."""

    _code = "input"


class UnknownColumnError(InputError):
    """A column that the table does not have."""

    _code = "unknown_column"


class UnseenIDError(InputError):
    """An id that is not in the training data, if ``strict`` is set."""


class SpecificationError(KFTError, ValueError):
    """An option that kft does not have, or a value that it does not allow."""

    _code = "specification"


class ModelFileError(KFTError, ValueError):
    """A file that is not a complete, unmodified model."""


class BinaryError(KFTError, RuntimeError):
    """The program kft is missing, too old, or ended unexpectedly."""


class KFTWarning(UserWarning):
    """A reason to doubt a result."""


_INPUT = (
    "input domain constant_target side unknown_table cell quantiles samples too_few_rows not_fitted not_finite refused_row"
).split()

_CLASSES: dict[str, type[KFTError]] = {
    **dict.fromkeys(_INPUT, InputError),
    "unknown_column": UnknownColumnError,
    "unseen_id": UnseenIDError,
    "specification": SpecificationError,
    "usage": SpecificationError,
    "format": ModelFileError,
}


# Fields of a specification by section, as the program names them in its advice.
_FIELDS = {
    "data": "weight exposure censored nonnegative modes covariates lags history absent ends duplicates",
    "side": "tables variant space kernels columns intercept length-scales placebo",
    "uncertainty": "inference likelihood noise-use noise-variance noise prior-mean prior-variance conformal heaping mixing covariance moments",
    "fit": "solver ridge lambda sweeps patience cg-steps prune learning-rate batch epochs schedule effort refit",
}
# Fields and flags whose option has another name. Others have dashes for underscores.
_OPTIONS = {
    "data.covariates": "covariate",
    "side.tables": "side",
    "side.kernels": "kernel",
    "side.columns": "side_columns",
    "lambda": "lambda_",
    "term": "terms",
    "transform": "scale",
    "seed": "random_state",
    "threads": "n_jobs",
}
_FIELD = re.compile(r"(?<![\w./])(?:" + "|".join(rf"{section}\.(?:{names.replace(' ', '|')})" for section, names in _FIELDS.items()) + r")(?![\w/]|[-.]\w)")
_FLAG = re.compile(r"(?<![\w\"-])--([a-z]+(?:-[a-z]+)*)")
_QUOTED_FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")


def _option(name: str) -> str:
    """Return the option of estimators for a field or a flag."""
    name = _OPTIONS.get(name) or name.rpartition(".")[2]
    return (_OPTIONS.get(name) or name).replace("-", "_")


def in_python(text: str) -> str:
    """Return a message of the program with the names of options instead of fields and flags."""
    flag = _FLAG
    if text.startswith("unknown flag --"):  # with others that were perhaps meant, in quotes
        text, flag = text.replace("flag", "option", 1), _QUOTED_FLAG
    text = re.sub(r" \(see kft \w+ --help\)", "", text)
    return flag.sub(lambda m: _option(m[1]), _FIELD.sub(lambda m: _option(m[0]), text))


def from_messages(errors: Sequence[Mapping[str, Any]]) -> KFTError:
    """Return the exception for the errors that the program reported."""
    first = errors[0]
    code, field = str(first.get("code", "failed")), str(first.get("field", ""))
    return _CLASSES.get(code, SpecificationError if field else KFTError)(
        "\n".join(in_python(str(e["text"])) for e in errors),
        code=code,
        field=field,
        file=str(first.get("file", "")),
        column=str(first.get("column", "")),
        row=int(first.get("line", 0)),
    )
