"""What has been asked and taught, by the ids of clients: so that calls are safe to repeat."""

from __future__ import annotations

import base64
import contextlib
import json
import marshal
import secrets
import typing
import zlib
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from streamptron.common.errors import ModelFileError
from streamptron.common.names import short_repr
from streamptron.service.bad import Bad
from streamptron.service.tally import Judged

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ID_MOST = 200  # characters
ASKED_OVERHEAD = 150  # bytes of an answer that is remembered, beside what it is packed in
ROWS = 1000  # that are compressed at once, while other threads wait
CODES = 3 << 14  # bytes that become text at once
KEPT_MOST = 1 << 28  # bytes of all rows of a file
# What reading a forged file may raise.
WRONG = (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error)
_ROW = json.JSONEncoder(separators=(",", ":"))

Row = TypeVar("Row", bound=tuple[Any, ...])


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

    @classmethod
    def of_row(cls, mark: str, label: Any, weight: float, n: int, judged: Any) -> Taught:
        """The lesson of a row."""
        return cls(mark, label, weight, n, judged and Judged(*judged))


class Rows(Generic[Row]):
    """Rows by their ids, the oldest first, each packed as the JSON that a file has of it.

    So they take little memory, a save finds them ready, and Python does not look through them for
    garbage.

    Parameters
    ----------
    of_row
        Makes a row of what its JSON has behind the id.
    kept
        Rows of a file.
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
        """The row of an id; None if there is none."""
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
        self.asked: dict[str, bytes] = {}  # packed, see Rows
        self.asked_bytes = 0
        self.taught = Rows(Taught.of_row, kept)
        self._begin = secrets.token_hex(4)
        self._numbers = count(1)

    def new_id(self) -> str:
        """An id that nothing else has."""
        return f"{self._begin}-{next(self._numbers)}"

    def check(self, id: str, mark: str) -> None:
        """That an id does not belong to another event."""
        known = self.taught.get(id) or self.waiting(id)
        if known is not None and known.mark != mark:
            raise Bad(
                409,
                f"id={short_repr(id)} belongs to another event; give each event an id of its own",
                "id",
                id,
            )

    def waiting(self, id: str) -> Asked | None:
        """An answer whose label may come; None if there is none."""
        packed = self.asked.get(id)
        return None if packed is None else Asked(*marshal.loads(packed))

    def ask(self, id: str, asked: Asked) -> list[str]:
        """Remember an answer; the ids of those that are forgotten for it."""
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
        """Know a lesson; what was asked needs no label any more."""
        self._drop(id)
        self.taught.put(id, taught, self.most)


def kept(rows: list[bytes]) -> str:
    """Packed rows as a model's file has them.

    It is done piece by piece, so that the thread that answers does not wait for all of it.
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
    """Name the file whose metadata has something that is not what a server writes."""
    try:
        yield
    except WRONG as error:
        raise ModelFileError(
            f"{path!r} has {key!r} in its metadata, which a server reads, and which is not what a "
            f"server writes: {error}; take another copy of the file, or save it without that"
        ) from error


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
            f"id={short_repr(id)}: give a text of 1 to {ID_MOST} characters, or a whole number",
            "id",
            id,
        )
    return id
