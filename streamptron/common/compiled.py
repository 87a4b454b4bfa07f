"""Where the compiled modules are: all of them lie in one file, that of `streamptron.doors._core`.

Each has an init function of its own there, so Python loads it when it is first imported, as it
would load a file of its own. Such a file has gaps between its pages and tables of names: some 20 kB
of each module.
"""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from types import ModuleType

CORE = "streamptron.doors._core"
DOORS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "doors")


class Compiled:
    """Says to Python's import where a compiled module is."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Of any module that lies there."""
        if not name.startswith("streamptron.doors.") and name != "streamptron.engine.api":
            return None
        core = PathFinder.find_spec(CORE, [DOORS])
        if core is None or core.origin is None:  # nothing has been compiled
            return None
        loader = ExtensionFileLoader(name, core.origin)
        return spec_from_file_location(name, core.origin, loader=loader)


# First, so that a file which is left from a build of long ago is not taken.
if not any(finder is Compiled for finder in sys.meta_path):
    sys.meta_path.insert(0, Compiled)
