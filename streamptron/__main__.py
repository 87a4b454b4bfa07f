"""``python -m streamptron``, and the command ``streamptron``."""

import gc
import sys

# What is imported stays for good, so the collector need not look at it, now or ever.
gc.disable()

from streamptron.cli import main  # noqa: E402


def command() -> int:
    """The command line as a process of its own."""
    import streamptron._commands  # noqa: F401

    gc.freeze()
    gc.enable()
    return main()


if __name__ == "__main__":
    sys.exit(command())
