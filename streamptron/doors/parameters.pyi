from collections.abc import Callable
from typing import Any

MAX_PAIRS: int

def checked_class_weight(
    class_weight: object, checked_label: Callable[[Any], Any]
) -> dict[Any, float] | None: ...

class UnfitRow(ValueError):
    args: tuple[int, str]

class PairRule:
    interactions: tuple[tuple[str, str], ...] | None
    def __init__(self, degree: object, interactions: object, max_pairs: object) -> None: ...
