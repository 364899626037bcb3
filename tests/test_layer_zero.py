"""Names, axes and trees need the standard library only, so other libraries can build on them."""

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "componentvec"

# The package itself loads NumPy: an empty stand-in leaves only what the module asks for.
SCRIPT = """
import sys, types
package = sys.modules["componentvec"] = types.ModuleType("componentvec")
package.__path__ = [sys.argv[1]]
import componentvec.{module}
print(*{{name.partition(".")[0] for name in sys.modules}})
"""


@pytest.mark.parametrize("module", ["axis", "tree", "names", "errors", "typing"])
def test_a_module_of_the_lowest_layer_loads_the_standard_library_only(module):
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", SCRIPT.format(module=module), PACKAGE],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert set(loaded) - sys.stdlib_module_names - {"__main__"} == {"componentvec"}
