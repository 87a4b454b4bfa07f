"""Labels that come late, and labels that were wrong: tickets and steps, which can be kept as bytes.

Both begin with the same head, which also gives the event the 16 bytes that must precede it
(engine/exchange/packed.h):

    s t   version   kind   crc32 of all the rest     mark of the kind of model   parts
    2     1         1      4                         8                           each after its size
"""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from collections.abc import Hashable, Iterator
from hashlib import blake2b
from typing import Any, NamedTuple, Self

from streamptron.common import errors
from streamptron.common.checks import checked_bytes, truth
from streamptron.common.names import count_of, count_packed, short_repr, with_article
from streamptron.common.values import BY_LABEL, decode, encoded, encoded_parameters
from streamptron.doors.model import Model
from streamptron.doors.names import PackedEvent
from streamptron.doors.steps import can_undo, learned, predicted, undone
from streamptron.keeping.container import text_of

_BEGIN = b"st"
_VERSION = 1
_TICKET, _STEP = ord("t"), ord("s")
_HEAD = struct.Struct("<2sBBI8s")
# A step: mark, number, sample weight, whether weights changed, whether old numbers follow
_STEP_HEAD = struct.Struct("<QQd??")
_KEPT = struct.Struct("<III")  # index of the label, outputs, outputs that stepped
WRONG = (*errors.WRONG, zlib.error, struct.error)
_ARRAYS_LIMIT = 1 << 28  # bytes that a step's numbers may take; with many labels they may take more


class _Kept:
    """An object that is fully described by its bytes."""

    __slots__ = ()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The ticket or step whose ``bytes()`` these are. Nothing in it is run.

        Parameters
        ----------
        data
            The bytes, or any object with a buffer of bytes.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        ValueError
            If the bytes are damaged, cut off, of another kind, or from a newer version.
        """
        wanted = f"the bytes of {with_article(cls.__name__)}"
        return cls._read(checked_bytes("data", data, wanted))

    @classmethod
    def _read(cls, data: bytes) -> Self:
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (bytes(self),)

    def __eq__(self, other: object) -> bool:
        return bytes(self) == bytes(other) if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(bytes(self))


class Ticket(_Kept):
    """An event that was predicted, and that can be learned later without the event.

    ``model.predict_ticket(x)`` makes one, ``model.learn_ticket(ticket, y)`` learns it. In between
    it can be stored, as ``bytes(ticket)`` or pickled. It holds the names and values of the event,
    so it stays valid whatever happens to the model, and the model's class and parameters.

    Attributes
    ----------
    prediction
        What ``predict_one`` answered; for a MultiLabelClassifier, a tuple of the labels.

    Examples
    --------
    >>> from streamptron import Perceptron, Ticket
    >>> model = Perceptron()
    >>> kept = bytes(model.predict_ticket({"free": 1, "prize": 2}))
    >>> len(kept)
    36
    >>> model.learn_ticket(Ticket.from_bytes(kept), True)
    >>> model.weights
    {'free': 1.0, 'prize': 2.0}
    """

    __slots__ = ("_data", "prediction")

    _data: bytes
    prediction: Any

    def __init__(self) -> None:
        raise TypeError("a Ticket is made by model.predict_ticket(x), or Ticket.from_bytes(data)")

    @classmethod
    def _of(cls, data: bytes, prediction: Any) -> Self:
        ticket = cls.__new__(cls)
        ticket._data = data
        ticket.prediction = prediction
        return ticket

    @classmethod
    def _read(cls, data: bytes) -> Self:
        return cls._of(data, _ticket_opened(data, "data").prediction)

    def __bytes__(self) -> bytes:
        return self._data

    def __repr__(self) -> str:
        return f"Ticket({short_repr(self.prediction)}, {len(self._data)} bytes)"


class Step(_Kept):
    """What learning one event has changed, so that it can be taken back.

    ``step = model.learn_one(x, y, undo=True)`` returns one, ``model.undo(step)`` takes it back. In
    between it can be stored, as ``bytes(step)`` or pickled.

    Attributes
    ----------
    label
        The label that was learned; for a MultiLabelClassifier, a tuple of labels, or ``{label:
        bool}``.
    w
        The sample weight.
    ticket
        The event, to be learned again; its prediction is the one before the step.

    Examples
    --------
    >>> from streamptron import Perceptron
    >>> model = Perceptron()
    >>> step = model.learn_one({"meeting": 1}, True, undo=True)
    >>> model.undo(step)
    >>> model.learn_ticket(step.ticket, False)
    >>> model.weights
    {'meeting': -1.0}
    """

    __slots__ = ("_data", "_opened")

    _data: bytes | None  # made on demand: for AdaptiveClassifier they are compressed
    _opened: _OpenedStep

    def __init__(self) -> None:
        raise TypeError(
            "a Step is made by model.learn_one(x, y, undo=True), or Step.from_bytes(data)"
        )

    @classmethod
    def _of(cls, data: bytes | None, opened: _OpenedStep) -> Self:
        step = cls.__new__(cls)
        step._data = data
        step._opened = opened
        return step

    @classmethod
    def _read(cls, data: bytes) -> Self:
        return cls._of(data, _step_opened(data, "data"))

    @property
    def label(self) -> Any:
        """The label that was learned; for several labels a tuple, or ``{label: bool}``."""
        return self._opened.label

    @property
    def w(self) -> float:
        """The sample weight."""
        return self._opened.w

    @property
    def ticket(self) -> Ticket:
        """The event, to be learned again; its prediction is the one before the step."""
        opened = self._opened
        parts = opened.parts[1:3]
        return Ticket._of(_sealed(_TICKET, opened.mark, parts), opened.prediction)

    def __bytes__(self) -> bytes:
        if self._data is None:
            parts = self._opened.parts
            if self._opened.kept:
                arrays = b"".join(sized(parts[4:]))
                parts = [*parts[:4], zlib.compress(arrays, 1)]
            self._data = _sealed(_STEP, self._opened.mark, parts)
        return self._data

    def __repr__(self) -> str:
        return f"Step({short_repr(self.label)}, {len(bytes(self))} bytes)"


# --- What a learner does with them


def kind_mark(model: Any) -> bytes:
    """Eight bytes for the kind of a model: its class and its parameters."""
    parts = [type(model).__name__, _written_alike(model._params)]
    data = json.dumps(parts, sort_keys=True).encode()
    model._kind_mark = mark = blake2b(data, digest_size=8).digest()
    return mark


def _whole(value: Any) -> Any:
    """True and 1.0 as 1, so that equal parameters are written in the same way."""
    return int(value) if type(value) in (bool, float) and value == value // 1 else value


def _written_alike(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters in a form that is the same if they are equal."""
    # `missing` decides which events are accepted, and changes none of them
    params = {name: _whole(value) for name, value in params.items() if name != "missing"}
    given = [name for name in BY_LABEL if params.get(name) is not None]
    for name in given:
        params[name] = {_whole(label): _whole(number) for label, number in params[name].items()}
    alike = encoded_parameters(params)
    for name in given:
        alike[name] = sorted(alike[name], key=json.dumps)
    return alike


