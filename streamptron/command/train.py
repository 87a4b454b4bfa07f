"""Learning from files: epochs, events held out, and progress reports.

Each event is answered before it is learned, so the error of the first epoch is that on new events.
(Events before the first label get no answer and do not count.) Reports go to standard error: a
table like Vowpal Wabbit's, with a line whenever the number of events has doubled; and on a terminal
a bar of the bytes read.

SIGTERM and SIGINT end the training early: the current block is finished, the caller saves the
model, and the model holds the place where to continue.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from streamptron.command.blocks import Block
from streamptron.command.grades import Score, percent
from streamptron.command.model_on_disk import ModelOnDisk
from streamptron.command.run import Run
from streamptron.command.stream import Place, Stream, texts_kind
from streamptron.common.names import short_repr
from streamptron.common.process import Stop, say
from streamptron.files.lines import LineModel
from streamptron.files.sources import LineError, find_sources
from streamptron.keeping.lock import identity

HEADER = """\
  average     since                                         current
  error %    last %       events  current label             prediction"""


LABEL = 1 << 20  # a model with more bytes per label is large
FEW = 16  # labels; models with fewer are never large
FEW_APART = 100  # the same if an event has one label: 20 newsgroups take 1.3 MB each


class Table:
    """The table of progress, with a line at 1, 2, 4, 8... events."""

    def __init__(self, write: Any) -> None:
        self.write = write
        self.next = 1
        self._last = (0, 0)
        write(HEADER)

    def line(self, n_events: int, n_labelled: int, n_wrong: int, label: str, answer: str) -> None:
        average = percent(n_wrong, n_labelled)
        since = percent(n_wrong - self._last[1], n_labelled - self._last[0])
        self.write(f"{average:>9} {since:>9} {n_events:12d}  {label[:24]:24}  {answer[:24]}")
        self._last = n_labelled, n_wrong
        self.next = 2 * n_events


class Stopped(NamedTuple):
    """Where a training stopped, as the model's file stores it.

    Attributes
    ----------
    place
        The place in the files.
    epoch, epochs, every
        The current epoch, from 1; the number of epochs; every `every`-th event is held out.
    seen
        How many events of the epoch were read, including those held out.
    """

    place: Place
    epoch: int
    epochs: int
    every: int
    seen: int

    @classmethod
    def of(cls, model: LineModel, files: list[str]) -> Self | None:
        """Where a model's training on some files stopped; None if it was finished."""
        kept = model.place
        if kept is None or "ended" in kept:
            return None
        try:
            place = Place(**kept["place"])
            found = cls(**{**kept, "place": place})
            numbers = (place.line, place.mark, found.epoch, found.epochs, found.every, found.seen)
            if not all(type(n) is int and n >= 0 for n in numbers) or not all(
                isinstance(name, str) for name in (place.file, *place.done)
            ):
                raise TypeError
        except (TypeError, KeyError):
            raise ValueError(
                "the place where the training stopped is damaged; train anew, or give the rest of "
                "the files under other names"
            ) from None
        known = {place.file, *place.done} - {""}  # "" stands for a pipe
        if known.isdisjoint(source.known_as for source in find_sources(files)):
            if place.file:
                warnings.warn(
                    f"the training stopped at {place.file}:{place.line}, which is not among these "
                    "files; they are learned from their beginning",
                    stacklevel=2,
                )
            return None
        return found

    def where(self) -> str:
        """Where the training continues, in words."""
        place = self.place
        if place.line:
            return f"behind {place.file}:{place.line}"
        return f"at the beginning of {place.file}, epoch {self.epoch} of {self.epochs}"


def ended(model: LineModel, files: list[str], epochs: int | None) -> Stopped | None:
    """The place after the last epoch, if all files were learned and have not changed; else None.

    So nothing is learned twice if a training is started again by mistake, or after it was killed
    when it had just been saved. `epochs` may ask for more epochs.
    """
    kept = model.place or {}
    if "ended" not in kept or kept["ended"] != files_mark(files):
        return None
    done, first = int(kept["epochs"]), find_sources(files)[0].known_as
    return Stopped(Place([], first, 0, 0), done + 1, max(epochs or 0, done), kept["every"], 0)


def files_mark(files: list[str]) -> str | None:
    """A checksum of files' names, sizes and times; None if one of them is a pipe."""
    from hashlib import sha256  # slow to import, and only training needs it

    found = sha256()
    for source in find_sources(files):
        if not source.known_as:
            return None
        _, *file = identity(source.known_as) or (0,)
        found.update(f"{source.known_as}\0{file}\0".encode(errors="surrogateescape"))
    return found.hexdigest()[:32]


