"""``import componentvec`` loads NumPy and the standard library, nothing else."""

import subprocess
import sys

# NumPy comes first: what it brings along, such as Cython's run-time module, is its own business.
SCRIPT = """
import sys
import numpy
before = set(sys.modules)
import {package}
print(*{{name.partition(".")[0] for name in set(sys.modules) - before}})
"""


def foreign_modules(package, folder=None):
    """Top-level modules that importing `package`, from `folder`, loads against the rule."""
    script = SCRIPT.format(package=package)
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.split()
    assert package in loaded
    return set(loaded) - sys.stdlib_module_names - {"numpy", package}


def test_import_loads_only_numpy_and_the_standard_library():
    assert foreign_modules("componentvec") == set()


def test_loading_more_is_noticed(tmp_path):
    (tmp_path / "stray.py").touch()
    (tmp_path / "greedy.py").write_text("import json, numpy.linalg, stray\n", encoding="utf-8")
    assert foreign_modules("greedy", tmp_path) == {"stray"}
