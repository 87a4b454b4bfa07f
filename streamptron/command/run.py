"""The base class of train, predict and eval: counts lines, warns, and waits for input."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any

from streamptron.command.blocks import Block
from streamptron.command.input_warnings import InputWarnings
from streamptron.command.stream import Stream
from streamptron.command.worded import worded
from streamptron.common.process import Signals, Stop
from streamptron.files.lines import LineModel
from streamptron.files.sources import LineError, not_encoded


class Run:
    """Reads lines block by block.

    Parameters
    ----------
    encoding
        The encoding of the lines; None: UTF-8.
    signals
        The names of the signals to handle.

    Attributes
    ----------
    n_lines, n_bad, first_bad
        The number of lines so far, the number of bad ones, and the error of the first of these.
    """

    def __init__(self, encoding: str | None = None, *signals: str) -> None:
        self.encoding = encoding
        self.signals = Signals(*signals)
        self.warnings = InputWarnings()
        self.n_lines = 0
        self.n_bad = 0
        self.first_bad = ""
        self._n_texts = 0
        self._n_replaced = 0  # texts with bytes that are not UTF-8
        self._first_replaced = ""

    def stream(self, model: LineModel, files: Sequence[Any], **options: Any) -> Stream:
        """The lines of some files; its `run` calls `take` with each block."""
        return Stream(
            model,
            files,
            self.take,
            self.unread,
            encoding=self.encoding,
            wait=self.wait,
            opening=self.signals.at_once,
            **options,
        )

    def take(self, block: Block) -> None:
        """Answer, learn or judge a block."""
        raise NotImplementedError

    # --- Counts

    def unread(self, error: LineError) -> None:
        """Handle a line that cannot be read: by default it counts as bad."""
        self.bad(error)

    def bad(self, error: LineError) -> None:
        """Count a bad line."""
        self.n_bad += 1
        self.first_bad = self.first_bad or worded(error)

    def faults(self, block: Block, known: Collection[tuple[int, str]] = ()) -> None:
        """Count the bad lines of a block, except for the faults in `known`."""
        for error in block.errors(known):
            self.bad(error)

    def count(self, block: Block) -> None:
        """Count the lines of a block that was answered."""
        self.n_lines += block.n_lines
        self._n_texts += block.n
        if places := block.replaced():
            self._n_replaced += len(places)
            self._first_replaced = self._first_replaced or f"{block.file}:{block.line(places[0])}"

    def warn_replaced(self) -> None:
        """Warn of texts with bytes that are not UTF-8, if there were any."""
        if n := self._n_replaced:
            message = not_encoded(n, self._n_texts, self._first_replaced, self.encoding)
            warnings.warn(message, stacklevel=2)

    # --- Waiting

    def wait(self, number: int | None) -> None:
        """Wait until a file can be read; meanwhile do what is due."""
        while True:
            self.look()
            if number is None or self.signals.wait(number, self.seconds_left()):
                return

    def look(self) -> None:
        """Do what is due: by default, stop when a signal has come."""
        if self.signals.came:
            raise Stop

    def seconds_left(self) -> float | None:
        """The seconds until something is due; None: nothing is planned."""
        return None
