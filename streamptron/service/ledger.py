"""What has been asked and taught, by the ids of clients: so that calls are safe to repeat."""

from __future__ import annotations

import base64
import json
import secrets
import typing
import zlib
from itertools import count
from typing import Any, NamedTuple

from streamptron.common.names import shown
from streamptron.service.bad import Bad
from streamptron.service.tally import Judged

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

ID_MOST = 200  # characters
ASKED_OVERHEAD = 200  # bytes of an answer that is remembered, beside its ticket


class Asked(NamedTuple):
    """An answer whose label may come.

    Attributes
    ----------
    mark
        Of the event.
    ticket
        The event, packed.
    label, probability
        What was answered, as JSON.
    shadow
        The same of the shadow, as the log has it.
    """

    mark: str
    ticket: bytes
    label: Any
    probability: float | None
    shadow: dict[str, Any] | None = None

    @property
    def size(self) -> int:
        """In memory, or about that."""
        shadow = 0 if self.shadow is None else ASKED_OVERHEAD + len(self.shadow.get("ticket", ""))
        return ASKED_OVERHEAD + len(self.ticket) + shadow


class Taught(NamedTuple):
    """A lesson that is known.

    Attributes
    ----------
    mark
        Of the event.
    label
        As JSON; None: it was taken back.
    weight
        With which it was learned.
    n
        Its number.
    judged
        How it was counted; None: it was not.
    """

    mark: str
    label: Any
    weight: float
    n: int
    judged: Judged | None = None


class Ledger:
    """Ids, the oldest of which are forgotten.

    Parameters
    ----------
    most
        Answers that are remembered, and lessons.
    most_bytes
        Of answers.
    kept
        Lessons, as a model's file has them.
    """

    def __init__(self, most: int, most_bytes: int, kept: str = "") -> None:
        self.most, self.most_bytes = most, most_bytes
        self.asked: dict[str, Asked] = {}
        self.asked_bytes = 0
        self.taught: dict[str, Taught] = {}
        if kept:
            rows = json.loads(zlib.decompress(base64.b64decode(kept)))
            for id, mark, label, w, n, judged in rows:
                self.taught[id] = Taught(mark, label, w, n, judged and Judged(*judged))
        self._begin = secrets.token_hex(4)
        self._numbers = count(1)

    def new_id(self) -> str:
        """An id that nothing else has."""
        return f"{self._begin}-{next(self._numbers)}"

    def check(self, id: str, mark: str) -> None:
        """That an id does not belong to another event."""
        known = self.taught.get(id) or self.asked.get(id)
        if known is not None and known.mark != mark:
            raise Bad(
                409,
                f"id={shown(id)} belongs to another event; give each event an id of its own",
                "id",
                id,
            )

    def ask(self, id: str, asked: Asked) -> list[str]:
        """Remember an answer; the ids of those that are forgotten for it."""
        self._drop(id)
        self.asked[id] = asked
        self.asked_bytes += asked.size
        gone = []
        while len(self.asked) > self.most or self.asked_bytes > self.most_bytes:
            gone.append(next(iter(self.asked)))
            self._drop(gone[-1])
        return gone

    def _drop(self, id: str) -> None:
        old = self.asked.pop(id, None)
        if old is not None:
            self.asked_bytes -= old.size

    def teach(self, id: str, taught: Taught) -> None:
        """Know a lesson; what was asked needs no label any more."""
        self._drop(id)
        self.taught.pop(id, None)
        self.taught[id] = taught
        while len(self.taught) > self.most:
            del self.taught[next(iter(self.taught))]


def kept(lessons: Iterable[tuple[str, tuple[Any, ...]]]) -> str:
    """Lessons as a model's file has them."""
    text = ",".join([json.dumps([id, *taught]) for id, taught in lessons])
    return base64.b64encode(zlib.compress(f"[{text}]".encode(), 1)).decode()


def id_of(said: Any) -> str | None:
    """The id that a client gives, as text."""
    id = said.get("id")
    if id is None:
        return None
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str) or not 0 < len(id) <= ID_MOST:
        raise Bad(
            400,
            f"id={shown(id)}: give a text of 1 to {ID_MOST} characters, or a whole number",
            "id",
            id,
        )
    return id
