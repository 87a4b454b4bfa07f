"""Labelled events from files: read() for texts, features, JSON and CSV; blocks() for bytes."""

from __future__ import annotations

import csv
import inspect
import json
import re
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, Self

from streamptron.estimator.names import shown
from streamptron.files.sources import (
    MAX_LINE,
    Block,
    LineError,
    OnBad,
    blocks,
    check_encoding,
    check_max_line,
    find_sources,
    format_of,
    not_encoded,
    raise_error,
    source_blocks,
)

__all__ = ["Block", "LineError", "Reader", "Record", "blocks", "read"]

KEPT_ERRORS = 100


class Record(NamedTuple):
    """A labelled event and where it comes from.

    Attributes
    ----------
    x
        The event: a text (str, or bytes with ``raw=True``), or a dict of features.
    y
        The label, or None if it has none.
    w
        The event's weight: VW's importance, else 1.0.
    qid
        svmlight's query, or None.
    tag
        VW's tag, svmlight's comment, or None.
    file, line
        The file's name and the number of the line, from 1.

    Examples
    --------
    >>> import io
    >>> from streamptron.files import read

    >>> for record in read(io.BytesIO(b"1 2.0 'first|color red size:3"), "vw").records():
    ...     print(record.x, record.y, record.w, record.tag, record.line)
    {'color^red': 1.0, 'color^size': 3.0} 1 2.0 first 1
    """

    x: Any
    y: Any
    w: float
    qid: int | None
    tag: str | None
    file: str
    line: int


class _BadLine(Exception):
    """What is wrong with a line, and what to do."""


# What a line says: x, y, w, qid, tag. Or nothing, if it is blank.
Event = tuple[Any, Any, float, int | None, str | None] | None


class Reader:
    """The labelled events of some files, once, in order: what `read` returns.

    Iterating gives pairs (x, y), as River's streams do; `records` gives whole `Record`s, with the
    weight, the tag, the file and the line. Both take from the same events: none comes twice.

    Attributes
    ----------
    n_lines
        Lines so far (of CSV: rows, without the header); n_events + n_bad + n_blank.
    n_events
        Events so far.
    n_bad
        Lines that could not be read, and were left out. A truncated file counts as one.
    n_blank
        Lines with nothing in them: empty ones, and for svmlight those that are a comment.
    n_replaced
        Events so far whose text held bytes that do not fit the encoding and became U+FFFD. With
        ``raw=True`` they stay, and are not counted. A warning at the end gives the number.
    errors
        A `LineError` for each of the first 100 bad lines.

    Examples
    --------
    >>> import io
    >>> from streamptron.files import read

    >>> file = io.BytesIO(b"ham\\tsee you\\n\\nno label\\nspam\\twin a prize\\n")
    >>> reader = read(file, "plain", on_error=print)
    >>> list(reader)
    <BytesIO>:3: no TAB; write label<TAB>text
    [('see you', 'ham'), ('win a prize', 'spam')]
    >>> reader.n_lines, reader.n_events, reader.n_bad, reader.n_blank
    (4, 2, 1, 1)
    """

    def __init__(
        self,
        sources: Any,
        form: _Lines,
        *,
        on_error: OnBad | str,
        labels: Mapping[Any, Any] | None,
        max_line: int,
        encoding: str | None = None,
    ) -> None:
        self.n_events = 0
        self.n_bad = 0
        self.n_blank = 0
        self.n_replaced = 0
        self.first_replaced = ""  # file:line
        self.errors: list[LineError] = []
        self._sources = sources
        self._form = form
        self._on_error = on_error
        self._labels = labels
        self._max_line = max_line
        self._encoding = encoding
        self._records = self._run()

    @property
    def n_lines(self) -> int:
        return self.n_events + self.n_bad + self.n_blank

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, Any]:
        record = next(self._records)
        return record[0], record[1]

    def records(self) -> Iterator[Record]:
        """The events that have not been given yet, as `Record`s."""
        return self._records

    def _run(self) -> Iterator[Record]:
        form, labels = self._form, self._labels
        for source in self._sources:
            name = source.name
            blocks = source_blocks(source, self._max_line, self._bad, self._encoding)
            for line, item in form.items(blocks):
                try:
                    event = form.parse(item)
                    if event is None:
                        self.n_blank += 1
                        continue
                    x, y, w, qid, tag = event
                    if labels is not None and y is not None:
                        if y not in labels:
                            raise _BadLine(
                                f"the label {shown(y)} is not one of {shown(list(labels))}; "
                                "add it to labels="
                            )
                        y = labels[y]
                except _BadLine as bad:
                    self._bad(LineError(name, line, str(bad)))
                    continue
                self.n_events += 1
                if form.replaced:
                    form.replaced = False
                    self.n_replaced += 1
                    self.first_replaced = self.first_replaced or f"{name}:{line}"
                yield Record(x, y, w, qid, tag, name, line)
        if form.unseen and self.n_events:
            warnings.warn(
                f"no event has {', '.join(sorted(map(shown, form.unseen)))}; check features=",
                stacklevel=3,
            )
        if self.n_replaced:
            warnings.warn(
                not_encoded(self.n_replaced, self.n_events, self.first_replaced, self._encoding),
                stacklevel=3,
            )
        if self.n_bad and self._on_error == "skip":
            warnings.warn(
                f"{self.n_bad} of {self.n_lines} lines are bad and were left out, the first: "
                f"{self.errors[0]}",
                stacklevel=3,
            )

    def _bad(self, error: LineError) -> None:
        self.n_bad += 1
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(error)
        if self._on_error == "raise":
            raise_error(error)
        if callable(self._on_error):
            self._on_error(error)


