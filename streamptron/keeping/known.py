"""Which labels a model has, and which mails it has learned, so that none is learned twice.

This takes eight bytes per mail: a checksum of its identity (see files/mail.py) and its label. The
journal, which can take mails back, holds fewer of them, each with all that it has taught.
"""

from __future__ import annotations

import base64
import warnings
from collections.abc import Iterable, Sequence
from itertools import islice

from streamptron.common.names import short_repr

# How a label may be written if labels are truth values.
TRUTHS = {"1": True, "+1": True, "true": True, "0": False, "-1": False, "false": False}

MOST = 100_000  # mails; the oldest are forgotten first
SIZE = 8  # bytes per mail


def truth_names(positive: str | None, names: Sequence[str | None] | None) -> tuple[str, str]:
    """How to write False and True: by the positive label's name, or as the lines wrote them."""
    if positive is not None:
        return f"not {positive}", positive
    no, yes = names or (None, None)
    return no or "0", yes or "1"


class Labels:
    """Which labels may be learned.

    Parameters
    ----------
    names
        The labels that the model has.
    first
        Up to this many labels are accepted without being declared.
    new
        Whether all labels are accepted, with a warning if one looks like another.

    Examples
    --------
    >>> Labels(["ham", "spam"], 2).check("Spam")
    Traceback (most recent call last):
    ValueError: the label 'Spam' is not one of the model's, 'ham', 'spam'; did you mean 'spam'? ...
    """

    def __init__(self, names: Sequence[str], first: int, new: bool = False) -> None:
        self._names = dict.fromkeys(names)
        self._first = first
        self._new = new

    def check(self, label: str) -> None:
        """Raise a ValueError if a label may not be learned."""
        if label in self._names:
            return
        near = [name for name in self._names if name.casefold() == label.casefold()]
        if self._new or len(self._names) < self._first:
            if near:
                warnings.warn(
                    f"the new label {short_repr(label)} differs from {short_repr(near[0])} only in "
                    "case",
                    stacklevel=2,
                )
            self._names[label] = None
            return
        if not near:
            from difflib import get_close_matches

            near = get_close_matches(label, list(self._names), 1, 0.5)
        few = ", ".join(map(short_repr, list(self._names)[:10])) + ", ..." * (len(self._names) > 10)
        then = f"did you mean {short_repr(near[0])}? To" if near else "to"
        raise ValueError(
            f"the label {short_repr(label)} is not one of the model's, {few}; {then} make it a new "
            "one give --new-label"
        )


class Known:
    """Mails that were learned, with their labels.

    Parameters
    ----------
    kept
        What `kept` returned, from a model's file; empty: no mails.

    Examples
    --------
    >>> known = Known()
    >>> known.add(("17@example.org", "8d3f"), "spam", ["ham", "spam"])
    >>> known.has(("17@example.org", "8d3f"), "spam"), known.has(("17@example.org", "0"), "spam")
    (True, False)
    """

    def __init__(self, kept: str = "") -> None:
        packed = base64.b64decode(kept)
        pieces = (packed[at : at + SIZE] for at in range(0, len(packed), SIZE))
        self._marks: dict[bytes, None] = dict.fromkeys(pieces)

    def __len__(self) -> int:
        return len(self._marks)

    def has(self, id: tuple[str, str], label: str) -> bool:
        """Whether a mail was learned with this label, and with no other label since."""
        return _mark(id, label) in self._marks

    def add(self, id: tuple[str, str], label: str, labels: Iterable[str]) -> None:
        """Record a mail under this label, and under none of the others."""
        self.discard(id, labels)
        self._marks[_mark(id, label)] = None
        for oldest in list(islice(self._marks, max(0, len(self) - MOST))):
            del self._marks[oldest]

    def discard(self, id: tuple[str, str], labels: Iterable[str]) -> None:
        """Forget a mail under these labels."""
        for label in labels:
            self._marks.pop(_mark(id, label), None)

    def kept(self) -> str:
        """The mails as a text for a model's file."""
        return base64.b64encode(b"".join(self._marks)).decode()


def _mark(id: tuple[str, str], label: str) -> bytes:
    from hashlib import sha256  # slow to import, and the filter does not need it

    return sha256("\0".join((*id, label)).encode(errors="surrogateescape")).digest()[:SIZE]
