from typing import Any

from streamptron.doors.model import Model
from streamptron.doors.names import PackedEvent

def predicted(model: Model, x: Any) -> tuple[Any, int, bytes]: ...
def can_undo(model: Model) -> int: ...
def check_not_in_a_file(model: Model) -> None: ...
def learned(model: Model, x: Any, y: Any, w: Any) -> tuple[Any, ...]: ...
def undone(
    model: Model,
    packed: PackedEvent,
    mark: int,
    number: int,
    changed: bool,
    how: int,
    numbers: tuple[int, int, int] | None,
    parts: list[bytes],
) -> None: ...