def read(
    sources: Any,
    format: str | None = None,
    *,
    on_error: OnBad | str = "raise",
    labels: Mapping[Any, Any] | None = None,
    max_line: int = MAX_LINE,
    encoding: str | None = None,
    **options: Any,
) -> Reader:
    """Read labelled events from files, one a line.

    Parameters
    ----------
    sources
        A path, a pattern, a directory, "-" for the standard input, a file opened with "rb", or a
        list of these, compressed or not: see `blocks`.
    format
        One of the formats below; None goes by the names' suffix, before that of a compression.
    on_error
        What a bad line does. "raise" raises its `LineError`, and the reading ends there. "skip"
        counts it, and warns at the end. A function is called with it, and the reading goes on.
    labels
        {label in the file: label}: what each label becomes; a line with any other label is bad.
    max_line
        A line of more bytes is bad, and is never held as a whole. So is a longer CSV row.
    encoding
        Of the files, if that is not UTF-8: a name that Python knows, such as "latin-1", "cp1252" or
        "utf-16".
    **options
        The format's own, below.

    Returns
    -------
    Reader
        Iterating it gives (x, y); its `records` gives more, and its counters say what was read.

    Raises
    ------
    LineError
        At a bad line, if `on_error` is "raise"; always, if a CSV file lacks the columns asked for.
        It is a ValueError with `file`, `line` and `reason`.
    FileNotFoundError, ValueError, TypeError
        Immediately, if there is no such file or an argument is invalid.

    Notes
    -----
    ========  =========================  =====================================================
    format    suffix                     a line
    ========  =========================  =====================================================
    plain     .tsv .txt                  label<TAB>text
    fasttext  .ft .fasttext              __label__LABEL text
    vw        .vw                        label importance 'tag|namespace:scale name:value ...
    svmlight  .svm .svmlight .libsvm     label qid:n index:value ... # tag
    jsonl     .jsonl .ndjson .json       a JSON object
    csv       .csv                       cells, the first line names the columns
    ========  =========================  =====================================================

    Lines end in LF or CRLF. A file whose lines end in CR alone, as on old Macs, is one bad line.
    Files are UTF-8 unless `encoding` says otherwise. In a text, bytes that do not fit the encoding
    become U+FFFD, are counted in `n_replaced` and reported at the end, except in a tag; in a label
    or a name they make a bad line. Empty lines are counted in `n_blank`; so are lines of white
    space, except in plain files. Numbers must be finite. Values of 0 stay in x.

    plain
        The label is a non-empty str of any characters but TAB. The text may hold TABs.
        ``raw=True`` gives the text as bytes, as it is.
    fasttext
        One label a line, anywhere in it; the text is the line without it. ``prefix="__label__"``,
        and `raw`, as for plain.
    vw
        As Vowpal Wabbit reads it: what touches the first bar is the tag, even without the quote.
        Names become "namespace^name", or stay as they are in no namespace. A missing value is 1,
        scales multiply, repeated features add up. No label gives None. Labels are numbers, ints
        where whole; with ``label_type="text"`` they are what is written. The importance is `w`.
    svmlight
        Labels are numbers, ints where whole; indices are ints from 0 in any order, each once.
    jsonl
        ``label="a.b"`` names a field, a dot going into an object; for a field with a dot in its
        name give a tuple, ("a.b",). None reads no label. Either ``text="field"``, or
        ``features=["field", ...]``: a number or truth value gives {field: number}, a text
        {"field=text": 1}. A feature that is missing or null is not in x; a label or text must be
        there. Objects and lists cannot be features; a key that occurs twice makes a bad line.
    csv
        ``label="column"`` and ``text="column"``, as for jsonl; otherwise ``features=[...]``, by
        default all other columns. A cell that reads as a number gives {column: number}, an empty
        one nothing, any other {"column=cell": 1}. ``types={"column": "number"}``, "category" or
        "ignore" says so for a column; a label is a str unless its type is "number".
        ``delimiter=","``. ``columns=[...]`` names the columns of files that have no header. A row
        may span lines within quotes; its line is the first. After quotes that are wrong the next
        line is taken for a row; after a line longer than `max_line` the rest of the file is left
        out, since a quote may be open there.

    Examples
    --------
    >>> import io
    >>> from streamptron.files import read

    >>> file = io.BytesIO(b"spam\\twin a prize\\nham\\tsee you\\n")
    >>> list(read(file, "plain", labels={"spam": True, "ham": False}))
    [('win a prize', True), ('see you', False)]

    >>> file = io.BytesIO(b'{"status": 404, "user": {"agent": "curl"}, "alert": true}\\n')
    >>> list(read(file, "jsonl", label="alert", features=["status", "user.agent"]))
    [({'status': 404, 'user.agent=curl': 1}, True)]

    >>> file = io.BytesIO(b'city,size,good\\nParis,3,yes\\n"New\\nYork",,no\\n')
    >>> list(read(file, "csv", label="good"))
    [({'city=Paris': 1, 'size': 3}, 'yes'), ({'city=New\\nYork': 1}, 'no')]
    """
    check_max_line(max_line)
    encoding = check_encoding(encoding)
    if on_error not in ("raise", "skip") and not callable(on_error):
        raise ValueError(
            f'on_error={shown(on_error)}; give "raise", "skip" or a function of a LineError'
        )
    if labels is not None and not isinstance(labels, Mapping):
        raise TypeError(f"labels is a {type(labels).__name__}; give {{label in the file: label}}")
    found = find_sources(sources)
    if format is None:
        format = format_of(found)
    elif format not in FORMATS:
        raise ValueError(f"format={shown(format)}; give one of {', '.join(FORMATS)}")
    make = FORMATS[format]
    known = inspect.signature(make).parameters
    for option in options:
        if option not in known:
            raise TypeError(
                f"{option} is not an option of the format {format}; it has "
                f"{', '.join(known) or 'none'}"
            )
    for option, parameter in known.items():
        if parameter.default is parameter.empty and option not in options:
            raise TypeError(f"the format {format} needs {option}=; None for none")
    form = make(**options)
    form.max_line = max_line
    return Reader(
        found, form, on_error=on_error, labels=labels, max_line=max_line, encoding=encoding
    )


