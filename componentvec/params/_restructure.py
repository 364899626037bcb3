"""The way back from a vector to a model, and the linear maps that go with it.

Restructuring is linear in the vector: it repeats each slot at its sites. `flatten` is its inverse
on trees whose tied sites agree, `pullback` its transpose, which sums over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from componentvec.arrays import ComponentVector, Labelled, NamedTree, strip, zeros
from componentvec.axis import Axis
from componentvec.backends import is_array, is_numeric, native
from componentvec.errors import LabelError, LengthError
from componentvec.names import format_path
from componentvec.params._casting import FOLLOW, Rules, finish
from componentvec.params._options import (
    as_flat,
    by_rule,
    check_axis,
    check_length,
    check_rules,
    copied,
    statics_in,
)
from componentvec.params._plan import Plan
from componentvec.params._reader import Reader, Site
from componentvec.params._tied_values import add_cotangent, agreeing, check_fits, values_of
from componentvec.typing import DtypeRule, StaticsRule

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["Restructure"]

M = TypeVar("M")
A = TypeVar("A", bound=np.ndarray[Any, Any])

_NOT_A_VECTOR = (
    "; to get the vector of a model, use flatten, and to change some of a model's parameters, pass "
    "base="
)


@dataclass(frozen=True, slots=True)
class Restructure(Generic[M]):
    """Makes models of one structure from flat vectors; holds no parameter values.

    What `trainables_nt` and `destructure` return beside the parameters. Immutable, comparable and
    hashable; picklable if the model's statics are.
    """

    axis: Axis
    """The label tree of the vectors it takes."""
    _plan: Plan
    dtype: np.dtype[Any]
    """The dtype of the vectors that `flatten` and `pullback` return: that of the vector it came
    with, or what the dtypes in the model promote to."""
    _made_reader: Reader | None = field(default=None, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Restructure, (self.axis, self._plan, self.dtype)

    def __len__(self) -> int:
        """Return the number of elements of the vectors it takes."""
        return self.axis.size

    def __bool__(self) -> bool:
        """Return True, for models without parameters too."""
        return True

    def __repr__(self) -> str:
        return f"<Restructure of {self.axis.size} {self.dtype} elements: {self.axis!r}>"

    def __call__(
        self,
        vector: Any,
        /,
        *,
        dtype: DtypeRule = "restore",
        copy: bool | None = None,
        statics: StaticsRule = "share",
        base: M | NamedTree | None = None,
    ) -> M:
        """Make a model from a vector.

        Parameters
        ----------
        vector : ComponentVector, one-dimensional array of any library, or NamedTree
            The parameters. A labelled vector must have this structure's axis, another array exactly
            its length; in a tree, tied sites must agree. With `base`, any nested containers with
            the model's names, from which parts may be missing or None; statics in it do not count.
        dtype : {"restore", "follow"}, optional
            Whether each NumPy array gets the dtype it has in the model (copying only where that is
            another one), or follows the vector. Arrays of other libraries follow the vector.
        copy : bool, optional
            None copies where a cast forces it, False raises there, True gives the model memory of
            its own. NumPy scalars and Python numbers are always copies.
        statics : {"share", "copy"}, optional
            Whether static arrays are the original's own, or copies. Attributes besides the parts of
            a container are always its own.
        base : model or NamedTree, optional
            A model of this structure, whose own arrays are taken for the parameters that `vector`
            does not have, and whose statics are taken where it has them. What `vector` does have
            changes all sites tied to it.

        Returns
        -------
        model
            Of the same types as the model this was made from. Its arrays are views of `vector`, but
            for those that have to be cast; tied ones of the same shape are one object. Statics that
            are not arrays are the original's own.

        Raises
        ------
        AxisMismatchError, LengthError, LabelError
            For a vector of another structure or shape.
        PromotionError
            For a complex vector where a parameter is real: dropping imaginary parts is never right.
            The same for fractions where it is an integer.
        CopyError
            For casts under ``copy=False``.
        SharingError
            For a tree whose tied sites differ.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> model = {"body": np.zeros(2), "head": np.zeros(1, dtype="float32")}
        >>> v, restructure = cv.destructure(model, promotion="allow")
        >>> restructure(v + 0.1)
        {'body': array([0.1, 0.1]), 'head': array([0.1], dtype=float32)}
        >>> restructure({"head": [5.0]}, base=model)
        {'body': array([0., 0.]), 'head': array([5.], dtype=float32)}
        """
        restores = dtype == "restore"
        if not restores or statics != "share" or copy is not None:
            check_rules(dtype, statics, copy)
        own: Sequence[Any] = self._plan.statics
        if base is not None or isinstance(vector, NamedTree):
            values = self._from_tree(vector, base, self._rules(restores, copy))
            own = own if base is None else statics_in(self._plan, base)
        else:
            is_plain = type(vector) is np.ndarray and vector.dtype.kind in "fc"
            flat = vector if is_plain else as_flat(vector, self.axis, restores, _NOT_A_VECTOR)
            check_length(self.axis, flat.shape)
            if copy:
                flat = copied(flat)
            values = [flat[span] for span in self._plan.spans]
            if restores and flat.dtype is not self._plan.dtype and isinstance(flat, np.ndarray):
                finish(self._plan, values, self._rules(restores, copy))
            else:
                self._plan.shape(values)
        model: M = self._plan.build(values, by_rule(own, statics))
        return model

    def batch(
        self,
        vectors: Any,
        /,
        *,
        dtype: DtypeRule = "restore",
        copy: bool | None = None,
        statics: StaticsRule = "share",
    ) -> M:
        """Make one model of many vectors: every parameter gets their leading dimensions.

        Parameters
        ----------
        vectors : array of shape ``(*batch, n)``
            One vector per row.
        dtype, copy, statics
            As for calling.

        Returns
        -------
        model
            Its arrays have shape ``(*batch, *shape)`` and are views of `vectors`; NumPy scalars and
            Python numbers are arrays of shape `batch`.

        Raises
        ------
        LengthError
            When the last dimension does not have this structure's length.
        PromotionError
            As for calling.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> _, restructure = cv.destructure({"w": np.zeros((2, 2)), "b": np.zeros(2)})
        >>> restructure.batch(np.arange(12.0).reshape(2, 6))["b"]
        array([[ 4.,  5.],
               [10., 11.]])
        """
        check_rules(dtype, statics, copy)
        restores = dtype == "restore"
        rows = as_flat(vectors, self.axis, restores)
        check_length(self.axis, rows.shape, batch=True)
        if copy:
            rows = copied(rows)
        values = [rows[..., span] for span in self._plan.spans]
        rules = self._rules(restores and isinstance(rows, np.ndarray), copy)
        finish(self._plan, values, rules, lead=tuple(rows.shape[:-1]))
        model: M = self._plan.build(values, by_rule(self._plan.statics, statics))
        return model

    def _from_tree(self, tree: Any, base: Any, rules: Rules) -> list[Any]:
        partial = base is not None
        if partial and is_array(tree) and not isinstance(tree, Labelled):
            msg = "base= completes trees and labelled vectors; a plain array has no names to go by"
            raise LabelError(msg)
        hint = "" if partial else "; to take it from a model, pass base="
        found = list(agreeing(self._reader, tree, partial=partial, hint=hint))
        kept: list[tuple[Site, Any]] = []
        if partial:
            kept += agreeing(self._reader, base, skip={site.slot for site, _ in found})
        as_is = {site.slot for site, _ in kept}
        return values_of(self._plan.cuts, found + kept, rules, as_is)

    def _rules(self, restores: bool, copy: bool | None) -> Rules:
        cure = f"{FOLLOW}, or use destructure_by_dtype"
        return Rules(restores, copy, self._path_of, self.dtype, cure)

    def _path_of(self, place: int) -> str:
        slot = self._plan.cuts[place].slot
        return next(format_path(names) for names, leaf in self.axis.leaves() if leaf.slot == slot)

    @overload
    def flatten(self, tree: Any, out: None = None) -> ComponentVector: ...

    @overload
    def flatten(self, tree: Any, out: A) -> A: ...

    def flatten(self, tree: Any, out: Any = None) -> Any:
        """Copy the parameters of a model of this structure into a vector.

        Parameters
        ----------
        tree : model or NamedTree
            Parameters under the same names, of the same shapes; tied sites must agree. Statics are
            not looked at.
        out : ComponentVector or one-dimensional ndarray, optional
            Where to write; nothing is written when a check fails.

        Returns
        -------
        ComponentVector
            A new labelled vector, or `out`.

        Raises
        ------
        LabelError, LengthError
            For parameters that are missing, not of this structure, or of another shape.
        PromotionError
            For values of another dtype than the model's that the vector does not hold exactly.
        SharingError
            When tied sites differ.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> v, restructure = cv.destructure({"a": np.zeros(2), "b": [np.zeros(1)]})
        >>> restructure.flatten({"a": np.array([1.0, 2.0]), "b": [np.array([3.0])]}).tolist()
        [1.0, 2.0, 3.0]
        """
        if out is not None and not (isinstance(out, np.ndarray) and is_numeric(out.dtype)):
            msg = f"out must be an array of {self.axis.size} numbers, not a {type(out).__name__}"
            raise LengthError(msg)
        target: Any = zeros(self.axis, self.dtype) if out is None else out
        flat = strip(target)
        if isinstance(target, Labelled):
            check_axis(self.axis, target, "out")
        check_length(self.axis, flat.shape)
        pieces: list[Any] = []
        for site, array in agreeing(self._reader, tree):
            check_fits(site, array, flat, self.dtype)
            if site.leaf.canonical:
                pieces.append(array.reshape(-1))
        if any(out is not None and np.may_share_memory(flat, piece) for piece in pieces):
            flat[:] = np.concatenate(pieces)  # `out` holds some of what is being read
        elif pieces:
            np.concatenate(pieces, out=flat)
        return target

    def pullback(self, cotangents: Any, *, dtype: DTypeLike | None = None) -> ComponentVector:
        """Turn gradients with respect to the model's arrays into the gradient of the vector.

        The transpose of restructuring: tied sites are summed, transposes undone, and what has no
        gradient is zero.

        Parameters
        ----------
        cotangents : model, NamedTree, or nested mappings and sequences
            One gradient per site, under the model's names and of its shapes. A name that is missing
            or None counts as zero, at any level; lists and tuples are as long as the model's. What
            stands where the model has a static is not looked at.
        dtype : dtype-like, optional
            Element type of the result; by default that of the vector.

        Returns
        -------
        ComponentVector
            Always dense and of full length.

        Raises
        ------
        LabelError, LengthError
            For names or shapes that the model does not have.
        PromotionError
            For complex gradients of real vectors.

        Examples
        --------
        >>> import numpy as np
        >>> import componentvec as cv
        >>> w = np.array([1.0, 2.0])
        >>> _, restructure = cv.destructure({"a": w, "b": w, "c": np.zeros(1)})
        >>> restructure.pullback({"a": [1.0, 0.0], "b": [10.0, 10.0]}).tolist()
        [11.0, 10.0, 0.0]
        """
        gradient = zeros(self.axis, self.dtype if dtype is None else native(np.dtype(dtype)))
        flat = strip(gradient)
        for site, piece in self._reader.read(cotangents, partial=True):
            add_cotangent(site, piece, flat[site.leaf.span], "; pass dtype= to get a wider one")
        return gradient

    @property
    def _reader(self) -> Reader:
        # Made on first use: whoever only rebuilds models never needs it.
        if self._made_reader is None:
            reader = Reader(self.axis, self._plan, lambda _: self.dtype)
            object.__setattr__(self, "_made_reader", reader)
        assert self._made_reader is not None
        return self._made_reader
