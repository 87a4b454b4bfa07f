"""Finite labelled data, in any form, as events that are learned again and again.

    a matrix, array or frame and its labels, texts      RowData: the core's path over many rows
    dicts                                               EventData: learn_one, event by event
    candidates, of which one was chosen                 QueryData: likewise
    documents with grades                               GradedData, see grades.py

Each can learn its events in any order, and tell which of them a model answers wrongly. Labels are
numbered in the order of appearance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from streamptron.common.cells import SKIP, SKIP_NAN, event_of
from streamptron.common.names import short_repr, type_shown
from streamptron.doors.texts import Texts
from streamptron.estimator import frames
from streamptron.estimator.batches import Batch, batch_of, numbered, steps_of
from streamptron.estimator.columns import Rows
from streamptron.estimator.looking import Before
from streamptron.estimator.passes import Passes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Lessons(Protocol):
    """Finite data as a fit needs it.

    Attributes
    ----------
    labels
        The distinct labels.
    n_events
        How many events a pass learns. An order is one of ``len`` items: these are the events,
        unless events are learned in groups, as those of a query are.
    """

    labels: list[Any]

    @property
    def n_events(self) -> int: ...

    def __len__(self) -> int: ...

    def weigh(self, model: Any) -> None: ...

    def learn(self, model: Any, order: NDArray[np.intp] | None = None) -> None: ...

    def wrong(self, model: Any, order: NDArray[np.intp] | None = None) -> NDArray[np.bool_]: ...

    def features(self) -> list[Hashable]: ...


def data_of(
    data: Any,
    tokenizer: Any = None,
    check: Callable[[Any], Any] | None = None,
    name: str = "data",
    missing: str = SKIP,
    teach: bool = False,
) -> RowData | EventData:
    """Look at finite data as events.

    `check` is the learner's check of a label, `missing` its parameter. `teach`: let the steps
    before the learner of a pipeline learn the events first.
    """
    X, y, weights, called = _columns(data, name)
    kind = _kind(X, name)
    if isinstance(tokenizer, Before):
        if teach:
            asked(name, tokenizer.teach, X)
        X = asked(name, tokenizer.transform_many, X)
        kind, tokenizer = _kind(X, name), None
    if tokenizer is not None and not isinstance(X, Texts):
        if kind is dict and tokenizer.fields is None:
            raise TypeError(
                f"{name} holds dicts, and the model begins with a Tokenizer, which takes texts; "
                "give texts, or fit the learner alone"
            )
        X, kind = asked(name, tokenizer.transform_many, X), None
    if kind is str:
        raise TypeError(
            f"{name} holds texts; give Tokenizer() | learner as the model, or "
            "(Tokenizer().transform_many(texts), labels) as the data"
        )
    batch = None if kind is dict else asked(name, batch_of, X, None, missing)
    n = len(X if batch is None else batch)
    if not n:
        raise ValueError(f"{name} is empty; give at least one event")
    labels, firsts, numbers = asked(name, numbered, y, n)
    for at, row in enumerate(firsts):
        if labels[at] is None:
            raise ValueError(f"{called(row)} has no label; leave it out")
        if check is not None:
            labels[at] = asked(called(row), check, labels[at])
    numbers = np.asarray(numbers, dtype=np.intp)
    if batch is None:
        return EventData(X, labels, numbers, weights, called)
    return asked(name, RowData, X, batch, labels, numbers, weights)  # type: ignore[no-any-return]


def queries_of(data: Any, tokenizer: Any = None, name: str = "data") -> QueryData:
    """Look at finite data as lists of candidates, one of which was chosen."""
    X, y, weights, called = _columns(data, name)
    if tokenizer is not None:
        raise TypeError(
            "model begins with a Tokenizer or other steps; fit the RankingPerceptron alone, with "
            "candidates that are dicts or what transform_one of the Tokenizer makes"
        )
    if not isinstance(X, list | tuple):
        raise TypeError(
            f"{name} has events in {type_shown(X)}; give a RankingPerceptron pairs "
            "(candidates, chosen), or rows with grades: (X, grades, qid)"
        )
    if not X:
        raise ValueError(f"{name} is empty; give at least one event")
    chosen = frames.listed(y, len(X), "y", "the chosen candidate")
    return QueryData(X, chosen, np.arange(len(X)), weights, called)


def pairs_of(stream: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs (x, y) of a stream, each checked when its turn comes."""
    if isinstance(stream, str | bytes | Mapping) or not isinstance(stream, Iterable):
        raise TypeError(f"stream is {type_shown(stream)}; give pairs (x, y)")
    for n, event in enumerate(stream):
        if not isinstance(event, tuple | list) or len(event) != 2:
            raise TypeError(
                f"event {n} of the stream is {short_repr(event)}; it must be a pair (x, y)"
            )
        yield event[0], event[1]


