"""Models of nested arrays, and the vectors that hold their parameters."""

from componentvec.params._by_dtype import RestructureByDtype
from componentvec.params._parameters import is_parameter
from componentvec.params._restructure import Restructure
from componentvec.params._trainables import destructure, destructure_by_dtype, trainables_nt

__all__ = [
    "Restructure",
    "RestructureByDtype",
    "destructure",
    "destructure_by_dtype",
    "is_parameter",
    "trainables_nt",
]
