"""Labelled events from files: `read`, its Reader and their Records."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from streamptron.common.checks import truth
from streamptron.common.errors import ParameterError
from streamptron.common.names import short_repr, type_shown
from streamptron.files.csv import CSV
from streamptron.files.document import Documents
from streamptron.files.format import Format
from streamptron.files.jsonl import JSONLines
from streamptron.files.mail import Mails
from streamptron.files.plain import FastText, Plain
from streamptron.files.sources import (
    MAX_LINE,
    LineError,
    OnBad,
    check_encoding,
    check_max_line,
    find_sources,
    format_of,
    not_encoded,
    raise_error,
    source_blocks,
)
from streamptron.files.svmlight import SVMLight
from streamptron.files.tokens import BadLine
from streamptron.files.vw import VW

FORMATS: dict[str, Callable[..., Format]] = {
    "plain": Plain,
    "fasttext": FastText,
    "vw": VW,
    "svmlight": SVMLight,
    "jsonl": JSONLines,
    "csv": CSV,
    "mail": Mails,
    "document": Documents,
}

KEPT_ERRORS = 100


class Record(NamedTuple):
    """A labelled event and where it comes from.

    Attributes
    ----------
    x
        The event: a text (str, or bytes with ``raw=True``), a mail (bytes), or a dict of features.
    y
        The label, or None if it has none.
    w
        The event's weight: VW's importance, else 1.0.
    qid
        svmlight's query, or None.
    tag
        VW's tag, svmlight's comment, a mail's Message-ID, or None.
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


