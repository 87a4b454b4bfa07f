"""Cells in columns, and as a pandas frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows of cells as text, the first `left` columns aligned left and the others right.

    Examples
    --------
    >>> from streamptron.common.table import table
    >>> print(table([("label", "n"), ("spam", "12")]))
    label   n
    spam   12
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def frame(rows: Sequence[Any], columns: Sequence[str]) -> Any:
    """The rows as a pandas DataFrame."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise ImportError(
            'to_frame needs pandas: pip install "streamptron[study]"; or iterate over the rows'
        ) from None
    return pandas.DataFrame([list(row) for row in rows], columns=list(columns))
