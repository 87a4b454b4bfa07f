"""CSV: rows of cells, which may span lines, below a header."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Self

from streamptron.common.cells import category
from streamptron.common.errors import ParameterError, ParameterTypeError, plain
from streamptron.common.names import short_repr
from streamptron.files.dates import date_features
from streamptron.files.format import Event, Format
from streamptron.files.sources import Block, LineError
from streamptron.files.tokens import (
    BadLine,
    check_apart,
    held,
    listed,
    number_of,
    parsed_number,
    put,
    replaced,
    texts_of,
    valid,
)

TYPES = ("number", "category", "date", "ignore")
DELIMITERS = ";\t|,"  # that a file may have instead of the given one


class CSV(Format):
    """Rows of cells, below a header unless the columns are given."""

    separator = ","

    def __init__(
        self,
        *,
        label: str | None,
        text: str | list[str] | None = None,
        features: Sequence[str] | None = None,
        types: Mapping[str, str] | None = None,
        delimiter: str = ",",
        columns: Sequence[str] | None = None,
    ) -> None:
        try:
            csv.reader([], delimiter=delimiter)
        except (TypeError, ValueError):
            raise ParameterTypeError(
                "delimiter", delimiter, "one character, no quote or line end"
            ) from None
        self._types = dict(types or {})
        for column, kind in self._types.items():
            if kind not in TYPES:
                raise ParameterError(
                    "types", kind, '"number", "category", "date" or "ignore"', label=column
                )
        self._label = label
        self._texts = texts_of(text)
        self._one = features is None and text is not None and not isinstance(text, list)
        self._features = None if features is None else listed(features, "features")
        check_apart(self._texts, self._features)
        self._delimiter = delimiter
        self._columns = None if columns is None else listed(columns, "columns")
        if self._columns is not None:
            try:
                self._settle(self._columns)
            except BadLine as bad:
                raise ParameterError(
                    "columns",
                    self._columns,
                    "names of columns, each once",
                    f"{{columns}}: {plain(str(bad))}",
                ) from None

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        lines = _RowLines(blocks, self.max_line)
        rows = csv.reader(lines, delimiter=self._delimiter, strict=True)
        header = self._columns
        while True:
            lines.first = 0
            try:
                row: Any = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                row = BadLine(f"not CSV ({error}); close quotes and double those within")
                if "field limit" in str(error):
                    lines.skip()
                    row = BadLine(f"{error}; close quotes, or raise it by csv.field_size_limit()")
            except BadLine as bad:
                lines.skip()
                row = bad
            if header is None and row:
                header = row
                try:
                    if isinstance(row, BadLine):
                        raise row
                    self._settle(row)
                except BadLine as bad:
                    what = bad.args[0]
                    if not isinstance(what, ParameterError):
                        what = f"in the header, {what}"
                    raise LineError(lines.file, lines.first, what) from None
            else:
                yield lines.first, row

    def _settle(self, header: list[str]) -> None:
        """Find the requested columns, as (name, index, type)."""
        named = [*(self._features or ()), *self._types]
        label = self._label if self.labels_asked or self._label in header else None
        named += [column for column in (label, *self._texts) if column is not None]
        for column in named:
            if column not in header:
                raise BadLine(_lacks(column, header))
        for column in header:
            if header.count(column) > 1:
                raise BadLine(f"two columns {short_repr(column)}; rename one")
            valid(column, "the column")
        places = {column: place for place, column in enumerate(header)}
        self.header = header
        self._n = len(header)
        self._at_label = None if label is None else places[label]
        self._at_texts = [(column, places[column]) for column in self._texts]
        features = [] if self._texts else header
        features = features if self._features is None else self._features
        self._at = [
            (column, places[column], self._types.get(column, "any"))
            for column in features
            if (column != self._label or self._features is not None)
            and self._types.get(column) != "ignore"
        ]

    def parse(self, item: Any) -> Event:
        if isinstance(item, BadLine):
            raise item
        if not item:
            return None
        if len(item) != self._n:
            raise BadLine(
                f"{len(item)} cells, and {self._n} columns; quote a cell that holds the delimiter"
            )
        if item == self.header:
            raise BadLine("the row repeats the header, as when files are joined; remove it")
        y: Any = None
        if self._at_label is not None:
            y = item[self._at_label]
            number = self._types.get(self._label or "") == "number"
            if self.several:
                between = y.split(self.separator) if y else []
                y = self.labels(between, lambda cell: _label(cell, number))
                y = y if y or self.label_needed else None
            elif y:
                y = _label(y, number)
            elif self.label_needed:
                raise BadLine("the label is empty; give each row one")
            else:
                y = None
        x: dict[str, Any] = {}
        for column, place in self._at_texts:
            text = replaced(item[place])
            self.replaced |= text != item[place]
            if self._one:
                return text, y, 1.0, None, None
            put(x, column, text)
        for column, place, kind in self._at:
            if item[place]:
                self._add(x, column, item[place], kind)
        return x, y, 1.0, None, None

    @staticmethod
    def _add(x: dict[str, float], column: str, cell: str, kind: str) -> None:
        """Put a cell's features into x."""
        if kind == "date":
            for feature in date_features(column, valid(cell, column)):
                put(x, feature, 1)
            return
        if kind == "number":
            value: float | None = number_of(cell, f"{column}: the value")
        else:
            value = parsed_number(cell) if kind == "any" else None
        if value is None:
            put(x, category(column, valid(cell, column)), 1)
            return
        if not isfinite(value):
            raise BadLine(
                f"{column}: the cell {short_repr(cell)} is not a finite number; leave it empty if "
                "the value is missing, or make the column a category"
            )
        if not held(value):
            ignore = ParameterError(
                "types",
                "ignore",
                sentence=plain(
                    f"{column}: {value} is an int that a float64 cannot hold exactly, as ids are; "
                )
                + "leave the column out by {types}, or make it names by 'category'",
                label=column,
            )
            raise BadLine(ignore)
        put(x, column, value)


