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
    CopyError,
    DeviceError,
    LabelError,
    LengthError,
    MissingDependencyError,
    NoParametersWarning,
    PromotionError,
    ShadowedNameWarning,
    SharingError,
    UnregisteredTypeError,
)
from componentvec.names import Path, path
from componentvec.params import (
    Restructure,
    RestructureByDtype,
    destructure,
    destructure_by_dtype,
    is_parameter,
    trainables_nt,
)
from componentvec.tree import register_pytree_node, register_static

__version__ = "0.1.0"

__all__ = [
    "Axis",
    "AxisMismatchError",
    "ComponentError",
    "ComponentVector",
    "CopyError",
    "DeviceError",
    "LabelError",
    "Labelled",
    "LengthError",
    "MissingDependencyError",
    "NamedTree",
    "NoParametersWarning",
    "Path",
    "PromotionError",
    "Restructure",
    "RestructureByDtype",
    "ShadowedNameWarning",
    "SharingError",
    "UnregisteredTypeError",
    "destructure",
    "destructure_by_dtype",
    "errors",
    "full",
    "is_parameter",
    "path",
    "register_pytree_node",
    "register_static",
    "trainables_nt",
    "zeros",
]


def __dir__() -> list[str]:
    return __all__
