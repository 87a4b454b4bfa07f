"""What a model file is made of, for writing and for reading. docs/format.md describes it."""

from __future__ import annotations

import typing
from typing import Any

ALIGNMENT = 64  # of the arrays' start: a cache line
HEADER_LIMIT = 100_000_000  # bytes, the limit of other readers of safetensors too

JOURNAL = "journal"  # of any learner's, if one was saved with it
STEPS = "steps"  # of a pipeline, if there are others than a tokenizer
BESIDE = {JOURNAL, STEPS}
# The engine's texts of what a learner has counted and keeps once, in the order of a file.
COUNTS = ("counters", "clock", "serve", "adaptive", "many", "voted", "sets", "ceiling")
IN_PLACE = "crc32"  # the expected checksum, given with the arrays of a model opened in place


def looks_like_one(path: str) -> bool:
    """Whether a file begins as a model file does, perhaps a damaged one."""
    with open(path, "rb") as file:
        size, brace = file.read(8), file.read(1)
    return brace == b"{" and int.from_bytes(size, "little") <= HEADER_LIMIT


class Contents(typing.NamedTuple):
    """All that a model file holds.

    Attributes
    ----------
    learner
        The learner, of any class.
    tokenizer
        The Tokenizer before it; None: the learner is alone.
    lines
        How the command line reads and writes lines (see files/lines.py), or None.
    metadata
        The user's.
    position
        Up to where a stream has been learned, as given to ``Checkpoint.step``; or None.
    journal
        Steps that can be taken back, see journal.py; of a file that was read, the bytes that hold
        them; or None.
    steps
        The steps before the learner, see steps.py; None: there are none but the tokenizer.
    wrapper
        Of the classifier for scikit-learn that has the learner inside: its class, what it is given
        and what it keeps; or None.
    """

    learner: Any
    tokenizer: Any = None
    lines: dict[str, Any] | None = None
    metadata: Any = None
    position: Any = None
    journal: Any = None
    steps: Any = None
    wrapper: Any = None
