"""Axes as JSON text: for files and for other programs. Versioned; never evaluates anything."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from componentvec.axis._records import GroupRecord, LeafRecord, Record, Tie
from componentvec.axis._strides import View

__all__ = ["FORMAT_VERSION", "records_from_json", "records_to_json"]

FORMAT_VERSION = 1


def records_to_json(records: Iterable[Record]) -> str:
    """Write records as JSON text.

    A group is ``{"name", "children"}``; a leaf ``{"name", "shape"}`` with, for ties, ``"slot"``,
    ``"offset"`` and ``"strides"`` (left out for C order) or ``"storage"``.
    """
    nodes: list[dict[str, Any]] = []
    for record in records:
        node: dict[str, Any] = {"name": record.name}
        nodes.append(node)
        if isinstance(record, GroupRecord):
            node["children"] = record.children
            continue
        node["shape"] = list(record.shape)
        if record.tie is not None:
            node["slot"] = record.tie.slot
            if record.tie.view is not None:
                node["offset"] = record.tie.view.offset
                node["strides"] = list(record.tie.view.strides)
        if record.storage is not None:
            node["storage"] = record.storage
    return json.dumps({"componentvec.axis": FORMAT_VERSION, "nodes": nodes}, ensure_ascii=False)


def records_from_json(text: str) -> list[Record]:
    """Read what `records_to_json` wrote.

    Raises
    ------
    ValueError
        When the text is not JSON, of an unknown version, or not made of such nodes.
    """
    try:
        document = json.loads(text)
    except RecursionError:
        document = None
    version = document.get("componentvec.axis") if isinstance(document, dict) else None
    if type(version) is not int or version != FORMAT_VERSION:
        msg = f"expected an axis of format version {FORMAT_VERSION}, found version {version!r}"
        raise ValueError(msg)
    nodes = document.get("nodes")
    if not isinstance(nodes, list):
        msg = "expected a list under 'nodes'"
        raise ValueError(msg)  # noqa: TRY004  # bad text, whatever is wrong with it
    return [_record(node, place) for place, node in enumerate(nodes)]


def _record(node: Any, place: int) -> Record:
    try:
        name = _typed(node["name"], str)
        if "children" in node:
            return GroupRecord(name, _count(node["children"]))
        shape = tuple(map(_count, node["shape"]))
        tie = None
        if "slot" in node:
            view = None
            if "strides" in node:
                strides = tuple(_typed(step, int) for step in node["strides"])
                view = View(_count(node["offset"]), strides)
            tie = Tie(_typed(node["slot"], int), view)
        storage = _typed(node["storage"], str) if "storage" in node else None
    except (KeyError, TypeError) as error:
        msg = f"node {place} of the axis is malformed: {node!r:.200}"
        raise ValueError(msg) from error
    return LeafRecord(name, shape, tie, storage)


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(kind.__name__)
    return value


def _count(value: Any) -> int:
    number: int = _typed(value, int)
    if number < 0:
        raise TypeError(number)
    return number
