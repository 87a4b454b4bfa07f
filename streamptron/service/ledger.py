"""What has been asked and taught, by the clients' ids, so that calls are safe to repeat."""

from __future__ import annotations

import base64
import contextlib
import json
import marshal
import secrets
import zlib
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from streamptron.common.errors import ModelFileError
from streamptron.common.names import short_repr
from streamptron.service.bad import Bad
from streamptron.service.tally import Judged

ID_MOST = 200  # characters
ASKED_OVERHEAD = 150  # bytes that a remembered answer takes in addition to its packed form
ROWS = 1000  # rows that are compressed at once, while other threads wait
CODES = 3 << 14  # bytes that are turned into text at once
KEPT_MOST = 1 << 28  # bytes of all rows in a file
# What reading a forged file may raise.
WRONG = (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error)
_ROW = json.JSONEncoder(separators=(",", ":"))

Row = TypeVar("Row", bound=tuple[Any, ...])


class Asked(NamedTuple):
    """An answer whose event may still get a label.

    Attributes
    ----------
    mark
        The mark of the event.
    ticket
        The event, packed.
    label, probability
        The answer, as JSON.
    shadow
        The shadow's answer, as the log has it.
    """

    mark: str
    ticket: bytes
    label: Any
    probability: float | None
    shadow: dict[str, Any] | None = None


class Taught(NamedTuple):
    """A lesson that was learned.

    Attributes
    ----------
    mark
        The mark of the event.
    label
        The label, as JSON; None: the lesson was taken back.
    weight
        The weight that it was learned with.
    n
        The number of the lesson.
    judged
        How it was counted; None: it was not counted.
    """

    mark: str
    label: Any
    weight: float
    n: int
    judged: Judged | None = None

    @classmethod
    def of_row(cls, mark: str, label: Any, weight: float, n: int, judged: Any) -> Taught:
        """Make a lesson from a row."""
        return cls(mark, label, weight, n, judged and Judged(*judged))


class Rows(Generic[Row]):
    """Rows by their ids, the oldest first, each stored as the JSON that goes into a file.

    So they take little memory, are ready to be saved, and do not slow down Python's garbage
    collector.

    Parameters
    ----------
    of_row
        Makes a row from what follows the id in its JSON.
    kept
        Rows from a file.
    """

    def __init__(self, of_row: Callable[..., Row], kept: str = "") -> None:
        self._of_row = of_row
        self._packed: dict[str, bytes] = {}
        if kept:
            unpacker = zlib.decompressobj()
            rows = unpacker.decompress(base64.b64decode(kept), KEPT_MOST)
            if not unpacker.eof:
                raise ValueError(f"the lessons it knows take more than {KEPT_MOST} bytes")
            for row in rows[1:-1].split(b",\n"):
                id, *rest = json.loads(row)
                of_row(*rest)
                self._packed[id] = row

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, id: object) -> bool:
        return id in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def get(self, id: str) -> Row | None:
        """The row with an id; None if there is none."""
        packed = self._packed.get(id)
        return None if packed is None else self._of_row(*json.loads(packed)[1:])

    def put(self, id: str, row: Row, most: int) -> None:
        """Make a row the latest one, and forget the oldest if there are more than `most`."""
        self._packed.pop(id, None)
        self._packed[id] = _ROW.encode([id, *row]).encode()
        while len(self._packed) > most:
            del self._packed[next(iter(self._packed))]

    def drop(self, id: str) -> None:
        """Forget a row."""
        del self._packed[id]

    def packed(self) -> list[bytes]:
        """All rows as they are now, for `kept`."""
        return list(self._packed.values())


class Ledger:
    """Answers and lessons by their ids; the oldest are forgotten.

    Parameters
    ----------
    most
        The largest number of answers to remember, and of lessons.
    most_bytes
        The largest number of bytes of answers.
    kept
        Lessons from a model's file.
    """

    def __init__(self, most: int, most_bytes: int, kept: str = "") -> None:
        self.most, self.most_bytes = most, most_bytes
        self.asked: dict[str, bytes] = {}  # packed, see Rows
        self.asked_bytes = 0
        self.taught = Rows(Taught.of_row, kept)
        self._begin = secrets.token_hex(4)
        self._numbers = count(1)

    def new_id(self) -> str:
        """A new, unique id."""
        return f"{self._begin}-{next(self._numbers)}"

    def check(self, id: str, mark: str) -> None:
        """Raise an error if an id belongs to another event."""
        known = self.taught.get(id) or self.waiting(id)
        if known is not None and known.mark != mark:
            raise Bad(
                409,
                f"id={short_repr(id)} belongs to another event; give each event its own id",
                "id",
                id,
            )

    def waiting(self, id: str) -> Asked | None:
        """An answer that still has no label; None if there is none with this id."""
        packed = self.asked.get(id)
        return None if packed is None else Asked(*marshal.loads(packed))

    def ask(self, id: str, asked: Asked) -> list[str]:
        """Remember an answer. Returns the ids of those that are forgotten to make room."""
        self._drop(id)
        self.asked[id] = packed = marshal.dumps(tuple(asked))
        self.asked_bytes += ASKED_OVERHEAD + len(packed)
        gone = []
        while len(self.asked) > self.most or self.asked_bytes > self.most_bytes:
            gone.append(next(iter(self.asked)))
            self._drop(gone[-1])
        return gone

    def _drop(self, id: str) -> None:
        old = self.asked.pop(id, None)
        if old is not None:
            self.asked_bytes -= ASKED_OVERHEAD + len(old)

    def teach(self, id: str, taught: Taught) -> None:
        """Record a lesson; the answer with its id no longer waits for a label."""
        self._drop(id)
        self.taught.put(id, taught, self.most)


def kept(rows: list[bytes]) -> str:
    """Packed rows as text for a model's file.

    This is done piece by piece, so that the thread that answers need not wait for all of it.
    """
    if not rows:
        return ""
    packer = zlib.compressobj(1)
    pieces, before = [], b"["
    for at in range(0, len(rows), ROWS):
        pieces.append(packer.compress(before + b",\n".join(rows[at : at + ROWS])))
        before = b",\n"
    data = b"".join([*pieces, packer.compress(b"]"), packer.flush()])
    codes = [base64.b64encode(data[at : at + CODES]) for at in range(0, len(data), CODES)]
    return b"".join(codes).decode()


@contextlib.contextmanager
def of_a_server(path: str, key: str) -> Iterator[None]:
    """Turn errors about a file's metadata into a ModelFileError that names the file."""
    try:
        yield
    except WRONG as error:
        raise ModelFileError(
            f"{path!r} has {key!r} in its metadata, but not as a server writes it: {error}; take "
            "another copy of the file, or save the model without that key"
        ) from error


def id_of(said: Any) -> str | None:
    """The id that a client gives, as text; None if it gives none."""
    id = said.get("id")
    if id is None:
        return None
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str) or not 0 < len(id) <= ID_MOST:
        raise Bad(
            400,
            f"id={short_repr(id)}: give a text of 1 to {ID_MOST} characters, or a whole number",
            "id",
            id,
        )
    return id
