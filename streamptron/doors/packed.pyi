from typing import Self

from typing_extensions import disjoint_base

@disjoint_base
class PackedEvent:
    data: bytes
    start: int
    end: int
    n: int
    def __new__(cls, data: bytes, start: int, n: int) -> Self: ...