class _Lines:
    """A format: how its files fall into items, and what an item says."""

    max_line = MAX_LINE
    # fields that were asked for and have not occurred
    unseen: typing.AbstractSet[Any] = frozenset()
    # whether the last event's text had bytes that cannot be decoded
    replaced = False

    def text(self, data: bytes, raw: bool) -> str | bytes:
        """A text, with U+FFFD for what is not UTF-8."""
        if raw:
            return data
        self.replaced = False
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.replaced = True
            return data.decode(errors="replace")

    def items(self, blocks: Iterable[Block]) -> Iterator[tuple[int, Any]]:
        """(number of its first line, item) of a file; the lines, unless a format says otherwise."""
        for _, first, data in blocks:
            lines = data.replace(b"\r\n", b"\n").split(b"\n")
            if not lines[-1]:
                lines.pop()
            yield from enumerate(lines, first)

    def parse(self, item: Any) -> Event:
        """The event of an item; None if it is blank, and _BadLine if it is bad."""
        raise NotImplementedError


class _Plain(_Lines):
    def __init__(self, *, raw: bool = False) -> None:
        self._raw = raw

    def parse(self, item: bytes) -> Event:
        if not item:
            return None
        label, tab, text = item.partition(b"\t")
        if not tab:
            raise _BadLine("no TAB; write label<TAB>text")
        return self.text(text, self._raw), _label(label), 1.0, None, None


