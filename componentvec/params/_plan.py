"""The plan of a model: how its arrays are cut from the vector, and how it is put together.

Made once. Applying it walks no tree: parameters are cut in one list, statics follow, and every
container is one step, which picks its parts from the list and appends the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from componentvec.axis import View, rearrangement
from componentvec.tree import Rebuild, RebuildDict, RebuildList, RebuildTuple, same_value
from componentvec.typing import Shape

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Assembly", "Cut", "Plan", "picker"]


class Cut(NamedTuple):
    """One array of the model, cut from the vector. Sites of one slot and shape are one cut."""

    slot: int
    start: int
    stop: int
    shape: Shape
    view: View | None
    dtype: np.dtype[Any] | None
    """The dtype it has in the model; None for Python numbers, which have none, and for libraries
    with dtypes of their own."""
    scalar: type | None = None
    """What the model holds here instead of an array: `numpy.generic`, or the type of a Python
    number."""


class Assembly(NamedTuple):
    """One container of the model."""

    parts: tuple[str, ...]
    places: tuple[int, ...]
    """Where the parts stand: cuts first, then statics, then the assemblies before this one."""
    rebuild: Rebuild


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Everything needed to rebuild a model from a vector; no parameter values."""

    cuts: tuple[Cut, ...]
    statics: tuple[Any, ...]
    assemblies: tuple[Assembly, ...]
    root: int
    """Where the model itself stands."""
    dtype: np.dtype[Any] | None = field(init=False, repr=False)
    """The dtype of a vector from which nothing needs a cast; None when there is none."""
    shape: Callable[..., None] = field(init=False, repr=False)
    """``(pieces, lead=()) -> None``: give the flat piece of every cut its shape, in place."""
    build: Callable[..., Any] = field(init=False, repr=False)
    """``(values, statics) -> model``; the list of values is used up."""
    spans: list[slice] = field(init=False, repr=False)
    """Where every cut lies in the vector."""

    def __post_init__(self) -> None:
        dtypes = {cut.dtype for cut in self.cuts}
        object.__setattr__(self, "dtype", dtypes.pop() if len(dtypes) == 1 else None)
        object.__setattr__(self, "spans", [slice(cut.start, cut.stop) for cut in self.cuts])
        object.__setattr__(self, "shape", _shaper(self.cuts))
        object.__setattr__(self, "build", _builder(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (self.cuts, self.statics, self.assemblies, self.root)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        same = (self.cuts, self.assemblies, self.root) == (other.cuts, other.assemblies, other.root)
        return same and same_value(self.statics, other.statics)

    def __hash__(self) -> int:
        return hash((self.cuts, self.assemblies, self.root))

    def parts_of(self, place: int) -> dict[str, int] | None:
        """Return the parts of the container at a place by name, or None for anything else."""
        first = len(self.cuts) + len(self.statics)
        if place < first:
            return None
        assembly = self.assemblies[place - first]
        return dict(zip(assembly.parts, assembly.places, strict=True))


def _shaper(cuts: Sequence[Cut]) -> Callable[..., None]:
    """Prepare the shaping: every decision is made here, so that a call only reshapes."""
    # One-dimensional arrays are ready as sliced.
    shapes = [(p, c.shape) for p, c in enumerate(cuts) if c.view is None and len(c.shape) != 1]
    views = [(p, rearrangement(c.shape, c.view)) for p, c in enumerate(cuts) if c.view is not None]
    scalars = [place for place, cut in enumerate(cuts) if cut.scalar is not None]

    def shape(pieces: list[Any], lead: Shape = ()) -> None:
        for place, extents in [(p, lead + e) for p, e in shapes] if lead else shapes:
            pieces[place] = pieces[place].reshape(extents)
        for place, view in views:
            pieces[place] = view.apply(pieces[place], lead)
        if not lead:
            for place in scalars:
                pieces[place] = pieces[place][()]

    return shape


def _builder(plan: Plan) -> Callable[..., Any]:
    """Prepare the building: one function per container, from the list of values to the whole."""
    root = plan.root
    program = [_maker(assembly) for assembly in plan.assemblies]

    def build(values: list[Any], statics: Sequence[Any]) -> Any:
        values += statics
        append = values.append
        for make in program:
            append(make(values))
        return values[root]

    return build


def _maker(assembly: Assembly) -> Callable[[list[Any]], Any]:
    """Prepare one container; the commonest, plain dicts, lists and tuples, cost no further call."""
    rebuild, pick = assembly.rebuild, picker(assembly.places)
    if isinstance(rebuild, RebuildTuple) and rebuild.cls is tuple:
        return pick
    if isinstance(rebuild, RebuildList) and rebuild.cls is list:
        return lambda values: list(pick(values))
    if isinstance(rebuild, RebuildDict) and rebuild.cls is dict:
        keys = rebuild.keys
        if len(keys) == 2:  # a weight and a bias: half the time of the general way
            (one, two), (first, second) = keys, assembly.places
            return lambda values: {one: values[first], two: values[second]}
        return lambda values: dict(zip(keys, pick(values), strict=True))
    return lambda values: rebuild(pick(values))


def picker(places: Sequence[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Make a function that picks the items at these places, or under these keys, as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    if places:
        only = places[0]
        return lambda values: (values[only],)
    return lambda values: ()
