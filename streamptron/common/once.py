"""What a learner keeps once, not by feature: the core's numbers as a state has them, and back.

`once` says how many there are: first, rows, the width of each, behind them, and more at the end.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

Once = tuple[int, int, int, int, int]

_MISFIT = "what is kept once does not fit the model"


def state_of(numbers: list[float], once: Once) -> tuple[Any, ...]:
    """The numbers as a state has them: rows as tuples in a tuple, and so what is more."""
    n, n_rows, width, n_behind, n_more = once
    behind = n + n_rows * width
    kept: list[Any] = numbers[:n]
    if width:
        kept.append(tuple(tuple(numbers[i : i + width]) for i in range(n, behind, width)))
    kept += numbers[behind : behind + n_behind]
    if n_more:
        kept.append(tuple(numbers[behind + n_behind :]))
    return tuple(kept)


def numbers_of(state: Any, once: Once) -> list[float]:
    """The numbers of such a state; a ValueError if it does not fit."""
    n, n_rows, width, n_behind, n_more = once
    kept = list(state)
    more: list[float] = []
    if n_more and kept and isinstance(kept[-1], tuple | list):
        more = list(kept.pop())
    rows = list(kept.pop(n)) if width and len(kept) > n else []
    if (
        len(kept) != n + n_behind
        or len(more) != n_more
        or len(rows) != (n_rows if width else 0)
        or any(len(row) != width for row in rows)
    ):
        raise ValueError(_MISFIT)
    numbers = [*kept[:n], *chain.from_iterable(rows), *kept[n:], *more]
    if not all(isinstance(number, float | int) for number in numbers):
        raise ValueError(_MISFIT)
    return numbers
