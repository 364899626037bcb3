"""The way back from a vector to a model, and the linear maps that go with it.

Restructuring is linear in the vector: it repeats each slot at its sites. `flatten` is its inverse
on trees whose tied sites agree, `pullback` its transpose, which sums over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from componentvec.arrays import ComponentVector, Labelled, NamedTree, strip, view_slot, zeros
from componentvec.axis import Axis
from componentvec.backends import is_array, is_foreign, is_numeric, native
from componentvec.errors import (
    AxisMismatchError,
    LengthError,
    PromotionError,
    SharingError,
)
from componentvec.names import format_path
from componentvec.params._plan import Plan
from componentvec.params._reader import Reader, Site

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["Restructure"]

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Restructure(Generic[M]):
    """Makes models of one structure from flat vectors; holds no parameter values.

    What `trainables_nt` and `destructure` return beside the parameters. Immutable, comparable and
    picklable.
    """

    axis: Axis
    """The label tree of the vectors it takes."""
    plan: Plan
    """How arrays are cut from a vector, and containers put together."""
    dtype: np.dtype[Any]
    """The dtype of the vectors that `flatten` and `pullback` return: that of the vector it came
    with, or what the dtypes in the model promote to."""
    _made_reader: Reader | None = field(default=None, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Restructure, (self.axis, self.plan, self.dtype)

    def __len__(self) -> int:
        """Return the number of elements of the vectors it takes."""
        return self.axis.size

    def __bool__(self) -> bool:
        """Return True, for models without parameters too."""
        return True

    def __repr__(self) -> str:
        return f"<Restructure of {self.axis.size} {self.dtype} elements: {self.axis!r}>"

    def __call__(self, vector: Any, /, *, dtype: Literal["restore", "follow"] = "restore") -> M:
        """Make a model from a vector.

        Parameters
        ----------
        vector : ComponentVector, one-dimensional array of any library, or NamedTree
            The parameters. A labelled vector must have this structure's axis, another array exactly
            its length; in a tree, tied sites must agree.
        dtype : {"restore", "follow"}, optional
            Whether each NumPy array gets the dtype it has in the model (copying only where that is
            another one), or follows the vector. Arrays of other libraries follow the vector.

        Returns
        -------
        model
            Of the same types as the model this was made from. Its arrays are views of `vector`, but
            for those that have to be cast and for NumPy scalars; tied ones of the same shape are
            one object, and statics are the original's own.

        Raises
        ------
        AxisMismatchError, LengthError
            For a vector of another structure or shape.
        PromotionError
            For a complex vector where a parameter is real: dropping imaginary parts is never right.
        SharingError
            For a tree whose tied sites differ.
        """
        if dtype not in ("restore", "follow"):
            msg = f"dtype must be 'restore' or 'follow', not {dtype!r}"
            raise ValueError(msg)
        restores = dtype == "restore"
        if type(vector) is np.ndarray and vector.dtype.kind in "fc":
            flat = vector
        elif isinstance(vector, Labelled):
            axis = vector.axis
            if axis is not self.axis and axis != self.axis and axis is not None:
                difference = self.axis.difference(axis, "in the model", "in the vector")
                msg = f"the vector does not have the model's axis: {difference}"
                raise AxisMismatchError(msg)
            flat = strip(vector)
        elif isinstance(vector, NamedTree):
            return self._from_tree(vector, restores=restores)
        else:
            flat = self._as_flat(vector, restores=restores)
        if flat.shape != (self.axis.size,):
            raise _wrong_length(self.axis, flat.shape)
        values = self.plan.cut(flat)
        if restores and flat.dtype is not self.plan.dtype and isinstance(flat, np.ndarray):
            self._restore(values, flat)
        model: M = self.plan.build(values)
        return model

    def _as_flat(self, vector: Any, *, restores: bool) -> Any:
        """Take an array of another class or library, or a list of numbers, for a flat array."""
        if isinstance(vector, np.ma.MaskedArray):
            msg = "the vector is masked, and a model has no place for its mask"
            raise PromotionError(msg)
        if is_array(vector):
            # Objects may be numbers of a user's own, such as dual numbers, and then follow.
            allowed = is_foreign(vector) or is_numeric(vector.dtype)
            if not allowed and (restores or vector.dtype != object):
                msg = f"expected numbers, but the vector has dtype {vector.dtype}"
                raise PromotionError(msg)
            return vector
        if not isinstance(vector, np.ndarray) and isinstance(getattr(vector, "shape", None), tuple):
            return vector  # an array of a library we do not know, such as one that traces
        try:
            flat = np.asarray(vector) if isinstance(vector, (list, tuple)) else None
        except ValueError:
            flat = None
        if flat is None or not is_numeric(flat.dtype):
            msg = (
                f"expected a vector of {self.axis.size} numbers, not a {type(vector).__name__}; to "
                "get the vector of a model, use flatten"
            )
            raise LengthError(msg)
        return flat

    def _from_tree(self, tree: NamedTree, *, restores: bool) -> M:
        firsts: dict[tuple[Any, ...], Any] = {}
        slots: dict[int | None, Any] = {}
        for site, array in self._agreeing(tree):
            leaf = site.leaf
            if leaf.canonical:
                firsts[leaf.slot, leaf.shape, leaf.view] = array
            elif (leaf.slot, leaf.shape, leaf.view) not in firsts:
                # Another shape of a slot: what the tree holds may be memory of its own, so both
                # are shown from one array.
                first = next(key for key in firsts if key[0] == leaf.slot)
                if leaf.slot not in slots:
                    slots[leaf.slot] = np.ascontiguousarray(firsts[first]).reshape(-1)
                    firsts[first] = slots[leaf.slot].reshape(first[1])
                firsts[leaf.slot, leaf.shape, leaf.view] = site.show(slots[leaf.slot])
        values = [firsts[cut.slot, cut.shape, cut.view] for cut in self.plan.cuts]
        values = [v[()] if c.scalar else v for v, c in zip(values, self.plan.cuts, strict=True)]
        if restores:
            self._restore(values)
        model: M = self.plan.build(values)
        return model

    def _restore(self, values: list[Any], flat: Any = None) -> None:
        """Cast the values that are not in the dtype their parameter has, each slot once."""
        slots: dict[int, Any] = {}
        for place, cut in enumerate(self.plan.cuts):
            wanted, value = cut.dtype, values[place]
            if wanted is None or value.dtype == wanted:
                continue
            if value.dtype.kind == "c" and wanted.kind != "c":
                msg = (
                    f"`{self._path_of(place)}` is {wanted} and cannot take {value.dtype} values; "
                    "pass dtype='follow' to give the model complex parameters"
                )
                raise PromotionError(msg)
            if cut.slot not in slots:
                slot = value.reshape(-1) if flat is None else flat[cut.start : cut.stop]
                slots[cut.slot] = slot.astype(wanted)
            shown = view_slot(slots[cut.slot], cut.shape, cut.view)
            values[place] = shown[()] if cut.scalar else shown

    def _path_of(self, place: int) -> str:
        slot = self.plan.cuts[place].slot
        return next(format_path(names) for names, leaf in self.axis.leaves() if leaf.slot == slot)

    def flatten(self, tree: Any, out: Any = None) -> ComponentVector:
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
        if isinstance(target, Labelled) and target.axis not in (None, self.axis):
            difference = self.axis.difference(target.axis, "in the model", "in out")
            msg = f"out does not have the model's axis: {difference}"
            raise AxisMismatchError(msg)
        if flat.shape != (self.axis.size,):
            raise _wrong_length(self.axis, flat.shape)
        pieces: list[Any] = []
        for site, array in self._agreeing(tree):
            # What the model holds goes in as it did when the vector was made.
            casting: Literal["same_kind", "safe"]
            as_made = array.dtype == site.dtype and flat.dtype == self.dtype
            casting = "same_kind" if as_made else "safe"
            if array.dtype != flat.dtype and not np.can_cast(array.dtype, flat.dtype, casting):
                path = format_path(site.names)
                msg = f"`{path}` is {array.dtype}, which {flat.dtype} does not hold exactly"
                raise PromotionError(msg)
            if site.leaf.canonical:
                pieces.append(array.reshape(-1))
        if any(out is not None and np.may_share_memory(flat, piece) for piece in pieces):
            flat[:] = np.concatenate(pieces)  # `out` holds some of what is being read
        elif pieces:
            np.concatenate(pieces, out=flat)
        result: ComponentVector = target
        return result

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
            if piece.dtype != flat.dtype and not np.can_cast(piece.dtype, flat.dtype, "same_kind"):
                msg = (
                    f"the gradient of `{format_path(site.names)}` is {piece.dtype}, that of the "
                    f"vector {flat.dtype}; pass dtype= to get a wider one"
                )
                raise PromotionError(msg)
            target = site.show(flat[site.leaf.span])
            target += piece
        return gradient

    @property
    def _reader(self) -> Reader:
        # Made on first use: whoever only rebuilds models never needs it.
        if self._made_reader is None:
            object.__setattr__(self, "_made_reader", Reader(self.axis, self.plan))
        assert self._made_reader is not None
        return self._made_reader

    def _agreeing(self, tree: Any) -> Iterator[tuple[Site, Any]]:
        """Yield every site with its array, checking that those of one slot hold the same values."""
        firsts: dict[int | None, tuple[Site, Any]] = {}
        for site, array in self._reader.read(tree, partial=False):
            first, shown = firsts.setdefault(site.leaf.slot, (site, array))
            same_site = (first.leaf.shape, first.leaf.view) == (site.leaf.shape, site.leaf.view)
            agrees = array is shown and same_site
            if not agrees and not _same_values(site.show(shown.reshape(-1)), array):
                msg = (
                    f"`{format_path(first.names)}` and `{format_path(site.names)}` are tied, but "
                    "hold different values"
                )
                raise SharingError(msg)
            yield site, array


def _same_values(one: Any, two: Any) -> bool:
    memory, other = one.__array_interface__, two.__array_interface__
    if memory["data"] == other["data"] and one.strides == two.strides and one.dtype == two.dtype:
        return True  # tied by memory: nothing to compare
    return np.array_equal(one, two, equal_nan=True)


def _wrong_length(axis: Axis, shape: tuple[int, ...]) -> LengthError:
    paths = list(axis.paths())
    ends = f", `{paths[0]}` to `{paths[-1]}`" if len(paths) > 1 else ""
    return LengthError(
        f"the model has {axis.size} elements{ends}, so it takes arrays of shape ({axis.size},), "
        f"not {tuple(shape)}"
    )
