"""``python -m streamptron``, and the command ``streamptron``."""

import contextlib
import gc
import os
import sys
from typing import NoReturn

# What is imported stays for good, so the collector need not look at it, now or ever.
gc.disable()

from streamptron.cli import main  # noqa: E402


def command() -> NoReturn:
    """The command line as a process of its own."""
    with contextlib.suppress(ModuleNotFoundError):  # which main says in its own words
        import streamptron.command.commands  # noqa: F401
    gc.freeze()
    gc.enable()
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # nobody reads on
            stream.flush()
    os._exit(code)  # to take a model apart that the system takes back whole would be for nothing


if __name__ == "__main__":
    command()