class _FastText(_Lines):
    def __init__(self, *, prefix: str = "__label__", raw: bool = False) -> None:
        if not isinstance(prefix, str) or not prefix or re.search(r"\s", prefix):
            raise ValueError(f"prefix={shown(prefix)}; give a text without spaces, as __label__")
        self._prefix = prefix
        self._label = re.compile(re.escape(prefix.encode()) + rb"(\S*)\s?")
        self._raw = raw

    def parse(self, item: bytes) -> Event:
        if not item.strip():
            return None
        found = [
            label
            for label in self._label.finditer(item)
            if not item[max(label.start() - 1, 0) : label.start()].strip()  # a word begins there
        ]
        if len(found) != 1:
            raise _BadLine(
                f"{len(found) or 'no'} labels; a line must have one word that begins with "
                f"{self._prefix}, and no other"
            )
        text = item[: found[0].start()] + item[found[0].end() :]
        return self.text(text, self._raw), _label(found[0][1]), 1.0, None, None


class _VW(_Lines):
    def __init__(self, *, label_type: str = "number") -> None:
        if label_type not in ("number", "text"):
            raise ValueError(f'label_type={shown(label_type)}; give "number" or "text"')
        self._numbers = label_type == "number"

    def parse(self, item: bytes) -> Event:
        if not item.strip():
            return None
        head, *sections = _decoded(item).replace("\t", " ").split("|")
        if not sections:
            raise _BadLine("no bar; write label | name:value ...")
        words = _words(head)
        tag = None
        if words and (words[-1][0] == "'" or head[-1] != " "):
            tag = words.pop().removeprefix("'")
        if len(words) > 2:
            raise _BadLine(f"{shown(words[2])} after label and importance; only a 'tag may follow")
        y: Any = words[0] if words else None
        if words and self._numbers:
            y = _number(words[0], "the label", 'for labels that are text give label_type="text"')
        w = float(_number(words[1], "the importance")) if len(words) > 1 else 1.0
        if w < 0:
            raise _BadLine(f"the importance {words[1]} is negative; write 0 or more")
        x: dict[str, float] = {}
        for section in sections:
            words = _words(section)
            prefix, scale = "", 1.0
            if section[:1].strip(" "):  # a name that touches the bar is the namespace's
                namespace, colon, value = words.pop(0).partition(":")
                prefix = f"{namespace}^" if namespace else ""
                scale = float(_number(value, f"{namespace}: the scale")) if colon else 1.0
            for word in words:
                name, colon, value = word.partition(":")
                number = _finite(value) if colon else 1.0
                if not name or number is None:
                    raise _BadLine(f"{shown(word)}; write name:value, and a finite number for it")
                if abs(number) >= 2**53:
                    number = _value(value, f"{name}: the value")
                name = prefix + name
                x[name] = x.get(name, 0.0) + number * scale
        for name, number in x.items():
            if not isfinite(number):
                raise _BadLine(f"{name} comes to {number}; scale it down")
        return x, y, w, None, tag


