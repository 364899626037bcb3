"""Read the parameters out of a tree of a known structure: a model, a NamedTree, gradients.

The order of reading is worked out once. A call then walks a flat list of groups, and asks each only
for its parts; plain dicts and NamedTrees answer in one C call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from componentvec.arrays import Labelled, NamedTree, numbers
from componentvec.axis import Axis, Group, Leaf, Rearrangement, rearrangement
from componentvec.backends import is_foreign, is_numeric
from componentvec.errors import DeviceError, LabelError, LengthError, PromotionError
from componentvec.names import quoted
from componentvec.params._parameters import is_parameter
from componentvec.params._plan import Plan, picker
from componentvec.promotion import Weak, weak_to_array
from componentvec.tree import named_children
from componentvec.typing import Names

__all__ = ["Reader", "Site"]


class Site(NamedTuple):
    """A parameter's place in the vector."""

    names: Names
    leaf: Leaf
    rearranged: Rearrangement | None
    """How to get from the slot to the site; None for a reshape."""
    dtype: np.dtype[Any] | None
    """The dtype that the model has here; for Python numbers that of the vector."""

    @property
    def slot(self) -> int:
        """Ordinal of the slot; a whole model stores everything inside."""
        assert self.leaf.slot is not None
        return self.leaf.slot

    def looks_like(self, other: Site) -> bool:
        """Tell whether another site of this slot shows it in the same shape and order."""
        return (self.leaf.shape, self.leaf.view) == (other.leaf.shape, other.leaf.view)

    def show(self, slot: Any) -> Any:
        """Show the slot's elements in the site's shape."""
        if self.rearranged is None:
            return slot.reshape(self.leaf.shape)
        return self.rearranged.apply(slot)

    def hide(self, array: Any) -> Any:
        """Bring an array of the site's shape into the order of the slot."""
        return array.reshape(-1) if self.rearranged is None else self.rearranged.undo(array)


class _Group(NamedTuple):
    names: Names
    axis: Axis
    place: int
    """Where the group stands among everything read so far."""
    parts: tuple[str, ...]
    keys: frozenset[str]
    pick: Callable[[Any], tuple[Any, ...]]
    """Takes the parts out of a dict."""
    model_parts: dict[str, int] | None
    """All parts of the model's container, statics too; None where the model is one array."""