class Reader:
    """The labelled events of some files, in order, once. `read` returns it.

    Iterating gives pairs (x, y), as River's streams do; `records` gives a `Record` for each event,
    with its weight, tag, file and line. Both advance through the same events: none comes twice.

    Attributes
    ----------
    n_lines
        Lines so far (for CSV, rows without the header); n_events + n_bad + n_blank.
    n_events
        Events so far.
    n_bad
        Lines so far that could not be read, and were left out. A truncated file counts as one.
    n_blank
        Lines so far without content: empty ones, and in svmlight files also comments.
    n_replaced
        Events so far whose text had bytes that are invalid in the encoding and became U+FFFD. With
        ``raw=True`` such bytes are kept and not counted. A warning at the end gives the number.
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
        form: Format,
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
        self.form = form
        self._on_error = on_error
        self._labels = labels
        self._max_line = max_line
        self._encoding = encoding
        self._records = self._run()
        # To continue where another reader stopped: the number of lines of the first file to leave
        # out; the last line that was left out; the last line that was read.
        self.start = 0
        self.left_out: Any = None
        self.item: Any = None

    @property
    def header(self) -> list[str] | None:
        """The columns of CSV, once they are known."""
        return self.form.header

    @property
    def n_lines(self) -> int:
        return self.n_events + self.n_bad + self.n_blank

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, Any]:
        record = next(self._records)
        return record[0], record[1]

    def without_labels(self) -> Self:
        """Accept svmlight and JSON lines, and CSV files, without labels, which are then None."""
        self.form.label_needed = self.form.labels_asked = False
        return self

    def records(self) -> Iterator[Record]:
        """The events that have not been returned yet, each as a `Record`."""
        return self._records

    def _run(self) -> Iterator[Record]:
        for record in self.each_line():
            if isinstance(record, LineError):
                self._bad(record)
            elif record.x is not None:
                yield record

    def each_line(self) -> Iterator[Record | LineError]:
        """All lines: a blank one is a Record whose x is None, a bad one is its LineError.

        `item` and `form` describe the last line that was read.
        """
        form, labels, start = self.form, self._labels, self.start
        for source in self._sources:
            name = source.name
            form.source = source
            blocks = source_blocks(source, self._max_line, self._bad, self._encoding)
            for line, item in form.items(blocks):
                self.item = item
                if line <= start:
                    self.left_out = item
                    continue
                try:
                    event = form.parse(item)
                    if event is None:
                        self.n_blank += 1
                        yield Record(None, None, 0.0, None, None, name, line)
                        continue
                    x, y, w, qid, tag = event
                    if labels is not None and y is not None:
                        y = _renamed(y, labels) if form.several else _named(y, labels)
                except BadLine as bad:
                    yield LineError(name, line, bad.args[0])
                    continue
                self.n_events += 1
                if form.replaced:
                    form.replaced = False
                    self.n_replaced += 1
                    self.first_replaced = self.first_replaced or f"{name}:{line}"
                yield Record(x, y, w, qid, tag, name, line)
            start = 0
        if form.unseen and self.n_events:
            warnings.warn(
                f"no event has {', '.join(sorted(map(short_repr, form.unseen)))}; check the names "
                "of the features",
                stacklevel=3,
            )
        if form.left_out:
            warnings.warn(_other_files(form.left_out), stacklevel=3)
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


def _other_files(names: Sequence[str]) -> str:
    """The warning about files in folders that are not of the format."""
    few = ", ".join(map(os.path.basename, names[:5])) + ", ..." * (len(names) > 5)
    are = "file that is not a mail was" if len(names) == 1 else "files that are not mails were"
    return f"{len(names)} {are} left out, in {os.path.dirname(names[0])}: {few}"


def _named(y: Any, labels: Mapping[Any, Any]) -> Any:
    """The label that `labels` gives for a label in a file."""
    if y not in labels:
        raise BadLine(
            f"the label {short_repr(y)} is not one of {short_repr(list(labels))}; add it to labels="
        )
    return labels[y]


def _renamed(y: Any, labels: Mapping[Any, Any]) -> Any:
    """The same for the labels of a line: a list, or {label: whether the event has it}."""
    names = [_named(label, labels) for label in y]
    if not isinstance(y, dict):
        return names
    first: dict[Any, Any] = {}
    for label, name in zip(y, names, strict=True):
        if name in first:
            raise BadLine(
                f"labels= gives {short_repr(first[name])} and {short_repr(label)} the same name, "
                f"{short_repr(name)}; give each its own"
            )
        first[name] = label
    return dict(zip(names, y.values(), strict=True))


def _separator(separator: str, form: Format, format: str) -> str:
    """The separator of the labels of a line, checked."""
    if not form.several:
        raise ParameterError(
            "separator",
            separator,
            "None",
            "{separator} is for several labels; give {several:True}",
        )
    if form.separator is None:
        raise ParameterError(
            "separator",
            separator,
            "None",
            f"{{separator}} is not for the format {format}, which has its own way to write several "
            "labels; it is for plain and csv",
        )
    if not isinstance(separator, str) or not separator or set(separator) & set("\t\r\n"):
        raise ParameterError("separator", separator, "a text without tabs or line ends, as ';'")
    return separator


def read(
    sources: Any,
    format: str | None = None,
    *,
    on_error: OnBad | str = "raise",
    labels: Mapping[Any, Any] | None = None,
    several: bool = False,
    separator: str | None = None,
    max_line: int = MAX_LINE,
    encoding: str | None = None,
    **options: Any,
) -> Reader:
    """Read labelled events from files, one per line.

    Parameters
    ----------
    sources
        A path, a pattern, a directory, "-" for the standard input, a file opened with "rb", or a
        list of these, compressed or not: see `blocks`.
    format
        One of the formats below; None: found by the file names' suffix, without .gz and the like.
    on_error
        What to do with a bad line. "raise": raise its `LineError` and stop reading. "skip": count
        it, and warn at the end. A function: call it with the `LineError`, and read on.
    labels
        {label in the file: label}: what to replace each label by; a line with any other label is
        bad.
    several
        Whether events have several labels, for ``MultiLabelClassifier``. Then y is a list, which
        may be empty: labels are separated by commas; in fastText they are all words that begin with
        the prefix; in JSON they are a list. If a JSON label is an object of true and false, y is
        that dict, and nothing is known about the labels that are not in it.
    separator
        For plain and csv with `several`: what separates labels, instead of a comma.
    max_line
        A line of more bytes is bad, and is never held as a whole; the same goes for a CSV row.
    encoding
        The encoding of the files if it is not UTF-8: a name that Python knows, such as "latin-1",
        "cp1252" or "utf-16".
    **options
        The options of the format, below.

    Returns
    -------
    Reader
        Iterating over it gives (x, y); its `records` gives more, and its counters say what was
        read.

    Raises
    ------
    LineError
        At a bad line, if `on_error` is "raise"; also if a CSV file lacks a requested column,
        whatever `on_error` is. It is a ValueError with `file`, `line` and `reason`.
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
    csv       .csv                       cells; the first line names the columns
    mail      .eml .mbox                 no lines: a file is one mail, or an mbox of several
    document                             no lines: a file is one text
    ========  =========================  =====================================================

    Lines end in LF or CRLF. A file whose lines end in CR alone, as on old Macs, is one bad line.
    Files are UTF-8 unless `encoding` says otherwise. In a text, bytes that are invalid in the
    encoding become U+FFFD; such texts are counted in `n_replaced` and reported at the end. In a tag
    they are replaced but not counted, and in a label or a name they make the line bad. Empty lines
    are counted in `n_blank`, and so are lines of white space, except in plain files. Numbers must
    be finite. Values of 0 stay in x.

    plain
        The label is a non-empty str of any characters except TAB. The text may contain TABs.
        ``raw=True`` gives the text as bytes, unchanged.
    fasttext
        One label per line, anywhere in it; the text is the line without the label. Options:
        ``prefix="__label__"``, and `raw` as for plain.
    vw
        Lines are read as Vowpal Wabbit reads them: a word that touches the first bar is the tag,
        even without the quote. Names become "namespace^name"; without a namespace they stay as they
        are. A missing value is 1, scales multiply, repeated features add up. A value that is a text
        is a category: city:paris gives {"city=paris": 1}. A line without a label gives None. Labels
        are numbers, ints if they are whole; with ``label_type="text"`` they are texts, as written.
        The importance is `w`. A label with a cost, 1:2 or 1:2:0.5, makes the line bad.
    svmlight
        Labels are numbers, ints if they are whole; indices are ints from 0, in any order, each
        once.
    jsonl
        ``label="a.b"`` names the field "a.b" or, if there is none, the field "b" of the object "a";
        a tuple of names, ("a", "b"), names only the latter. None: labels are not read.
        ``text="field"`` makes x that text. ``features=["field", ...]`` makes x a dict: a number or
        truth value gives {field: number}, a text {"field=text": 1}. A feature that is missing, null
        or an empty text is left out of x; a label or text must not be missing. Objects and lists
        cannot be features. A key that occurs twice makes the line bad, and so do two fields that
        give the same feature. With a list of texts, ``text=["subject", "body"]``, or with both text
        and features, x is a dict with each text under its name, next to the features: for
        ``Tokenizer(fields=...)``, alone or in a union. There, a missing text is empty.
    csv
        ``label="column"`` and ``text="column"``, as for jsonl; otherwise ``features=[...]``, by
        default all other columns. A cell that reads as a number gives {column: number}, an empty
        cell nothing, any other cell {"column=cell": 1}. A cell that reads as infinite or NaN (inf,
        1e400, nan) makes the line bad: leave the cell of a missing value empty. To say what a
        column is, give ``types={"column": "number"}``, or "category", "date" or "ignore". A date,
        2026-01-31 or 2026-01-31 09:30, gives up to three categories: its month, weekday and hour. A
        label is a str unless its type is "number". A row that repeats the header is a bad line.
        Further options: ``delimiter=","``, and ``columns=[...]``, which names the columns of files
        without a header. A row may span lines within quotes; its line number is that of the first.
        After wrong quotes, reading continues with the next line; after a line longer than
        `max_line`, the rest of the file is left out, since a quote may be open there.

    mail
        Mails as bytes, for a `Mail`; the line number is that of the mail's first line, the tag its
        Message-ID. A file is one mail or, if it begins with an mbox's line ``From ``, an mbox of
        several (see docs/mail.md). In a Maildir, ``cur`` and ``new`` are read, in order of time; in
        an MH folder, the numbers in order. Other files in a folder are left out, with a warning.
        ``label_by="folder"``: the label is the name of the mail's folder, or of the .mbox file
        without its suffix. ``label_by="index"``: the files are indexes, whose lines have a label,
        white space, and the path of a mail relative to the index. ``labels_of={path: label}``: the
        label of all mails in this folder or file. Without any of these the label is None.

    document
        The text of a file is one event. Labels are given by the same options as for mail:
        ``read("films", "document", label_by="folder")``.

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

    >>> file = io.BytesIO(b"crude,ship\\toil tankers\\n\\tnothing of note\\n")
    >>> list(read(file, "plain", several=True))
    [('oil tankers', ['crude', 'ship']), ('nothing of note', [])]

    >>> file = io.BytesIO(b'city,size,good\\nParis,3,yes\\n"New\\nYork",,no\\n')
    >>> list(read(file, "csv", label="good"))
    [({'city=Paris': 1, 'size': 3}, 'yes'), ({'city=New\\nYork': 1}, 'no')]
    """
    check_max_line(max_line)
    encoding = check_encoding(encoding)
    if on_error not in ("raise", "skip") and not callable(on_error):
        raise ValueError(
            f'on_error={short_repr(on_error)}; give "raise", "skip" or a function of a LineError'
        )
    if labels is not None and not isinstance(labels, Mapping):
        raise TypeError(f"labels is {type_shown(labels)}; give {{label in the file: label}}")
    found = find_sources(sources)
    if format is None:
        format = format_of(found)
    elif format not in FORMATS:
        raise ParameterError("format", format, f"one of {', '.join(FORMATS)}")
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
            raise TypeError(f"the format {format} needs {option}=; give None for none")
    form = make(**options)
    form.several = truth("several", several)
    if separator is not None:
        form.separator = _separator(separator, form, format)
    form.max_line = max_line
    return Reader(
        found, form, on_error=on_error, labels=labels, max_line=max_line, encoding=encoding
    )
