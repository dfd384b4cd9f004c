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
from ._forecaster import KFTForecaster
from ._regressor import KFTRegressor

__version__ = "0.2.0.dev0"

__all__ = [
    "BinaryError",
    "InputError",
    "KFTError",
    "KFTForecaster",
    "KFTRegressor",
    "KFTWarning",
    "ModelFileError",
    "SpecificationError",
    "UnknownColumnError",
    "UnseenIDError",
]