def predict_ticket(model: Model, x: Any) -> Ticket:
    """See ``model.predict_ticket``."""
    mark = model._kind_mark or kind_mark(model)
    prediction, n, entries = predicted(model, x)
    if model._can("set"):
        learner: Any = model
        answer = learner.predict_one(x)
        prediction = tuple(label for label in answer if answer[label])
    parts = (count_packed(n) + entries, _value(prediction, "the label"))
    return Ticket._of(_sealed(_TICKET, mark, parts), prediction)


def ticket_event(model: Model, ticket: Any) -> PackedEvent:
    """The event of a ticket; an error if the ticket is for another kind of model."""
    if isinstance(ticket, Ticket):
        data = ticket._data
    else:
        data = checked_bytes("ticket", ticket, "a Ticket or the bytes of one")
    opened = _ticket_opened(data, "ticket")
    if opened.mark != (model._kind_mark or kind_mark(model)):
        raise ValueError(
            f"ticket is for another kind of model than this {type(model).__name__}: of another "
            "class, or with other parameters; nothing was learned"
        )
    return opened.event


def learn_undoable(model: Model, x: Any, y: Any, w: Any, undo: Any) -> Step:
    """See ``model.learn_one``."""
    truth("undo", undo)
    how = check_can_undo(model, "undo=True")
    mark = model._kind_mark or kind_mark(model)
    # before anything is learned: an error if the step could not be written as bytes
    several: Any = model if model._can("set") else None
    label = _value(model._checked_label(y) if several is None else several._target(y), "y")
    segment, number, changed, y, w, prediction, n, entries, numbers, changes = learned(
        model, x, y, w
    )
    kept = bool(changes) and how != _MOVES
    w = float(w)
    head = _STEP_HEAD.pack(segment, number, w, changed, kept)
    parts = [head + label, count_packed(n) + entries, _value(prediction, "the label")]
    if kept:
        parts.append(_KEPT.pack(*numbers))
    parts += changes
    event = PackedEvent(bytes(_HEAD.size) + entries, _HEAD.size, n)
    opened = _OpenedStep(mark, segment, number, w, changed, kept, y, event, prediction, parts)
    return Step._of(None, opened)


def undo_step(model: Model, step: Any) -> None:
    """See ``model.undo``."""
    how = check_can_undo(model, "undo")
    if isinstance(step, Step):
        opened = step._opened
    else:
        data = checked_bytes("step", step, "a Step or the bytes of one")
        opened = _step_opened(data, "step")
    if opened.mark != (model._kind_mark or kind_mark(model)):
        raise ValueError(
            f"step is of another kind of model than this {type(model).__name__}: of another "
            "class, or with other parameters; nothing has changed"
        )
    event, segment, number = opened.event, opened.segment, opened.number
    changes = opened.parts[3 + opened.kept :]
    if (changes and opened.kept != (how > _MOVES)) or (
        opened.kept and len(changes) not in _CHANGES[how]
    ):
        raise ValueError("step is damaged: it is not a step of such a model; nothing has changed")
    numbers = _KEPT.unpack(opened.parts[3]) if how == _KEPT_NUMBERS and changes else None
    how = how if changes else 0
    undone(model, event, segment, number, opened.changed, how, numbers, changes)