class _SVMLight(_Lines):
    def parse(self, item: bytes) -> Event:
        line, mark, comment = item.partition(b"#")
        fields = line.split()
        if not fields:
            return None
        tag = comment.strip().decode(errors="replace") if mark else None
        first = fields.pop(0)
        if b":" in first:
            raise _BadLine(f"{_seen(first)} in the label's place; write label index:value ...")
        if b"," in first:
            raise _BadLine(f"several labels, {_seen(first)}; write one")
        y = _number(first, "the label")
        qid = None
        if fields and fields[0].startswith(b"qid:"):
            qid = _whole(fields.pop(0)[4:], "qid")
        try:
            x = {int(index): float(value) for index, value in (f.split(b":") for f in fields)}
        except ValueError:
            x = {}
        if (
            len(x) < len(fields)  # one of them twice, or no number
            or b"_" in line  # which Python allows within a number
            or not isfinite(sum(x.values()))
            or (x and (min(x) < 0 or max(x.values()) >= 2**53 or min(x.values()) <= -(2**53)))
        ):
            x = self._features(fields)
        return x, y, 1.0, qid, tag

    def _features(self, fields: list[bytes]) -> dict[int, float]:
        """The features one by one, and which of them is wrong."""
        x: dict[int, float] = {}
        for field in fields:
            name, colon, value = field.partition(b":")
            if not colon:
                raise _BadLine(f"{_seen(field)} has no colon; write index:value")
            index = _whole(name, "index")
            if index in x:
                raise _BadLine(f"the index {index} occurs twice; write it once")
            x[index] = _value(value, f"{index}: the value")
        return x


class _JSONLines(_Lines):
    def __init__(self, *, label: Any, text: Any = None, features: Any = None) -> None:
        if (text is None) == (features is None):
            raise ValueError("give text= or features=, one of them: the field or fields of x")
        self._label = None if label is None else _path(label, "label")
        self._text = None if text is None else _path(text, "text")
        self._features = [
            (".".join(path), path)
            for path in (_path(field, "features") for field in _listed(features, "features"))
        ]
        self.unseen = {name for name, _ in self._features}
        self._decode = json.JSONDecoder(
            object_pairs_hook=_object, parse_constant=_constant, strict=True
        ).decode

    def parse(self, item: bytes) -> Event:
        if not item.strip():
            return None
        try:
            record = self._decode(_decoded(item))
        except ValueError as error:
            raise _BadLine(f"not JSON ({error}); write one object a line") from None
        except RecursionError:
            raise _BadLine("JSON that is nested too deeply; write flat objects") from None
        if not isinstance(record, dict):
            raise _BadLine(f"JSON, but not an object: {shown(record)}; write one object a line")
        y = None
        if self._label is not None:
            y = _field(record, self._label)
            if isinstance(y, str):
                y = _valid(y, "the label")
            elif not _is_number(y):
                raise _BadLine(
                    f"the label {shown(y)}; it must be a text, a number or true or false, and "
                    "not missing"
                )
            if y == "":
                raise _BadLine("the label is empty; give each line one")
        if self._text is not None:
            text = _field(record, self._text)
            if not isinstance(text, str):
                raise _BadLine(f"the text {shown(text)}; it must be a text, and not missing")
            return _replaced(text), y, 1.0, None, None
        x: dict[str, float] = {}
        for name, path in self._features:
            value = _field(record, path)
            if value is not None:
                _add(x, name, value)
        if self.unseen:
            self.unseen = {
                name
                for name, path in self._features
                if name in self.unseen and _field(record, path) is None
            }
        return x, y, 1.0, None, None


