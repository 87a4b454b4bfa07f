"""A line filter: a line in, a line out, at once.

    read what is there -> whole lines -> answered, and learned, in one call -> written -> wait

Everything read is answered, and the answers are written, before it waits for more; a line waits
for its end. What signals and clocks ask for is done between blocks, and while it waits.

Exactly one line is written for each that is read. One that is blank or bad gets an answer that has
neither label nor probability.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import typing
from collections.abc import Callable, Sequence
from typing import Any

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

WRITE = 1 << 20  # bytes of answers that are written without waiting for more


class Chore(typing.Protocol):
    """What is done beside the lines: between blocks, and while it waits for more."""

    def begin(self, lines: Filter) -> None:
        """Find out, before the first line, whether it can be done."""

    def seconds_left(self) -> float | None:
        """How long it is until there is something to do; None: nothing, as far as is known."""

    def look(self) -> None:
        """Do what is due."""

    def replaced(self) -> None:
        """Know that another model is there now."""

    def end(self) -> None:
        """Come to an end, after the last save."""


class Filter(Run):
    """A model, between an input and the standard output.

    Parameters
    ----------
    on_disk
        The model's file: what is loaded from it, and when it is saved and reloaded.
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
    create
        The model to begin with if there is no file.
    max_line
        The bytes of a line, beyond which it is bad.
    chores
        What is done beside the lines.

    Attributes
    ----------
    score
        Of lines that were learned: how many were answered wrongly.
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
        self._assumed = ""  # the format of a pipe, which no option names
        self._exit_code = 0  # of a stop
        self._out = bytearray()
        self._names: list[str] = []
        self._labels: list[bytes] = []  # the names as they are written

    def run(self) -> int:
        """Answer all there is. Returns the exit code."""
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
        """Find out what the lines are."""
        model = self.on_disk.model
        format = self.reading.get("format") or self._trained_on(model)
        if format is None and self.kind is None and not self.files and _says_itself(model):
            format = self.reading["format"] = self._assumed = model.reading["format"]
        is_text = format is None and model.tokenizer and not takes_fields(model.tokenizer)
        if self.kind is None and (format in BLOCKS or is_text):
            plain = "labelled" if self.learn or format == "plain" else "text"
            self.kind = "fasttext" if format == "fasttext" else plain
        if model.multilabel and self.learn and self.kind is not None:  # lines are read one by one
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
        """The lines of a file of corrections: they look as those that are learned, each labelled.

        The first that cannot be read is an error.
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
        """The model's format, if that is what the files' suffixes say too."""
        format: str = model.reading["format"]
        if not self.files:
            return None
        if format == "document":
            return format
        with contextlib.suppress(ValueError):
            return format if format_of(find_sources(self.files)) == format else None
        return None

    def _check(self, model: LineModel) -> None:
        """That a model can answer these lines in this way."""
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
        """That a new model can answer what the old one answers, and reads lines as it does."""
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
            except BrokenPipeError:  # the reader has gone
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
        # where it learns, the core answers a block without `top` or margins
        singly = self.answers.top or self.on_disk.model.learn_unsure is not None
        for each in block.singly() if self.learn and singly else [block]:
            self._answer(each)
        self.look()

    def _answer(self, block: Block) -> None:
        """Answer a block of lines, and learn it."""
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
        """Count blocks that have been learned, and save them together if that is due."""
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
        """A line that cannot be read: it is counted, and answered, here."""
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

    # --- What signals and clocks ask for

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
        """Answer by the model that is in the file now."""
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
    """Whether what comes through a pipe can only be what the model was trained on.

    Texts may come as they are, also to a model of a column of CSV. An object of JSON is not a text.
    """
    format = model.reading["format"]
    is_column = model.tokenizer is not None and not takes_fields(model.tokenizer)
    return format not in (*BLOCKS, "document") and not (format == "csv" and is_column)
