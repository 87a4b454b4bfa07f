"""Which code points the table of letters and the running Python know alike.

The engine has a table of its own, of one Unicode version, and the twin asks the running Python. Of
a code point that both have assigned, or neither, they must say the same. Of any other one of the
two knows nothing.
"""

import unicodedata

from tests.support.project import ROOT

_VERSION, *_RANGES = (ROOT / "tests" / "text" / "assigned.txt").read_text("utf-8").splitlines()

VERSION = _VERSION.split()[1].rstrip(":")
ASSIGNED = {  # in the table's version, as tools/letters.py has written them
    code
    for first, last in (line.split() for line in _RANGES)
    for code in range(int(first, 16), int(last, 16) + 1)
}


def known_alike(code):
    """Whether the table's Unicode version and the running Python's have both assigned it, or none.

    If they are one version, this is so of every code point.
    """
    return (code in ASSIGNED) == (unicodedata.category(chr(code)) != "Cn")
