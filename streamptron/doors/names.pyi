from collections.abc import Hashable
from typing import Any, Self

from typing_extensions import disjoint_base

@disjoint_base
class Name:
    def __new__(cls, name: Any) -> Self: ...

def named(plain: Any) -> Hashable: ...
def interned(value: Any) -> Any: ...
def damaged(why: Any) -> ValueError: ...

@disjoint_base
class PackedEvent:
    data: bytes
    start: int
    end: int
    n: int
    def __new__(cls, data: bytes, start: int, n: int) -> Self: ...
