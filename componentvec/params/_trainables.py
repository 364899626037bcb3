"""From a model to its parameters and back: the three calls that users make."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from componentvec.arrays import ComponentVector, Layout, NamedTree, fill
from componentvec.backends import kind_of
from componentvec.errors import PromotionError
from componentvec.names import Path, format_path
from componentvec.params._by_dtype import RestructureByDtype, split_by_dtype
from componentvec.params._restructure import Restructure
from componentvec.params._take_apart import take_model_apart
from componentvec.promotion import Weak, buffer_dtype
from componentvec.typing import Predicate, PromotionPolicy, SharingPolicy

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
        slot each. Under "copy" the tree holds copies where an earlier one has the memory.
    trainable : callable, optional
        ``(path, leaf) -> bool``, asked for every array of numbers, NumPy scalar and Python number
        that no class left out: whether it is a parameter. Paths are written as in labels
        (``"layers._1.weight"``). Python numbers come back as such.

    Returns
    -------
    parameters : NamedTree
        Nested named tuples of the model's own arrays. Positions are named ``_1``,
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
    parameters, plan, layout = take_model_apart(model, sharing, trainable)
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
    _, plan, layout = take_model_apart(model, sharing, trainable)
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
    _, plan, layout = take_model_apart(model, sharing, trainable)
    whole: Restructure[M] = Restructure(layout.axis, plan, _common_dtype(layout))
    return split_by_dtype(whole, layout)


def _check_integers(vector: ComponentVector, layout: Layout) -> None:
    """Check that integers will come back as they were."""
    for leaf, names in zip(layout.leaves, layout.names, strict=True):
        given = np.asarray(leaf.value if isinstance(leaf, Weak) else leaf)
        if given.dtype == vector.dtype or kind_of(given.dtype) != "i":
            continue
        stored = np.asarray(vector[Path(names)]).real
        with np.errstate(invalid="ignore"):
            wrong = np.flatnonzero(stored.astype(given.dtype) != given)
        if wrong.size:
            number = given.reshape(-1)[wrong[0]]
            msg = (
                f"`{format_path(names)}` has {number}, which {vector.dtype} does not hold exactly; "
                "use destructure_by_dtype, or leave it out with trainable="
            )
            raise PromotionError(msg)


def _common_dtype(layout: Layout) -> np.dtype[Any]:
    """Return what all parameters of a model promote to, before there is a vector."""
    try:
        return buffer_dtype(layout.leaves, layout.names, "allow")
    except PromotionError:  # formats of few bits that NumPy does not promote all go into these
        is_complex = any(np.iscomplexobj(leaf) for leaf in layout.leaves)
        return np.dtype(np.complex128 if is_complex else np.float64)
