"""Plan how a model is rebuilt: which leaves are parameters, where they lie, what holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from componentvec.arrays import Labelled, Layout, NamedTree, lay_out, named_tree, strip
from componentvec.axis import Leaf
from componentvec.backends import dtype_of
from componentvec.params._parameters import choose
from componentvec.params._plan import Assembly, Cut, Plan
from componentvec.sharing import untied
from componentvec.tree import Container, Item, walk
from componentvec.typing import Predicate, SharingPolicy

__all__ = ["take_model_apart"]


def take_model_apart(
    model: object, sharing: SharingPolicy, trainable: Predicate | None
) -> tuple[NamedTree, Plan, Layout]:
    """Find the parameters of a model.

    Parameters
    ----------
    model : nested containers
        The model.
    sharing : {"alias", "reject", "copy"}
        What happens to parameters that share memory.
    trainable : callable, optional
        Which leaves are parameters, instead of the default rule.

    Returns
    -------
    parameters : NamedTree
        The model's own arrays.
    plan : Plan
        The way back.
    layout : Layout
        The axis of a vector of them, and what fills it.
    """
    listed = [_plain(entry) for entry in walk(model, keep_shared=sharing == "alias")]
    if isinstance(listed[-1], Item):
        listed = [listed[-1]._replace(names=("_1",))]  # a model that is one leaf: it gets a name
    chosen = choose(listed, trainable, sharing)
    if sharing == "copy":
        listed = _untied(listed, chosen)
    parameters = _named(listed, chosen)
    layout = lay_out(parameters, sharing)
    if sharing != "alias":
        listed = _share_static_containers(listed, chosen)
    return parameters, _plan(listed, chosen, layout), layout


def _untied(listed: list[Item | Container], chosen: list[bool]) -> list[Item | Container]:
    """Give parameters that share memory with an earlier one memory of their own."""
    places = [p for p, entry in enumerate(listed) if chosen[p] and isinstance(entry, Item)]
    values = untied([listed[place].value for place in places])
    apart = list(listed)
    for place, value in zip(places, values, strict=True):
        apart[place] = Item(listed[place].names, value)
    return apart


def _holding(listed: list[Item | Container], chosen: list[bool]) -> list[bool]:
    """Tell for every entry whether it is a parameter, or has one inside."""
    holds: list[bool] = []
    for entry, is_chosen in zip(listed, chosen, strict=True):
        if isinstance(entry, Container):
            holds.append(any(holds[part] for part in entry.places))
        else:
            holds.append(is_chosen)
    return holds


def _share_static_containers(
    listed: list[Item | Container], chosen: list[bool]
) -> list[Item | Container]:
    """Let containers that were listed once per path, but hold no parameters, be one again."""
    firsts: dict[int, int] = {}
    places: list[int] = []
    for place, (entry, holds) in enumerate(zip(listed, _holding(listed, chosen), strict=True)):
        if isinstance(entry, Item):
            places.append(place)
            continue
        places.append(place if holds else firsts.setdefault(id(entry.value), place))
        listed[place] = entry._replace(places=tuple(places[part] for part in entry.places))
    return listed


def _plain(entry: Item | Container) -> Item | Container:
    """Take a labelled vector in a model for what it is there: an array."""
    if isinstance(entry, Item) and isinstance(entry.value, Labelled):
        return entry._replace(value=strip(entry.value))
    return entry


def _named(listed: list[Item | Container], chosen: list[bool]) -> NamedTree:
    """Build the tree of parameters, bottom up; what is shared in the model is shared in it."""
    made: list[Any] = []
    holds = _holding(listed, chosen)
    for entry in listed:
        if isinstance(entry, Item):
            made.append(entry.value)
            continue
        parts = [
            (name, part)
            for name, part in zip(entry.parts, entry.places, strict=True)
            if chosen[part] and (holds[part] or name not in entry.left_out)
        ]
        values = [made[place] for _, place in parts]
        made.append(named_tree([name for name, _ in parts], values, entry.names))
    if isinstance(made[-1], NamedTree):
        return made[-1]
    return named_tree(["_1"], [made[-1]]) if chosen[-1] else named_tree([], [])


def _plan(listed: list[Item | Container], chosen: list[bool], layout: Layout) -> Plan:
    """Say where every part of the model comes from: the vector, the statics or another part."""
    sites: dict[tuple[str, ...], Leaf] = dict(layout.axis.leaves())
    cuts: dict[Cut, int] = {}
    statics: list[Any] = []
    places: list[int] = []  # where each entry stands in its own list: cuts, statics or assemblies
    for entry, is_parameter in zip(listed, chosen, strict=True):
        if isinstance(entry, Container):
            places.append(-1)
        elif is_parameter:
            places.append(cuts.setdefault(_cut(sites[entry.names], entry.value), len(cuts)))
        else:
            places.append(len(statics))
            statics.append(entry.value)

    assemblies: list[Assembly] = []
    for position, (entry, is_parameter) in enumerate(zip(listed, chosen, strict=True)):
        if isinstance(entry, Container):
            places[position] = len(cuts) + len(statics) + len(assemblies)
            assemblies.append(
                Assembly(entry.parts, tuple(places[p] for p in entry.places), entry.rebuild)
            )
        elif not is_parameter:
            places[position] += len(cuts)
    return Plan(tuple(cuts), tuple(statics), tuple(assemblies), places[-1])


def _cut(site: Leaf, value: Any) -> Cut:
    assert site.slot is not None  # a whole model stores everything inside
    span = site.span
    is_number = type(value) in (bool, int, float, complex)
    scalar = type(value) if is_number else np.generic if isinstance(value, np.generic) else None
    dtype = None if is_number else dtype_of(value)
    return Cut(site.slot, span.start, span.stop, site.shape, site.view, dtype, scalar)
