"""Names for the types that cross module borders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

__all__ = [
    "DtypeRule",
    "Names",
    "Predicate",
    "PromotionPolicy",
    "Shape",
    "SharingPolicy",
    "StaticsRule",
]

Names: TypeAlias = tuple[str, ...]
"""A path as the names from the root down."""

Shape: TypeAlias = tuple[int, ...]
"""Extent of every dimension."""

SharingPolicy: TypeAlias = Literal["alias", "reject", "copy"]
"""What happens to arrays that share memory: keep as ties, refuse, or store one copy each."""

PromotionPolicy: TypeAlias = Literal["reject", "allow"]
"""What happens to leaves of different dtypes: refuse, or promote."""

Predicate: TypeAlias = Callable[[str, Any], bool]
"""``(path, leaf) -> bool``: whether a number or an array of numbers is a parameter."""

DtypeRule: TypeAlias = Literal["restore", "follow"]
"""Which dtype a model's arrays get: that of the model, or that of the vector."""

StaticsRule: TypeAlias = Literal["share", "copy"]
"""Whose arrays the statics of a model are: the original's own, or copies."""
