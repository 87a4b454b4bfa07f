from typing import Self

from typing_extensions import disjoint_base

MAX_PAIRS: int

@disjoint_base
class PairRule:
    interactions: tuple[tuple[str, str], ...] | None
    def __new__(cls, degree: object, interactions: object, max_pairs: object) -> Self: ...
