"""Lines that have several labels: their blocks, how they are answered, what answers are worth.

The label of such an event is a tuple of labels, or Truths where it leaves others open, so a block's
`labels` and `numbers` are as ever.
Lines are read one by one, also where they are texts: only to answer texts the core reads them.
"""

from __future__ import annotations

import typing
from collections import Counter
from typing import Any

from streamptron.command.answers import Answers
from streamptron.command.blocks import Block, EventBlock, TextBlock
from streamptron.common.table import table
from streamptron.files.lines import Truths

if typing.TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from streamptron.files.lines import LineModel

    _Found = list[tuple[int, float]]  # outputs and their probabilities, the likeliest first

COMMA = ","  # between labels, where nothing else is said


class Grades:
    """What answers of several labels are worth.

    Attributes
    ----------
    n, n_wrong, n_exact
        Events; labels that an answer lacks or has too many; events without such a label.

    Examples
    --------
    >>> from streamptron.command.sets import Grades
    >>> grades = Grades()
    >>> grades.add({"crude", "ship"}, {"crude"}, {"crude": 0.9, "grain": 0.2, "ship": 0.1})
    >>> grades.add({"grain"}, {"grain"}, {"crude": 0.1, "grain": 0.8, "ship": 0.3})
    >>> found = grades.measures()
    >>> found["micro"]["f1"], found["hamming"], found["exact"], round(found["lrap"], 4)
    (0.8, 0.16666666666666666, 0.5, 0.9167)
    """

    def __init__(self) -> None:
        self.n = self.n_wrong = self.n_exact = 0
        self._n_open = self._n_named = 0  # events that leave labels open; what those name
        self._hits: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._there: Counter[str] = Counter()
        self._known: set[str] = set()
        self._precision = 0.0  # the sum of each event's

    def add(
        self,
        there: Collection[str],
        said: Collection[str],
        found: dict[str, float] | None = None,
        named: Collection[str] | None = None,
    ) -> None:
        """An event's labels, those that were answered, and the probabilities of all.

        `named`: those that the event says something of; nothing else is graded. None: all.
        """
        there, said = set(there), set(said)
        if named is not None:
            said &= set(named)
            self._n_open += 1
            self._n_named += len(named)
        self._hits.update(there & said)
        self._said.update(said)
        self._there.update(there)
        self.n += 1
        self.n_wrong += len(there ^ said)
        self.n_exact += there == said
        if found is not None:
            self._known.update(found)
            if named is not None:
                found = {label: p for label, p in found.items() if label in named}
            self._precision += average_precision(there, found)

    @property
    def micro_f1(self) -> float | None:
        """F1 of all labels of all events together; None of nothing."""
        both = self._said.total() + self._there.total()
        return 2 * self._hits.total() / both if both else None

    def measures(self) -> dict[str, Any]:
        """All of it, once the probabilities of all events were given.

        The means are over the labels that occur, and take a ratio of nothing for 0, as scikit-learn
        does.
        """
        names = sorted(self._known | self._there.keys())
        labels = {
            name: _rates(self._hits[name], self._said[name], self._there[name]) for name in names
        }
        n_graded = (self.n - self._n_open) * len(names) + self._n_named
        occur = [labels[name] for name in names if self._there[name] or self._said[name]]
        kinds = ("precision", "recall", "f1")
        return {
            "events": self.n,
            "exact": self.n_exact / self.n,
            "hamming": self.n_wrong / n_graded if n_graded else 0.0,
            "lrap": self._precision / self.n,
            "micro": _rates(self._hits.total(), self._said.total(), self._there.total()),
            "macro": {
                kind: sum(each[kind] or 0.0 for each in occur) / len(occur) if occur else None
                for kind in kinds
            },
            "labels": labels,
        }


def average_precision(there: set[str], found: dict[str, float]) -> float:
    """Of each label that an event has: the share of labels ranked as high that it has too.

    A label that is not in `found` is ranked behind all others. Of no label it is 1, as scikit-learn
    has it.
    """
    if not there:
        return 1.0
    scores = {**dict.fromkeys(there, -1.0), **found}
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    total, hits, at = 0.0, 0, 0
    while at < len(ranked):
        end = at  # those of equal probability share a place
        while end < len(ranked) and scores[ranked[end]] == scores[ranked[at]]:
            end += 1
        its = sum(label in there for label in ranked[at:end])
        hits += its
        total += its * hits / end
        at = end
    return total / len(there)


def _rates(hits: int, said: int, there: int) -> dict[str, Any]:
    return {
        "precision": hits / said if said else None,
        "recall": hits / there if there else None,
        "f1": 2 * hits / (said + there) if said + there else None,
        "support": there,
    }


def graded(found: dict[str, Any]) -> str:
    """What `Grades.measures` gives, as tables."""

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.4f}"

    kinds = ("precision", "recall", "f1")
    rows: list[tuple[str, ...]] = [("label", *kinds, "support")]
    for label, values in found["labels"].items():
        rows.append((label, *(shown(values[kind]) for kind in kinds), str(values["support"])))
    for mean in ("micro", "macro"):
        values = found[mean]
        support = str(found["micro"]["support"])
        rows.append((f"({mean})", *(shown(values[kind]) for kind in kinds), support))
    whole = [("events", str(found["events"])), ("exact sets", shown(found["exact"]))]
    whole += [("Hamming loss", shown(found["hamming"])), ("LRAP", shown(found["lrap"]))]
    return f"{table(rows)}\n\n{table(whole, left=1)}"


