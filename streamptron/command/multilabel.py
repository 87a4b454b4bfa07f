"""Blocks of lines that have several labels.

The label of such an event is a tuple of labels, or Truths if nothing is known of other labels; so
`labels` and `numbers` are as in any block. Lines of texts are read one by one, too, unless they are
only answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from streamptron.command.blocks import Block, EventBlock, TextBlock, likeliest
from streamptron.command.grades import Score
from streamptron.files.lines import Truths

_Found = list[tuple[int, float]]  # outputs and their probabilities, the most probable first


class SetBlock(Block):
    """The base class of blocks whose events have several labels.

    Attributes
    ----------
    answered
        For each text or event, the outputs that are answered and their probabilities, the most
        probable first.
    found
        For each text or event, the probabilities of all outputs, if `ranked`.
    """

    def _answers(self) -> None:
        super()._answers()
        n = self.n
        self.answered: list[_Found] = [[] for _ in range(n)]
        self.tops = [[] for _ in range(n if self.top else 0)]
        self.found: list[list[float]] = [[] for _ in range(n if self.ranked else 0)]

    def _note(self, row: int, labels: list[Any], found: list[float]) -> None:
        """Set the answer to an event, given the probabilities of the labels."""
        self.predictions[row] = 0 if labels else -1
        if self.least:
            chosen = [k for k, p in enumerate(found) if p >= self.least]
        else:
            yes = self.model.learner._answered(labels, found).values()
            chosen = [k for k, is_there in enumerate(yes) if is_there]
        self.answered[row] = [(k, found[k]) for k in sorted(chosen, key=lambda k: -found[k])]
        if self.top:
            self.tops[row] = likeliest(self.top, found)
        if self.ranked:
            self.found[row] = found

    def _there(self, row: int) -> tuple[list[str], set[str] | None]:
        """The labels that a row has; and those it names, if nothing is known of the others."""
        labels: Any = self.labels[self.numbers[row]]
        if not isinstance(labels, Truths):
            return list(map(self.model.name, labels)), None
        named = {self.model.name(label): there for label, there in labels.items()}
        return [name for name, there in named.items() if there], set(named)

    def _said(self, row: int) -> list[str]:
        """The labels that were answered."""
        names = self.model.names
        return [names[k] for k, _ in self.answered[row]]

    def is_wrong(self, row: int) -> bool:
        if self.numbers[row] < 0:
            return False
        there, named = self._there(row)
        wrong = set(there) ^ set(self._said(row))
        return bool(wrong if named is None else wrong & named)

    def _graded(self, first: int, last: int) -> Iterable[int]:
        """The rows that have labels and an answer."""
        pairs = zip(self.numbers[first:last], self.predictions[first:last], strict=True)
        return (row for row, (y, k) in enumerate(pairs, first) if y >= 0 and k >= 0)

    def count(self, first: int, last: int, number: int | None = None) -> tuple[int, int]:
        wrong = list(map(self.is_wrong, self._graded(first, last)))
        return len(wrong), sum(wrong)

    def shown(self, row: int) -> tuple[str | None, str]:
        there = None if self.numbers[row] < 0 else ",".join(self._there(row)[0])
        return there, ",".join(self._said(row))

    def grade(self, score: Score) -> None:
        names = self.model.names
        for row in self._graded(0, self.n):
            found = dict(zip(names, self.found[row], strict=False)) if self.ranked else None
            there, named = self._there(row)
            score.grades.add(there, self._said(row), found, named)


class SetTexts(SetBlock, TextBlock):
    """Lines of texts that are only answered; their labels are not read."""

    def _answer(self) -> int:
        import numpy as np

        learner = self.model.learner
        labels = learner.labels
        probabilities = np.zeros((self.n, len(labels)))
        done: int = learner._predict_rows(self.lines, None, None, None, probabilities)[0]
        for row, found in enumerate(probabilities.tolist()):
            self._note(row, labels, found)
        return done


class SetEvents(SetBlock, EventBlock):
    """Events of lines that a Reader has read."""

    def learn(self, confidences: bool = False) -> None:
        self._run(self._learn_after_answer)

    def _columns(self) -> Sequence[Any]:
        return (*super()._columns(), self.answered, self.found)

    def _answer(self, row: int) -> None:
        self._note(row, *self.model.learner._probabilities(self._events[row]))
