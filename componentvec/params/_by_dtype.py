"""Models of several dtypes as one vector per dtype: mixed precision without a cast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from componentvec.arrays import ComponentVector, Layout, fill, strip, zeros
from componentvec.axis import Axis
from componentvec.backends import dtype_of
from componentvec.errors import LabelError, LengthError
from componentvec.names import Path
from componentvec.params._casting import FOLLOW, Rules, finish
from componentvec.params._options import (
    as_flat,
    by_rule,
    check_length,
    check_rules,
    copied,
)
from componentvec.params._reader import Reader, Site
from componentvec.params._restructure import Restructure
from componentvec.params._tied_values import add_cotangent, agreeing, check_fits
from componentvec.promotion import Weak, weak_dtype
from componentvec.typing import DtypeRule, Shape, StaticsRule

__all__ = ["RestructureByDtype", "split_by_dtype"]

M = TypeVar("M")

Vectors = dict[np.dtype[Any], ComponentVector]


@dataclass(frozen=True, slots=True)
class RestructureByDtype(Generic[M]):
    """Makes models of one structure from one vector per dtype.

    What `destructure_by_dtype` returns beside the vectors. Immutable, comparable and
    hashable; picklable if the model's statics are.
    """

    _whole: Restructure[M]
    _parts: tuple[tuple[np.dtype[Any], Axis], ...]
    _slots: tuple[tuple[np.dtype[Any], int, int], ...]
    """Where each slot of the whole lies: in which vector, from where to where."""
    _made_reader: Reader | None = field(default=None, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return RestructureByDtype, (self._whole, self._parts, self._slots)

    @property
    def axes(self) -> dict[np.dtype[Any], Axis]:
        """The axis of each dtype's vector."""
        return dict(self._parts)

    def __len__(self) -> int:
        """Return the number of elements of all vectors together."""
        return len(self._whole)

    def __bool__(self) -> bool:
        """Return True, for models without parameters too."""
        return True

    def __repr__(self) -> str:
        sizes = ", ".join(f"{dtype}: {axis.size}" for dtype, axis in self._parts)
        return f"<RestructureByDtype of {{{sizes}}}>"

    def __call__(
        self,
        vectors: Mapping[Any, Any],
        /,
        *,
        dtype: DtypeRule = "restore",
        copy: bool | None = None,
        statics: StaticsRule = "share",
    ) -> M:
        """Make a model from one vector per dtype.

        Parameters
        ----------
        vectors : mapping of dtype to vector
            One for every dtype that the model has, as `Restructure` takes them.
        dtype, copy, statics
            As for `Restructure`. Vectors of their own dtype need no cast.

        Returns
        -------
        model
            As from `Restructure`; its arrays are views of the vectors.

        Raises
        ------
        LabelError
            For a dtype that is missing or not of this model.
        AxisMismatchError, LengthError, PromotionError
            As for `Restructure`.
        """
        return self._model(vectors, dtype, copy, statics, batch=False)

    def batch(
        self,
        vectors: Mapping[Any, Any],
        /,
        *,
        dtype: DtypeRule = "restore",
        copy: bool | None = None,
        statics: StaticsRule = "share",
    ) -> M:
        """Make one model of many vectors, with their leading dimensions; see `Restructure.batch`.

        Parameters
        ----------
        vectors : mapping of dtype to array of shape ``(*batch, n)``
            All with the same leading dimensions.
        dtype, copy, statics
            As for calling.

        Returns
        -------
        model
            Its arrays have shape ``(*batch, *shape)`` and are views.
        """
        return self._model(vectors, dtype, copy, statics, batch=True)

    def _model(
        self,
        vectors: Mapping[Any, Any],
        dtype: DtypeRule,
        copy: bool | None,
        statics: StaticsRule,
        *,
        batch: bool,
    ) -> M:
        check_rules(dtype, statics, copy)
        restores = dtype == "restore"
        flats, lead = self._flats(vectors, restores=restores, batch=batch)
        if copy:
            flats = {key: copied(flat) for key, flat in flats.items()}
        plan = self._whole._plan
        pieces = []
        for cut in plan.cuts:
            key, start, stop = self._slots[cut.slot]
            pieces.append(flats[key][..., start:stop])
        # Nothing was promoted here, so nothing real was stored as complex.
        rules = Rules(restores, copy, self._whole._path_of, np.dtype(np.float64), FOLLOW)
        finish(plan, pieces, rules, lead)
        model: M = plan.build(pieces, by_rule(plan.statics, statics))
        return model

    def _flats(
        self, vectors: Mapping[Any, Any], *, restores: bool, batch: bool
    ) -> tuple[dict[np.dtype[Any], Any], Shape]:
        """Check the vectors; returns plain arrays and their leading dimensions."""
        found: object = vectors
        if not isinstance(found, Mapping):
            kind = type(found).__name__
            msg = f"expected a dict of dtype to vector, as destructure_by_dtype gives, not a {kind}"
            raise LengthError(msg)
        given = {_as_dtype(key): vector for key, vector in vectors.items()}
        axes = self.axes
        if given.keys() != axes.keys() or len(given) < len(vectors):
            has = ", ".join(map(str, axes)) or "no dtype"
            got = ", ".join(key if isinstance(key, str) else str(key) for key in vectors) or "none"
            msg = f"the model has vectors of {has}, but was given {got}"
            raise LabelError(msg)
        flats: dict[np.dtype[Any], Any] = {}
        leads: dict[Shape, None] = {}
        for key, axis in self._parts:
            flats[key] = as_flat(given[key], axis, restores)
            check_length(axis, flats[key].shape, batch=batch)
            leads[tuple(flats[key].shape[:-1])] = None
        if len(leads) > 1:
            msg = f"the vectors have different leading dimensions: {', '.join(map(str, leads))}"
            raise LengthError(msg)
        return flats, next(iter(leads), ())

    def flatten(self, tree: Any) -> Vectors:
        """Copy the parameters of a model of this structure into new vectors.

        Parameters
        ----------
        tree : model or NamedTree
            As for `Restructure.flatten`.

        Returns
        -------
        dict of dtype to ComponentVector

        Raises
        ------
        LabelError, LengthError, PromotionError, SharingError
            As for `Restructure.flatten`.
        """
        made = {dtype: zeros(axis, dtype) for dtype, axis in self._parts}
        flats = {dtype: strip(vector) for dtype, vector in made.items()}
        for site, array in agreeing(self._reader, tree):
            target = self._slot(site, flats)
            check_fits(site, array, target, target.dtype)
            if site.leaf.canonical:
                target[...] = array.reshape(-1)
        return made

    def pullback(self, cotangents: Any) -> Vectors:
        """Turn gradients with respect to the model's arrays into gradients of the vectors.

        Parameters
        ----------
        cotangents : model, NamedTree, or nested mappings and sequences
            As for `Restructure.pullback`.

        Returns
        -------
        dict of dtype to ComponentVector
            Always dense and of full length, in the dtypes of the model.

        Raises
        ------
        LabelError, LengthError, PromotionError
            As for `Restructure.pullback`.
        """
        made = {dtype: zeros(axis, dtype) for dtype, axis in self._parts}
        flats = {dtype: strip(vector) for dtype, vector in made.items()}
        for site, piece in self._reader.read(cotangents, partial=True):
            add_cotangent(site, piece, self._slot(site, flats))
        return made

    @property
    def _reader(self) -> Reader:
        if self._made_reader is None:
            reader = Reader(self._whole.axis, self._whole._plan, lambda slot: self._slots[slot][0])
            object.__setattr__(self, "_made_reader", reader)
        assert self._made_reader is not None
        return self._made_reader

    def _slot(self, site: Site, flats: Mapping[np.dtype[Any], Any]) -> Any:
        dtype, start, stop = self._slots[site.slot]
        return flats[dtype][start:stop]