class Training(Run):
    """The training of one model on files.

    Parameters
    ----------
    on_disk
        The model that learns, and its file; decides when it is saved on the way.
    files
        Paths, or "-".
    epochs
        How often the files are read.
    every
        Every `every`-th event is held out: not learned, but scored at the end. 0: none.
    start
        Where to continue.
    skip
        Whether bad lines are counted and left out; if not, the first one is an error.
    quiet
        Print no progress.
    encoding
        The encoding of the files; None: UTF-8.
    jobs
        The number of threads: one learns, the others read and split texts ahead of it.
    """

    def __init__(
        self,
        on_disk: ModelOnDisk,
        files: list[str],
        *,
        epochs: int = 1,
        every: int = 0,
        start: Stopped | None = None,
        skip: bool = False,
        quiet: bool = False,
        encoding: str | None = None,
        jobs: int = 1,
    ) -> None:
        super().__init__(encoding, "SIGTERM", "SIGINT")
        self.on_disk = on_disk
        self.model = on_disk.model
        self.files = files
        self.epochs = epochs
        self.every = every
        self.start = start
        self.skip = skip
        self.progressive = Score()  # of the first epoch
        self.last = self.progressive  # of the current epoch
        self.held = Score()
        self.jobs = jobs
        self.epoch = 0  # the current one, from 1
        self.stopped_by = 0  # the number of a signal
        self.n_learned = 0
        self._learning = True
        self._first = True  # whether this is the first pass
        self._is_large = False  # whether the warning was given
        self._seen = 0  # events of this pass, including those held out
        self._stream: Stream | None = None
        self._block: Block | None = None  # the last block of this pass
        self._shown = 0  # bytes that the bar shows
        self._bar: Any = None
        self._quiet = quiet
        self._table: Table | None = None

    def run(self) -> None:
        began = time.perf_counter()
        if not self._quiet:  # its first line says that signals are listened to
            self._table = Table(self._write)
        first = self.start.epoch if self.start else 1
        mark = files_mark(self.files)  # before the first read: a file may grow meanwhile
        with self._progress():
            try:
                for epoch in range(first, self.epochs + 1):
                    self.epoch, self.last = epoch, Score()
                    if self._first:
                        self.progressive = self.last
                    self._pass()
                    self.start, self._first = None, False
                    if self.progressive.n_events and not self.last.n_events:
                        raise ValueError(
                            f"epoch {self.epoch} found no events where epoch {first} found "
                            f"{self.progressive.n_events}: the files were emptied meanwhile, and "
                            "nothing more is saved; train again on files that stay as they are"
                        )
                self.start = None
                ended = {"ended": mark, "epochs": self.epochs, "every": self.every}
                self.model.place = ended if mark else None
                if self.every:
                    self._learning = False
                    self._pass()
            except Stop:
                self.stopped_by = self.signals.came[0]
                self.model.place = self._stopped()
        self.seconds = time.perf_counter() - began
        self.warn_replaced()

    def summary(self) -> str:
        learner = self.model.learner
        rows = [
            ("events", self.progressive.n_events),
            ("features", learner.n_features),
            ("updates", learner.n_updates),
            ("progressive error (%)", self.progressive.error),
        ]
        rows += self.progressive.rows()
        if self.model.multilabel:
            rows.append(("  micro-F1", self.progressive.f1))
        labels = len(self.model.names)
        if self.model.multilabel or labels > 2:
            rows[2:2] = [
                ("labels", labels),
                ("bytes a label", learner.memory_usage // max(labels, 1)),
            ]
        if self.epochs > 1:
            rows.append((f"error, epoch {self.epochs} (%)", self.last.error))
        if self.every:
            rows.append(("held-out events", self.held.n_labelled))
            rows.append(("held-out error (%)", self.held.error))
            rows += self.held.rows()
            if self.model.multilabel:
                rows.append(("  micro-F1", self.held.f1))
        if new := self.warnings.new:
            rows.append(("new labels", f"{len(new)}: {short_repr(', '.join(new), 200)[1:-1]}"))
        rows.append(("bad lines", self.n_bad))
        rows.append(("seconds", f"{self.seconds:.2f}"))
        lines = [f"{name:22} {value}" for name, value in rows]
        if self.first_bad:
            lines.append(f"the first bad line: {self.first_bad}")
        return "\n".join(lines)

    def stop_said(self) -> str:
        """Which signal stopped the training, and where."""
        from signal import Signals

        name = Signals(self.stopped_by).name
        if not self.n_learned:
            return f"{name} before the first event; no model is saved"
        said = f"{name} after {self.last.n_events} events"
        if not self._learning:
            return f"{said}, when those held out were scored; the model is saved"
        if self.epochs > 1:
            said += f" of epoch {self.epoch}"
        if self._block is not None:
            said += f", at {self._block.file}:{self._block.line(self._block.n_lines - 1)}"
        said += "; the model is saved"
        if self.model.place and self.model.place["place"]["file"]:
            said += ", and --resume goes on there"
        return said

    # --- Progress

    def _write(self, line: str) -> None:
        if self._bar is not None:
            line = f"\r\033[K{line}"  # overwrites the bar, which is then drawn below
        say(line)

    @contextlib.contextmanager
    def _progress(self) -> Iterator[None]:
        """Show a bar, if there is a terminal and the size of all files is known."""
        files = all(map(os.path.isfile, self.files))
        if self._table is None or not files or not sys.stderr.isatty():
            yield
            return
        import click

        size = sum(map(os.path.getsize, self.files)) * (self.epochs + bool(self.every))
        with click.progressbar(length=size, file=sys.stderr) as self._bar:
            yield
        self._bar = None

    # --- Passes over the files

    def bad(self, error: LineError) -> None:
        if not self.skip:
            raise error
        if self._first:
            super().bad(error)

    def _pass(self) -> None:
        """Learn all events except those held out, or score the latter."""
        self._seen = self.start.seen if self.start else 0
        self._block, self._shown = None, 0
        self._stream = self.stream(
            self.model,
            self.files,
            kind=texts_kind(self.model, self.model.reading["format"]),
            start=self.start.place if self.start else None,
            jobs=self.jobs,
        )
        self._stream.run()

    def take(self, block: Block) -> None:
        for each in [block] if self.model.learn_unsure is None else block.singly():
            self._take(each)

    def _take(self, block: Block) -> None:
        """Answer a block, and learn it, or only score it."""
        model, every, score = self.model, self.every, self.last if self._learning else self.held
        assert self._stream
        first_held = (every - 1 - self._seen) % every if every else 0
        block.label(slice(first_held, None, every) if every and self._learning else None)
        if self._first:
            self.warnings.look(block)
        self.faults(block)
        known = block.faults[:]
        self._seen += block.n
        if self._learning:
            block.learn()
        else:
            block.keep(slice(first_held, None, every))
            block.answer()
        self.faults(block, known)  # those that the learner has refused
        done = 0
        while self._first and self._table and self._table.next <= score.n_events + block.n - done:
            row = done + self._table.next - score.n_events
            score.add(row - done, *block.count(done, row))
            done = row
            self._say(score, block, row - 1)
        score.add(block.n - done, *block.count(done, block.n))
        score.n_events -= len(block.unfit)
        block.grade(score)
        if self._first:
            self.count(block)
        if block.header:
            model.header = block.header
        self._block = block
        if self._bar is not None:
            self._bar.update(self._stream.n_read - self._shown)
            self._shown = self._stream.n_read
        if self._learning:
            self.n_learned += block.n - len(block.unfit)
            self._weigh()
            if self.on_disk.learned(block.n - len(block.unfit)):
                model.place = self._stopped()
                self.on_disk.save()
        self.look()

    def _weigh(self) -> None:
        """Warn, once, if the model is large for its number of labels."""
        n, few = len(self.model.names), FEW if self.model.multilabel else FEW_APART
        if self._is_large or n < few:
            return
        size = self.model.learner.memory_usage
        if size > LABEL * n:
            self._is_large = True
            warnings.warn(
                f"the model takes {size / 1e6:.0f} MB for {n} labels, more than {LABEL >> 20} MB a "
                "label: 16 bytes and more for each feature that a label comes with, or of learners "
                "without sparse rows for each feature beside it; --max-features and --max-labels "
                "bound that",
                stacklevel=2,
            )

    def _say(self, score: Score, block: Block, row: int) -> None:
        assert self._table
        label, answer = block.shown(row)
        if label is None:
            label = "(bad line)" if row in block.unfit else "(held out)"
        self._table.line(score.n_events, score.n_labelled, score.n_wrong, label, answer)

    def _stopped(self) -> dict[str, Any]:
        """Where to continue, for the model's file."""
        assert self._stream
        place = self._stream.place(self._block)
        if not self._learning:
            place = Place([source.known_as for source in self._stream.sources], "", 0, 0)
        stopped = Stopped(place, self.epoch, self.epochs, self.every, self._seen)
        return {**stopped._asdict(), "place": place._asdict()}
