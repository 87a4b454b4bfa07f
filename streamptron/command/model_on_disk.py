"""A model and its file: when the model is saved, and when it is loaded again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, Self

from streamptron.command.blocks import Block
from streamptron.common.process import counted, say
from streamptron.files.lines import LineModel
from streamptron.keeping.lock import ModelLock, ModelLockError, identity

KEPT = 1 << 26  # if lines that are not saved take more bytes, the model is saved at once


class ModelOnDisk:
    """A model and its file, within a ``with`` block.

    Parameters
    ----------
    path
        The model's file.
    writes
        Whether the model learns; then its file is locked and written.
    lines, seconds
        Save on the way after this many lines or seconds; None: not for this reason.
    reload_seconds
        How often to check whether the file was replaced; None: only when asked to.
    learn_unsure
        Which events the model learns, see LineModel.
    wait
        For how many seconds to wait while another process writes the model.
    known_labels, new_label
        Which labels may be learned, see LineModel.settle_labels.

    Attributes
    ----------
    model
        The model in the file, or the one that will be saved there.
    unsaved, forgotten
        How many lines were learned and not saved; and how many of these could not be kept, to be
        learned again by another model.
    file
        Numbers that identify the file that `model` was read from, or saved to.
    saved_at, reloaded_at
        When the model was last saved and reloaded, in seconds since 1970; None: not yet.
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
        known_labels: bool = False,
        new_label: bool = False,
    ) -> None:
        self.path = path
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
        self._tried = 0  # how many lines were unsaved when a save failed
        self._last_save = self._last_look = time.monotonic()
        self._known: tuple[int, ...] | None = None  # the file that was last read or written
        self._refused: tuple[int, ...] = ()  # a file that could not be loaded, of which was warned
        self._kept: list[Callable[[LineModel], Block]] = []  # to learn again what is not saved
        self._kept_size = 0

    def __enter__(self) -> Self:
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

    def __exit__(self, *error: Any) -> None:
        if self._writes:
            self.lock.__exit__(*error)

    def load(self, create: LineModel | None = None) -> None:
        """Load the model from the file; if there is no file, begin with `create`.

        A process that learns then saves `create` at once; one that only answers waits for another
        process to do so.
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
        """Count lines as learned; returns whether it is time to save them."""
        self.unsaved += n_lines
        return self._save_in() == 0.0

    def keep(self, block: Block) -> None:
        """Keep lines that were learned, for another model that may be put into the file."""
        self._kept.append(block.kept())
        self._kept_size += block.size

    # --- What is due

    def seconds_left(self) -> float | None:
        """The seconds until something is due; None: nothing, unless more is learned."""
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
        """Whether it is time to check the file, and it was replaced."""
        if self._look_in() != 0.0:
            return False
        self._last_look = time.monotonic()
        return identity(self.path) not in (self._known, None)

    # --- The file

    def save_if_due(self) -> None:
        if self._save_in() == 0.0:
            self.save()

    def save(self, at_last: bool = False) -> bool:
        """Save the model if it has changed. If that fails, prints a message and returns False."""
        self._last_save = time.monotonic()
        if not self.unsaved:
            return True
        try:
            self._write(at_last)
        except OSError as error:
            self._tried = self.unsaved
            again = "" if at_last else ", will try again"
            said = counted(self.unsaved, "line")
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
        """Load the model that is in the file now, unless `check` refuses it.

        It learns what the old model had learned and not saved. If the file cannot be loaded, a
        message says so; without `asked`, only one for each file.
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
        for block_for in self._kept:
            block = block_for(model)
            block.label()
            block.learn()
        self.unsaved -= self.forgotten
        self.reloaded_at = time.time()
        return True


def sooner(*seconds: float | None) -> float | None:
    """The smallest of some times; None means never."""
    return min((each for each in seconds if each is not None), default=None)


def _left(last: float, seconds: float | None) -> float | None:
    return None if seconds is None else max(0.0, last + seconds - time.monotonic())
