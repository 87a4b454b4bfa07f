from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

NAN_HINT: str
NUMBERS: tuple[str, ...]
WIDTHS: dict[bytes, int]

def number_small(values: NDArray[np.int64], low: int, size: int) -> tuple[list[int], Any]: ...
def count_wrong(
    numbers: Any, outputs: Sequence[int], predictions: Any, first: int, last: int, only: int = -1
) -> tuple[int, int]: ...

@disjoint_base
class Rows:
    def __len__(self) -> int: ...

@disjoint_base
class MatrixRows(Rows):
    def __new__(
        cls,
        number: int,
        values: NDArray[Any],
        columns: NDArray[Any] | None = None,
        starts: NDArray[Any] | None = None,
        n_columns: int = 0,
    ) -> Self: ...
    def check(self, names: Sequence[Hashable] | None) -> bool: ...

def is_arrow(X: Any) -> bool: ...

@disjoint_base
class Column:
    def __new__(cls, X: Any) -> Self: ...
    def __len__(self) -> int: ...
