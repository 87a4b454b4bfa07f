"""A model and its file: when what was learned is saved, and when a new file is taken."""

from __future__ import annotations

import contextlib
import time
import typing
from collections.abc import Callable

from streamptron.common.process import counted, say
from streamptron.files.lines import LineModel
from streamptron.keeping.lock import ModelLock, ModelLockError, identity

KEPT = 1 << 26  # bytes of lines that were learned and not saved; more are saved at once


class Learned(typing.Protocol):
    """What a model has learned, and another one could: a block of lines, or a mail."""

    @property
    def size(self) -> int:
        """In bytes, or about that."""

    def kept(self) -> Callable[[LineModel], Learned]:
        """What makes it again, for another model."""

    def label(self) -> None:
        """Settle its labels."""

    def learn(self) -> object:
        """Learn it."""


class ModelOnDisk:
    """Keeps a model, for the length of a ``with`` block.

    Parameters
    ----------
    path
        The model's file.
    writes
        Whether the model learns, and its file is locked and written.
    lines, seconds
        How often it is saved on the way: after so many lines, so many seconds; None: not by this.
    reload_seconds
        How often it looks for another model in the file's place; None: only when asked to.
    learn_unsure
        What the model learns, see LineModel.
    wait
        For how many seconds it waits while another process writes the model.
    unit
        What is learned, by a message: lines or mails.
    known_labels, new_label
        Which labels may be learned, see LineModel.settle_labels.

    Attributes
    ----------
    model
        What is in the file, or will be.
    unsaved, forgotten
        How many lines have been learned and not saved; how many of these were too many to keep for
        another model.
    file
        By what the file is recognised that `model` was read from, or saved to.
    saved_at, reloaded_at
        When that was last done, in seconds since 1970; None: not yet.
    """

    model: LineModel

    def __init__(
        self,
        path: str,
        *,
        writes: bool = True,
        lines: int | None = None,
        seconds: float | None = None,
        reload_seconds: float | None = None,
        learn_unsure: float | None = None,
        wait: float = 0.0,
        unit: str = "line",
        known_labels: bool = False,
        new_label: bool = False,
    ) -> None:
        self.path = path
        self.unit = unit
        self.lock = ModelLock(path)
        self.unsaved = self.forgotten = 0
        self.file: tuple[int, ...] | None = None
        self.saved_at: float | None = None
        self.reloaded_at: float | None = None
        self._writes = writes
        self._lines = lines
        self._seconds = seconds
        self._reload_seconds = reload_seconds
        self._learn_unsure = learn_unsure
        self._wait = wait
        self._known_labels, self._new_label = known_labels, new_label
        self._tried = 0  # how many lines a failed save has tried to save
        self._last_save = self._last_look = time.monotonic()
        self._known: tuple[int, ...] | None = None  # the file that was read or written last
        self._refused: tuple[int, ...] = ()  # where a file is that cannot be taken, as was said
        self._kept: list[Callable[[LineModel], Learned]] = []  # lines learned and not saved
        self._kept_size = 0

    def __enter__(self) -> typing.Self:
        ends = time.monotonic() + self._wait
        while self._writes:
            try:
                self.lock.__enter__()
                break
            except ModelLockError:
                if time.monotonic() >= ends:
                    raise
                time.sleep(0.05)
        return self

    def __exit__(self, *error: typing.Any) -> None:
        if self._writes:
            self.lock.__exit__(*error)

    def load(self, create: LineModel | None = None) -> None:
        """Take the model from the file, or begin with `create` if there is none.

        Who learns writes that at once; who answers waits for one that does.
        """
        self._known = identity(self.path)
        if self._known is None and create is not None:
            self.model = create
        else:
            self.model = LineModel.load(self.path, multilabel=True)
            self.file = self._known
        self.model.learn_unsure = self._learn_unsure
        self._settle_labels(self.model)
        if self.model is create and self._writes:
            self._write()

    def _settle_labels(self, model: LineModel) -> None:
        if self._writes:
            model.settle_labels(self._known_labels, self._new_label)

    def learned(self, n_lines: int) -> bool:
        """Count lines as learned; whether that is to be saved now."""
        self.unsaved += n_lines
        return self._save_in() == 0.0

    def keep(self, learned: Learned) -> None:
        """Keep what was learned, for a model that is put in the file's place."""
        self._kept.append(learned.kept())
        self._kept_size += learned.size

    # --- What is due

    def seconds_left(self) -> float | None:
        """How long it is until something is due; None: nothing, as long as nothing is learned."""
        return sooner(self._save_in(), self._look_in())

    def _save_in(self) -> float | None:
        if not self.unsaved:
            return None
        if self._kept_size > KEPT:
            return 0.0
        if self._lines is not None and self.unsaved - self._tried >= self._lines:
            return 0.0
        return _left(self._last_save, self._seconds)

    def _look_in(self) -> float | None:
        return _left(self._last_look, self._reload_seconds)

    def is_replaced(self) -> bool:
        """Whether it is time to look for another model, and there is one."""
        if self._look_in() != 0.0:
            return False
        self._last_look = time.monotonic()
        return identity(self.path) not in (self._known, None)

    # --- The file

    def save_if_due(self) -> None:
        if self._save_in() == 0.0:
            self.save()

    def save(self, at_last: bool = False) -> bool:
        """Save what is unsaved; False, after a message, if that has failed."""
        self._last_save = time.monotonic()
        if not self.unsaved:
            return True
        try:
            self._write(at_last)
        except OSError as error:
            self._tried = self.unsaved
            again = "" if at_last else ", will try again"
            said = counted(self.unsaved, self.unit)
            say(f"streamptron: {said} learned and not saved{again}: {error}")
            if self._kept_size > KEPT:
                self._kept.clear()
                self._kept_size, self.forgotten = 0, self.unsaved
            return False
        return True

    def _write(self, at_last: bool = False) -> None:
        if at_last:
            self.model.save_at_last(self.lock)
        else:
            self.lock.save(self.model)
        self._known = self.file = identity(self.path)
        self.unsaved = self.forgotten = self._tried = self._kept_size = 0
        self._kept.clear()
        self.saved_at = time.time()

    def reload(self, check: Callable[[LineModel], object], asked: bool = True) -> bool:
        """Take the model that is in the file now, unless `check` refuses it.

        It learns what the old one had learned and not saved. A file that cannot be taken is named;
        if it was not asked for, once, however long it takes to be written.
        """
        self._known = identity(self.path)
        try:
            with self.lock.reloading() if self._writes else contextlib.nullcontext():
                model = LineModel.load(self.path, multilabel=True)
                check(model)
                self._settle_labels(model)
        except (OSError, ValueError) as error:
            place = (self._known or ())[:2]
            if asked or place != self._refused:
                say(f"streamptron: not reloaded, the model stays as it was: {error}")
            self._refused = place
            return False
        self._refused, self.file = (), self._known
        model.spool, model.learn_unsure = self.model.spool, self._learn_unsure
        self.model = model
        for learned_by in self._kept:
            learned = learned_by(model)
            learned.label()
            learned.learn()
        self.unsaved -= self.forgotten
        self.reloaded_at = time.time()
        return True


def sooner(*seconds: float | None) -> float | None:
    """The least of some times; None is never."""
    return min((each for each in seconds if each is not None), default=None)


def _left(last: float, seconds: float | None) -> float | None:
    return None if seconds is None else max(0.0, last + seconds - time.monotonic())
