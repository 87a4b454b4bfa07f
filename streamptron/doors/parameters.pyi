from collections.abc import Callable
from typing import Any, Self

from typing_extensions import disjoint_base

MAX_PAIRS: int
MISSING: tuple[str, ...]
VIOLATORS: tuple[str, ...]

def checked_class_weight(
    class_weight: object, checked_label: Callable[[Any], Any]
) -> dict[Any, float] | None: ...

class UnfitRow(ValueError):
    args: tuple[int, str]

@disjoint_base
class PairRule:
    interactions: tuple[tuple[str, str], ...] | None
    def __new__(cls, degree: object, interactions: object, max_pairs: object) -> Self: ...
