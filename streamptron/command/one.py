"""``predict --exit-code``: one event, whose answer is the exit code, as mail programs expect it.

0    the positive label
1    another label
2    unsure: the probability is too small, or the model has no labels yet
3    an error
"""

from __future__ import annotations

import signal
from typing import Any

from streamptron.command.blocks import Block, EventBlock, TextBlock
from streamptron.command.filter import Filter
from streamptron.common.names import short_repr
from streamptron.files.lines import LineModel
from streamptron.files.reader import Record
from streamptron.files.sources import LineError

POSITIVE, OTHER, UNSURE, ERROR = range(4)


class One(Filter):
    """A filter for one event: a line, or else the whole input as one text.

    Parameters
    ----------
    positive
        The label for exit code 0; None: the positive label of the model.
    """

    def __init__(self, *arguments: Any, positive: str | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.positive = positive
        self._text: bytearray | None = None  # the input so far, if it is one text
        self._verdict = ERROR

    def run(self) -> int:
        super().run()
        if self._verdict == ERROR:
            raise ValueError("there is no event in the input; give one")
        return self._verdict

    def _settle(self) -> None:
        is_open = self.kind is None
        super()._settle()
        if is_open and self.kind == "text":
            self._text = bytearray()

    def _check(self, model: LineModel) -> None:
        super()._check(model)
        if model.multilabel:
            raise ValueError(
                "--exit-code says whether one label is the answer, and the model answers several; "
                "leave it out"
            )
        if self.positive is None:
            self.positive = model.positive
        if self.positive is None:
            raise ValueError(
                "--exit-code: give the label of exit code 0, as --positive spam; the model knows "
                f"{short_repr(model.names, 200)}"
            )
        if model.names and self.positive not in model.names:
            raise ValueError(
                f"--positive {short_repr(self.positive)} has not been seen; the model knows "
                f"{short_repr(model.names, 200)}"
            )

    def _answer_all(self) -> None:
        super()._answer_all()
        if self._text:
            text = self._text.decode(errors="replace")
            record = Record(text, None, 1.0, None, None, (self.files or ["<stdin>"])[0], 1)
            lines: list[Any] = [(record, text, None)]
            self._answer(EventBlock(self.on_disk.model, record.file, lines, needed=False))

    def take(self, block: Block) -> None:
        if self._text is None:
            super().take(block)
            return
        assert isinstance(block, TextBlock)
        self._text += block.block.data
        if len(self._text) > self.max_line:
            raise ValueError(f"the text has more than {self.max_line} bytes; give --max-line")

    def _answer(self, block: Block) -> None:
        if self.n_lines + block.n_lines > 1:
            raise ValueError(
                "there is more than one line, but --exit-code is for one event; give one, or "
                "leave out --exit-code"
            )
        super()._answer(block)
        for error in block.errors():
            raise error
        if block.n == 0:
            raise ValueError("the line is blank; give an event")
        output = block.predictions[0]
        if output < 0 or block.confidences[0] < self.answers.unsure:
            self._verdict = UNSURE
        else:
            self._verdict = POSITIVE if block.model.names[output] == self.positive else OTHER

    def unread(self, error: LineError) -> None:
        raise error

    def look(self) -> None:
        if {signal.SIGTERM, signal.SIGINT}.intersection(self.signals.came):
            raise ValueError("a signal came before the end of the input")
        super().look()
