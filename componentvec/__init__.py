"""Labelled flat vectors: named views of one array, and models turned into vectors and back.

Start with `ComponentVector` for data of your own, and with `destructure` for a model of nested
arrays.
"""

from componentvec import errors
from componentvec.arrays import ComponentVector, Labelled, NamedTree, full, zeros
from componentvec.axis import Axis
from componentvec.errors import (
    AxisMismatchError,
    ComponentError,
    DeviceError,
    LabelError,
    LengthError,
    MissingDependencyError,
    PromotionError,
    ShadowedNameWarning,
    SharingError,
)
from componentvec.names import Path, path
from componentvec.params import Restructure, destructure, trainables_nt

__version__ = "0.1.0"

__all__ = [
    "Axis",
    "AxisMismatchError",
    "ComponentError",
    "ComponentVector",
    "DeviceError",
    "LabelError",
    "Labelled",
    "LengthError",
    "MissingDependencyError",
    "NamedTree",
    "Path",
    "PromotionError",
    "Restructure",
    "ShadowedNameWarning",
    "SharingError",
    "destructure",
    "errors",
    "full",
    "path",
    "trainables_nt",
    "zeros",
]


def __dir__() -> list[str]:
    return __all__
