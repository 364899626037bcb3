"""One object per structure: the identity that makes comparing two axes a pointer comparison."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from componentvec.axis._axis import Axis

__all__ = ["Structure", "intern"]


class Structure:
    """What two equal axes have in common.

    Compared by identity: `intern` gives the same object for the same content as long as anybody
    holds it. The content names child groups by their own `Structure`, so neither hashing nor
    comparing it ever descends.
    """

    __slots__ = ("__weakref__", "axis", "content", "root_axis")

    def __init__(self, content: tuple[Any, ...]) -> None:
        self.content = content
        # The axes made of it that may be used again: wherever it occurs, when nothing in it is
        # tied; else only as a root, because notes on ties name paths from the root.
        self.axis: weakref.ref[Axis] | None = None
        self.root_axis: weakref.ref[Axis] | None = None


_structures: weakref.WeakValueDictionary[tuple[Any, ...], Structure] = weakref.WeakValueDictionary()
_lock = threading.RLock()  # a collection in between may run code that comes back here


def intern(content: tuple[Any, ...]) -> Structure:
    """Return the structure with this content, making it when nobody holds one."""
    with _lock:
        structure = _structures.get(content)
        if structure is None:
            structure = _structures.setdefault(content, Structure(content))
        return structure
