"""The flags of a labelled vector, which reach its base array and its components."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Flags"]


class Flags:
    """Stands for ``v.flags``: reads are ndarray's own, and setting goes through ``v.setflags``."""

    __slots__ = ("_flags", "_vector")

    def __init__(self, vector: Any) -> None:
        object.__setattr__(self, "_vector", vector)
        object.__setattr__(self, "_flags", np.ndarray.flags.__get__(vector))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flags, name)

    def __getitem__(self, name: str) -> Any:
        return self._flags[name]

    def __setattr__(self, name: str, value: bool) -> None:
        keyword = {"writeable": "write", "aligned": "align", "writebackifcopy": "uic"}.get(name)
        if keyword is None:
            setattr(self._flags, name, value)  # ndarray's own refusal
        else:
            self._vector.setflags(**{keyword: value})

    def __setitem__(self, name: str, value: bool) -> None:
        long_names = {"W": "writeable", "A": "aligned", "X": "writebackifcopy"}
        setattr(self, long_names.get(name, name.lower()), value)

    def __eq__(self, other: object) -> bool:
        return bool(self._flags == (other._flags if isinstance(other, Flags) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._flags)