# --- Blocks


class Several(Block):
    """What both kinds of blocks have where an event has several labels.

    Attributes
    ----------
    answered
        For each text or event the outputs that are answered and their probabilities, the likeliest
        first.
    found
        For each text or event the probabilities of all outputs, if `ranked`.
    """

    ranked = False

    def _answers(self) -> None:
        super()._answers()
        n = self.n
        self.answered: list[_Found] = [[] for _ in range(n)]
        self.tops = [[] for _ in range(n if self.top else 0)]
        self.found: list[list[float]] = [[] for _ in range(n if self.ranked else 0)]

    def _note(self, row: int, labels: list[Any], found: list[float]) -> None:
        """The answer to an event, from the probabilities of labels."""
        self.predictions[row] = 0 if labels else -1
        if self.least:
            chosen = [k for k, p in enumerate(found) if p >= self.least]
        else:
            yes = self.model.learner._answered(labels, found).values()
            chosen = [k for k, is_there in enumerate(yes) if is_there]
        self.answered[row] = [(k, found[k]) for k in sorted(chosen, key=lambda k: -found[k])]
        if self.top:
            likeliest = sorted(range(len(found)), key=lambda k: -found[k])[: self.top]
            self.tops[row] = [(k, found[k]) for k in likeliest]
        if self.ranked:
            self.found[row] = found

    def _there(self, row: int) -> tuple[list[str], set[str] | None]:
        """The labels that a row has; and those that it names, if it leaves others open."""
        labels: Any = self.labels[self.numbers[row]]
        if not isinstance(labels, Truths):
            return list(map(self.model.name, labels)), None
        named = {self.model.name(label): there for label, there in labels.items()}
        return [name for name, there in named.items() if there], set(named)

    def _said(self, row: int) -> list[str]:
        """The labels that were answered."""
        names = self.model.names
        return [names[k] for k, _ in self.answered[row]]

    def _is_wrong(self, row: int) -> bool:
        there, named = self._there(row)
        wrong = set(there) ^ set(self._said(row))
        return bool(wrong if named is None else wrong & named)

    def _graded(self, first: int, last: int) -> Iterable[int]:
        """Rows that have labels and an answer."""
        pairs = zip(self.numbers[first:last], self.predictions[first:last], strict=True)
        return (row for row, (y, k) in enumerate(pairs, first) if y >= 0 and k >= 0)

    def count(self, first: int, last: int, number: int | None = None) -> tuple[int, int]:
        wrong = list(map(self._is_wrong, self._graded(first, last)))
        return len(wrong), sum(wrong)

    def shown(self, row: int) -> tuple[str | None, str]:
        there = None if self.numbers[row] < 0 else COMMA.join(self._there(row)[0])
        return there, COMMA.join(self._said(row))

    def grade(self, grades: Grades) -> None:
        """Add the rows that have labels and an answer."""
        names = self.model.names
        for row in self._graded(0, self.n):
            found = dict(zip(names, self.found[row], strict=False)) if self.ranked else None
            there, named = self._there(row)
            grades.add(there, self._said(row), found, named)


class SetTexts(Several, TextBlock):
    """Lines of texts, to be answered; whether they have labels is not looked at."""

    def _answer(self) -> int:
        import numpy as np

        learner = self.model.learner
        labels = learner.labels
        probabilities = np.zeros((self.n, len(labels)))
        done: int = learner._predict_rows(self.lines, None, None, None, probabilities)[0]
        for row, found in enumerate(probabilities.tolist()):
            self._note(row, labels, found)
        return done


class SetBlock(Several, EventBlock):
    """Events of lines that a Reader has read."""

    def learn(self, confidences: bool = False) -> None:
        self._run(self._learn_after_answer)

    def _columns(self) -> Sequence[Any]:
        return (*super()._columns(), self.answered, self.found)

    def _answer(self, row: int) -> None:
        self._note(row, *self.model.learner._probabilities(self._events[row]))

    def _parts(self, label: Any) -> list[Hashable]:
        return list(label)


# --- How answers are written


class SetAnswers(Answers):
    """The same for lists of labels: with commas between them, or in JSON as lists."""

    number = "%b"
    plain = "{label}\t{probability}"
    plain_top = "{top}"

    between = b","

    def _labels(self, block: Any, labels: list[bytes]) -> Iterable[bytes]:
        return (self._listed(labels[k] for k, _ in found) for found in block.answered)

    def _probabilities(self, block: Any) -> Iterable[bytes]:
        return (self._listed(b"%.4f" % p for _, p in found) for found in block.answered)

    def _listed(self, parts: Iterable[bytes]) -> bytes:
        return b"[%b]" % b", ".join(parts) if self.form else self.between.join(parts)


def answers_of(model: LineModel, answers: Answers) -> Answers:
    """How a model's answers are written."""
    if not model.several or isinstance(answers, SetAnswers):
        return answers
    made = SetAnswers(*answers.given)
    made.between = str(model.reading.get("separator", COMMA)).encode()
    return made
