from array import array
from collections.abc import Container
from typing import Any, ClassVar

from typing_extensions import disjoint_base

from streamptron.doors.desk import EventDoor
from streamptron.doors.texts import TextDoor, Texts

UNSORTED: int
NEW_LABELS: int

def write_ahead(desk: EventDoor, X: Texts) -> None: ...

class LINES:
    LABELLED: ClassVar[int]
    EITHER: ClassVar[int]
    TEXT: ClassVar[int]
    FASTTEXT: ClassVar[int]

def count_line_ends(block: bytes, last: int | None = None) -> int: ...

LINE_FAULTS: tuple[str | None, ...]

@disjoint_base
class Lines(Texts):
    labels: list[bytes]
    faults: list[tuple[int, str]]
    numbers: Any
    line_numbers: Any
    n_lines: int
    n_blank: int
    replaced: bool
    def __init__(self, door: TextDoor, block: bytes, kind: int) -> None: ...
    def leave_out(self, row: int, reason: str) -> None: ...

@disjoint_base
class Questions(Texts):
    others: list[bytes]
    other_lines: list[int]
    n_lines: int
    def __init__(
        self, door: TextDoor, block: bytes, first: int, last: int, known: Container[str]
    ) -> None: ...
    def answered(
        self,
        heads: list[bytes],
        tail: bytes,
        outputs: Any,
        probabilities: Any,
        others: list[bytes],
    ) -> tuple[bytes, array[int]]: ...
