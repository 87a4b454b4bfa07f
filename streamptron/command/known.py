"""Which mails a model has learned, and as what, so that none is learned twice.

Eight bytes a mail: a checksum of what it is known by (see files/mail.py) and of its label. What can
be taken back is in the journal, which holds fewer mails, each with all that it has taught.
"""

from __future__ import annotations

import base64
import typing
from itertools import islice

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 100_000  # mails; the oldest are forgotten first
SIZE = 8  # bytes of one


class Known:
    """Mails with their labels.

    Parameters
    ----------
    kept
        What a model's file has of them; empty: nothing.

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
        """Whether a mail was learned with this label, and with no other one since."""
        return _mark(id, label) in self._marks

    def add(self, id: tuple[str, str], label: str, labels: Iterable[str]) -> None:
        """Know a mail by this label, and by none of the others."""
        self.discard(id, labels)
        self._marks[_mark(id, label)] = None
        for oldest in list(islice(self._marks, max(0, len(self) - MOST))):
            del self._marks[oldest]

    def discard(self, id: tuple[str, str], labels: Iterable[str]) -> None:
        """Know a mail by none of these labels."""
        for label in labels:
            self._marks.pop(_mark(id, label), None)

    def kept(self) -> str:
        """As a model's file has them."""
        return base64.b64encode(b"".join(self._marks)).decode()


def _mark(id: tuple[str, str], label: str) -> bytes:
    from hashlib import sha256  # slow to import, and the filter asks for no mark

    return sha256("\0".join((*id, label)).encode(errors="surrogateescape")).digest()[:SIZE]
