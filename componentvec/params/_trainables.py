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
from componentvec.backends import dtype_of
from componentvec.errors import PromotionError
from componentvec.names import Path, format_path
from componentvec.params._by_dtype import RestructureByDtype, split_by_dtype
from componentvec.params._parameters import Predicate, choose
from componentvec.params._plan import Assembly, Cut, Plan
from componentvec.params._restructure import Restructure
from componentvec.promotion import Weak, buffer_dtype
from componentvec.tree import Container, Item, walk
from componentvec.typing import PromotionPolicy, SharingPolicy

__all__ = ["destructure", "destructure_by_dtype", "trainables_nt"]

M = TypeVar("M")


def trainables_nt(
    model: M, *, sharing: SharingPolicy = "alias", trainable: Predicate | None = None
) -> tuple[NamedTree, Restructure[M]]:
    """Collect the parameters of a model under their names.

    Parameters are the arrays and NumPy scalars of real or complex floating dtype. Walked are
    mappings, lists, tuples, named tuples, dataclasses, attrs classes and registered classes
    (`register_pytree_node`, or JAX's own); everything else is static, and carried by reference.
    A field with the metadata ``{"trainable": False}`` is static with all that it holds.

    Parameters
    ----------
    model : nested containers
        The model. It is not changed.
    sharing : {"alias", "reject", "copy"}, optional
        What happens to parameters that share memory: one slot for all (default), an error, or a
        slot each. For "copy", pass it to `ComponentVector` too, which keeps ties by default.
    trainable : callable, optional
        ``(path, leaf) -> bool``, asked for every array of numbers, NumPy scalar and Python number
        that no class left out: whether it is a parameter. Paths are written as in labels
        (``"layers._1.weight"``). Python numbers come back as such.

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
        When parameters share memory in a way that the policy refuses, when a static array overlaps
        one in part, or when a container holds itself.
    UnregisteredTypeError
        When an object holds arrays, but its class is none of the above.
    LabelError
        When a name is taken twice, or is one that named tuples need themselves.

    Warns
    -----
    NoParametersWarning
        When there are no parameters, but Python numbers, which may have been meant.

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
    parameters, plan, layout = _take_apart(model, sharing, trainable)
    return parameters, Restructure(layout.axis, plan, _common_dtype(layout))


def destructure(
    model: M,
    *,
    sharing: SharingPolicy = "alias",
    promotion: PromotionPolicy = "reject",
    dtype: Any = None,
    trainable: Predicate | None = None,
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
    trainable : callable, optional
        As for `trainables_nt`.

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
    SharingError, UnregisteredTypeError, LabelError
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
    _, plan, layout = _take_apart(model, sharing, trainable)
    vector: ComponentVector = fill(ComponentVector, layout, promotion, dtype)
    _check_integers(vector, layout)
    return vector, Restructure(layout.axis, plan, vector.dtype)


def destructure_by_dtype(
    model: M, *, sharing: SharingPolicy = "alias", trainable: Predicate | None = None
) -> tuple[dict[np.dtype[Any], ComponentVector], RestructureByDtype[M]]:
    """Turn a model of several dtypes into one labelled vector per dtype, without a cast.

    Parameters
    ----------
    model : nested containers
        As for `trainables_nt`.
    sharing : {"alias", "reject", "copy"}, optional
        As for `trainables_nt`.
    trainable : callable, optional
        As for `trainables_nt`. Python numbers are float64, complex128, int64 or bool.

    Returns
    -------
    vectors : dict of dtype to ComponentVector
        In the order in which the dtypes occur. Each has the components of its dtype only.
    restructure : RestructureByDtype
        ``restructure(vectors)`` gives a model whose arrays are all views of the vectors.

    Raises
    ------
    SharingError, UnregisteredTypeError, LabelError
        As for `trainables_nt`.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> model = {"body": np.ones(3, dtype="float32"), "scale": np.ones(1)}
    >>> vectors, restructure = cv.destructure_by_dtype(model)
    >>> {dtype.name: v.size for dtype, v in vectors.items()}
    {'float32': 3, 'float64': 1}
    >>> vectors[np.dtype("float32")].body[:] = 7
    >>> restructure(vectors)
    {'body': array([7., 7., 7.], dtype=float32), 'scale': array([1.])}
    """
    _, plan, layout = _take_apart(model, sharing, trainable)
    whole: Restructure[M] = Restructure(layout.axis, plan, _common_dtype(layout))
    return split_by_dtype(whole, layout)


def _check_integers(vector: ComponentVector, layout: Layout) -> None:
    """Check that Python integers will come back as they were."""
    for leaf, names in zip(layout.leaves, layout.names, strict=True):
        if isinstance(leaf, Weak) and type(leaf.value) is int:
            stored = vector[Path(names)]
            if int(stored.real) != leaf.value:
                msg = f"`{format_path(names)}` is {leaf.value}, which {vector.dtype} cannot hold"
                raise PromotionError(msg)


def _common_dtype(layout: Layout) -> np.dtype[Any]:
    """Return what all parameters of a model promote to, before there is a vector."""
    try:
        return buffer_dtype(layout.leaves, layout.names, "allow")
    except PromotionError:  # formats of few bits that NumPy does not promote all go into these
        is_complex = any(np.iscomplexobj(leaf) for leaf in layout.leaves)
        return np.dtype(np.complex128 if is_complex else np.float64)


def _take_apart(
    model: object, sharing: SharingPolicy, trainable: Predicate | None
) -> tuple[NamedTree, Plan, Layout]:
    listed = [_plain(entry) for entry in walk(model, keep_shared=sharing == "alias")]
    if isinstance(listed[-1], Item):
        listed = [listed[-1]._replace(names=("_1",))]  # a model that is one leaf: it gets a name
    chosen = choose(listed, trainable, sharing)
    parameters = _named(listed, chosen)
    layout = lay_out(parameters, sharing)
    if sharing != "alias":
        listed = _share_static_containers(listed, chosen)
    return parameters, _plan(listed, chosen, layout), layout


def _share_static_containers(
    listed: list[Item | Container], chosen: list[bool]
) -> list[Item | Container]:
    """Let containers that were listed once per path, but hold no parameters, be one again."""
    firsts: dict[int, int] = {}
    places: list[int] = []
    holds: list[bool] = []
    for place, entry in enumerate(listed):
        if isinstance(entry, Item):
            holds.append(chosen[place])
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


def _named(listed: list[Item | Container], chosen: list[bool]) -> NamedTree:
    """Build the tree of parameters, bottom up; what is shared in the model is shared in it."""
    made: list[Any] = []
    for entry in listed:
        if isinstance(entry, Item):
            made.append(entry.value)
            continue
        parts = [pair for pair in zip(entry.parts, entry.places, strict=True) if chosen[pair[1]]]
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
