"""Which leaves of a model are parameters.

Arrays of inexact numbers are, and everything else is static; a class may leave parts out, and a
predicate may decide otherwise. What must not happen is that an array is static by accident.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from componentvec._stacklevel import user_stacklevel
from componentvec.backends import is_array, is_foreign, is_inexact, is_numeric, on_device
from componentvec.errors import LabelError, NoParametersWarning, UnregisteredTypeError
from componentvec.names import format_path, quoted
from componentvec.sharing import tied_to
from componentvec.tree import Container, Item, contents_of, is_static_class, take_apart
from componentvec.typing import Names, Predicate, SharingPolicy

__all__ = ["choose", "is_parameter"]

# What nothing hides in, and what there may be millions of.
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})

_Listed: TypeAlias = Sequence[Item | Container]


def choose(listed: _Listed, trainable: Predicate | None, sharing: SharingPolicy) -> list[bool]:
    """Tell which entries of a walk stand among the parameters.

    Parameters
    ----------
    listed : sequence of Item and Container
        A model, as `walk` lists it.
    trainable : callable, optional
        Decides instead of the default rule.
    sharing : {"alias", "reject", "copy"}
        Under "copy", memory with two names may be a parameter at one and static at the other.

    Returns
    -------
    list of bool
        True for parameters, and for the containers that are groups.

    Raises
    ------
    UnregisteredTypeError
        For objects that hold arrays, and whose class nobody said how to take apart.
    SharingError
        For static arrays that overlap parameters in part.
    TypeError
        When `trainable` is not a function that gives True or False.
    """
    given: object = trainable
    if given is not None and not callable(given):
        msg = f"trainable= takes a function of (path, leaf), not {given!r:.60}"
        raise TypeError(msg)
    paths, chosen = _visit(listed, trainable)
    searched: dict[int, Any] = {}
    for entry, names, chosen_here in zip(listed, paths, chosen, strict=True):
        if names is not None and not chosen_here:
            _refuse_hidden(() if entry is listed[-1] else names, entry, searched)
    if not any(chosen) and trainable is None:
        _warn_of_numbers(listed, paths)
    if sharing != "copy":
        _add_tied(listed, chosen)
    for place, entry in enumerate(listed):
        if isinstance(entry, Container):
            is_open = paths[place] is not None
            chosen[place] = is_open or any(chosen[part] for part in entry.places)
    return chosen


def _visit(listed: _Listed, trainable: Predicate | None) -> tuple[list[Names | None], list[bool]]:
    """Go wherever nothing leads that a class left out.

    Returns
    -------
    paths : list of (tuple of str or None)
        The first path to every entry; None for what is only left out.
    chosen : list of bool
        Whether it is a parameter. What stands in several places is one when any of them is chosen.
    """
    paths: list[Names | None] = [None] * len(listed)
    chosen = [False] * len(listed)
    pending: list[tuple[int, Names]] = [(len(listed) - 1, listed[-1].names)]
    while pending:
        place, names = pending.pop()
        entry = listed[place]
        if paths[place] is None:
            paths[place] = names
        elif trainable is None:
            continue  # the default rule says the same everywhere
        if isinstance(entry, Container):
            pending += [
                (part, (*names, name))
                for name, part in zip(entry.parts, entry.places, strict=True)
                if name not in entry.left_out
            ][::-1]
        elif trainable is not None and entry.error is not None:
            raise entry.error
        else:
            chosen[place] = chosen[place] or _is_chosen(names, entry.value, trainable)
    return paths, chosen


def _is_chosen(names: Names, value: Any, trainable: Predicate | None) -> bool:
    if is_static_class(type(value)):
        return False
    if trainable is None:
        return is_parameter(value)
    if type(value) in (bool, int, float, complex) or _has_numbers(value):
        answer: object = trainable(format_path(names), value)
        if not isinstance(answer, (bool, np.bool_)):
            msg = (
                f"trainable= gave {answer!r:.60} for {quoted(names)}; it must give True or False "
                "for the whole leaf"
            )
            raise TypeError(msg)
        return bool(answer)
    return False


def is_parameter(leaf: object) -> bool:
    """Tell whether a leaf is a parameter by default.

    Parameters
    ----------
    leaf : object
        Anything.

    Returns
    -------
    bool
        True for arrays and NumPy scalars of real or complex floating dtype.

    Examples
    --------
    To leave some parameters out, ask for the rest:

    >>> import numpy as np
    >>> import componentvec as cv
    >>> model = {"encoder": np.ones(2), "head": np.ones(1), "steps": 3}
    >>> v, _ = cv.destructure(
    ...     model, trainable=lambda path, leaf: cv.is_parameter(leaf) and path != "encoder"
    ... )
    >>> list(v.axis.paths())
    ['head']
    """
    return is_array(leaf) and is_inexact(leaf)


def _has_numbers(value: Any) -> bool:
    return is_foreign(value) or (is_array(value) and is_numeric(value.dtype))


def _add_tied(listed: _Listed, chosen: list[bool]) -> None:
    """Choose the static arrays that are the memory of a parameter too, in place."""
    arrays = [p for p, entry in enumerate(listed) if isinstance(entry, Item) and _has_memory(entry)]
    statics = [place for place in arrays if not chosen[place]]
    if not statics:
        return
    trained = [place for place in arrays if chosen[place]]
    tied = tied_to(
        [listed[place].value for place in trained],
        [listed[place].value for place in statics],
        [listed[place].names for place in (*trained, *statics)],
    )
    for place, is_tied in zip(statics, tied, strict=True):
        chosen[place] = is_tied


def _has_memory(item: Item) -> bool:
    return isinstance(item.value, np.ndarray) or is_foreign(item.value)


def _warn_of_numbers(listed: _Listed, paths: Sequence[Names | None]) -> None:
    numbers = [
        quoted(names)
        for entry, names in zip(listed, paths, strict=True)
        if names and isinstance(entry, Item) and type(entry.value) in (float, complex)
    ]
    if numbers:
        more = f" and {len(numbers) - 6} more" if len(numbers) > 6 else ""
        msg = (
            f"the model has no parameters; its Python numbers {', '.join(numbers[:6])}{more} are "
            "static: make them NumPy arrays or scalars, or pass trainable=lambda path, leaf: True"
        )
        warnings.warn(msg, NoParametersWarning, stacklevel=user_stacklevel())


def _refuse_hidden(names: Names, entry: Item | Container, searched: dict[int, Any]) -> None:
    """Raise for a static, or further attributes of a container, that an array hides in.

    Objects that were searched before are not searched again: there was nothing in them.
    """
    if isinstance(entry, Item):
        hidden, beside = _hidden_in(entry.value, searched), ""
    else:
        hidden = _first_array(((f".{name}", value) for name, value in entry.kept), searched)
        beside = ", beside its parts"
    if hidden is None:
        return
    if isinstance(entry, Item) and entry.error is not None:
        raise entry.error
    kind = type(entry.value)
    held = f"holds an array at `{hidden}`{beside}" if hidden else "is an array"
    msg = (
        f"{quoted(names)} is of class {kind.__qualname__}, which is not registered, but {held}; it "
        f"would be left out of the vector. {_cure(kind, is_container=bool(beside))}"
    )
    raise UnregisteredTypeError(msg)


def _cure(kind: type, *, is_container: bool) -> str:
    if kind.__module__ in ("builtins", "numpy") or kind is deque:
        return "Put what it holds into a list or dict"
    name = kind.__qualname__
    return (
        f"{'Make it one of the parts, or call' if is_container else 'Call'} "
        f"cv.register_pytree_node({name}, flatten, unflatten) to say what its parts are, or "
        f"cv.register_static({name}) to leave it out"
    )


def _hidden_in(value: Any, searched: dict[int, Any]) -> str | None:
    """Find an array inside something that is not a container; gives the code that reaches it."""
    if type(value) in _ATOMS or id(value) in searched:
        return None
    searched[id(value)] = value  # and not its id alone, which another object might get
    if is_array(value) and not _has_objects(value):
        return None
    if is_static_class(type(value)):
        return None
    return "" if _is_unknown_array(value) else _first_array(contents_of(value), searched)


def _first_array(held: Iterable[tuple[str, Any]], searched: dict[int, Any]) -> str | None:
    """Find an array among objects, or in what they hold."""
    pending = [iter(held)]
    while pending:
        code, value = next(pending[-1], (None, None))
        if code is None:
            pending.pop()
            continue
        if is_parameter(value) or _is_unknown_array(value):
            return code
        if id(value) in searched or is_static_class(type(value)):
            continue
        searched[id(value)] = value
        pending.append(_inside(code, value))
    return None


def _inside(code: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a container that are not left out, or what another object holds."""
    try:
        parts = take_apart(value)
    except LabelError:
        parts = None  # keys that would have one name
    if parts is None:
        for step, part in contents_of(value):
            yield f"{code}{step}", part
        return
    for name, part in zip(parts.names, parts.values, strict=True):
        if type(part) not in _ATOMS and name not in parts.left_out:
            yield f"{code}{_step(name)}", part
    for name, part in parts.kept:
        yield f"{code}.{name}", part


def _has_objects(array: Any) -> bool:
    return getattr(array.dtype, "kind", None) == "O"


def _step(name: str) -> str:
    text = format_path((name,))
    return text if text.startswith("[") else f".{text}"


def _is_unknown_array(value: object) -> bool:
    """Tell whether an object is an array of a library that we do not know."""
    return not is_array(value) and (on_device(value) or hasattr(type(value), "__array__"))