def asked(what: str, ask: Callable[..., Any], *values: Any) -> Any:
    """Call `ask`; its error begins with `what`."""
    try:
        return ask(*values)
    except (TypeError, ValueError) as error:
        raise error_of(what, error) from None


def error_of(what: str, error: Exception) -> Exception:
    """The same error, beginning with `what`."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{what}: {error}")


def is_read(data: Any) -> bool:
    """Whether it is what streamptron.files.read returns, which this folder must not import."""
    return hasattr(type(data), "records")


def _columns(data: Any, name: str) -> tuple[Any, Any, list[float] | None, Callable[[int], str]]:
    """Events, labels, sample weights if they differ from 1, and how an error names a row."""
    if is_read(data):
        records = list(data.records())
        weights = [record.w for record in records]
        return (
            [record.x for record in records],
            [record.y for record in records],
            None if all(w == 1.0 for w in weights) else weights,
            lambda row: f"{records[row].file}:{records[row].line}",
        )
    if isinstance(data, Iterator):
        raise TypeError(
            f"{name} is {type_shown(data)}, which can be read only once; make it a list, "
            f"list({name}), or learn it as a stream, with learn_one or compare"
        )
    if isinstance(data, tuple):
        if len(data) != 2:
            raise TypeError(
                f"{name} is a tuple of {len(data)}; give (X, y), or a list of pairs (x, y)"
            )
        return data[0], data[1], None, lambda row: f"{name}, row {row}"
    if not isinstance(data, list):
        raise TypeError(
            f"{name} is {type_shown(data)}; give a list of pairs (x, y), a tuple (X, y) of "
            "events and labels, or what streamptron.files.read returns"
        )
    for row, pair in enumerate(data):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"{name}[{row}] is {short_repr(pair)}; it must be a pair (x, y). To give events "
                "and labels separately, make it a tuple (X, y)"
            )
    return [x for x, _ in data], [y for _, y in data], None, lambda row: f"{name}[{row}]"


def _kind(X: Any, name: str) -> type | None:
    """The kind of a list's items: dict or str; None if X is not a list."""
    if not isinstance(X, list | tuple):
        return None
    first = X[0] if X else {}
    if isinstance(first, str | bytes):
        return str
    if isinstance(first, Mapping):
        return dict
    raise TypeError(
        f"{name}: an event is {short_repr(first)}, {type_shown(first)}; give dicts of features or "
        "texts, or all events as a matrix, array or frame: (X, y)"
    )


