"""Component names: which of them work as attributes, and how a path of them prints as code."""

from __future__ import annotations

import ast
import keyword
import operator
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

from componentvec.errors import LabelError

__all__ = [
    "RESERVED_NAMES",
    "Path",
    "format_path",
    "is_attribute",
    "parse_path",
    "path",
    "plain_name",
    "quoted",
    "shortened",
]

# Public names of numpy.ndarray (2.0 to 2.4), and the one that componentvec adds. A component may
# have such a name, but `v.T` is the transpose: it is reached as `v["T"]` and printed that way.
RESERVED_NAMES = frozenset(
    """
    T all any argmax argmin argpartition argsort astype axis base byteswap choose clip compress conj
    conjugate copy ctypes cumprod cumsum data device diagonal dot dtype dump dumps fill flags flat
    flatten getfield imag item itemset itemsize mT max mean min nbytes ndim newbyteorder nonzero
    partition prod ptp put ravel real repeat reshape resize round searchsorted setfield setflags
    shape size sort squeeze std strides sum swapaxes take to_device tobytes tofile tolist tostring
    trace transpose var view
    """.split()
)


def is_attribute(name: str) -> bool:
    """Tell whether ``v.name`` reaches the component `name`.

    False for names that ndarray owns, keywords, names that start with two underscores, and names
    that are not identifiers or that Python would normalise into other ones.
    """
    return (
        name.isidentifier()
        and name not in RESERVED_NAMES
        and not keyword.iskeyword(name)
        and not name.startswith(("__", "_cv_"))
        and (name.isascii() or unicodedata.normalize("NFKC", name) == name)
    )


def format_path(names: Iterable[str | int]) -> str:
    """Write a path as code: ``layers._1.weight``, ``a["we.ird"].b``, ``x[2]``.

    Parameters
    ----------
    names : iterable of str or int
        Component names from the root down; integers print as an index, ``[2]`` or ``[0,2]``.

    Returns
    -------
    str
        Text that, put behind ``v.`` (or behind ``v`` when it starts with a bracket), evaluates to
        the component.
    """
    text = ""
    for name in names:
        if isinstance(name, int):
            text = (
                f"{text[:-1]},{name}]"
                if text[-1:] == "]" and text[-2:] != '"]'
                else f"{text}[{name}]"
            )
        elif is_attribute(name):
            text += f".{name}"
        else:
            text += f"[{_quote(name)}]"
    return text.removeprefix(".")


def shortened(text: str, width: int) -> str:
    """Cut the middle out of a text that is longer than `width`."""
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def plain_name(name: str) -> str:
    """Return a name as an exact str; members of string enums and NumPy strings print otherwise."""
    return name if type(name) is str else str.__str__(name)


def quoted(names: Iterable[str | int], root: str = "the model") -> str:
    """Write a path for a message: between backticks, or what `root` says for the empty path."""
    text = format_path(names)
    return f"`{text}`" if text else root


def _quote(name: str | int) -> str:
    """Write a name as a Python literal in double quotes."""
    if isinstance(name, int):
        return str(name)
    if name.isprintable():
        text = name.replace("\\", "\\\\")
    else:  # a label must survive printing, and invisible characters be seen for what they are
        text = name.encode("unicode_escape").decode("ascii")
    return '"' + text.replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class Path:
    """A path that is never parsed: names, and zero-based positions where an integer stands.

    Made by `path`. Use it where names come from data and may hold dots or brackets.
    """

    keys: tuple[str | int, ...]

    def __repr__(self) -> str:
        return f"cv.path({', '.join(map(_quote, self.keys))})"

    def __str__(self) -> str:
        return format_path(self.keys)


def path(*keys: str | int) -> Path:
    """Make a path from names and zero-based positions.

    Parameters
    ----------
    *keys : str or int
        Names of components, from the root down. An integer is the zero-based position of a child in
        its group or, below a leaf, an index into the leaf.

    Returns
    -------
    Path
        A hashable path for ``v[...]`` and for the methods of an axis.

    Examples
    --------
    >>> import componentvec as cv
    >>> v = cv.ComponentVector({"we.ird": [1.0, 2.0], "b": {"c": 3.0}})
    >>> v[cv.path("we.ird")]
    array([1., 2.])
    >>> print(v[cv.path("b", 0)])
    3.0
    """
    return Path(tuple(_as_key(key) for key in keys))


def _as_key(key: object) -> str | int:
    if isinstance(key, str):
        return plain_name(key)
    if isinstance(key, SupportsIndex) and not isinstance(key, bool):
        return operator.index(key)
    msg = f"a path is made of names and integers, not {key!r}"
    raise LabelError(msg)


_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<name>[^.\[\]"\s]+)        # layers, .weight
      | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]         # ["we.ird"]
      | \[(?P<index>\d+(?:,\s*\d+)*)\]            # [0,2]
    """,
    re.VERBOSE,
)


def parse_path(text: str) -> tuple[str | int, ...]:
    """Read a path that `format_path` or an element label wrote.

    Raises
    ------
    LabelError
        When `text` is not such a path.
    """
    keys: list[str | int] = []
    position = 0
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None or bool(step["dot"]) != bool(step["name"] and keys):
            raise _no_path(text)
        if step["name"]:
            keys.append(step["name"])
        elif step["quoted"]:
            try:
                keys.append(ast.literal_eval(step["quoted"]))
            except (ValueError, SyntaxError):
                raise _no_path(text) from None
        else:
            keys.extend(int(digits) for digits in step["index"].split(","))
        position = step.end()
    return tuple(keys)


def _no_path(text: str) -> LabelError:
    return LabelError(f'{text!r} is not a path; write it like `a.b`, `a["b c"]` or cv.path(...)')
