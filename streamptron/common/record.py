"""What happened on a stream: errors window by window, by label, and who answered.

A record is of bounded size, however long the stream: when there are too many windows, they are
merged in pairs, and from then on a window is twice as long.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from streamptron.common.checks import truth
from streamptron.common.disk import replace
from streamptron.common.names import short_repr, type_shown
from streamptron.common.table import frame, table

LABELS = 50  # the first so many labels have their own errors in each window
LABELS_SHOWN = 10


class Window(NamedTuple):
    """Some events in a row.

    Attributes
    ----------
    n_events
        The number of events at its end, since the record began.
    n, n_answered, n_wrong
        How many events it has; those that had an answer, and those whose answer was wrong.
    error, error_so_far
        The share of wrong answers among those of the window, and among all up to its end; NaN if
        there were none.
    serving
        Which of the kept vectors served most of its events; None if the model was not given.
    memory, n_evicted
        The model's bytes, and the number of features it had evicted, at the end of the window; None
        if the model does not say.
    n_drifts
        How many changes the drift detector found in it.
    labels
        ``{label: (events, wrong)}`` of the first labels.
    """

    n_events: int
    n: int
    n_answered: int
    n_wrong: int
    error: float
    error_so_far: float
    serving: str | None
    memory: int | None
    n_evicted: int | None
    n_drifts: int
    labels: dict[Any, tuple[int, int]]


COLUMNS = Window._fields[:-1]
LABEL_COLUMNS = ("n_events", "label", "n", "n_wrong", "error")


class Tally:
    """Counts of a window that is still open, or of one or more that are closed."""

    __slots__ = ("evicted", "labels", "memory", "n", "n_answered", "n_drifts", "n_wrong", "served")

    def __init__(self) -> None:
        self.n = self.n_answered = self.n_wrong = self.n_drifts = 0
        self.served: Counter[str] = Counter()
        self.labels: dict[Any, list[int]] = {}
        self.memory: int | None = None
        self.evicted: int | None = None

    def add(self, later: Tally) -> None:
        """Take in the window that follows."""
        self.n += later.n
        self.n_answered += later.n_answered
        self.n_wrong += later.n_wrong
        self.n_drifts += later.n_drifts
        self.served += later.served
        for label, (n, wrong) in later.labels.items():
            mine = self.labels.setdefault(label, [0, 0])
            mine[0] += n
            mine[1] += wrong
        self.memory, self.evicted = later.memory, later.evicted


class Record:
    """Errors on a stream, window by window and in all.

    Attributes
    ----------
    n_events, n_answered, n_wrong
        How many events there were; those that had an answer, and those whose answer was wrong.
    window
        How many events a window has now.
    drifts
        After how many events each change was found.
    labels
        ``{label: (events, wrong)}`` of all labels, in the order of appearance.
    """

    def __init__(self, window: int, max_windows: int, name: str | None) -> None:
        self.name = name
        self.window = window
        self.max_windows = max_windows
        self.n_events = self.n_answered = self.n_wrong = 0
        self.drifts: list[int] = []
        self.ceiling: int | None = None  # the model's max_features
        self._labels: dict[Any, list[int]] = {}
        self._closed: list[Tally] = []
        self._open = Tally()

    @property
    def error(self) -> float:
        """The share of wrong answers so far; NaN before the first answer."""
        return _share(self.n_wrong, self.n_answered)

    @property
    def labels(self) -> dict[Any, tuple[int, int]]:
        return {label: (n, wrong) for label, (n, wrong, *_) in self._labels.items()}

    @property
    def windows(self) -> list[Window]:
        """The windows from the first on; the last one may not be full yet."""
        return list(self._windows())

    def _windows(self) -> Iterator[Window]:
        events = answered = wrong = 0
        for tally in [*self._closed, *([self._open] if self._open.n else [])]:
            events += tally.n
            answered += tally.n_answered
            wrong += tally.n_wrong
            yield Window(
                events,
                tally.n,
                tally.n_answered,
                tally.n_wrong,
                _share(tally.n_wrong, tally.n_answered),
                _share(wrong, answered),
                max(tally.served, key=tally.served.__getitem__) if tally.served else None,
                tally.memory,
                tally.evicted,
                tally.n_drifts,
                {label: (n, w) for label, (n, w) in tally.labels.items()},
            )

    def _count(self, labels: dict[Any, bool], answered: bool, wrong: bool) -> bool:
        """Count an event, with which of its labels are wrong; True if its window is now full."""
        now = self._open
        self.n_events += 1
        now.n += 1
        if answered:
            self.n_answered += 1
            now.n_answered += 1
        if wrong:
            self.n_wrong += 1
            now.n_wrong += 1
        for label, is_wrong in labels.items():
            total = self._labels.get(label)
            if total is None:
                total = self._labels[label] = [0, 0]
                if len(self._labels) > LABELS:
                    total.append(0)  # a third number marks labels that windows do not count
            total[0] += 1
            total[1] += is_wrong
            if len(total) == 2:
                here = now.labels.get(label)
                if here is None:
                    here = now.labels[label] = [0, 0]
                here[0] += 1
                here[1] += is_wrong
        return now.n >= self.window

    def _close(self) -> None:
        """The window is full; a new one begins."""
        self._closed.append(self._open)
        self._open = Tally()
        if len(self._closed) < self.max_windows:
            return
        for first, second in zip(self._closed[::2], self._closed[1::2], strict=False):
            first.add(second)
        odd = len(self._closed) % 2
        self._open = self._closed[-1] if odd else self._open
        self._closed = self._closed[: len(self._closed) - odd : 2]
        self.window *= 2

    # --- Results

    def to_frame(self, by_label: bool = False) -> Any:
        """The windows as the rows of a pandas DataFrame.

        Parameters
        ----------
        by_label
            A row for each window and label instead, of the first 50 labels.
        """
        return frame(*self._table(by_label))

    def to_csv(self, path: Any, by_label: bool = False) -> None:
        """Write the windows as CSV; the file is replaced whole or not at all.

        Parameters
        ----------
        path
            Where to.
        by_label
            A row for each window and label instead, of the first 50 labels.
        """
        replace(path, [self._csv(by_label)], mode=0o666)

    def _csv(self, by_label: bool = False) -> bytes:
        rows, columns = self._table(by_label)
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(
            ["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row]
            for row in rows
        )
        return text.getvalue().encode("utf-8", "surrogateescape")

    def _table(self, by_label: bool) -> tuple[list[tuple[Any, ...]], tuple[str, ...]]:
        if not truth("by_label", by_label):
            return [window[:-1] for window in self._windows()], COLUMNS
        return [
            (window.n_events, label, n, wrong, _share(wrong, n))
            for window in self._windows()
            for label, (n, wrong) in window.labels.items()
        ], LABEL_COLUMNS

    def __repr__(self) -> str:
        rows = [("", "events", "wrong", "error %")]
        rows.append(("so far", *_cells(self.n_events, self.n_wrong, self.n_answered)))
        for window in self.windows[-1:]:
            rows.append(("last window", *_cells(window.n, window.n_wrong, window.n_answered)))
        labels = sorted(self._labels.items(), key=lambda item: -item[1][1])
        for label, (n, wrong, *_) in labels[:LABELS_SHOWN]:
            rows.append((short_repr(label), *_cells(n, wrong, n)))
        lines = [table(rows)]
        if len(labels) > LABELS_SHOWN:
            lines.append(f"and {len(labels) - LABELS_SHOWN} labels with fewer errors")
        if self.drifts:
            lines.append(f"changes found after {', '.join(map(str, self.drifts[-10:]))} events")
        return "\n".join(lines)


def _cells(n: int, wrong: int, answered: int) -> tuple[str, str, str]:
    return str(n), str(wrong), f"{100 * _share(wrong, answered):.2f}"


def _share(wrong: int, n: int) -> float:
    return wrong / n if n else math.nan


def check_record(name: str, record: Any) -> Record:
    """A record with at least one event, or an error."""
    if not isinstance(record, Record):
        raise TypeError(f"{name} is {type_shown(record)}; give a streamptron.study.Recorder")
    if not record.n_events:
        raise ValueError(f"{name} has no events yet; call its update(y_true, y_pred) first")
    return record