class RowData(Passes):
    """Rows of a matrix, an array or a frame, or texts."""

    def __init__(
        self,
        X: Any,
        batch: Batch,
        labels: list[Any],
        numbers: NDArray[np.intp],
        weights: list[float] | None,
    ) -> None:
        super().__init__(batch, labels, numbers)
        self._X = X
        self._weights = weights
        self.n_events = len(batch)

    def __len__(self) -> int:
        return self.n_events

    def weigh(self, model: Any) -> None:
        """Compute what each row's step is scaled by: sample weight times class weight."""
        if self._weights is not None or model.class_weight is not None:
            w = 1.0 if self._weights is None else self._weights
            self.steps = steps_of(w, self.labels, self.numbers, model._checked_step)

    def wrong(self, model: Any, order: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        """Whether the model answers each row of an order wrongly."""
        found = self.batch.outputs()
        places = found, None, None, None, order
        known = self.batch.answered(model._predict_rows, *places, order=order)
        assert known is not None  # `found` has room for any number of labels
        outputs = {label: output for output, label in enumerate(known)}
        right = np.array([outputs.get(label, -2) for label in self.labels], dtype=np.intp)
        taken: Any = slice(None) if order is None else order
        wrong: NDArray[np.bool_] = found[taken] != right[self.numbers[taken]]
        return wrong

    def scores(self, model: Any) -> NDArray[np.float64]:
        """The scores of each row, one per output."""
        scores: NDArray[np.float64] = model._scores_of(self.batch, 1)[0]
        return scores

    def features(self) -> list[Hashable]:
        """All features that an event may have."""
        if isinstance(self._X, Texts):
            return list(dict.fromkeys(name for x in self._X for name in x))
        names = self.batch.names
        return list(range(self._X.shape[1]) if names is None else names)

    def matrix(self) -> Any:
        """The events as a CSR matrix."""
        from scipy.sparse import csr_array

        if isinstance(self._X, Texts):
            return _matrix_of([self._X[row] for row in range(len(self._X))])
        plain = isinstance(self._X, np.ndarray) or hasattr(self._X, "tocsr")
        X = self._X if plain else frames.frame_matrix(frames.frame_wrap(self._X), SKIP_NAN)[0]
        if isinstance(X, Rows):
            return X.csr()
        return csr_array(X, dtype=np.float64)


class EventData:
    """Dicts, learned one by one."""

    def __init__(
        self,
        events: Sequence[Any],
        labels: list[Any],
        numbers: NDArray[np.intp],
        weights: list[float] | None,
        called: Callable[[int], str],
    ) -> None:
        self.labels = labels
        self.numbers = numbers
        self._events = events
        self._weights = weights
        self._called = called
        self.n_events = len(events)

    def __len__(self) -> int:
        return self.n_events

    def weigh(self, model: Any) -> None:
        """Do nothing: learn_one applies the weights."""

    def learn(self, model: Any, order: NDArray[np.intp] | None = None) -> None:
        """Learn the events in an order; None: as they come."""
        events, labels, weights = self._events, self.labels, self._weights
        numbers = self.numbers.tolist()
        for row in range(len(events)) if order is None else order.tolist():
            try:
                w = 1.0 if weights is None else weights[row]
                model.learn_one(events[row], labels[numbers[row]], w)
            except (TypeError, ValueError) as error:
                raise error_of(self._called(row), error) from None

    def _answers(self, ask: Callable[[Any], Any], rows: Iterable[int]) -> Iterator[Any]:
        for row in rows:
            try:
                yield ask(self._events[row])
            except (TypeError, ValueError) as error:
                raise error_of(self._called(row), error) from None

    def wrong(self, model: Any, order: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        """Whether the model answers each event of an order wrongly."""
        rows = range(len(self)) if order is None else order.tolist()
        answers = self._answers(model.predict_one, rows)
        return np.array(
            [
                answer is None or answer != self.labels[self.numbers[row]]
                for row, answer in zip(rows, answers, strict=True)
            ],
            dtype=bool,
        )

    def scores(self, model: Any) -> NDArray[np.float64]:
        """The scores of each event, one per output."""
        found = list(self._answers(model.decision_function_one, range(len(self))))
        rows = [list(each.values()) if isinstance(each, dict) else [each] for each in found]
        return np.array(rows, dtype=np.float64)

    def features(self) -> list[Hashable]:
        """All features that an event has."""
        return list(dict.fromkeys(name for x in self._events for name in event_of(x)))

    def matrix(self) -> Any:
        """The events as a CSR matrix."""
        return _matrix_of(self._events)


class QueryData(EventData):
    """Candidates, learned query by query; a label is the chosen one of its query."""

    def features(self) -> list[Hashable]:
        """All features that a candidate has."""
        found: dict[Hashable, None] = {}
        for candidates in self._events:
            each = candidates.values() if isinstance(candidates, Mapping) else candidates
            for x in each:
                found.update(dict.fromkeys(event_of(x)))
        return list(found)


def _matrix_of(events: Sequence[Mapping[Any, float]]) -> Any:
    """Mappings as a CSR matrix with one column per feature, in order of appearance."""
    from scipy.sparse import csr_array

    column: dict[Hashable, int] = {}
    events = [event_of(x) for x in events]
    columns = [column.setdefault(name, len(column)) for x in events for name in x]
    values = [number for x in events for number in x.values()]
    starts = np.cumsum([0, *(len(x) for x in events)])
    return csr_array((values, columns, starts), shape=(len(events), len(column)))
