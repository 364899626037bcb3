"""Every exception the package raises on purpose, and its two warnings.

Each error is a `ComponentError` and also the builtin that fits, so code that has never heard of
this package catches it where it would expect to. A message says what was asked, what was found,
where (a path that prints as code) and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "AxisMismatchError",
    "ComponentError",
    "CopyError",
    "DeviceError",
    "LabelError",
    "LengthError",
    "MissingDependencyError",
    "NoParametersWarning",
    "PromotionError",
    "ShadowedNameWarning",
    "SharingError",
    "UnregisteredTypeError",
]


class ComponentError(Exception):
    """Base of every error that componentvec raises on purpose."""


class LabelError(ComponentError, KeyError, AttributeError):
    """A component name that is unknown, taken or not usable.

    Close names are looked for only when the message is printed: libraries probe attributes with
    ``hasattr`` all day, and a miss has to stay cheap.

    Parameters
    ----------
    message : str
        What was asked and found.
    missing : str, optional
        The name that is not there.
    names : iterable of str, optional
        The names that are there.
    """

    def __init__(self, message: str, missing: str | None = None, names: Iterable[str] = ()) -> None:
        super().__init__(message, missing, names)
        self.missing = missing
        self.names = names

    def __str__(self) -> str:
        message = str(self.args[0])
        if self.missing is None:
            return message
        names = list(self.names)
        close = difflib.get_close_matches(self.missing, names, n=3)
        if close:
            return f"{message}; did you mean {' or '.join(map(repr, close))}?"
        if not names:
            return f"{message}; it has no components"
        shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
        return f"{message}; its components are {shown}"


class AxisMismatchError(ComponentError, ValueError):
    """Two labelled operands whose axes differ."""


class LengthError(ComponentError, ValueError):
    """A flat array, or a value for a component, of the wrong length or shape."""


class SharingError(ComponentError, ValueError):
    """Arrays that share memory where the policy, or the kind of overlap, does not allow it."""


class PromotionError(ComponentError, TypeError):
    """Values that are not numbers, or whose dtype would have to change to go where they are put."""


class CopyError(PromotionError, ValueError):
    """A copy that ``copy=False`` forbids; a ValueError too, as in NumPy."""


class DeviceError(ComponentError, TypeError):
    """Arrays of different devices, or of a device that this call does not take."""


class UnregisteredTypeError(ComponentError, TypeError):
    """An object that holds arrays, of a class that nobody said how to take apart."""


class MissingDependencyError(ComponentError, ImportError):
    """An optional library that the call needs is not installed."""


class ShadowedNameWarning(UserWarning):
    """A component has a name that the array itself owns, so only brackets reach it."""


class NoParametersWarning(UserWarning):
    """A model has numbers, but no parameter: Python numbers are static unless chosen."""
