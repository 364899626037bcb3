"""Visit a nested model once, without recursion, into a list that needs none either.

Parts come before the container that holds them, and a container met twice is listed once: read in
order, the list is a program that rebuilds the model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from componentvec.errors import LabelError, SharingError, UnregisteredTypeError
from componentvec.names import quoted
from componentvec.tree._containers import take_apart
from componentvec.tree._parts import ClashingKeysError, Parts, Rebuild

__all__ = ["Container", "Item", "walk"]


class Item(NamedTuple):
    """Something that is not a container."""

    names: tuple[str, ...]
    """Its path in the model."""
    value: Any
    error: LabelError | None = None
    """Why it is not a container, when its keys are what hinders it."""


class Container(NamedTuple):
    """A container whose parts are listed before it."""

    names: tuple[str, ...]
    """Its path in the model; the first one, when there are several."""
    parts: tuple[str, ...]
    """Names of its parts."""
    places: tuple[int, ...]
    """Where its parts stand in the list."""
    rebuild: Rebuild
    value: object
    """The container itself."""
    left_out: frozenset[str] = frozenset()
    """Parts that its class wants left out of training."""
    kept: tuple[tuple[str, Any], ...] = ()
    """Attributes that are not parts, carried along by reference."""


class _Open(NamedTuple):
    names: tuple[str, ...]
    value: object
    parts: Parts
    places: list[int]


def walk(model: object, *, keep_shared: bool = True) -> list[Item | Container]:
    """List everything in a model, parts before containers; the model itself is last.

    Parameters
    ----------
    model : object
        Nested containers.
    keep_shared : bool, optional
        Whether a container met twice is listed once, or once per path.

    Raises
    ------
    SharingError
        When a container holds itself.
    """
    listed: list[Item | Container] = []
    # With each place the object: an id means nothing once its object is gone.
    done: dict[int, tuple[int, object]] = {}
    stack: list[_Open] = []
    open_now: dict[int, tuple[str, ...]] = {}

    def enter(value: Any, names: tuple[str, ...]) -> int | None:
        """List `value` or open it; gives its place when that is known at once."""
        if id(value) in open_now:
            msg = (
                f"{quoted(names)} is {quoted(open_now[id(value)])} again; a cycle has no end, so "
                "no vector can hold it"
            )
            raise SharingError(msg)
        if id(value) in done:
            return done[id(value)][0]
        try:
            parts = take_apart(value)
        except ClashingKeysError as error:  # no matter, as long as nothing in it needs a name
            listed.append(Item(names, value, LabelError(f"{quoted(names)}: {error}")))
            return len(listed) - 1
        except (LabelError, UnregisteredTypeError) as error:
            msg = f"{quoted(names)}: {error}"
            raise type(error)(msg) from None
        if parts is None:
            listed.append(Item(names, value))
            return len(listed) - 1
        stack.append(_Open(names, value, parts, []))
        open_now[id(value)] = names
        return None

    enter(model, ())
    while stack:
        names, value, parts, places = stack[-1]
        if len(places) < len(parts.names):
            name = parts.names[len(places)]
            place = enter(parts.values[len(places)], (*names, name))
            if place is not None:
                places.append(place)
            continue
        stack.pop()
        del open_now[id(value)]
        listed.append(
            Container(
                names, parts.names, tuple(places), parts.rebuild, value, parts.left_out, parts.kept
            )
        )
        if keep_shared and (type(value) is not tuple or value):  # () is one object everywhere
            done[id(value)] = (len(listed) - 1, value)
        if stack:
            stack[-1].places.append(len(listed) - 1)
    return listed
