"""A line filter, which writes an answer to each line at once.

    read what is there -> whole lines -> answered, and learned, in one call -> written -> wait

All lines read so far are answered, and the answers written, before it waits for more input; the
beginning of a line waits for its end. Signals and timers are handled between blocks, and while it
waits.

Exactly one line is written for each line that is read. A blank or bad line gets an answer without
label and probability.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from streamptron.command.answers import Answers, answers_of
from streamptron.command.blocks import BLOCKS, Block
from streamptron.command.grades import Score
from streamptron.command.model_on_disk import ModelOnDisk, sooner
from streamptron.command.run import Run
from streamptron.command.stream import Stream
from streamptron.common.names import short_repr
from streamptron.common.process import Stop, counted, say, unwritable
from streamptron.files.fields import takes_fields
from streamptron.files.lines import LineModel
from streamptron.files.sources import LineError, find_sources, format_of, raise_error

WRITE = 1 << 20  # bytes of answers that may gather before they are written


class Chore(Protocol):
    """A task beside the answers: done between blocks, and while the filter waits for input."""

    def begin(self, lines: Filter) -> None:
        """Prepare, before the first line; raises an error if the task cannot be done."""

    def seconds_left(self) -> float | None:
        """The seconds until there is something to do; None: nothing is planned."""

    def look(self) -> None:
        """Do what is due."""

    def replaced(self) -> None:
        """Called when another model was loaded."""

    def end(self) -> None:
        """Finish, after the last save."""


class Filter(Run):
    """Reads lines, and writes a model's answers to the standard output.

    Parameters
    ----------
    on_disk
        The model and its file; decides when it is saved and reloaded.
    answers
        How answers are written.
    files
        Files to answer instead of the standard input.
    kind
        "text": the line is the text. "labelled": label TAB text, or a text. None: as `reading`
        says; if it is empty, "labelled" to learn and "text" otherwise, or, if the model was trained
        on features, their format.
    reading
        The format and its options.
    encoding
        The encoding of the lines; None: UTF-8. Answers are always UTF-8.
    learn
        Whether lines with labels are learned after they have been answered.
    create
        The model to begin with if there is no file.
    max_line
        A line of more bytes is bad.
    chores
        Tasks beside the answers.

    Attributes
    ----------
    score
        How many of the lines that were learned had been answered wrongly.
    """

    def __init__(
        self,
        on_disk: ModelOnDisk,
        answers: Answers,
        *,
        max_line: int,
        files: Sequence[str] = (),
        kind: str | None = None,
        reading: dict[str, Any] | None = None,
        encoding: str | None = None,
        learn: bool = False,
        create: LineModel | None = None,
        chores: Sequence[Chore] = (),
    ) -> None:
        super().__init__(encoding, "SIGTERM", "SIGINT", "SIGHUP")
        self.on_disk = on_disk
        self.answers = answers
        self.max_line = max_line
        self.files = list(files)
        self.kind = kind
        self.reading = reading or {}
        self.learn = learn
        self.create = create
        self.chores = chores
        self.score = Score()
        self._stream: Any = None
        self._assumed = ""  # the format of a pipe, if it is the model's and not given
        self._exit_code = 0  # after a signal
        self._out = bytearray()
        self._names: list[str] = []
        self._labels: list[bytes] = []  # the names, encoded for the output

    def run(self) -> int:
        """Answer all lines. Returns the exit code."""
        if not hasattr(signal, "SIGHUP"):
            raise OSError(
                "predict waits for lines and signals in a way that only Unix has, and this is "
                "Windows; load the model in Python (streamptron.load), or run the command under "
                "WSL"
            )
        try:
            os.write(1, b"")
        except OSError as error:
            if error.errno == errno.EBADF:
                raise ValueError(unwritable(error)) from None
        with self.on_disk:
            self.on_disk.load(self.create)
            self._settle()
            for chore in self.chores:
                chore.begin(self)
            return self._run()

    def _settle(self) -> None:
        """Set the format of the lines."""
        model = self.on_disk.model
        format = self.reading.get("format") or self._trained_on(model)
        if format is None and self.kind is None and not self.files and _says_itself(model):
            format = self.reading["format"] = self._assumed = model.reading["format"]
        is_text = format is None and model.tokenizer and not takes_fields(model.tokenizer)
        if self.kind is None and (format in BLOCKS or is_text):
            plain = "labelled" if self.learn or format == "plain" else "text"
            self.kind = "fasttext" if format == "fasttext" else plain
        if model.multilabel and self.learn and self.kind is not None:  # a Reader must read them
            self.reading["format"] = {"labelled": "plain"}.get(self.kind, self.kind)
            self.kind = None
        self.answers = answers_of(model, self.answers)
        self._check(model)
        self._stream = self.stream(
            model,
            self.files or ["-"],
            kind=self.kind,
            reading=self.reading,
            labels="taken" if self.learn else "",
            max_line=self.max_line,
            endless=not self.files,
        )

    def corrected(self, path: str, take: Callable[[Block], object]) -> Stream:
        """The lines of a file of corrections, in the format of lines that are learned.

        Each must have a label; the first bad line is an error.
        """
        return Stream(
            self.on_disk.model,
            [path],
            take,
            raise_error,
            kind="plain" if self.kind == "labelled" else self.kind,
            reading=self.reading,
            encoding=self.encoding,
            max_line=self.max_line,
        )

    def _trained_on(self, model: LineModel) -> str | None:
        """The model's format, if the files' suffixes stand for it, too."""
        format: str = model.reading["format"]
        if not self.files:
            return None
        if format == "document":
            return format
        with contextlib.suppress(ValueError):
            return format if format_of(find_sources(self.files)) == format else None
        return None

    def _check(self, model: LineModel) -> None:
        """Check that a model can answer these lines as the options ask."""
        path, fields = self.on_disk.path, self.answers.of_line
        if self.kind is not None and (model.tokenizer is None or takes_fields(model.tokenizer)):
            raise ValueError(f"{path}: the model learns from features; give their --format")
        if "text" in self.answers.fields and model.tokenizer is None:
            raise ValueError(f"{path}: the model learns from features; there is no {{text}}")
        format = None if self.kind else self.reading.get("format") or model.reading["format"]
        if self.answers.form == "merge" and format != "jsonl":
            raise ValueError(
                "--merge is for JSON lines; give --format jsonl, and --text or --features"
            )
        if fields and format not in ("jsonl", "csv"):
            raise ValueError(
                f"{{{fields[0]}}} is not one of the template's placeholders, {{label}}, "
                "{probability} and {text}; only JSON lines and CSV have fields, by their --format"
            )

    def _check_reading(self, model: LineModel) -> None:
        """Check that a new model answers the same lines as the old one, and reads them alike."""
        self._check(model)
        known = self.on_disk.model.reading
        if model.multilabel is not self.on_disk.model.multilabel:
            raise ValueError(
                f"{self.on_disk.path}: one of the two models answers several labels a line, and "
                "the other one; start anew to answer by it"
            )
        if self.kind is None and {**model.reading, **self.reading} != {**known, **self.reading}:
            raise ValueError(
                f"{self.on_disk.path}: it reads lines as {short_repr(model.reading, 200)}, and the "
                f"model that answers as {short_repr(known, 200)}; start anew to answer by it"
            )

    def _run(self) -> int:
        code = 0
        with self.signals.listening():
            try:
                try:
                    self._answer_all()
                except Stop:
                    code = self._exit_code
                self._flush()
            except BrokenPipeError:  # the program that reads the answers has ended
                sink = os.open(os.devnull, os.O_WRONLY)
                os.dup2(sink, 1)
                os.close(sink)
            finally:
                saved = self.on_disk.save(at_last=True)
                for chore in self.chores:
                    chore.end()
        self.warn_replaced()
        if self.n_bad:
            say(
                f"streamptron: {self.n_bad} of {self.n_lines} lines are bad, the first: "
                f"{self.first_bad}"
                + f"; lines are {self._assumed}, as in the training; else give --input or --format"
                * bool(self._assumed)
            )
        return code if saved else 1

    def _answer_all(self) -> None:
        self._stream.run()

    def take(self, block: Block) -> None:
        # while the core learns a block it knows neither `top` nor margins
        singly = self.answers.top or self.on_disk.model.learn_unsure is not None
        for each in block.singly() if self.learn and singly else [block]:
            self._answer(each)
        self.look()

    def _answer(self, block: Block) -> None:
        """Answer a block of lines, and learn it if the filter learns."""
        block.top, block.least = self.answers.top, self.answers.unsure
        if self.learn:
            block.label()
            self.warnings.look(block)
            block.learn(confidences=True)
        else:
            self.warnings.unmet(block)
            block.answer()
        self.count(block)
        self.faults(block)
        if self._names is not block.model.names:
            self._names = block.model.names
            self._labels = list(map(self.answers.written, self._names))
        self._write(b"".join(self.answers.block(block, self._labels)))
        self.warnings.lacks(block)
        if self.learn:
            self.learned([block])

    def learned(self, blocks: Sequence[Block]) -> None:
        """Count blocks that were learned, then save the model if that is due."""
        n_learned = 0
        for block in blocks:
            if n := block.n_labelled:
                self.score.add(n, *block.count(0, block.n))
                self.on_disk.keep(block)
                n_learned += n
        if n_learned and self.on_disk.learned(n_learned):
            self.on_disk.save()

    # --- In and out

    def unread(self, error: LineError) -> None:
        """Count a line that cannot be read, and answer it."""
        self.n_lines += 1
        super().unread(error)
        self._write(self.answers.none())

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

    # --- Signals and timers

    def wait(self, number: int | None) -> None:
        self._flush()
        super().wait(number)

    def seconds_left(self) -> float | None:
        return sooner(self.on_disk.seconds_left(), *(c.seconds_left() for c in self.chores))

    def look(self) -> None:
        for number in self.signals.taken():
            if number != signal.SIGHUP:
                self._exit_code = 130 if number == signal.SIGINT else 0
                raise Stop
            self._reload()
        if self.on_disk.is_replaced():
            self._reload(asked=False)
        self.on_disk.save_if_due()
        for chore in self.chores:
            chore.look()

    def _reload(self, asked: bool = True) -> None:
        """Load the model that is in the file now."""
        on_disk = self.on_disk
        if not on_disk.reload(self._check_reading, asked):
            return
        self._stream.model = on_disk.model
        n, lost, on_disk.forgotten = on_disk.unsaved, on_disk.forgotten, 0
        again = f"; {counted(n, 'line')} learned and not saved, learned again now" * bool(n)
        again += f"; {lost} not, which were too many to keep" * bool(lost)
        say(f"streamptron: reloaded {on_disk.path}{again}")
        for chore in self.chores:
            chore.replaced()


def _says_itself(model: LineModel) -> bool:
    """Whether lines from a pipe must be in the format that the model was trained on.

    A model of texts also takes bare texts, even if it was trained on a column of CSV; but a JSON
    object is not a text.
    """
    format = model.reading["format"]
    is_column = model.tokenizer is not None and not takes_fields(model.tokenizer)
    return format not in (*BLOCKS, "document") and not (format == "csv" and is_column)