class Reader:
    """Finds the value of every site in trees of one structure."""

    __slots__ = ("_groups", "_pick", "sites")

    def __init__(self, axis: Axis, plan: Plan, dtype_of: Callable[[int], np.dtype[Any]]) -> None:
        groups: list[_Group] = []
        root = Group(slice(0, axis.size), axis, 0)
        found: list[tuple[Names, Leaf | Group, int]] = [((), root, plan.root)]
        for place, (names, child, model_place) in enumerate(found):  # grows while it is read
            if isinstance(child, Group):
                parts = child.axis.names
                inside = plan.parts_of(model_place)
                keys = frozenset(parts)
                group = _Group(names, child.axis, place, parts, keys, picker(parts), inside)
                groups.append(group)
                for name, part in child.axis.children.items():
                    part_place = -1 if inside is None else inside[name]
                    found.append(((*names, name), part.within(child), part_place))
        self._groups = groups
        places = {names: place for place, (names, _, _) in enumerate(found)}
        leaves = list(axis.leaves())
        self._pick = picker([places[names] for names, _ in leaves])
        dtypes: dict[Any, np.dtype[Any] | None] = {}
        for cut in plan.cuts:
            is_number = cut.scalar not in (None, np.generic)
            made = dtype_of(cut.slot) if is_number else cut.dtype
            dtypes[cut.slot, cut.shape, cut.view] = made
        self.sites = []
        for names, leaf in leaves:
            rearranged = rearrangement(leaf.shape, leaf.view) if leaf.view else None
            dtype = dtypes[leaf.slot or 0, leaf.shape, leaf.view]
            self.sites.append(Site(names, leaf, rearranged, dtype))

    def read(self, tree: Any, *, partial: bool, hint: str = "") -> Iterator[tuple[Site, Any]]:
        """Pair the sites, in order, with the arrays that `tree` has for them.

        Parameters
        ----------
        tree : nested containers
            The values.
        partial : bool
            Whether what is missing or None is left out, instead of raising.
        hint : str, optional
            What to do about missing parts, for messages.

        Raises
        ------
        LabelError, LengthError
            For parts that are missing or unknown, and for arrays of another shape.
        DeviceError
            For arrays of other libraries.
        """
        if not self.sites and self._groups[0].model_parts is None:
            return  # the model is one static: there is nothing to read
        one_array = self._groups[0].model_parts is None
        if one_array and not isinstance(tree, (NamedTree, dict)) and not _is_named_so(tree):
            tree = {"_1": tree}  # which is what the array is called
        found = [tree]
        for group in self._groups:
            part = found[group.place]
            if type(part) is dict and part.keys() == group.keys:
                found += group.pick(part)
            elif isinstance(part, NamedTree) and part._fields == group.parts:
                found += part
            else:
                found += self._parts(group, part, hint, partial=partial)
        for site, value in zip(self.sites, self._pick(found), strict=True):
            if value is None and partial:
                continue
            array = value if type(value) is np.ndarray else _as_array(site, value, hint)
            if array.shape != site.leaf.shape:
                where = quoted(site.names)
                msg = f"{where} has shape {site.leaf.shape}, but was given shape {array.shape}"
                raise LengthError(msg)
            yield site, array

    def _parts(self, group: _Group, value: Any, hint: str, *, partial: bool) -> Sequence[Any]:
        """Take the parts of a group out of any container, and look at what else it has."""
        if value is None and partial:
            return [None] * len(group.parts)
        parts = self._by_name(group, value)
        for name, part in parts.items():
            if part is not None and name not in group.axis.children:
                only = isinstance(value, NamedTree)  # a tree of parameters has no statics
                self._refuse_extra(group, name, part, strict=partial, only_parameters=only)
        missing = next((name for name in group.parts if name not in parts), None)
        if missing is not None and not partial:
            msg = f"{quoted((*group.names, missing))} is missing{hint}"
            raise LabelError(msg)
        return [parts.get(name) for name in group.parts]

    def _by_name(self, group: _Group, value: Any) -> dict[str, Any]:
        if isinstance(value, Labelled) and value._cv_state[0] is not None:
            return {name: value[name] for name in value.axis}
        try:
            parts = named_children(value)
        except LabelError as error:
            msg = f"{quoted(group.names)}: {error}"
            raise LabelError(msg) from None
        expected = group.model_parts
        if parts is None:
            found = f"an object of type {type(value).__name__}"
        elif type(value) in (list, tuple) and expected is not None and len(parts) != len(expected):
            found = f"a {type(value).__name__} of {len(parts)}"
        else:
            return parts
        has = f"the parts {', '.join(expected)}" if expected else "no parts"
        msg = f"{quoted(group.names)} has {has}, but was given {found}"
        raise LengthError(msg)

    def _refuse_extra(
        self, group: _Group, name: str, part: Any, *, strict: bool, only_parameters: bool
    ) -> None:
        """Raise for a part that this structure has no place for."""
        is_static = group.model_parts is not None and name in group.model_parts
        if (is_static and not only_parameters) or not (strict or _holds_parameters(part)):
            return
        msg = f"the model has no parameter {quoted((*group.names, name))}"
        raise LabelError(msg, name, group.axis)


def _holds_parameters(part: Any) -> bool:
    """Tell whether there is a parameter in something, at any depth."""
    pending = [part]
    seen: dict[int, Any] = {}
    while pending:
        value = pending.pop()
        if is_parameter(value):
            return True
        if id(value) not in seen:
            seen[id(value)] = value
            pending.extend((named_children(value) or {}).values())
    return False


def _is_named_so(tree: Any) -> bool:
    """Tell whether a tree for a model that is one array is a vector which names it."""
    return isinstance(tree, Labelled) and getattr(tree.axis, "names", None) == ("_1",)


def _as_array(site: Site, value: Any, hint: str) -> Any:
    """Convert a value to an array, or raise."""
    where = quoted(site.names)
    if is_foreign(value):
        msg = f"{where} is an array of {type(value).__module__}; convert it to NumPy first"
        raise DeviceError(msg)
    if isinstance(value, np.ma.MaskedArray):
        msg = f"{where} is a masked array, and a vector has no place for its mask"
        raise PromotionError(msg)
    expected = f"{where} is an array of shape {site.leaf.shape}"
    if value is None or isinstance(value, Mapping):
        got = f"None{hint}" if value is None else "a mapping"
        msg = f"{expected}, but was given {got}"
        raise LengthError(msg)
    try:
        weak = numbers(value)
        if isinstance(weak, Weak) and site.dtype is not None and weak.fits(site.dtype):
            return weak_to_array(weak, site.names, site.dtype)
        array = np.asarray(value)
    except ValueError:
        msg = f"{expected}, but was given a {type(value).__name__} that does not make an array"
        raise LengthError(msg) from None
    if not is_numeric(array.dtype):
        msg = f"{expected}, but was given a {type(value).__name__} of dtype {array.dtype}"
        raise PromotionError(msg)
    return array
