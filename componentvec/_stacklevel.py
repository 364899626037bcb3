"""Which line a warning names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["user_stacklevel"]


def user_stacklevel() -> int:
    """Count the frames up to code outside the package, for a warning to name that line."""
    package = f"{Path(__file__).parent}{os.sep}"
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    return level
