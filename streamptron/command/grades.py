"""How good answers are: errors, rates by label, and measures for several labels per event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from streamptron.common.table import table

FEW_TO_LIST = 4  # up to so many labels have an error each in the summary
KINDS = ("precision", "recall", "f1")
ZEROS = 8  # a matrix of more labels leaves out its zeros


class Score:
    """Events, and how many of those with a label were answered wrongly."""

    def __init__(self) -> None:
        self.n_events = 0
        self.n_labelled = 0
        self.n_wrong = 0
        self.by_label: dict[str, tuple[int, int]] = {}  # if labels are few: events, wrong answers
        self.grades = Grades()  # if an event has several labels

    def add(self, n_events: int, n_labelled: int, n_wrong: int) -> None:
        self.n_events += n_events
        self.n_labelled += n_labelled
        self.n_wrong += n_wrong

    def add_labels(self, n_known: int, found: Iterable[tuple[str, int, int]]) -> None:
        """Add events and wrong answers of each label, as long as few labels are known."""
        if n_known > FEW_TO_LIST:
            self.by_label = {}
            return
        for label, n, n_wrong in found:
            before = self.by_label.get(label, (0, 0))
            self.by_label[label] = before[0] + n, before[1] + n_wrong

    def rows(self) -> list[tuple[str, str]]:
        """The error for each label, if they are few: a filter must not lose good mail."""
        if len(self.by_label) < 2:
            return []
        return [
            (f"  of {label[:12]} (%)", f"{percent(wrong, n)} ({wrong:,} of {n:,})")
            for label, (n, wrong) in self.by_label.items()
        ]

    @property
    def error(self) -> str:
        return percent(self.n_wrong, self.n_labelled)

    @property
    def f1(self) -> str:
        """Micro-F1, if events have several labels."""
        f1 = self.grades.micro_f1
        return "-" if f1 is None else f"{f1:.6f}"


def percent(n_wrong: int, n_labelled: int) -> str:
    """An error in percent as text; "-" if there are no events."""
    return f"{100 * n_wrong / n_labelled:.4f}" if n_labelled else "-"


def measures(pairs: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Accuracy, and precision, recall and F1 for each label and for all of them.

    A ratio of 0 to 0 is None. The means are over the labels that occur, and take None for 0, as
    scikit-learn does.

    Examples
    --------
    >>> from collections import Counter
    >>> from streamptron.command.grades import measures
    >>> found = measures(Counter({("spam", "spam"): 3, ("spam", "ham"): 1, ("ham", "ham"): 4}))
    >>> found["accuracy"], found["labels"]["spam"]["recall"], found["labels"]["ham"]["precision"]
    (0.875, 0.75, 0.8)
    """
    total = sum(pairs.values())
    support: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for (label, answer), n in pairs.items():
        support[label] += n
        answered[answer] += n
    labels = {
        label: _rates(pairs[label, label], answered[label], support[label])
        for label in sorted(support | answered)
    }
    there = [label for label in labels if support[label]]
    return {
        "events": total,
        "accuracy": _ratio(sum(pairs[label, label] for label in labels), total),
        "labels": labels,
        "macro": {k: _ratio(sum(labels[y][k] or 0.0 for y in there), len(there)) for k in KINDS},
        "weighted": {
            k: _ratio(sum((labels[y][k] or 0.0) * support[y] for y in there), total) for k in KINDS
        },
        "confusion": {
            label: {answer: pairs[label, answer] for answer in labels if pairs[label, answer]}
            for label in there
        },
    }