def split_by_dtype(whole: Restructure[M], layout: Layout) -> tuple[Vectors, RestructureByDtype[M]]:
    """Split a model's slots by dtype.

    Parameters
    ----------
    whole : Restructure
        The way back from one vector.
    layout : Layout
        The model's slots and what fills them.

    Returns
    -------
    vectors : dict of dtype to ComponentVector
    restructure : RestructureByDtype
    """
    dtypes = [_dtype_of_slot(leaf) for leaf in layout.leaves]
    paths: dict[np.dtype[Any], list[Path]] = {dtype: [] for dtype in dtypes}
    for names, site in layout.axis.leaves():
        assert site.slot is not None  # a whole model stores everything inside
        paths[dtypes[site.slot]].append(Path(names))
    vectors: Vectors = {}
    parts: list[tuple[np.dtype[Any], Axis]] = []
    spans: dict[np.dtype[Any], Iterator[slice]] = {}
    for dtype, chosen in paths.items():
        axis = layout.axis.select(chosen)
        places = [place for place, other in enumerate(dtypes) if other == dtype]
        leaves = [layout.leaves[place] for place in places]
        names_of = [layout.names[place] for place in places]
        vectors[dtype] = fill(ComponentVector, Layout(axis, leaves, names_of), "reject", dtype)
        parts.append((dtype, axis))
        spans[dtype] = (site.span for _, site in axis.leaves() if site.canonical)
    slots = []
    for dtype in dtypes:
        span = next(spans[dtype])
        slots.append((dtype, span.start, span.stop))
    return vectors, RestructureByDtype(whole, tuple(parts), tuple(slots))


def _as_dtype(key: Any) -> Any:
    """Read a key as a dtype; what is none stays, for the message."""
    try:
        return key if key is None else np.dtype(key)  # NumPy takes None for float64
    except TypeError:
        return key


def _dtype_of_slot(leaf: Any) -> np.dtype[Any]:
    if isinstance(leaf, Weak):
        return weak_dtype(leaf.kind)
    dtype = dtype_of(leaf)
    assert dtype is not None  # a layout has NumPy leaves
    return dtype
