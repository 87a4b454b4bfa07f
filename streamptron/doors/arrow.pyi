from typing import Any, Self

from typing_extensions import disjoint_base

WIDTHS: dict[bytes, int]

def is_arrow(X: Any) -> bool: ...

@disjoint_base
class Column:
    def __new__(cls, X: Any) -> Self: ...
    def __len__(self) -> int: ...
