from typing import Any

from streamptron.doors.kept import PackedEvent
from streamptron.doors.model import Model
from streamptron.doors.sets import SetModel

def kind_mark(model: Model) -> bytes: ...
def predicted(model: Model, x: Any) -> tuple[Any, int, bytes]: ...
def can_undo(model: Model) -> int: ...
def check_not_in_a_file(model: Model) -> None: ...
def learned(model: Model, x: Any, y: Any, w: Any) -> tuple[Any, ...]: ...
def learned_set(model: SetModel, x: Any, y: Any, w: Any) -> tuple[Any, ...]: ...
def undone_nothing(model: Model, event: PackedEvent, mark: int, number: int) -> None: ...
def undone_moves(
    model: Model,
    packed: PackedEvent,
    mark: int,
    number: int,
    moves: bytes,
    slots: bytes | None,
) -> None: ...
def undone_kept(
    model: Model,
    packed: PackedEvent,
    mark: int,
    number: int,
    changed: bool,
    y: int,
    outputs: int,
    m: int,
    strides: bytes,
    slots: bytes,
    once: bytes,
    numbers: bytes,
    means: bytes,
    columns: bytes,
) -> None: ...
def undone_noted(
    model: Model, packed: PackedEvent, mark: int, number: int, changed: bool, noted: bytes
) -> None: ...