class _CSV(_Lines):
    def __init__(
        self,
        *,
        label: str | None,
        text: str | None = None,
        features: Sequence[str] | None = None,
        types: Mapping[str, str] | None = None,
        delimiter: str = ",",
        columns: Sequence[str] | None = None,
    ) -> None:
        if text is not None and features is not None:
            raise ValueError("give text= or features=, not both: the column or columns of x")
        csv.reader([], delimiter=delimiter)  # or says what is wrong with it
        self._types = dict(types or {})
        for column, kind in self._types.items():
            if kind not in ("number", "category", "ignore"):
                raise ValueError(
                    f'types[{shown(column)}]={shown(kind)}; give "number", "category" or "ignore"'
                )
        self._label = label
        self._text = text
        self._features = None if features is None else _listed(features, "features")
        self._delimiter = delimiter
        self._columns = None if columns is None else _listed(columns, "columns")
        if self._columns is not None:
            try:
                self._settle(self._columns)
            except _BadLine as bad:
                raise ValueError(f"columns={shown(self._columns)}: {bad}") from None

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
                row = _BadLine(f"not CSV ({error}); close quotes and double those within")
                if "field limit" in str(error):
                    lines.skip()
                    row = _BadLine(f"{error}; close quotes, or raise it by csv.field_size_limit()")
            except _BadLine as bad:
                lines.skip()
                row = bad
            if header is None and row:
                header = row
                try:
                    if isinstance(row, _BadLine):
                        raise row
                    self._settle(row)
                except _BadLine as bad:
                    raise LineError(lines.file, lines.first, f"in the header, {bad}") from None
            else:
                yield lines.first, row

    def _settle(self, header: list[str]) -> None:
        """Find the columns asked for, as (name, place, type)."""
        named = [*(self._features or ()), *self._types]
        named += [column for column in (self._label, self._text) if column is not None]
        for column in named:
            if column not in header:
                raise _BadLine(f"no column {shown(column)}; there are {shown(header, 300)}")
        for column in header:
            if header.count(column) > 1:
                raise _BadLine(f"two columns {shown(column)}; rename one")
            _valid(column, "the column")
        places = {column: place for place, column in enumerate(header)}
        self._n = len(header)
        self._at_label = None if self._label is None else places[self._label]
        self._at_text = None if self._text is None else places[self._text]
        features = header if self._features is None else self._features
        self._at = [
            (column, places[column], self._types.get(column, "any"))
            for column in features
            if (column != self._label or self._features is not None)
            and self._types.get(column) != "ignore"
        ]

    def parse(self, item: Any) -> Event:
        if isinstance(item, _BadLine):
            raise item
        if not item:
            return None
        if len(item) != self._n:
            raise _BadLine(
                f"{len(item)} cells, and {self._n} columns; quote a cell that holds the delimiter"
            )
        y: Any = None
        if self._at_label is not None:
            y = item[self._at_label]
            if not y:
                raise _BadLine("the label is empty; give each row one")
            number = self._types.get(self._label or "") == "number"
            y = _number(y, "the label") if number else _valid(y, "the label")
        if self._at_text is not None:
            text = _replaced(item[self._at_text])
            self.replaced = text != item[self._at_text]
            return text, y, 1.0, None, None
        x: dict[str, float] = {}
        for column, place, kind in self._at:
            cell = item[place]
            if not cell:
                continue
            if kind == "number":
                x[column] = _number(cell, f"{column}: the value")
                continue
            if kind == "any":
                value = _parsed(cell)
                if value is not None:
                    x[column] = value
                    continue
            x[f"{column}={_valid(cell, column)}"] = 1
        return x, y, 1.0, None, None


class _RowLines:
    """A file's lines for csv.reader, and where the row begins that it is about to read."""

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
        """Leave out the lines up to the end of the row, which is in quotes if they are odd."""
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
            raise _BadLine(f"a row of more than {self._max_line} bytes; close quotes")
        number, line = next(self._lines)
        if not self.first:
            self.first = number
            self._size = self._quotes = 0
        if number != self._last + 1:
            self._lines = iter(())
            raise _BadLine(
                "after a line that is too long a quote may be open; the rest of the file is left "
                "out, so fix that line"
            )
        self._last = number
        self._size += len(line)
        self._quotes += line.count(b'"')
        # what is not UTF-8 becomes lone surrogates, until it is known what it is part of
        return line.decode(errors="surrogateescape") + "\n"


