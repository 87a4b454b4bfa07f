"""The parts of a model file, for writing and reading. docs/format.md describes them."""

from __future__ import annotations

from typing import Any, NamedTuple

ALIGNMENT = 64  # of the start of the arrays, in bytes: a cache line
HEADER_LIMIT = 100_000_000  # bytes, the limit of other readers of safetensors too

JOURNAL = "journal"  # the array of the journal, if one was saved with the model
STEPS = "steps"  # the array of a pipeline's steps, if there are any besides a tokenizer
BESIDE = {JOURNAL, STEPS}
# The engine's texts of a learner's counters and single numbers, in the order of a file.
COUNTS = ("counters", "clock", "serve", "adaptive", "many", "voted", "sets", "ceiling")
IN_PLACE = "crc32"  # the expected checksum, given with the arrays of a model opened in place


def looks_like_one(path: str) -> bool:
    """Whether a file begins like a model file, perhaps a damaged one."""
    with open(path, "rb") as file:
        size, brace = file.read(8), file.read(1)
    return brace == b"{" and int.from_bytes(size, "little") <= HEADER_LIMIT


class Contents(NamedTuple):
    """All that a model file holds.

    Attributes
    ----------
    learner
        The learner, of any class.
    tokenizer
        The Tokenizer or Mail before it, or None.
    lines
        How the command line reads and writes lines (see files/lines.py), or None.
    metadata
        The user's metadata.
    position
        Where in a stream learning has arrived, as given to ``Checkpoint.step``; or None.
    journal
        A Journal (see journal.py), or its bytes if the file was read; or None.
    steps
        The steps before the learner (see steps.py); None if there are none besides the tokenizer.
    wrapper
        If the learner is inside a classifier for scikit-learn: its class, its parameters and what
        it keeps. Otherwise None.
    """

    learner: Any
    tokenizer: Any = None
    lines: dict[str, Any] | None = None
    metadata: Any = None
    position: Any = None
    journal: Any = None
    steps: Any = None
    wrapper: Any = None
