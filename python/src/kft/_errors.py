"""Exceptions. Each carries the message of kft and, where there is one, the place."""

from __future__ import annotations

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


def from_messages(errors: Sequence[Mapping[str, Any]]) -> KFTError:
    """Return the exception for the errors that the program reported."""
    first = errors[0]
    code, field = str(first.get("code", "failed")), str(first.get("field", ""))
    return _CLASSES.get(code, SpecificationError if field else KFTError)(
        "\n".join(str(e["text"]) for e in errors),
        code=code,
        field=field,
        file=str(first.get("file", "")),
        column=str(first.get("column", "")),
        row=int(first.get("line", 0)),
    )
