"""The dtype of the flat buffer, decided from the leaves before anything is copied.

Arrays and NumPy scalars are strong: two dtypes among them are a promotion, and promotion is refused
unless asked for. Python numbers, and lists of them, are weak as in NEP 50: they take the dtype of
the arrays beside them, or raise when it cannot hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from componentvec.backends import KIND_RANK, can_cast, dtype_of, is_numeric, kind_of, limits, native
from componentvec.errors import PromotionError
from componentvec.names import format_path
from componentvec.typing import PromotionPolicy, Shape

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["Weak", "buffer_dtype", "promote_weak", "weak_dtype", "weak_to_array"]

_WEAK_SAMPLES = {"": (), "b": (False,), "i": (0,), "f": (1.0,), "c": (1j,)}
_WEAK_KINDS = {"b": np.bool_, "i": np.int64, "f": np.float64, "c": np.complex128}


class Weak(NamedTuple):
    """A leaf made of Python numbers only."""

    value: object
    """A number, or nested lists of them."""
    shape: Shape
    kind: str
    """Highest kind among the numbers: b, i, f or c."""

    def fits(self, dtype: np.dtype[Any]) -> bool:
        """Tell whether a dtype is of a kind that takes these numbers, if they are not too large."""
        return KIND_RANK[self.kind] <= KIND_RANK[kind_of(dtype)]


def buffer_dtype(
    leaves: Sequence[Any],
    names: Sequence[Sequence[str]],
    policy: PromotionPolicy = "reject",
    dtype: DTypeLike | None = None,
) -> np.dtype[Any]:
    """Choose the dtype of the buffer that is to hold all leaves.

    Parameters
    ----------
    leaves : sequence of ndarray, NumPy scalar or Weak
        The leaves, in order.
    names : sequence of sequence of str
        The path of each leaf, for messages.
    policy : {"reject", "allow"}
        Whether strong leaves of different dtypes may be promoted.
    dtype : dtype-like, optional
        The dtype wanted; leaves must be castable to it by the ``same_kind`` rule.

    Raises
    ------
    PromotionError
        When the leaves would have to change dtype and nothing allows it.
    """
    if policy not in ("reject", "allow"):
        msg = f"promotion must be 'reject' or 'allow', not {policy!r}"
        raise ValueError(msg)
    if dtype is not None:
        return _requested(np.dtype(dtype), leaves, names)
    holders: dict[np.dtype[Any], list[int]] = {}
    weak_kind = ""
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Weak):
            weak_kind = max(weak_kind, leaf.kind, key=KIND_RANK.__getitem__)
        else:
            strong = dtype_of(leaf)
            assert strong is not None
            holders.setdefault(strong, []).append(place)
    if not holders:
        return weak_dtype(weak_kind)
    if len(holders) > 1 and policy == "reject":
        raise _mixed(holders, names)
    common = _promoted(holders, names)
    promoted = promote_weak(common, weak_kind)
    if promoted != common and policy == "reject":
        place = next(
            p for p, leaf in enumerate(leaves) if isinstance(leaf, Weak) and leaf.kind == weak_kind
        )
        msg = (
            f"`{format_path(names[place])}` is a Python {_kind_name(weak_kind)}, which {common} "
            f"leaves ({_listed(next(iter(holders.values())), names)}) cannot take without becoming "
            f"{promoted}; convert one side, or pass dtype= or promotion='allow'"
        )
        raise PromotionError(msg)
    return promoted


def weak_dtype(kind: str) -> np.dtype[Any]:
    """Return the dtype that Python numbers of a kind have among themselves."""
    return np.dtype(_WEAK_KINDS.get(kind, np.float64))


def promote_weak(dtype: np.dtype[Any], kind: str) -> np.dtype[Any]:
    """Return the dtype that numbers of a dtype and Python numbers of a kind have together.

    As NumPy does it (NEP 50), and the same for the dtypes of other packages, which NumPy does not
    treat so.
    """
    if KIND_RANK[kind] <= KIND_RANK[kind_of(dtype)]:
        return dtype
    try:
        return np.result_type(dtype, *_WEAK_SAMPLES[kind])
    except TypeError:  # the numbers of another package, beside complex ones
        return np.dtype(np.complex128)


def weak_to_array(
    leaf: Weak, names: Sequence[str | int], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """Convert Python numbers to `dtype`.

    Raises
    ------
    PromotionError
        When the dtype cannot hold one of them (an integer out of range, a finite number that would
        become infinite).
    """
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(leaf.value, dtype=dtype).reshape(leaf.shape)
            exact = np.asarray(leaf.value, dtype=np.complex128).reshape(leaf.shape)
            fits = all(np.array_equal(test(array), test(exact)) for test in (np.isinf, np.isnan))
            low, high = limits(dtype)
            finite = exact[np.isfinite(exact)]
            fits = fits and bool(np.all((low <= finite.real) & (finite.real <= high)))
    except (OverflowError, TypeError):  # an integer too large for this dtype, or for any
        fits = False
    if not fits:
        path = format_path(names)
        msg = f"`{path}` is {leaf.value!r:.60}, which {dtype} cannot hold"
        raise PromotionError(msg)
    return array


def _requested(
    dtype: np.dtype[Any], leaves: Sequence[Any], names: Sequence[Sequence[str]]
) -> np.dtype[Any]:
    if not is_numeric(dtype):
        msg = f"dtype={dtype} was asked for; a vector holds numbers only"
        raise PromotionError(msg)
    for leaf, path in zip(leaves, names, strict=True):
        if isinstance(leaf, Weak):
            source, fits = _kind_name(leaf.kind), leaf.fits(dtype)
        else:
            source, fits = str(leaf.dtype), can_cast(leaf.dtype, dtype, "same_kind")
        if not fits:
            msg = f"`{format_path(path)}` is {source}, which does not go into dtype={dtype}"
            raise PromotionError(msg)
    return native(dtype)


def _promoted(
    holders: dict[np.dtype[Any], list[int]], names: Sequence[Sequence[str]]
) -> np.dtype[Any]:
    try:
        return np.result_type(*holders)
    except TypeError:
        listed = _by_dtype(holders, names)
        msg = f"no dtype holds all of these: {listed}; pass dtype=, or use destructure_by_dtype"
        raise PromotionError(msg) from None


def _mixed(
    holders: dict[np.dtype[Any], list[int]], names: Sequence[Sequence[str]]
) -> PromotionError:
    return PromotionError(
        f"the leaves have {len(holders)} dtypes, and one buffer would change some of them: "
        f"{_by_dtype(holders, names)}; pass dtype= to choose one, promotion='allow' to promote, or "
        "use destructure_by_dtype for one vector each"
    )


def _by_dtype(holders: dict[np.dtype[Any], list[int]], names: Sequence[Sequence[str]]) -> str:
    return "; ".join(f"{dtype}: {_listed(places, names)}" for dtype, places in holders.items())


def _listed(places: Sequence[int], names: Sequence[Sequence[str]]) -> str:
    shown = ", ".join(f"`{format_path(names[place])}`" for place in places[:6])
    return shown + (f" and {len(places) - 6} more" if len(places) > 6 else "")


def _kind_name(kind: str) -> str:
    return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[kind]
