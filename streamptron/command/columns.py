"""Columns that teach nothing, or are read in another way than was meant: ids, times, amounts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from streamptron.command.blocks import Block
from streamptron.common.cells import float_of
from streamptron.common.names import short_repr

LEAST = 10  # cells of a column; what fewer have in common means nothing
MANY = 20  # cells; if fewer are nearly all different, that means nothing
MOST = 1000  # the number of lines to look at
NEARLY = 0.9  # the share that counts as nearly all
LONG = 20  # words; a category with so many may be a text
TIME = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d\d|\d{4})( .*)?"
    r"|\d{1,2}:\d\d(:\d\d.*)?([ap]m)?|\d{1,2}/[A-Z][a-z]{2}/\d{4}.*"
)
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
NUMBER = re.compile(
    r"[-+]?(\d{1,3}([.,' \u00a0\u2009\u202f]\d{3})+|\d+)([.,]\d+)?"  # 1.234,5
)
UNIT = re.compile(r"^[$€£¥]\s*|\s*([$€£¥%]|[kKMG]?B|km|kg|cm|mm|ms|s|h|m)$")
# Names of columns that may hold the numbers of the rows.
NUMBERED = {"", "id", "index", "row", "no", "nr", "unnamed: 0"}


class Columns:
    """What the columns of the first lines of one run hold."""

    def __init__(self) -> None:
        self._n = 0
        self._cells: dict[str, list[str]] = {}
        self._numbers: dict[str, list[float]] = {}

    def look(self, block: Block) -> Iterator[tuple[str, str]]:
        """Warnings about columns: the column of each, and a sentence."""
        if self._n >= MOST:
            return
        self._n += block.n
        touched = {}
        for x in block.features():
            for name, value in x.items():
                if not isinstance(name, str):
                    continue
                column, equals, cell = name.partition("=")
                if equals:
                    self._cells.setdefault(column, []).append(cell)
                    touched[column] = True
                elif name.lower() in NUMBERED:
                    self._numbers.setdefault(name, []).append(value)
        types: Any = block.model.reading.get("types", {})
        format = block.model.reading["format"]
        for column in touched:
            if column.rpartition(".")[0] in types:  # the month, weekday or hour of a date
                continue
            said = _said(column, self._cells[column], format, types.get(column))
            if said:
                yield column, said
        for column, numbers in self._numbers.items():
            steps = {after - before for before, after in itertools.pairwise(numbers)}
            if len(numbers) >= LEAST and steps == {1}:
                name = f"the column {short_repr(column)}" if column else "the column without a name"
                says = "has the numbers of the rows, which say nothing; leave it out"
                yield column, f"{name} {says}{_left_out(column, format)}"


def _said(column: str, cells: list[str], format: str, kind: str | None) -> str | None:
    """The warning about a column of categories, or None."""
    example = short_repr(max(cells, key=len), 60)
    n_words = sum(cell.count(" ") + 1 for cell in cells)
    often = len(cells) >= LEAST and len(set(cells)) > NEARLY * len(cells)
    is_time = _most(cells, TIME)
    if not is_time and (
        (often and n_words >= 3 * len(cells)) or any(c.count(" ") >= LONG for c in cells)
    ):
        return (
            f"{column} has texts, as {example}, and each is taken for one category; give --text "
            f"{column}, or leave {column} out"
        )
    if kind is not None or len(cells) < LEAST or len(set(cells)) < 2:
        return None  # its type was given, or there are too few cells
    out = _left_out(column, format)
    if is_time:
        date = f"; give --type {column}=date for month, weekday and hour, or leave it out{out}"
        if format != "csv":
            date = f"; leave {column} out, or write features such as its hour"
        elif not _most(cells, ISO):
            date = f"; write it as 2026-01-31 09:30 and give --type {column}=date, or leave it out"
        return f"{column} has times, as {example}, and each is taken for one category{date}"
    numbers = [UNIT.sub("", cell.strip()) for cell in cells if float_of(cell) is None]
    if len(numbers) > len(cells) // 2 and _most(numbers, NUMBER):
        return (
            f"{column} has numbers that are not written as such, as {example}, and each is taken "
            f"for one category; write 1234.5, or leave {column} out{out}"
        )
    if len(cells) >= MANY and len(set(cells)) > NEARLY * len(cells):
        return (
            f"{column} is another one in nearly every line, as {example}, so its categories say "
            f"nothing of other lines; leave it out{out}"
        )
    return None


def _most(cells: list[str], form: re.Pattern[str]) -> bool:
    """Whether nearly all cells match a pattern."""
    return sum(form.fullmatch(cell.strip()) is not None for cell in cells) >= NEARLY * len(cells)


def _left_out(column: str, format: str) -> str:
    if format != "csv":
        return ""
    import shlex  # slow to import, and few columns are left out

    return f" by --type {shlex.quote(f'{column}=ignore')}"
