"""The NumPy vector: one flat buffer with a label tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from componentvec.arrays._attach import attach, same_place, strip
from componentvec.arrays._buffer import checked_axis, fill, wrap
from componentvec.arrays._flags import Flags
from componentvec.arrays._labelled import Labelled
from componentvec.arrays._layout import lay_out
from componentvec.arrays._methods import with_methods
from componentvec.arrays._namedtree import NamedTree
from componentvec.arrays._operators import with_operators
from componentvec.axis import Axis
from componentvec.backends import can_cast
from componentvec.errors import LabelError, PromotionError
from componentvec.typing import PromotionPolicy, SharingPolicy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["ComponentVector", "full", "zeros"]


@with_operators
@with_methods
@final
class ComponentVector(Labelled, np.ndarray[tuple[int], np.dtype[Any]]):
    """A one-dimensional array whose parts have names, shapes and groups.

    ``v.layers._1.weight`` and ``v["layers"]["_1"]["weight"]`` are the same view of the one flat
    buffer: writing to either writes the vector. Wherever a flat array is wanted, `v` is one.

    Parameters
    ----------
    components : mapping, named tuple, dataclass, NamedTree, ComponentVector or sequence, optional
        Nested components. Leaves are arrays and numbers; a list or tuple of plain numbers is a
        leaf, any other a group of ``_1``, ``_2``, …. With `axis`, the flat array to label instead.
    axis : Axis, optional
        Label `components`, a flat array of exactly this size, copying it only where `dtype` asks
        for another dtype.
    dtype : dtype-like, optional
        The buffer's dtype; leaves must be castable by the ``same_kind`` rule.
    sharing : {"alias", "reject", "copy"}, optional
        What happens to leaves that share memory: stored once and tied, refused, or stored apart. By
        default "alias" for what `trainables_nt` returns, else "reject".
    promotion : {"reject", "allow"}, optional
        Whether arrays of different dtypes may be promoted to a common one.
    **more : components
        Components by keyword, behind those of `components`.

    Returns
    -------
    ComponentVector
        On one new contiguous buffer in native byte order, each leaf in C order; with `axis`, a view
        of the array given.

    Raises
    ------
    LabelError
        For names that are not strings or given twice.
    PromotionError
        For leaves that are not numbers, and for dtypes that cannot meet.
    SharingError
        For leaves that share memory, as the policy says.
    LengthError
        For a flat array that does not fit the axis.
    DeviceError
        For arrays of other libraries.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector(rate=0.5, net={"weight": [[1.0, 2.0]], "bias": [3.0, 4.0]})
    >>> v.net.weight
    array([[1., 2.]])
    >>> v.net.bias[0] = 30.0
    >>> v.rate = 0.25
    >>> v.tolist()
    [0.25, 1.0, 2.0, 30.0, 4.0]
    >>> (2 * v).net.bias
    array([60.,  8.])
    """

    __slots__ = ("__dict__", "_cv_root", "_cv_state")

    def __init_subclass__(cls) -> None:
        msg = "ComponentVector has one class for all layouts; hold a vector instead of deriving one"
        raise TypeError(msg)

    _cv_plain = np.ndarray

    def __new__(
        cls,
        components: Any = None,
        /,
        *,
        axis: Axis | None = None,
        dtype: DTypeLike | None = None,
        sharing: SharingPolicy | None = None,
        promotion: PromotionPolicy = "reject",
        **more: Any,
    ) -> Self:
        if axis is not None:
            if more or components is None or sharing is not None or promotion != "reject":
                msg = "axis= labels one flat array as it is; only dtype= goes with it"
                raise LabelError(msg)
            wrapped: Self = wrap(cls, components, axis, dtype)
            return wrapped
        if sharing is None:
            sharing = "alias" if isinstance(components, NamedTree) and not more else "reject"
        layout = lay_out({} if components is None else components, sharing, more)
        filled: Self = fill(cls, layout, promotion, dtype)
        return filled

    if TYPE_CHECKING:  # what the two decorators add at run time
        # fmt: off
        def __add__(self, other: Any, /) -> Self: ...
        def __radd__(self, other: Any, /) -> Self: ...
        def __sub__(self, other: Any, /) -> Self: ...  # type: ignore[override]
        def __rsub__(self, other: Any, /) -> Self: ...  # type: ignore[override]
        def __mul__(self, other: Any, /) -> Self: ...
        def __rmul__(self, other: Any, /) -> Self: ...
        def __truediv__(self, other: Any, /) -> Self: ...  # type: ignore[override]
        def __rtruediv__(self, other: Any, /) -> Self: ...
        def __floordiv__(self, other: Any, /) -> Self: ...  # type: ignore[override]
        def __rfloordiv__(self, other: Any, /) -> Self: ...
        def __mod__(self, other: Any, /) -> Self: ...
        def __rmod__(self, other: Any, /) -> Self: ...
        def __pow__(self, other: Any, mod: None = None, /) -> Self: ...
        def __rpow__(self, other: Any, mod: None = None, /) -> Self: ...
        def __lt__(self, other: Any, /) -> Self: ...
        def __le__(self, other: Any, /) -> Self: ...
        def __gt__(self, other: Any, /) -> Self: ...
        def __ge__(self, other: Any, /) -> Self: ...
        def __eq__(self, other: object, /) -> Self: ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> Self: ...  # type: ignore[override]
        def __neg__(self) -> Self: ...
        def __pos__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __invert__(self) -> Self: ...
        def astype(self, dtype: DTypeLike, *args: Any, **options: Any) -> Self: ...  # type: ignore[override]
        def clip(self, *args: Any, **options: Any) -> Self: ...  # type: ignore[override]
        def round(self, *args: Any, **options: Any) -> Self: ...  # type: ignore[override]
        def conj(self) -> Self: ...
        def conjugate(self) -> Self: ...
        # fmt: on

    @property
    def flags(self) -> Any:
        """Memory layout, as of any array; setting ``writeable`` is `setflags`."""
        return Flags(self)

    def setflags(
        self, write: bool | None = None, align: bool | None = None, uic: bool | None = None
    ) -> None:
        """Set array flags, as ndarray does.

        Components taken from now on have them too; views handed out before keep theirs, as in
        NumPy.
        """
        np.ndarray.setflags(self, write=write, align=align, uic=uic)
        axis, plain = self._cv_state
        if axis is not None:
            base = plain.view()
            base.setflags(write=write, align=align, uic=uic)
            type(self)._cv_state.__set__(self, (axis, base))  # type: ignore[attr-defined]
            self.__dict__.clear()

    def view(self, *args: Any, **options: Any) -> Any:
        """Make a new view of the same memory: labelled when nothing is asked for, else plain."""
        if args or options:
            return self._cv_state[1].view(*args, **options)
        return same_place(self, self._cv_state[1].view())

    def transpose(self, *axes: Any) -> Self:
        """Return the vector itself, as a view: transposing one dimension changes nothing."""
        view: Self = same_place(self, self._cv_state[1].transpose(*axes))
        return view

    @property
    def T(self) -> Self:
        """The vector itself, as a view: transposing one dimension changes nothing."""
        return self.transpose()

    @property
    def real(self) -> Any:
        """The real part: a labelled view."""
        return self._cv_part("real")

    @real.setter
    def real(self, value: ArrayLike) -> None:
        self._cv_state[1].real = strip(value)

    @property
    def imag(self) -> Any:
        """The imaginary part: labelled, and a view where the dtype is complex."""
        return self._cv_part("imag")

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        self._cv_state[1].imag = strip(value)

    def _cv_part(self, name: str) -> Any:
        axis, plain = self._cv_state
        part = getattr(plain, name)
        if part is plain:
            return same_place(self, plain.view())
        return part if axis is None else attach(type(self), part, axis)


def zeros(axis: Axis, dtype: DTypeLike = float) -> ComponentVector:
    """Make a labelled vector of zeros.

    Parameters
    ----------
    axis : Axis
        The label tree.
    dtype : dtype-like, optional
        Element type.

    Examples
    --------
    >>> import componentvec as cv
    >>> cv.zeros(cv.Axis(a=2, b=())).tolist()
    [0.0, 0.0, 0.0]
    """
    return wrap(ComponentVector, np.zeros(checked_axis(axis).size, dtype), axis)


def full(axis: Axis, value: Any, dtype: DTypeLike | None = None) -> ComponentVector:
    """Make a labelled vector that holds one value everywhere.

    Parameters
    ----------
    axis : Axis
        The label tree.
    value : scalar
        The value.
    dtype : dtype-like, optional
        Element type; by default that of the value.

    Raises
    ------
    LabelError
        When `axis` is not an axis.
    PromotionError
        When the value does not go into `dtype` by the ``same_kind`` rule.
    """
    given = np.asarray(value).dtype
    if dtype is not None and not can_cast(given, np.dtype(dtype), "same_kind"):
        msg = f"the value is {given}, which does not go into dtype={np.dtype(dtype)}"
        raise PromotionError(msg)
    return wrap(ComponentVector, np.full(checked_axis(axis).size, value, dtype), axis)
