"""Learning from files: epochs, events held out, and progress reports.

Each event is answered before it is learned, so the error of the first epoch is an honest one. (No
answer, before the first label, is no error.) Reports go to standard error: Vowpal Wabbit's table,
with a line whenever the events have doubled; on a terminal also a bar of the bytes read.

With saves on the way SIGTERM and SIGINT may end it early: the current block is finished, and the
caller saves. A signal that arrives while waiting for bytes ends the wait.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import typing
from typing import Any

from streamptron.command.lines import BLOCKS, Block, Replaced
from streamptron.command.process import Signals, Stop, say
from streamptron.doors.rows import count_wrong
from streamptron.files.decode import READ, SUFFIXES
from streamptron.files.sources import (
    MAX_LINE,
    LineError,
    check_encoding,
    find_sources,
    raise_error,
    source_blocks,
)

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streamptron.command.lines import LineModel
    from streamptron.files.sources import Block as FileBlock

# What is read at a time for other threads: the larger a block, the fewer words are looked up again.
READ_AHEAD = 1 << 19

HEADER = """\
  average     since                                         current
    error      last       events  current label             prediction"""


class Score:
    """Events, and how many of those with a label were answered wrongly."""

    def __init__(self) -> None:
        self.n_events = 0
        self.n_labelled = 0
        self.n_wrong = 0

    def add(self, n_events: int, n_labelled: int, n_wrong: int) -> None:
        self.n_events += n_events
        self.n_labelled += n_labelled
        self.n_wrong += n_wrong

    @property
    def error(self) -> str:
        return _share(self.n_wrong, self.n_labelled)


def _share(n_wrong: int, n_labelled: int) -> str:
    """An error as it is written; of nothing there is none."""
    return f"{n_wrong / n_labelled:.6f}" if n_labelled else "-"


class Table:
    """The lines of progress, at 1, 2, 4, 8... events."""

    def __init__(self, write: Any) -> None:
        self.write = write
        self.next = 1
        self._last = (0, 0)
        write(HEADER)

    def line(self, n_events: int, n_labelled: int, n_wrong: int, label: str, answer: str) -> None:
        average = _share(n_wrong, n_labelled)
        since = _share(n_wrong - self._last[1], n_labelled - self._last[0])
        self.write(f"{average:>9} {since:>9} {n_events:12d}  {label[:24]:24}  {answer[:24]}")
        self._last = n_labelled, n_wrong
        self.next = 2 * n_events


class Training:
    """One run over files.

    Parameters
    ----------
    model
        What learns.
    files
        Paths, or "-".
    epochs
        How often the files are read.
    every
        Every `every`-th event is held out: not learned, but scored at the end. 0: none.
    skip
        Whether bad lines are counted and left out; otherwise the first one ends it.
    quiet
        Print no progress.
    encoding
        Of the files; None: UTF-8.
    save
        Saves the model; None: it is not saved on the way.
    save_every
        How many events between saves, or a few more: a save waits for the end of a block.
    jobs
        How many threads: one learns, the others read and split texts ahead of it.
    """

    def __init__(
        self,
        model: LineModel,
        files: list[str],
        *,
        epochs: int = 1,
        every: int = 0,
        skip: bool = False,
        quiet: bool = False,
        encoding: str | None = None,
        save: Callable[[], object] | None = None,
        save_every: int = 0,
        jobs: int = 1,
    ) -> None:
        self.model = model
        self.files = files
        self.epochs = epochs
        self.every = every
        self.skip = skip
        self.progressive = Score()  # of the first epoch
        self.last = self.progressive  # of the last one
        self.held = Score()
        self.encoding = encoding
        self.save = save
        self.save_every = save_every
        self.jobs = jobs
        self.signals = Signals()
        self.epoch = 0  # the current one, from 1
        self.stopped_by = 0  # a signal
        self.place = ("", 0)  # the current file and line
        self.n_bad = 0
        self.first_bad: LineError | None = None
        self.replaced = Replaced(encoding)
        self._unsaved = 0  # events
        self._bar: Any = None
        self._table = None if quiet else Table(self._write)

    def run(self) -> None:
        began = time.perf_counter()
        with self._progress():
            try:
                for epoch in range(self.epochs):
                    self.epoch = epoch + 1
                    self.last = Score()
                    if epoch == 0:
                        self.progressive = self.last
                    self._pass(self.last, learning=True, first=epoch == 0)
                    if self.progressive.n_events and not self.last.n_events:
                        raise ValueError(
                            f"epoch {self.epoch} found no events where epoch 1 found "
                            f"{self.progressive.n_events}: the files were emptied meanwhile, and "
                            "nothing more is saved; train again on files that stay as they are"
                        )
                if self.every:
                    self._pass(self.held, learning=False, first=False)
            except Stop:
                self.stopped_by = self.signals.number
        self.seconds = time.perf_counter() - began
        self.replaced.warn()

    def summary(self) -> str:
        learner = self.model.learner
        rows = [
            ("events", self.progressive.n_events),
            ("features", learner.n_features),
            ("updates", learner.n_updates),
            ("progressive error", self.progressive.error),
        ]
        if self.epochs > 1:
            rows.append((f"error, epoch {self.epochs}", self.last.error))
        if self.every:
            rows.append(("held-out events", self.held.n_labelled))
            rows.append(("held-out error", self.held.error))
        rows.append(("bad lines", self.n_bad))
        rows.append(("seconds", f"{self.seconds:.2f}"))
        lines = [f"{name:18} {value}" for name, value in rows]
        if self.first_bad:
            lines.append(f"the first bad line: {self.first_bad}")
        return "\n".join(lines)

    def _coming(self, items: Iterator[Any]) -> Iterator[Any]:
        """The items as they come; a signal ends the wait if the model is saved on the way."""
        return self.signals.waited_for(items) if self.save else items

    def _learned(self, n: int) -> None:
        """Count events as learned, and save if that is due."""
        self._unsaved += n
        if self._unsaved >= self.save_every:
            self._unsaved = 0
            assert self.save
            try:
                self.save()
            except OSError as error:
                say(f"streamptron: not saved, will try again: {error}")

    # --- What is said

    def _write(self, line: str) -> None:
        if self._bar is not None:
            line = f"\r\033[K{line}"  # overwrites the bar, which is then drawn again below
        say(line)

    @contextlib.contextmanager
    def _progress(self) -> Iterator[None]:
        """A bar, if a terminal shows it and the number of bytes to come is known."""
        plain = all(
            os.path.isfile(f) and os.path.splitext(f)[1] not in SUFFIXES for f in self.files
        )
        if self._table is None or not plain or not sys.stderr.isatty():
            yield
            return
        import click

        size = sum(map(os.path.getsize, self.files)) * (self.epochs + bool(self.every))
        with click.progressbar(length=size, file=sys.stderr) as self._bar:
            yield
        self._bar = None

    def _advance(self, n_bytes: int) -> None:
        if self._bar is not None:
            self._bar.update(n_bytes)

    # --- Passes over the files

    def _bad(self, error: LineError, first: bool) -> None:
        if not self.skip:
            raise error
        if first:
            self.n_bad += 1
            self.first_bad = self.first_bad or error

    def _pass(self, score: Score, *, learning: bool, first: bool) -> None:
        """Learn all events but the held ones, or score the held ones."""
        if self.model.reading["format"] in BLOCKS and self.model.tokenizer is not None:
            self._blocks(score, learning, first)
        else:
            self._events(score, learning, first)

    def _blocks(self, score: Score, learning: bool, first: bool) -> None:
        model, every = self.model, self.every
        seen = 0
        coming: Iterator[Any] = ((*item, None) for item in self._read())
        if self.jobs > 1:
            from streamptron.command.ahead import made_ahead

            coming = made_ahead(self._written, self._read(), self.jobs - 1)
        for left_out, read, block in self._coming(coming):
            for error in left_out:
                self._bad(error, first)
            if read is None:
                break
            file, line, data = read
            held = None
            if every and learning:
                held = slice((every - 1 - seen) % every, None, every)
            block = block or self._texts(read)
            block.label(held)
            self._faults(block, file, line, first)
            known = block.faults[:]
            seen += block.n
            if learning:
                block.learn()
            else:
                block.keep(slice((every - 1 - seen + block.n) % every, None, every))
                block.answer()
            self._faults(block, file, line, first, known)  # texts that the learner has refused
            numbers = block.numbers
            outputs = model.outputs(block.labels)
            done = 0
            while first and self._table and self._table.next <= score.n_events + block.n - done:
                row = done + self._table.next - score.n_events
                score.add(row - done, *count_wrong(numbers, outputs, block.predictions, done, row))
                done = row
                self._say(score, block, row - 1)
            score.add(
                block.n - done, *count_wrong(numbers, outputs, block.predictions, done, block.n)
            )
            score.n_events -= len(block.unfit)
            if first:
                self.replaced.add(block, f"{file}:", line)
            self.place = file, line + block.lines.n_lines - 1
            if learning and self.save:
                self._learned(block.n - len(block.unfit))
            self._advance(len(data))

    def _read(self) -> Iterator[tuple[list[LineError], FileBlock | None]]:
        """The blocks of the files, each with the bad lines left out before it; at last, None."""
        left_out: list[LineError] = []
        on_bad = left_out.append if self.skip else raise_error
        size = READ if self.jobs == 1 else READ_AHEAD
        encoding = check_encoding(self.encoding)
        for source in find_sources(self.files):
            for block in source_blocks(source, MAX_LINE, on_bad, encoding, size):
                yield left_out[:], block
                left_out.clear()
        yield left_out, None

    def _texts(self, block: FileBlock) -> Block:
        return Block(self.model, block.data, BLOCKS[self.model.reading["format"]])

    def _written(
        self, item: tuple[list[LineError], FileBlock | None]
    ) -> tuple[list[LineError], FileBlock | None, Block | None]:
        """The same with the block's texts, split already."""
        left_out, read = item
        if read is None:
            return left_out, None, None
        block = self._texts(read)
        block.write_ahead()
        return left_out, read, block

    def _faults(
        self,
        block: Block,
        file: str,
        line: int,
        first: bool,
        known: Sequence[tuple[int, str]] = (),
    ) -> None:
        for number, reason in block.faults:
            if (number, reason) not in known:
                self._bad(LineError(file, line + number, reason), first)

    def _say(self, score: Score, block: Block, row: int) -> None:
        assert self._table
        names = [*self.model.names, ""]  # -1, no answer, is the last one
        number = block.numbers[row]
        none = "(bad line)" if row in block.unfit else "(held out)"
        label = none if number < 0 else self.model.name(block.labels[number])
        answer = names[block.predictions[row]]
        self._table.line(score.n_events, score.n_labelled, score.n_wrong, label, answer)

    def _events(self, score: Score, learning: bool, first: bool) -> None:
        model, learner, every = self.model, self.model.learner, self.every
        reader = model.read(self.files, lambda bad: self._bad(bad, first), encoding=self.encoding)
        seen = 0
        for x, y, w, _, _, file, line in self._coming(reader.records()):
            self.place = file, line
            try:
                if y is None:
                    raise ValueError("no label; an event to learn from must have one")
                label = model.label(model.written(y))
                event = model.event(x)
                held = every and seen % every == every - 1
                seen += 1
                if held != (not learning):
                    if learning:
                        score.add(1, 0, 0)
                    continue
                if learning:
                    model.check_place(label)
                    answer = learner.test_then_train_one(event, label, w)
                else:
                    answer = learner.predict_one(event)
            except (TypeError, ValueError) as error:
                self._bad(LineError(file, line, str(error)), first)
                continue
            score.add(1, int(answer is not None), int(answer is not None and answer != label))
            if learning and self.save:
                self._learned(1)
            if first and self._table and score.n_events >= self._table.next:
                self._table.line(
                    score.n_events,
                    score.n_labelled,
                    score.n_wrong,
                    model.name(label),
                    "" if answer is None else model.name(answer),
                )
