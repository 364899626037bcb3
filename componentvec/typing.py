"""Names for the types that cross module borders."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["Names", "PromotionPolicy", "Shape", "SharingPolicy"]

Names: TypeAlias = tuple[str, ...]
"""A path as the names from the root down."""

Shape: TypeAlias = tuple[int, ...]
"""Extent of every dimension."""

SharingPolicy: TypeAlias = Literal["alias", "reject", "copy"]
"""What happens to arrays that share memory: keep as ties, refuse, or store one copy each."""

PromotionPolicy: TypeAlias = Literal["reject", "allow"]
"""What happens to leaves of different dtypes: refuse, or promote."""
