"""From a model to its parameters: which leaves count, what they are called, and the way back."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from componentvec.arrays import (
    ComponentVector,
    Labelled,
    Layout,
    NamedTree,
    fill,
    lay_out,
    named_tree,
    strip,
)
from componentvec.axis import Leaf
from componentvec.backends import dtype_of, is_array, is_inexact
from componentvec.params._plan import Assembly, Cut, Plan
from componentvec.params._restructure import Restructure
from componentvec.tree import Container, Item, walk
from componentvec.typing import PromotionPolicy, SharingPolicy

__all__ = ["destructure", "trainables_nt"]

M = TypeVar("M")


def trainables_nt(
    model: M, *, sharing: SharingPolicy = "alias"
) -> tuple[NamedTree, Restructure[M]]:
    """Collect the parameters of a model under their names.

    Parameters are the arrays and NumPy scalars of real or complex floating dtype. Walked are dicts,
    lists, tuples, named tuples and dataclasses; everything else is static, and carried by
    reference.

    Parameters
    ----------
    model : nested containers
        The model. It is not changed.
    sharing : {"alias", "reject", "copy"}, optional
        What happens to parameters that share memory: one slot for all (default), an error, or a
        slot each. For "copy", pass it to `ComponentVector` too, which keeps ties by default.

    Returns
    -------
    parameters : NamedTree
        Nested named tuples of the model's own arrays, not copies. Positions are named ``_1``,
        ``_2``, …; a container without parameters is an empty group, a static is absent.
    restructure : Restructure
        Makes models from vectors: ``restructure(v)``.

    Raises
    ------
    SharingError
        When parameters share memory in a way that the policy refuses, or a container holds itself.
    LabelError
        When a name is taken twice, or is one that named tuples need themselves.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> import componentvec as cv
    >>> model = {"x": np.array([1.0, 2.0]), "y": (math.sin, np.array([3.0, 4.0]))}
    >>> ps, restructure = cv.trainables_nt(model)
    >>> ps
    NamedTree(x=array([1., 2.]), y=NamedTree(_2=array([3., 4.])))
    >>> v = cv.ComponentVector(ps)
    >>> restructure(10 * v)
    {'x': array([10., 20.]), 'y': (<built-in function sin>, array([30., 40.]))}
    """
    parameters, plan, layout = _take_apart(model, sharing)
    dtypes = {cut.dtype for cut in plan.cuts if cut.dtype is not None}
    try:
        dtype = np.result_type(*dtypes) if dtypes else np.dtype(np.float64)
    except np.exceptions.DTypePromotionError:
        dtype = np.dtype(np.float64)  # two formats of few bits, which all go into this one
    return parameters, Restructure(layout.axis, plan, dtype)


def destructure(
    model: M,
    *,
    sharing: SharingPolicy = "alias",
    promotion: PromotionPolicy = "reject",
    dtype: Any = None,
) -> tuple[ComponentVector, Restructure[M]]:
    """Turn a model into one labelled vector and the way back.

    Parameters
    ----------
    model : nested containers
        As for `trainables_nt`.
    sharing : {"alias", "reject", "copy"}, optional
        As for `trainables_nt`.
    promotion : {"reject", "allow"}, optional
        Whether parameters of different dtypes may be promoted to a common one.
    dtype : dtype-like, optional
        The vector's dtype, castable from every parameter by the ``same_kind`` rule.

    Returns
    -------
    vector : ComponentVector
        A copy of all parameters in one buffer; shared ones once.
    restructure : Restructure
        ``restructure(vector)`` gives a model whose arrays are views of the vector.

    Raises
    ------
    PromotionError
        When the parameters have several dtypes and nothing allows it.
    SharingError, LabelError
        As for `trainables_nt`.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> w = np.ones((2, 3))
    >>> v, restructure = cv.destructure([{"weight": w}, {"weight": w.T}])
    >>> v.size
    6
    >>> v._2.weight[0, 1] = 5.0
    >>> restructure(v)[0]["weight"]
    array([[1., 1., 1.],
           [5., 1., 1.]])
    """
    _, plan, layout = _take_apart(model, sharing)
    vector: ComponentVector = fill(ComponentVector, layout, promotion, dtype)
    return vector, Restructure(layout.axis, plan, vector.dtype)


def _take_apart(model: object, sharing: SharingPolicy) -> tuple[NamedTree, Plan, Layout]:
    listed = [_plain(entry) for entry in walk(model, keep_shared=sharing == "alias")]
    if isinstance(listed[-1], Item) and _is_parameter(listed[-1].value):
        # A model that is one array: it gets a name, and no container.
        listed = [listed[-1]._replace(names=("_1",))]
    if sharing != "alias":
        listed = _share_static_containers(listed)
    kept = [isinstance(entry, Container) or _is_parameter(entry.value) for entry in listed]
    parameters = _named(listed, kept)
    layout = lay_out(parameters, sharing)
    return parameters, _plan(listed, kept, layout), layout


def _share_static_containers(listed: list[Item | Container]) -> list[Item | Container]:
    """Let containers that were listed once per path, but hold no parameters, be one again."""
    firsts: dict[int, int] = {}
    places: list[int] = []
    holds: list[bool] = []
    for place, entry in enumerate(listed):
        if isinstance(entry, Item):
            holds.append(_is_parameter(entry.value))
            places.append(place)
            continue
        holds.append(any(holds[part] for part in entry.places))
        places.append(place if holds[-1] else firsts.setdefault(id(entry.value), place))
        listed[place] = entry._replace(places=tuple(places[part] for part in entry.places))
    return listed


def _plain(entry: Item | Container) -> Item | Container:
    """Take a labelled vector in a model for what it is there: an array."""
    if isinstance(entry, Item) and isinstance(entry.value, Labelled):
        return entry._replace(value=strip(entry.value))
    return entry


def _is_parameter(value: object) -> bool:
    return is_array(value) and is_inexact(value)


def _named(listed: list[Item | Container], kept: list[bool]) -> NamedTree:
    """Build the tree of parameters, bottom up; what is shared in the model is shared in it."""
    made: list[Any] = []
    for entry in listed:
        if isinstance(entry, Item):
            made.append(entry.value)
            continue
        parts = [pair for pair in zip(entry.parts, entry.places, strict=True) if kept[pair[1]]]
        values = [made[place] for _, place in parts]
        made.append(named_tree([name for name, _ in parts], values, entry.names))
    if isinstance(made[-1], NamedTree):
        return made[-1]
    return named_tree(["_1"], [made[-1]]) if kept[-1] else named_tree([], [])


def _plan(listed: list[Item | Container], kept: list[bool], layout: Layout) -> Plan:
    """Say where every part of the model comes from: the vector, the statics or another part."""
    sites: dict[tuple[str, ...], Leaf] = dict(layout.axis.leaves())
    cuts: dict[Cut, int] = {}
    statics: list[Any] = []
    places: list[int] = []  # where each entry stands in its own list: cuts, statics or assemblies
    for entry, keep in zip(listed, kept, strict=True):
        if isinstance(entry, Container):
            places.append(-1)
        elif keep:
            places.append(cuts.setdefault(_cut(sites[entry.names], entry.value), len(cuts)))
        else:
            places.append(len(statics))
            statics.append(entry.value)

    assemblies: list[Assembly] = []
    for position, (entry, keep) in enumerate(zip(listed, kept, strict=True)):
        if isinstance(entry, Container):
            places[position] = len(cuts) + len(statics) + len(assemblies)
            assemblies.append(
                Assembly(entry.parts, tuple(places[p] for p in entry.places), entry.rebuild)
            )
        elif not keep:
            places[position] += len(cuts)
    return Plan(tuple(cuts), tuple(statics), tuple(assemblies), places[-1])


def _cut(site: Leaf, value: Any) -> Cut:
    assert site.slot is not None  # a whole model stores everything inside
    scalar = isinstance(value, np.generic)
    span = site.span
    return Cut(site.slot, span.start, span.stop, site.shape, site.view, dtype_of(value), scalar)
