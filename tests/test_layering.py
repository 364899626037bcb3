"""A module imports only from lower layers: the table here, held against the syntax trees."""

import ast
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "componentvec"

LAYERS = {
    # Standard library only.
    **dict.fromkeys(["axis", "tree", "names", "errors", "typing", "_stacklevel"], 0),
    **dict.fromkeys(["backends", "sharing", "promotion", "display"], 1),
    "arrays": 2,
    "params": 3,
    # Loaded on first use, with optional dependencies. These may import the package's public names.
    **dict.fromkeys(["optimize", "integrate", "io", "plot", "testing", "jax", "torch"], 4),
}

# What a module may import from its own layer.
NEIGHBOURS = {
    "names": {"errors"},
    "axis": {"names", "errors", "typing", "_stacklevel"},
    "tree": {"names", "errors", "typing"},
    "sharing": {"backends"},
    "promotion": {"backends"},
    "display": {"backends"},
}


class Import(NamedTuple):
    target: str
    line: int
    lazy: bool


def imports(source: str, package: str) -> Iterator[Import]:
    """Every import that can run, in functions too; `package` is what relative ones start from.

    A name imported from a module counts as a module below it, as it may be one.
    """
    todo: list[tuple[ast.AST, bool]] = [(ast.parse(source), False)]
    while todo:
        node, lazy = todo.pop()
        lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        children = list(ast.iter_child_nodes(node))
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                children = node.orelse
            case ast.Import(names):
                yield from (Import(alias.name, node.lineno, lazy) for alias in names)
            case ast.ImportFrom(module, names, level):
                base = resolve_name("." * (level or 0) + (module or ""), package)
                yield from (Import(f"{base}.{alias.name}", node.lineno, lazy) for alias in names)
            case ast.Call(
                func=ast.Name("import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(str(name)), *_],
            ):
                yield Import(resolve_name(name, package), node.lineno, lazy)
        todo.extend((child, lazy) for child in children)


def violations(source: str, module: str, *, is_package: bool = False) -> Iterator[str]:
    """What `source`, as the text of `module`, imports against the rules."""
    own = top_level(module)
    if own is not None and own not in LAYERS:
        yield f"{module} has no place in the layer table"
        return
    package = module if is_package else module.rpartition(".")[0]
    for target, line, lazy in imports(source, package):
        where = f"{module}, line {line}: {target}"
        if target.partition(".")[0] != "componentvec":
            if own and LAYERS[own] == 0 and target.partition(".")[0] not in sys.stdlib_module_names:
                yield f"{where}: layer 0 uses the standard library only"
            continue
        other = top_level(target)
        if other not in LAYERS:
            other = None  # a public name of the package itself
        if other == own:
            continue
        if any(part.startswith("_") for part in target.split(".")[2:]):
            yield f"{where} is private to {other}"
        if own is None:
            if LAYERS[other] == 4 and not lazy:
                yield f"{where} is loaded on first use, so import it in a function"
        elif other is None:
            if LAYERS[own] < 4:
                yield f"{where} imports the whole package, which is above"
        elif LAYERS[other] >= LAYERS[own] and other not in NEIGHBOURS.get(own, ()):
            yield f"{where} is not in a lower layer"


def top_level(module: str) -> str | None:
    """``arrays`` for ``componentvec.arrays._vector``, None for ``componentvec`` itself."""
    return module.split(".")[1] if "." in module else None


def test_package_keeps_to_the_layers():
    found = []
    files = sorted(PACKAGE.rglob("*.py"))
    for file in files:
        is_package = file.name == "__init__.py"
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if is_package else parts)
        found += violations(file.read_text(encoding="utf-8"), module, is_package=is_package)
    assert files
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("axis._axis", "import numpy as np", "standard library only"),
        ("tree._walk", "def f():\n    from numpy import ndarray", "standard library only"),
        ("arrays._vector", "from componentvec.params import destructure", "not in a lower layer"),
        ("arrays._vector", "from ..params import destructure", "not in a lower layer"),
        ("arrays._vector", "from componentvec import params", "not in a lower layer"),
        ("params._flatten", "def f():\n    import componentvec.jax", "not in a lower layer"),
        ("params._flatten", "import_module('componentvec.jax')", "not in a lower layer"),
        ("params._flatten", "if TYPE_CHECKING: pass\nelse: from .. import jax", "not in a lower"),
        ("promotion", "from componentvec.sharing import Group", "not in a lower layer"),
        ("errors", "from componentvec.typing import Shape", "not in a lower layer"),
        ("optimize", "from componentvec.integrate import solve_ivp", "not in a lower layer"),
        ("arrays._vector", "import componentvec as cv", "whole package"),
        ("arrays._vector", "from componentvec import zeros", "whole package"),
        ("arrays._vector", "from componentvec.axis._axis import Axis", "private to axis"),
        ("arrays._vector", "from componentvec.axis import _axis", "private to axis"),
        ("", "from componentvec.axis._axis import Axis", "private to axis"),
        ("", "from componentvec import jax", "first use"),
        ("utils", "", "no place in the layer table"),
    ],
)
def test_breaking_a_rule_is_noticed(module, source, complaint):
    (found,) = violations(source, f"componentvec.{module}".rstrip("."), is_package=not module)
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("axis._axis", "from __future__ import annotations\nimport json\nfrom ..errors import E"),
        ("axis._axis", "from componentvec.axis._names import path\nfrom ._nodes import Leaf"),
        ("axis._axis", "if typing.TYPE_CHECKING:\n    import numpy"),
        ("display._html", "import numpy\nfrom componentvec.backends import backend_of"),
        ("params._flatten", "from componentvec.arrays import ComponentVector"),
        ("optimize", "import scipy\nimport componentvec as cv\nfrom componentvec import zeros"),
        ("", "from componentvec.arrays import ComponentVector\nfrom . import errors"),
        ("", "def __getattr__(name):\n    from componentvec import jax"),
    ],
)
def test_what_the_rules_allow_passes(module, source):
    module = f"componentvec.{module}".rstrip(".")
    assert not list(violations(source, module, is_package=module == "componentvec"))
