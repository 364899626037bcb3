"""Vectors as text: a tree with ranges, shapes, ties and first values, on one screen."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from componentvec.axis import Group, Leaf, c_strides
from componentvec.names import format_path, shortened

__all__ = ["describe"]

Row = tuple[tuple[str, ...], Leaf | Group, Any]

MAX_ROWS = 40
MAX_DEPTH = 12
_SHOWN_VALUES = 4
_NAME_WIDTH = 36
_SHAPE_WIDTH = 24
_LINE_WIDTH = 118


def describe(title: str, rows: Iterable[Row]) -> str:
    """Format a labelled vector as a tree.

    Parameters
    ----------
    title : str
        First line.
    rows : iterable of (names, component, values)
        All components in order, and of each leaf its array. Only the rows shown are taken, so the
        cost does not grow with the vector.

    Returns
    -------
    str
        At most `MAX_ROWS` + 2 lines.
    """
    rows = iter(rows)
    shown = list(islice(rows, MAX_ROWS))
    # The first site of a slot comes before the others, so their storage is always known here.
    first_sites: dict[int | None, str] = {}
    lines = [_cells(names, child, values, first_sites) for names, child, values in shown]
    widths = [max((len(line[column]) for line in lines), default=0) for column in range(3)]
    text = [title, *(_line(line, widths) for line in lines)]
    if next(rows, None) is not None:
        text.append("  …")
    return "\n".join(text)


def _line(cells: tuple[str, str, str, str], widths: list[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join(["", *padded, cells[3]]).rstrip()[:_LINE_WIDTH]


def _cells(
    names: tuple[str, ...], child: Leaf | Group, values: Any, first_sites: dict[int | None, str]
) -> tuple[str, str, str, str]:
    """Return name, range, shape and values of one component."""
    depth = len(names) - 1
    indent = "  " * depth if depth <= MAX_DEPTH else "  " * MAX_DEPTH + f"({depth}) "
    name = indent + shortened(format_path(names[-1:]), _NAME_WIDTH)
    if isinstance(child, Group):
        return name, "", "", ""
    shape = shortened("x".join(map(str, child.shape)), _SHAPE_WIDTH)
    numbers = "" if values is None else _numbers(values)
    if child.canonical:
        first_sites[child.slot] = format_path(names)
        return name, f"{child.span.start}:{child.span.stop}", shape, numbers
    storage = child.storage if child.outside else first_sites[child.slot]
    return name, f"= {shortened(storage or '', _NAME_WIDTH)}{_arrangement(child)}", shape, numbers


def _arrangement(leaf: Leaf) -> str:
    """Say how a tied leaf looks at its storage."""
    if leaf.view is None:
        return ""
    transposed = leaf.view == (0, c_strides(leaf.shape[::-1])[::-1])
    return " transposed" if transposed else " rearranged"


def _numbers(values: Any) -> str:
    first = []
    for place in range(min(values.size, _SHOWN_VALUES)):  # not .flat, which stops at 32 dimensions
        steps = zip(c_strides(values.shape), values.shape, strict=True)
        first.append(_number(values[tuple(place // step % extent for step, extent in steps)]))
    return " ".join(first) + (" …" if values.size > _SHOWN_VALUES else "")


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, np.inexact) else f"{value!s:.24}"
