"""``python -m streamptron``, and the command ``streamptron``."""

import contextlib
import gc
import os
import sys
from typing import NoReturn

# Imported modules stay to the end, so the garbage collector need never look at them.
gc.disable()

from streamptron.command.cli import main  # noqa: E402


def command() -> NoReturn:
    """The command line as a process of its own."""
    with contextlib.suppress(ModuleNotFoundError):  # main reports it
        import streamptron.command.commands  # noqa: F401
    gc.freeze()
    gc.enable()
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # the reader has gone
            stream.flush()
    os._exit(code)  # the system takes the memory back at once; freeing a large model takes time


if __name__ == "__main__":
    command()