def _lacks(column: str, header: list[str]) -> ParameterError:
    """The error for a header that lacks a column, with a hint at what may be wrong."""
    said = f"in the header, no column {short_repr(column)}; there are {short_repr(header, 300)}"
    for delimiter in DELIMITERS:
        if any(column in cell.split(delimiter) for cell in header):
            hint = "; do other characters separate the cells? Give {delimiter}"
            return ParameterError("delimiter", delimiter, sentence=plain(said) + hint)
    hint = ""
    if any(parsed_number(cell) is not None for cell in header):
        hint = "; if the file has no header, name its columns by {columns!s}"
    return ParameterError("columns", None, sentence=plain(said) + hint)


def _label(cell: str, number: bool) -> Any:
    if number:
        return number_of(cell, "the label")
    if not cell:
        raise BadLine("the label is empty; give each row one")
    return valid(cell, "the label")


class _RowLines:
    """A file's lines for csv.reader; it also knows the first line of the row being read."""

    def __init__(self, blocks: Iterable[Block], max_line: int) -> None:
        self._lines = self._run(blocks)
        self._max_line = max_line
        self.file = ""
        self.first = 0  # 0: no line of the row has been read
        self._last = 0
        self._size = 0
        self._quotes = 0

    def _run(self, blocks: Iterable[Block]) -> Iterator[tuple[int, bytes]]:
        for self.file, first, data in blocks:
            lines = data.split(b"\n")
            if not lines[-1]:
                lines.pop()
            yield from enumerate(lines, first)

    def skip(self) -> None:
        """Skip the lines up to the end of the row, which continues while its quotes are odd."""
        while self._quotes % 2:
            number, line = next(self._lines, (0, b""))
            if number != self._last + 1:
                return
            self._last = number
            self._quotes += line.count(b'"')

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if self.first and self._size > self._max_line:
            raise BadLine(f"a row of more than {self._max_line} bytes; close quotes")
        number, line = next(self._lines)
        if not self.first:
            self.first = number
            self._size = self._quotes = 0
        if number != self._last + 1:
            self._lines = iter(())
            raise BadLine(
                "after a line that is too long a quote may be open; the rest of the file is left "
                "out, so fix that line"
            )
        self._last = number
        self._size += len(line)
        self._quotes += line.count(b'"')
        # bytes that are not UTF-8 stay lone surrogates until we know what their cell is for
        return line.decode(errors="surrogateescape") + "\n"