class Grades:
    """How good answers of several labels are.

    Attributes
    ----------
    n, n_wrong, n_exact
        The number of events; of labels that were wrongly answered or left out; and of events whose
        labels were answered exactly.

    Examples
    --------
    >>> from streamptron.command.grades import Grades
    >>> grades = Grades()
    >>> grades.add({"crude", "ship"}, {"crude"}, {"crude": 0.9, "grain": 0.2, "ship": 0.1})
    >>> grades.add({"grain"}, {"grain"}, {"crude": 0.1, "grain": 0.8, "ship": 0.3})
    >>> found = grades.measures()
    >>> found["micro"]["f1"], found["hamming"], found["exact"], round(found["lrap"], 4)
    (0.8, 0.16666666666666666, 0.5, 0.9167)
    """

    def __init__(self) -> None:
        self.n = self.n_wrong = self.n_exact = 0
        self._n_open = self._n_named = 0  # events that leave labels open; labels they name
        self._hits: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self._there: Counter[str] = Counter()
        self._known: set[str] = set()
        self._precision = 0.0  # the sum over all events

    def add(
        self,
        there: Collection[str],
        said: Collection[str],
        found: dict[str, float] | None = None,
        named: Collection[str] | None = None,
    ) -> None:
        """Add an event: its labels, the labels that were answered, and the probabilities of all.

        `named`: only these labels are graded, as nothing is known of the others. None: all are.
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
        """F1 of all labels of all events together; None if there are none."""
        both = self._said.total() + self._there.total()
        return _ratio(2 * self._hits.total(), both)

    def measures(self) -> dict[str, Any]:
        """All measures; the probabilities of all events must have been given.

        The means are over the labels that occur, and take a ratio of 0 to 0 for 0, as scikit-learn
        does.
        """
        names = sorted(self._known | self._there.keys())
        labels = {
            name: _rates(self._hits[name], self._said[name], self._there[name]) for name in names
        }
        n_graded = (self.n - self._n_open) * len(names) + self._n_named
        occur = [labels[name] for name in names if self._there[name] or self._said[name]]
        return {
            "events": self.n,
            "exact": self.n_exact / self.n,
            "hamming": self.n_wrong / n_graded if n_graded else 0.0,
            "lrap": self._precision / self.n,
            "micro": _rates(self._hits.total(), self._said.total(), self._there.total()),
            "macro": {
                kind: _ratio(sum(each[kind] or 0.0 for each in occur), len(occur)) for kind in KINDS
            },
            "labels": labels,
        }


def average_precision(there: set[str], found: dict[str, float]) -> float:
    """The mean, over an event's labels, of the share of its labels among those ranked as high.

    Labels that are not in `found` are ranked after all others. Without labels it is 1, as in
    scikit-learn.
    """
    if not there:
        return 1.0
    scores = {**dict.fromkeys(there, -1.0), **found}
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    total, hits, at = 0.0, 0, 0
    while at < len(ranked):
        end = at  # labels of equal probability share a rank
        while end < len(ranked) and scores[ranked[end]] == scores[ranked[at]]:
            end += 1
        its = sum(label in there for label in ranked[at:end])
        hits += its
        total += its * hits / end
        at = end
    return total / len(there)


def _rates(hits: int, said: int, there: int) -> dict[str, Any]:
    return {
        "precision": _ratio(hits, said),
        "recall": _ratio(hits, there),
        "f1": _ratio(2 * hits, said + there),
        "support": there,
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


# --- As tables


def evaluation(found: dict[str, Any]) -> str:
    """The result of `measures` as tables."""
    labels = list(found["labels"])
    matrix = [("label \\ answer", *labels)]
    none = "0" if len(labels) <= ZEROS else ""
    for label, answers in found["confusion"].items():
        counts = (answers.get(answer, 0) for answer in labels)
        matrix.append((label, *(str(count) if count else none for count in counts)))
    rates = _rates_of(found, ("macro", "weighted"), found["events"])
    return "\n\n".join((rates, f"accuracy  {_shown(found['accuracy'])}", table(matrix)))


def graded(found: dict[str, Any]) -> str:
    """The result of `Grades.measures` as tables."""
    whole = [("events", str(found["events"])), ("exact sets", _shown(found["exact"]))]
    whole += [("Hamming loss", _shown(found["hamming"])), ("LRAP", _shown(found["lrap"]))]
    rates = _rates_of(found, ("micro", "macro"), found["micro"]["support"])
    return f"{rates}\n\n{table(whole, left=1)}"


def _rates_of(found: dict[str, Any], means: tuple[str, ...], support: int) -> str:
    """The table of rates by label, with their means."""
    rows = [("label", *KINDS, "support")]
    named = [(label, values, values["support"]) for label, values in found["labels"].items()]
    for name, values, n in [*named, *((f"({mean})", found[mean], support) for mean in means)]:
        rows.append((name, *(_shown(values[kind]) for kind in KINDS), str(n)))
    return table(rows)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