FORMATS: dict[str, Callable[..., _Lines]] = {
    "plain": _Plain,
    "fasttext": _FastText,
    "vw": _VW,
    "svmlight": _SVMLight,
    "jsonl": _JSONLines,
    "csv": _CSV,
}


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _BadLine(f"not UTF-8 ({error}); give the file's encoding, or convert it") from None


def _label(data: bytes) -> str:
    """A label that is text."""
    if not data:
        raise _BadLine("the label is empty; give each line one")
    return _decoded(data)


def _words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word]  # no other white space separates words


def _valid(text: str, what: str) -> str:
    """A text that is to be a label or a name: one that UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _BadLine(
            f"{what} {shown(text)} is not UTF-8; give the file's encoding, or convert it"
        ) from None
    return text


def _replaced(text: str) -> str:
    """A text, with U+FFFD for what UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _finite(token: bytes | str) -> float | None:
    """The finite number that a token is; None if it is none."""
    try:
        number = float(token)
    except ValueError:
        return None
    # Python reads 1_000 and the digits of all scripts; files do not
    return number if isfinite(number) and token.isascii() and "_" not in str(token) else None


def _parsed(token: bytes | str) -> int | float | None:
    """The finite number that a token is, an int if it is whole; None if it is none."""
    number = _finite(token)
    if number is None or not number.is_integer():
        return number
    exact = abs(number) < 2**53 or not token[1:].isdigit()
    return int(number if exact else token)


def _number(token: bytes | str, what: str, hint: str = "write one") -> int | float:
    """The finite number that a token is, or a _BadLine that says what it should be."""
    number = _parsed(token)
    if number is None:
        raise _BadLine(f"{what} {_seen(token)} is not a finite number; {hint}")
    return number


def _value(token: bytes | str, what: str) -> float:
    """The number of a feature, or a _BadLine: also if it is an int that a float64 cannot hold."""
    number = _number(token, what)
    value = float(number)
    if value != number:
        raise _BadLine(f"{what} {number} is an int that a float64 cannot hold exactly; scale it")
    return value


def _whole(token: bytes, what: str) -> int:
    try:
        number = int(token)
    except ValueError:
        number = -1
    if number < 0 or b"_" in token:
        raise _BadLine(f"the {what} {_seen(token)}; write an int from 0")
    return number


def _seen(token: bytes | str) -> str:
    """What an error says for a piece of a file."""
    return shown(token.decode(errors="replace") if isinstance(token, bytes) else token)


def _listed(names: Any, option: str) -> list[Any]:
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"{option} is a {type(names).__name__}; give a list of names")
    return list(names)


def _path(field: Any, option: str) -> tuple[str, ...]:
    """The keys that lead to a field."""
    path = tuple(field.split(".")) if isinstance(field, str) else field
    if not isinstance(path, tuple) or not all(isinstance(key, str) for key in path) or not path:
        raise TypeError(
            f"{option} has {shown(field)}; give a field's name, with dots into objects, or a "
            "tuple of names"
        )
    return path


def _field(record: Any, path: tuple[str, ...]) -> Any:
    """What an object holds there; None if it is missing."""
    for key in path:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _add(x: dict[str, float], name: str, value: Any) -> None:
    """Put what a JSON field holds into x."""
    if isinstance(value, str):
        x[f"{name}={_valid(value, name)}"] = 1
    elif isinstance(value, bool):
        x[name] = int(value)
    elif _is_number(value):
        x[name] = value
    else:
        raise _BadLine(
            f"{name}: {shown(value)}; a feature must be a finite number, a text, true or false"
        )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _BadLine(f"the key {shown(twice)} occurs twice; write it once")
    return record


def _constant(name: str) -> typing.NoReturn:
    raise _BadLine(f"{name} is not JSON; write a finite number, or null")
