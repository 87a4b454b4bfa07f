"""Lines of files or of the standard input, in blocks, for train, predict and eval.

    source -> wait, read -> whole lines -> texts, or events -> block -> learned and answered

All lines that were read are passed on before it waits for more. So a filter answers each line at
once, and if a signal ends the wait, all lines that have come are learned.
"""

from __future__ import annotations

import contextlib
import errno
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from streamptron.command.blocks import BLOCKS, Block, EventBlock, TextBlock, mark_of
from streamptron.command.multilabel import SetEvents, SetTexts
from streamptron.doors.batch import LINES
from streamptron.doors.texts import MailDoor
from streamptron.files.decode import READ, reading
from streamptron.files.lines import LineModel
from streamptron.files.sources import (
    MAX_LINE,
    LineError,
    Source,
    check_encoding,
    find_sources,
    source_blocks,
)
from streamptron.files.sources import Block as FileBlock

KINDS = {"text": LINES.TEXT, "labelled": LINES.EITHER, **BLOCKS}
# Bytes to read at a time for other threads: with larger blocks fewer words are looked up again.
READ_AHEAD = 1 << 19
EVENTS = 256  # the most events in a block
FASTTEXT_LABELS = re.compile(rb"^(?=[^\r\n])(?:__label__\S*[ \t]*)*", re.MULTILINE)


def texts_kind(model: LineModel, format: str) -> str | None:
    """The kind of labelled lines, if the core can read them itself; None: a Reader makes events."""
    is_text = model.tokenizer is not None and not model.multilabel
    return format if format in BLOCKS and is_text else None


