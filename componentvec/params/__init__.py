"""Models of nested arrays, and the vectors that hold their parameters."""

from componentvec.params._restructure import Restructure
from componentvec.params._trainables import destructure, trainables_nt

__all__ = ["Restructure", "destructure", "trainables_nt"]
