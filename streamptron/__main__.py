"""``python -m streamptron``: the command line."""

import sys

from streamptron.cli import main

if __name__ == "__main__":
    sys.exit(main())
