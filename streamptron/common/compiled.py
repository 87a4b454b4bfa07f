"""Where the compiled modules are: all of them lie in one file, that of `streamptron.doors._core`.

Each has its own init function there, so Python loads it on first import, as if it were a separate
file. Separate files would need about 20 kB more per module, for padding and tables of symbols.
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
    """Tells Python's import system where a compiled module is."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that is in that file, or None."""
        if not name.startswith("streamptron.doors.") and name != "streamptron.engine.api":
            return None
        core = PathFinder.find_spec(CORE, [DOORS])
        if core is None or core.origin is None:  # nothing has been compiled
            return None
        loader = ExtensionFileLoader(name, core.origin)
        return spec_from_file_location(name, core.origin, loader=loader)


# First in the list, so that a file left over from an old build is not loaded.
if not any(finder is Compiled for finder in sys.meta_path):
    sys.meta_path.insert(0, Compiled)
