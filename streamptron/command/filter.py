"""A line filter: a line in, a line out, at once.

    read what is there -> whole lines -> answered, and learned, in one call -> written -> wait

Everything read is answered, and the answers are written, before it waits for more; a line waits
for its end. Waiting is a select on the input and on a pipe that signals write to, so that no signal
is lost between a check for signals and the wait.

Exactly one line is written for each that is read. One that is blank or bad gets an answer that has
neither label nor probability.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import select
import signal
import time
import typing
from typing import Any

from streamptron.command.lines import BLOCKS, Block, LineModel, Replaced
from streamptron.command.process import Stop, say, unwritable
from streamptron.doors.texts import LINES
from streamptron.files.decode import READ, Decoder
from streamptron.files.sources import (
    ONLY_CR,
    LineError,
    blocks,
    find_sources,
    format_of,
    has_only_cr,
)
from streamptron.modelfile.lock import ModelLock

if typing.TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KINDS = {"text": LINES.TEXT, "labelled": LINES.EITHER, "fasttext": LINES.FASTTEXT}
FIELDS = ("label", "probability", "text")
WRITE = 1 << 20  # bytes of answers that are written without waiting for more


class Answers:
    """How answers are written: a template, filled for a whole block at once.

    Parameters
    ----------
    template
        The line, with {label}, {probability} and {text}; {{ and }} are braces.
    nothing
        What stands for the label or the probability of a line that has none.
    quote
        Whether labels are written as JSON.

    Examples
    --------
    >>> from array import array
    >>> from streamptron.command.filter import Answers
    >>> answers = Answers("{label}: {probability}")
    >>> answers.many([b"ham", b"spam"], array("q", [1, 0]), array("d", [0.75, 0.5]), [])
    [b'spam: 0.7500\\n', b'ham: 0.5000\\n']
    >>> answers.one(None, None, b"")
    b': \\n'
    """

    def __init__(self, template: str, nothing: str = "", quote: bool = False) -> None:
        from string import Formatter

        self.fields: list[str] = []
        answer = empty = ""
        try:
            for literal, field, form, conversion in Formatter().parse(template):
                literal = literal.replace("%", "%%")
                answer, empty = answer + literal, empty + literal
                if field is None:
                    continue
                if field not in FIELDS:
                    raise ValueError(f"{{{field}}} is not one of its placeholders")
                if form or conversion:
                    raise ValueError(f"{{{field}}} takes no format, such as :>9 or !r")
                self.fields.append(field)
                answer += "%.4f" if field == "probability" else "%b"
                empty += "%b"
            if "\n" in template or "\r" in template:
                raise ValueError("it is more than a line")
        except ValueError as error:
            raise ValueError(
                f"the template {template!r} cannot be used: {error}; give one line with {{label}}, "
                "{probability} or {text}, and {{ and }} for braces"
            ) from None
        self._answer = os.fsencode(answer) + b"\n"
        self._empty = os.fsencode(empty) + b"\n"
        self._nothing = nothing.encode()
        self._quote = quote
        self.with_text = "text" in self.fields

    def label(self, name: str) -> bytes:
        return (json.dumps(name) if self._quote else name).encode(errors="replace")

    def many(
        self, labels: list[bytes], answers: Sequence[int], probabilities: Any, texts: list[bytes]
    ) -> list[bytes]:
        """The lines of answers, which are places in labels."""
        if not self.fields:  # a fixed text, the same for every line
            return [self._answer % ()] * len(answers)
        columns = [
            map(labels.__getitem__, answers)
            if field == "label"
            else (probabilities if field == "probability" else texts)
            for field in self.fields
        ]
        return list(map(self._answer.__mod__, zip(*columns, strict=True)))

    def one(self, label: bytes | None, probability: float | None, text: bytes) -> bytes:
        """The line of one answer, or of none."""
        values = {"label": label, "probability": probability, "text": text}
        line = self._answer
        if label is None:
            values["label"] = values["probability"] = self._nothing
            line = self._empty
        return line % tuple(values[field] for field in self.fields)


class Filter:
    """A model, between an input and the standard output.

    Parameters
    ----------
    path
        The model's file.
    answers
        How answers are written.
    files
        Files to answer instead of the standard input.
    kind
        "text": the line is the text. "labelled": label TAB text, or a text. None: what `reading`
        says; if it says nothing, "labelled" to learn and "text" otherwise, or the format that the
        model was trained on if that has features.
    reading
        The format and its options.
    encoding
        Of the lines; None: UTF-8. Answers are UTF-8.
    learn
        Whether a line that has a label is learned after it has been answered.
    save_lines, save_seconds
        How often that is saved, besides at the end; None: not.
    max_line
        The bytes of a line, beyond which it is bad.
    """

    def __init__(
        self,
        path: str,
        answers: Answers,
        *,
        max_line: int,
        files: Sequence[str] = (),
        kind: str | None = None,
        reading: dict[str, Any] | None = None,
        encoding: str | None = None,
        learn: bool = False,
        save_lines: int | None = None,
        save_seconds: float | None = None,
    ) -> None:
        self.path = path
        self.answers = answers
        self.max_line = max_line
        self.files = list(files)
        self.kind = kind
        self.reading = reading or {}
        self.encoding = encoding
        self.replaced = Replaced(encoding)
        self.learn = learn
        self.save_lines = save_lines
        self.save_seconds = save_seconds
        self.n_lines = 0
        self.n_bad = 0
        self.first_bad = ""
        self._unsaved = 0  # lines
        self._tried = 0  # how many of them a failed save has tried to save
        self._saved_at = time.monotonic()
        self._out = bytearray()
        self._names: list[str] = []
        self._labels: list[bytes] = []  # the names as they are written
        self._signals: list[int] = []
        self._wake = -1
        # only the standard input of blocks is decoded here; readers decode theirs
        self._decoder = None if encoding is None else Decoder(encoding)
        self._lock = ModelLock(path)

    def run(self) -> int:
        """Answer all there is. Returns the exit code."""
        if not hasattr(signal, "SIGHUP"):
            raise OSError(
                "predict waits for lines and signals in a way that only Unix has, and this is "
                "Windows; "
                "load the model in Python (streamptron.load), or run the command under WSL"
            )
        try:
            os.write(1, b"")
        except OSError as error:
            if error.errno == errno.EBADF:
                raise ValueError(unwritable(error)) from None
        with self._lock if self.learn else contextlib.nullcontext():
            self._load()
            return self._run()

    def _load(self) -> None:
        self.model = LineModel.load(self.path)
        format = self.reading.get("format") or self._trained_on()
        if self.kind is None and (format in BLOCKS or (format is None and self.model.tokenizer)):
            plain = "labelled" if self.learn or format == "plain" else "text"
            self.kind = "fasttext" if format == "fasttext" else plain
        self._check(self.model)

    def _trained_on(self) -> str | None:
        """The model's format, if that is what the files' suffixes say too and it is not plain."""
        format: str = self.model.reading["format"]
        if not self.files or format in BLOCKS:
            return None
        with contextlib.suppress(ValueError):
            return format if format_of(find_sources(self.files)) == format else None
        return None

    def _run(self) -> int:
        code = 0
        with self._listening():
            try:
                try:
                    if self.kind is not None:
                        self._blocks()
                    else:
                        self._events()
                except Stop:
                    code = 130 if signal.SIGINT in self._signals else 0
                self._flush()
            except BrokenPipeError:  # the reader has gone
                sink = os.open(os.devnull, os.O_WRONLY)
                os.dup2(sink, 1)
                os.close(sink)
            finally:
                saved = self._save(at_last=True)
        self.replaced.warn()
        if self.n_bad:
            self._say(f"{self.n_bad} of {self.n_lines} lines are bad, the first: {self.first_bad}")
        return code if saved else 1

    # --- Blocks of lines, which the core reads

    def _blocks(self) -> None:
        if not self.files:
            for data in self._piped():
                self._answer(data, "line ", self.n_lines + 1)
            return
        for file, line, data in blocks(
            self.files, max_line=self.max_line, on_error=self._unread, encoding=self.encoding
        ):
            self._answer(data, f"{file}:", line)
            self._look()

    def _piped(self) -> Iterator[bytes]:
        """Whole lines from the standard input, as soon as they are there."""
        # no read is longer than a line may be: only a line begun in an earlier one can be too long
        size = min(READ, self.max_line)
        begun: list[bytes] = []  # that line, in pieces
        n_begun = 0
        too_long = False
        while data := self._decoded(size):
            end = data.find(b"\n")
            n_begun += len(data) if end < 0 else end
            if n_begun > self.max_line and not too_long:
                too_long = True
                begun = []
                self._unread(f"line {self.n_lines + 1}: longer than {self.max_line} bytes")
            if end >= 0:
                if too_long:
                    data = data[end + 1 :]
                    too_long = False
                cut = data.rfind(b"\n") + 1
                if cut:
                    yield b"".join((*begun, data[:cut]))
                    begun = []
                    data = data[cut:]
                n_begun = len(data)
            if data and not too_long:
                begun.append(data)
        if begun:
            data = b"".join(begun)
            if self.n_lines == 0 and has_only_cr(data):
                self._unread(f"line 1: {ONLY_CR}")
            else:
                yield data

    def _decoded(self, n: int) -> bytes:
        """The next bytes, in UTF-8; none at the end."""
        if self._decoder is None:
            return self._read(n)
        while data := self._read(n):
            if text := self._decoder.decode(data):
                return text
        decoder, self._decoder = self._decoder, None
        return decoder.decode(b"", final=True)

    def _answer(self, data: bytes, where: str, line: int) -> None:
        """Answer a block of lines, and learn it."""
        answers = self.answers
        block = Block(self.model, data, KINDS[self.kind or "text"])
        lines = block.lines
        if self.learn:
            block.label()
            block.learn(confidences=True)
            if block.labels:
                self._unsaved += lines.n_lines
        else:
            block.answer()
        self.n_lines += lines.n_lines
        for number, reason in block.faults:
            self._bad(f"{where}{line + number}: {reason}")
        self.replaced.add(block, where, line)

        whole: list[bytes] = []
        texts = [b""] * block.n
        if answers.with_text:
            whole = [text.removesuffix(b"\r") for text in data.split(b"\n")]
            texts = [whole[number] for number in lines.line_numbers[: block.n]]
            if self.kind != "text":
                texts = [text.partition(b"\t")[2] or text for text in texts]
        if self._names is not self.model.names:
            self._names = self.model.names
            self._labels = list(map(answers.label, self._names))
        names = self._labels
        predictions, probabilities = block.predictions, block.confidences
        if block.n and min(predictions) < 0:  # answered before the first label was known
            labels = [names[output] if output >= 0 else None for output in predictions]
            rows = list(map(answers.one, labels, probabilities, texts))
        else:
            rows = answers.many(names, predictions, probabilities, texts)
        if block.n < lines.n_lines:
            if not whole:
                whole = [b""] * lines.n_lines
            every = [answers.one(None, None, text) for text in whole[: lines.n_lines]]
            for number, row in zip(lines.line_numbers, rows, strict=False):
                every[number] = row
            rows = every
        self._write(b"".join(rows))
        self._save_if_due()

    # --- Events of the other formats, one by one

    def _events(self) -> None:
        answers = self.answers
        sources = self.files or _Piped(self._read)
        n_blank = 0

        def blank() -> None:
            nonlocal n_blank
            for _ in range(reader.n_blank - n_blank):
                self.n_lines += 1
                self._write(answers.one(None, None, b""))
            n_blank = reader.n_blank

        def unread(error: LineError) -> None:
            blank()
            self._unread(str(error))

        reader = self.model.read(
            sources,
            unread,
            max_line=self.max_line,
            encoding=self.encoding,
            labelled=self.learn,
            **self.reading,
        )
        for x, y, w, _, _, file, line in reader.records():
            blank()
            self.n_lines += 1
            text = x.encode() if isinstance(x, str) else b""
            try:
                event = self.model.event(x)
                name, probability = self.model.answer(event)
                label = None if name is None else answers.label(name)
                self._write(answers.one(label, probability, text))
            except (TypeError, ValueError) as error:
                self._bad(f"{file}:{line}: {error}")
                self._write(answers.one(None, None, text))
                continue
            if self.learn and y is not None:
                try:
                    y = self.model.label(self.model.written(y))
                    self.model.check_place(y)
                    self.model.learner.learn_one(event, y, w)
                    self._unsaved += 1
                except (TypeError, ValueError) as error:
                    self._bad(f"{file}:{line}: {error}")
            self._save_if_due()
            if self.files:
                self._look()
        blank()

    # --- In and out

    def _read(self, n: int) -> bytes:
        """The next bytes, as soon as there are any; none at the end."""
        self._flush()
        while True:
            self._look()
            wait = None
            if self._unsaved and self.save_seconds is not None:
                wait = max(0.0, self._saved_at + self.save_seconds - time.monotonic())
            ready = select.select([0, self._wake], [], [], wait)[0]
            if 0 in ready:
                with contextlib.suppress(BlockingIOError):  # another process has read it
                    try:
                        return os.read(0, n)
                    except OSError as error:
                        if error.errno != errno.EBADF:
                            raise
                        raise ValueError(
                            "the standard input is closed; give it, or files"
                        ) from None
            if self._wake in ready:
                os.read(self._wake, 512)
            self._save_if_due()

    def _write(self, data: bytes) -> None:
        self._out += data
        if len(self._out) >= WRITE:
            self._flush()

    def _flush(self) -> None:
        while self._out:
            try:
                del self._out[: os.write(1, self._out)]
            except BlockingIOError:
                select.select([], [1], [])
            except BrokenPipeError:
                raise
            except OSError as error:
                raise ValueError(unwritable(error)) from None

    def _unread(self, error: LineError | str) -> None:
        """A line that cannot be read: it is counted, and answered, here."""
        self.n_lines += 1
        self._bad(str(error))
        self._write(self.answers.one(None, None, b""))

    def _bad(self, what: str) -> None:
        self.n_bad += 1
        self.first_bad = self.first_bad or what

    def _say(self, what: str) -> None:
        say(f"streamptron: {what}")

    # --- The model's file

    def _check(self, model: LineModel) -> None:
        if self.kind is not None and model.tokenizer is None:
            raise ValueError(f"{self.path}: the model learns from features; give their --format")
        if self.answers.with_text and model.tokenizer is None:
            raise ValueError(f"{self.path}: the model learns from features; there is no {{text}}")

    def _save_if_due(self) -> None:
        if self._unsaved and (
            (self.save_lines is not None and self._unsaved - self._tried >= self.save_lines)
            or (
                self.save_seconds is not None
                and time.monotonic() - self._saved_at >= self.save_seconds
            )
        ):
            self._save()

    def _save(self, at_last: bool = False) -> bool:
        """Save what is unsaved; False, after a message, if that has failed."""
        self._saved_at = time.monotonic()
        if not self._unsaved:
            return True
        try:
            if at_last:
                self.model.save_at_last(self._lock)
            else:
                self._lock.save(self.model)
        except OSError as error:
            self._tried = self._unsaved
            again = "" if at_last else ", will try again"
            self._say(f"{self._unsaved} lines learned and not saved{again}: {error}")
            return False
        self._unsaved = self._tried = 0
        return True

    # --- Signals

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Signals are noted, and handled between blocks: no block is interrupted."""
        self._wake, wakes = os.pipe()
        for end in (self._wake, wakes):
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        handlers = {
            number: signal.signal(number, lambda number, frame: self._signals.append(number))
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        }
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before)
            os.close(self._wake)
            os.close(wakes)

    def _look(self) -> None:
        """Do what signals have asked for."""
        while signal.SIGHUP in self._signals:
            self._signals.remove(signal.SIGHUP)
            self._reload()
        if self._signals:
            raise Stop

    def _reload(self) -> None:
        """Take the model from the file; what was learned and not saved is dropped."""
        try:
            with self._lock.reloading():
                model = LineModel.load(self.path)
                self._check(model)
        except (OSError, ValueError) as error:
            self._say(f"not reloaded, the model stays as it was: {error}")
            return
        self.model = model
        dropped = f"; {self._unsaved} lines learned and not saved are dropped" * bool(self._unsaved)
        self._say(f"reloaded {self.path}{dropped}")
        self._unsaved = self._tried = 0


class _Piped(io.RawIOBase):
    """The standard input for a Reader; answers are written before it waits."""

    name = "<stdin>"

    def __init__(self, read: Any) -> None:
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