# What can_undo answers: how a step is undone. By moves, by an AdaptiveClassifier's old numbers, or
# by notes of the machine.
_MOVES, _KEPT_NUMBERS, _NOTED = 1, 2, 3
_CHANGES = {_KEPT_NUMBERS: (6, 7), _NOTED: (1,)}  # how many parts; the seventh is for curves


def check_can_undo(model: Model, what: str) -> int:
    """How a model undoes a step; TypeError if it cannot."""
    how = can_undo(model)
    if not how:
        raise TypeError(
            f"{what}: {type(model).__name__} cannot take a step back; Perceptron, "
            "MulticlassPerceptron, MIRA, AdaptiveClassifier and MultiLabelClassifier can. "
            "See docs/late-labels.md"
        )
    return how


# --- Bytes


def _value(value: Any, what: str) -> bytes:
    """A label as JSON; TypeError if no file could hold it either."""
    return text_of(encoded(value, what)).encode()


def sized(parts: Any) -> list[bytes]:
    """Parts, each after its size."""
    return [piece for part in parts for piece in (count_packed(len(part)), part)]


def _sealed(kind: int, mark: bytes, parts: Any) -> bytes:
    body = b"".join(sized(parts))
    begin = _BEGIN + bytes((_VERSION, kind))
    crc = zlib.crc32(body, zlib.crc32(mark, zlib.crc32(begin)))
    return begin + crc.to_bytes(4, "little") + mark + body


def _opened(data: bytes, kind: int, what: str) -> tuple[bytes, list[tuple[int, int]]]:
    """The mark of the kind of model, and where each part begins and ends."""
    called = "ticket" if kind == _TICKET else "step"
    if len(data) < _HEAD.size or not data.startswith(_BEGIN):
        raise ValueError(f"{what} is not a {called}, or was cut off")
    _, version, found, crc, mark = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise ValueError(
            f"{what} is of version {version}; this version of streamptron reads version {_VERSION}"
        )
    if zlib.crc32(data[8:], zlib.crc32(data[:4])) != crc:
        raise ValueError(f"{what} is damaged: it does not match its checksum")
    if found != kind:
        other = "step" if found == _STEP else "ticket"
        raise ValueError(f"{what} is not a {called}, but a {other}")
    return mark, places_of(data, _HEAD.size)


def places_of(data: bytes, at: int) -> list[tuple[int, int]]:
    """Where each part begins and ends, from an offset on."""
    parts = []
    while at < len(data):
        size, at = count_of(data, at)
        parts.append((at, at + size))
        at += size
    if at != len(data):
        raise ValueError("it was cut off")
    return parts


class _OpenedTicket(NamedTuple):
    mark: bytes
    event: PackedEvent
    prediction: Any


class _OpenedStep(NamedTuple):
    mark: bytes
    segment: int
    number: int
    w: float
    changed: bool
    kept: bool
    label: Hashable
    event: PackedEvent
    prediction: Any
    parts: list[bytes]


@contextlib.contextmanager
def _read_from(what: str) -> Iterator[None]:
    """Name the argument in errors about forged bytes."""
    try:
        yield
    except WRONG as error:
        if str(error).startswith(what):
            raise
        raise ValueError(f"{what} is damaged: {error}; nothing was learned") from error


def _event_of(data: bytes, at: int, end: int) -> PackedEvent:
    n, start = count_of(data, at)
    event = PackedEvent(data, start, n)
    if event.end != end:
        raise ValueError("there is more data after its event")
    return event


def _ticket_opened(data: bytes, what: str) -> _OpenedTicket:
    with _read_from(what):
        mark, parts = _opened(data, _TICKET, what)
        event, (start, end) = parts
        return _OpenedTicket(mark, _event_of(data, *event), decode(json.loads(data[start:end])))


def _step_opened(data: bytes, what: str) -> _OpenedStep:
    with _read_from(what):
        mark, places = _opened(data, _STEP, what)
        parts = [data[start:end] for start, end in places]
        segment, number, w, changed, kept = _STEP_HEAD.unpack_from(parts[0])
        label = decode(json.loads(parts[0][_STEP_HEAD.size :]))
        event = _event_of(data, *places[1])
        prediction = decode(json.loads(parts[2]))
        if kept:
            _, _, m = _KEPT.unpack(parts[3])
            most = max(_ARRAYS_LIMIT, event.n * (128 + 64 * min(m, 1 << 17)))
            arrays = zlib.decompressobj().decompress(parts.pop(), most)
            parts += [arrays[start:end] for start, end in places_of(arrays, 0)]
        if len(parts) not in ((5, 10, 11) if kept else (3, 4, 5)):
            raise ValueError("it has the wrong number of parts")
        return _OpenedStep(
            *(mark, segment, number, w, changed, kept, label, event, prediction, parts)
        )