class Stream:
    """The lines of some files.

    Parameters
    ----------
    model
        The model, which makes events of lines.
    sources
        Paths, "-", or sources.
    take
        Called with each block, in order.
    bad
        Called with the error of each line that cannot be read, in the order of the lines.
    kind
        If lines are texts, one of KINDS; None: a Reader makes events.
    reading
        The format and its options, for a Reader; options that are missing are those of training.
    labels
        "needed": an event without a label is bad. "taken": labels are read if they are there. "":
        labels are not read.
    encoding
        The encoding of the lines; None: UTF-8.
    max_line
        A line of more bytes is bad.
    endless
        Whether the lines come from a stream that has already begun: then its first bytes are not
        searched for a compression or an encoding.
    start
        Where to continue: its file comes first, and files that were finished before are left out.
    wait
        Called before each read with the file's descriptor, or None if it has none. It returns when
        the file can be read, or raises Stop.
    opening
        A context manager for opening files, since opening a named pipe may wait.
    jobs
        The number of threads: all but one read and split texts ahead.
    """

    def __init__(
        self,
        model: LineModel,
        sources: Sequence[Any],
        take: Callable[[Any], object],
        bad: Callable[[LineError], object],
        *,
        kind: str | None = None,
        reading: dict[str, Any] | None = None,
        labels: str = "needed",
        encoding: str | None = None,
        max_line: int = MAX_LINE,
        endless: bool = False,
        start: Place | None = None,
        wait: Callable[[int | None], object] = lambda number: None,
        opening: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
        jobs: int = 1,
    ) -> None:
        if kind is not None and isinstance(model.tokenizer, MailDoor):
            raise ValueError("the model learns from mails, and these are lines; give --format mail")
        if (reading or {}).get("separator") and not model.multilabel:
            raise ValueError("--label-separator is for models of several labels; leave it out")
        self.model = model
        self.reader: Any = None  # makes the events
        self._start: Place | None = None
        self._done = start.done if start is not None else []
        done = Counter(self._done)
        self.sources: list[_Waiting] = []
        for found in find_sources(sources):
            source = _Waiting(found, self._wait, opening)
            if source.known_as and done[source.known_as]:
                done[source.known_as] -= 1
            elif start is not None and self._start is None and start.file == source.known_as != "":
                self._start = start if start.line else None
                self.sources.insert(0, source)
            else:
                self.sources.append(source)
        self._take = take
        self._on_bad = bad
        self._kind = kind
        self._reading = reading or {}
        self._labels = labels
        self._encoding = encoding
        self._max_line = max_line
        self._endless = endless
        self._on_wait = wait
        self._jobs = jobs
        self._lines: list[Any] = []  # lines of events that were read and not passed on yet

    def run(self) -> None:
        """Read all lines."""
        if not self.sources:  # all were finished before
            return
        if self._kind is None:
            self._run_events()
        elif self._jobs > 1:
            self._run_ahead()
        else:
            for block in self._blocks(self._bad, READ):
                self._take(self._texts(block))

    @property
    def n_read(self) -> int:
        """The number of bytes read, before decompression."""
        return sum(source.n_read for source in self.sources)

    def place(self, block: Block | None) -> Place:
        """The place after a block; without a block, of the start. A pipe has no places."""
        names = [source.known_as for source in self.sources]
        if block is None:
            return self._start or Place(self._done, names[0] if names else "", 0, 0)
        at = next(at for at, source in enumerate(self.sources) if source.name == block.file)
        done = [*self._done, *filter(None, names[:at])]
        line = block.line(block.n_lines - 1)
        return Place(done, names[at], line, block.mark()) if names[at] else Place(done, "", 0, 0)

    def _wait(self, number: int | None) -> None:
        self._hand_on()
        self._on_wait(number)

    def _bad(self, error: LineError) -> None:
        start = self._start
        if start is None or error.file != self.sources[0].name or error.line > start.line:
            self._hand_on()
            self._on_bad(error)

    def _hand_on(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            needed, header = self._labels == "needed", self.reader.header
            make = SetEvents if self.model.multilabel else EventBlock
            self._take(make(self.model, lines[0][0].file, lines, needed, header))

    # --- Texts

    def _blocks(self, on_bad: Callable[[LineError], object], size: int) -> Iterator[FileBlock]:
        encoding = check_encoding(self._encoding)
        start = self._start
        for source in self.sources:
            blocks = source_blocks(
                source, self._max_line, on_bad, encoding, size, whole=not self._endless
            )
            yield from blocks if start is None else start.after(blocks)
            start = None

    def _texts(self, block: FileBlock) -> TextBlock:
        kind = KINDS[self._kind or ""]
        if kind == LINES.FASTTEXT and not self._labels:  # a line may have no label, or several
            block = block._replace(data=FASTTEXT_LABELS.sub(b"_\t", block.data))
            kind = LINES.EITHER
        return (SetTexts if self.model.multilabel else TextBlock)(self.model, block, kind)

    def _run_ahead(self) -> None:
        """Read all texts, split ahead by other threads."""
        from streamptron.command.ahead import made_ahead

        def read() -> Iterator[FileBlock | list[LineError]]:
            bad: list[LineError] = []
            for block in self._blocks(bad.append, READ_AHEAD):
                yield bad[:]
                bad.clear()
                yield block
            yield bad

        def split(item: FileBlock | list[LineError]) -> TextBlock | list[LineError]:
            if isinstance(item, list):
                return item
            block = self._texts(item)
            block.write_ahead()
            return block

        for item in made_ahead(split, read(), self._jobs - 1):
            if isinstance(item, TextBlock):
                self._take(item)
            else:
                for error in item:
                    self._on_bad(error)

    # --- Events

    def _run_events(self) -> None:
        self.reader = self.model.read(
            self.sources,
            self._bad,
            max_line=self._max_line,
            encoding=self._encoding,
            labelled=bool(self._labels),
            **self._reading,
        )
        if self._labels == "taken":  # a line may have no label, but CSV must have the column
            self.reader.form.label_needed = False
        start, reader, form = self._start, self.reader, self.reader.form
        if start is not None:
            reader.start = start.line
        for record in reader.each_line():
            if start is not None:
                start.check(reader.left_out)
                start = None
            lines = self._lines
            if len(lines) == EVENTS or (lines and lines[0][0].file != record.file):
                self._hand_on()
            self._lines.append((record, reader.item, form.record))
        if start is not None:
            start.check(reader.left_out)
        self._hand_on()


class _Waiting(Source):
    """A source that calls `wait` before each read."""

    def __init__(
        self,
        source: Source,
        wait: Callable[[int | None], object],
        opening: Callable[[], contextlib.AbstractContextManager[None]],
    ) -> None:
        super().__init__(source.name, source.path, source.file, source.listed)
        self.wait = wait
        self.n_read = 0  # bytes so far
        self._opening = opening

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        with contextlib.ExitStack() as stack:
            with self._opening():
                file = stack.enter_context(super().opened())
            yield _WaitingFile(getattr(file, "raw", file), self)


class _WaitingFile:
    def __init__(self, file: Any, source: _Waiting) -> None:
        self._read = reading(file)
        self._source = source
        self._number: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self._number = file.fileno()

    def readinto(self, view: memoryview) -> int:
        while True:
            self._source.wait(self._number)
            try:
                n = self._read(view)
                self._source.n_read += n
                return n
            except BlockingIOError:  # another process has read it
                continue
            except OSError as error:
                if error.errno != errno.EBADF:
                    raise
                raise ValueError("the standard input is closed; give it, or files") from None


class Place(NamedTuple):
    """Where a stream stopped: which files were finished, in which file, and after which line."""

    done: list[str]
    file: str
    line: int  # 0: at the beginning of the file
    mark: int  # the checksum of that line

    def after(self, blocks: Iterator[FileBlock]) -> Iterator[FileBlock]:
        """The blocks of the file from the next line on."""
        last: bytes | None = None  # the last line that is skipped
        for block in blocks:
            data, line = block.data, block.line
            at = 0
            while line <= self.line and at < len(data):
                end = data.find(b"\n", at) + 1 or len(data)
                last = data[at:end]
                at, line = end, line + 1
            if at < len(data):
                self.check(last)
                yield FileBlock(block.file, line, data[at:])
                yield from blocks
                return
        self.check(last)

    def check(self, last: Any) -> None:
        """Check that the line before the place is still the same."""
        if isinstance(last, bytes):
            last = last.removesuffix(b"\n")
        if last is None or mark_of(last) != self.mark:
            raise ValueError(
                f"{self.file}:{self.line} is not the line at which it stopped: the file is "
                "another one now; give it under another name to learn all of it, or train anew"
            )
