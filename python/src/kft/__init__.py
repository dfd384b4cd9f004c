"""Tensor regression with side information and calibrated intervals, with the interfaces of scikit-learn."""

from ._errors import (
    BinaryError,
    InputError,
    KFTError,
    KFTWarning,
    ModelFileError,
    SpecificationError,
    UnknownColumnError,
    UnseenIDError,
)
from ._regressor import KFTRegressor

__all__ = [
    "BinaryError",
    "InputError",
    "KFTError",
    "KFTRegressor",
    "KFTWarning",
    "ModelFileError",
    "SpecificationError",
    "UnknownColumnError",
    "UnseenIDError",
]
