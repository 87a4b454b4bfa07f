"""Several models on one stream: each event is answered by all, then learned by all."""

from __future__ import annotations

import copy
import math
import pickle
import typing
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import length_hint
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from streamptron.common.names import short_repr, type_shown
from streamptron.common.river import need
from streamptron.common.table import frame, table
from streamptron.estimator.finite import error_of, pairs_of
from streamptron.estimator.looking import is_learner
from streamptron.estimator.pipeline import TextPipeline
from streamptron.study.recorder import Recorder, last_step

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

BLOCK = 256  # events that one model learns before the next one does: its time is taken for all
CERTAIN = 1.959964  # half-width of a 95 % interval of a normal distribution, in deviations


class Result(NamedTuple):
    """How one model did.

    Attributes
    ----------
    name
        The name of the model.
    error
        The progressive error: the share of the answered events that it answered wrongly before
        learning them. NaN if it answered none. No answer (None) does not count as an error.
    difference
        Its error minus that of the best model, over the events that both answered.
    half_width
        The half-width of the 95 % interval of that difference. The interval is paired: only events
        that one of the two answered wrongly count, as in McNemar's test. A larger difference is
        unlikely to be chance.
    microseconds
        CPU time per event, to predict and to learn it.
    memory
        Bytes: `memory_usage` for streamptron's learners, otherwise the size of the pickle; None if
        the model cannot be pickled.
    memory_is
        How it was measured: "memory_usage", "pickle" or None.
    n_answered
        The number of events with an answer.
    metrics
        The River metrics for this model.
    """

    name: str
    error: float
    difference: float
    half_width: float
    microseconds: float
    memory: int | None
    memory_is: str | None
    n_answered: int
    metrics: tuple[Any, ...] = ()


class Comparison(Sequence[Result]):
    """A result for each model, the one with the smallest error first.

    Attributes
    ----------
    n_events
        The number of events in the stream.
    recorders
        ``{name: Recorder}``: each model's errors window by window, by label, and its memory.

    Examples
    --------
    >>> from streamptron import MIRA, Perceptron
    >>> from streamptron.study import compare
    >>> stream = [({"x": 1}, True), ({"x": -1}, False)] * 50
    >>> found = compare([Perceptron(), MIRA()], stream)
    >>> found.n_events, [(result.name, round(result.error, 4)) for result in found]
    (100, [('Perceptron', 0.01), ('MIRA', 0.0101)])
    """

    def __init__(
        self, results: Iterable[Result], n_events: int, recorders: Mapping[str, Recorder]
    ) -> None:
        self._results = tuple(sorted(results, key=lambda result: _rank(result.error)))
        self.n_events = n_events
        self.recorders = {result.name: recorders[result.name] for result in self._results}

    def __getitem__(self, at: Any) -> Any:
        return self._results[at]

    def __len__(self) -> int:
        return len(self._results)

    def to_frame(self) -> Any:
        """The results as the rows of a pandas DataFrame, by name; a column for each metric."""
        columns = [name for name in Result._fields if name != "metrics"]
        columns += [type(metric).__name__ for metric in self[0].metrics]
        rows = [[*result[:-1], *(metric.get() for metric in result.metrics)] for result in self]
        return frame(rows, columns).set_index("name")

    def plot(self, by: str = "so far", ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Plot the error of each model over the stream, one line per model.

        Parameters
        ----------
        by
            "so far": the error over all events up to a point; "window": over each window.
        ax
            The Axes to draw on; None: the current one.
        kwargs
            Passed to ``Axes.plot`` for every line.

        Returns
        -------
        The Axes.
        """
        from streamptron.plot.errors import errors

        return errors(self.recorders, by=by, ax=ax, **kwargs)

    def __repr__(self) -> str:
        named = [type(metric).__name__ for metric in self[0].metrics]
        rows = [("model", "error %", "to the best", "+-", "µs an event", "memory", *named)]
        for result in self:
            first = result is self[0]
            rows.append(
                (
                    result.name,
                    f"{100 * result.error:.2f}",
                    "" if first else f"{100 * result.difference:+.2f}",
                    "" if first else f"{100 * result.half_width:.2f}",
                    f"{result.microseconds:.1f}",
                    _size(result.memory) + ("*" if result.memory_is == "pickle" else " "),
                    *(f"{metric.get():.4f}" for metric in result.metrics),
                )
            )
        lines = [table(rows), f"{self.n_events} events"]
        if any(result.memory_is == "pickle" for result in self):
            lines.append("* the size of its pickle")
        return "\n".join(lines)


def compare(
    models: Mapping[str, Any] | Iterable[Any],
    stream: Iterable[tuple[Any, Any]],
    metrics: Any = (),
    window: int = 100,
) -> Comparison:
    """Let several models answer and learn the same stream.

    Every model answers each event before it learns it. The models learn as by ``learn_one``, and
    keep what they have learned. Each model takes a block of events at a time, so that its time can
    be measured separately; models must therefore not share parts that learn.

    Parameters
    ----------
    models
        ``{name: model}``, or a list of models, which are then named after their classes, pipelines
        after their last step. Any object with ``learn_one`` and ``predict_one`` is a model.
    stream
        Pairs (x, y): a list, a generator, a River dataset, or what ``streamptron.files.read``
        returns. Only a few pairs are held at once. The stream must end; for an endless one, give
        ``itertools.islice(stream, n)``.
    metrics
        River classification metrics, one or several; each model gets copies. If a metric needs
        probabilities, every model has to compute them, and that time counts too.
    window
        How many events share a point of `plot` and a row of the recorders' `to_frame`; it grows
        with the stream.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If models or metrics are invalid: no model has learned anything. If an event is invalid: the
        message has its number. The models before the one that refused it have then learned up to
        256 more events than the others.

    Examples
    --------
    >>> from river import linear_model
    >>> from streamptron import AdaptiveClassifier
    >>> from streamptron.study import compare
    >>> stream = ((dict.fromkeys(text.split(), 1), "prize" in text) for text in ["a prize", "you"])
    >>> models = {"ours": AdaptiveClassifier(), "River's": linear_model.LogisticRegression()}
    >>> found = compare(models, stream)
    >>> sorted(result.name for result in found)
    ["River's", 'ours']
    """
    named = _named(models)
    kinds = _metrics(metrics)
    recorders = {
        name: Recorder(model, window=window, drift=None, name=name) for name, model in named.items()
    }
    runs = [_Run(name, model, kinds, recorders[name]) for name, model in named.items()]
    tally = _Tally(len(runs))
    events, n = pairs_of(stream), 0
    while block := list(islice(events, BLOCK)):
        tally.add([run.take(block, n) for run in runs])
        n += len(block)
    if not n:
        raise ValueError("stream is empty; if it is a generator, it may have been used up already")
    best = min(range(len(runs)), key=lambda at: _rank(tally.error(at)))
    results = (run.result(n, *tally.against(best, at)) for at, run in enumerate(runs))
    return Comparison(results, n, recorders)


class _Run:
    """One model on the stream."""

    def __init__(self, name: str, model: Any, metrics: Sequence[Any], recorder: Recorder) -> None:
        self.name = name
        self.model = model
        self.recorder = recorder
        self.metrics = tuple(copy.deepcopy(metric) for metric in metrics)
        self.seconds = 0.0
        self._by_probability = any(not metric.requires_labels for metric in metrics)

    def take(self, block: list[Any], first: int) -> np.ndarray:
        """Answer each event of a block, then learn it: 0 right, 1 wrong, -1 no answer."""
        predict, learn = self.model.predict_one, self.model.learn_one
        answers: list[Any] = []
        probabilities: list[Any] = []
        coming = iter(block)
        try:
            began = thread_time()
            for x, y in coming:
                if self._by_probability:
                    p = self.model.predict_proba_one(x)
                    probabilities.append(p or None)  # there is none before the first label
                answers.append(predict(x))
                learn(x, y)
            self.seconds += thread_time() - began
        except (TypeError, ValueError) as error:
            at = first + len(block) - length_hint(coming) - 1
            where = f"event {at} of the stream, model {self.name!r}"
            raise error_of(where, error) from error
        for metric in self.metrics:
            said = answers if metric.requires_labels else probabilities
            for (_, y), each in zip(block, said, strict=True):
                if each is not None:
                    metric.update(y, each)
        found = []
        for (_, y), answer in zip(block, answers, strict=True):
            self.recorder._note(y, answer)
            found.append(-1 if answer is None else int(answer != y))
        return np.array(found)

    def result(
        self, n: int, error: float, answered: int, difference: float, half_width: float
    ) -> Result:
        memory, kind = _memory(self.model)
        return Result(
            self.name,
            error,
            difference,
            half_width,
            1e6 * self.seconds / n,
            memory,
            kind,
            answered,
            self.metrics,
        )


class _Tally:
    """Counts of wrong answers, for pairs of models."""

    def __init__(self, n: int) -> None:
        self.n_both = np.zeros((n, n), dtype=np.int64)  # events that both answered
        self.n_only = np.zeros((n, n), dtype=np.int64)  # those that only the first has wrong
        self.n_wrong = np.zeros(n, dtype=np.int64)

    def add(self, found: list[np.ndarray]) -> None:
        each = np.array(found)
        answered = (each >= 0).astype(np.int64)
        wrong = (each > 0).astype(np.int64)
        self.n_both += answered @ answered.T
        self.n_only += wrong @ (each == 0).astype(np.int64).T
        self.n_wrong += wrong.sum(axis=1)

    def error(self, at: int) -> float:
        n = int(self.n_both[at, at])
        return float(self.n_wrong[at]) / n if n else math.nan

    def against(self, best: int, at: int) -> tuple[float, int, float, float]:
        """Error, number of answers, difference to the best, and half-width of its interval."""
        n = int(self.n_both[at, best])
        more, fewer = int(self.n_only[at, best]), int(self.n_only[best, at])
        own = self.error(at), int(self.n_both[at, at])
        if not n:
            return *own, math.nan, math.nan
        difference = (more - fewer) / n
        spread = max(0.0, (more + fewer) / n - difference**2)
        return *own, difference, CERTAIN * math.sqrt(spread / n)


def _rank(error: float) -> tuple[bool, float]:
    """Sorts errors, with NaN at the end."""
    return math.isnan(error), error


# --- Arguments, and sizes


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        pairs = list(models.items())
        for name, _ in pairs:
            if not isinstance(name, str):
                raise TypeError(f"models has the name {short_repr(name)}; a name must be a text")
    elif (
        isinstance(models, str | bytes)
        or hasattr(models, "learn_one")
        or not isinstance(models, Iterable)
    ):
        raise TypeError(f"models is {type_shown(models)}; give {{name: model}} or a list of models")
    else:
        pairs = [(_name(model), model) for model in models]
    if not pairs:
        raise ValueError("models is empty; give at least one")
    owner: dict[int, str] = {}
    for at, (name, model) in enumerate(pairs):
        if isinstance(model, type):
            raise TypeError(
                f"models has the class {model.__name__}; give an object: {model.__name__}()"
            )
        for method in ("learn_one", "predict_one"):
            if not callable(getattr(model, method, None)):
                raise TypeError(f"models: {name!r} is {type_shown(model)} without {method}")
        if name in (before for before, _ in pairs[:at]):
            raise ValueError(f"models has two of the name {name!r}; give {{name: model}}")
        if id(model) in owner:
            raise ValueError(
                f"models: {owner[id(model)]!r} and {name!r} are the same object, which would learn "
                "every event twice; give a copy, model.clone()"
            )
        owner[id(model)] = name
    return dict(pairs)


def _name(model: Any) -> str:
    """The name of a model in a list."""
    model = last_step(model)
    return (model if isinstance(model, type) else type(model)).__name__


def _metrics(metrics: Any) -> list[Any]:
    """River metrics as a list."""
    if isinstance(metrics, list | tuple) and not metrics:
        return []
    need("a metric")
    from river.metrics.base import ClassificationMetric, Metrics

    if isinstance(metrics, ClassificationMetric) and not isinstance(metrics, list):
        metrics = [metrics]
    elif not isinstance(metrics, Iterable) or isinstance(metrics, str):
        raise TypeError(f"metrics={short_repr(metrics)}; give River metrics, such as metrics.F1()")
    found = list(metrics)
    for metric in found:
        if isinstance(metric, Metrics) or not isinstance(metric, ClassificationMetric):
            raise TypeError(
                f"metrics has {short_repr(metric)}; give objects of River's metrics of "
                "classification, such as metrics.F1()"
            )
    return found


def _memory(model: Any) -> tuple[int | None, str | None]:
    """How many bytes a model takes, and how that was measured."""
    if isinstance(model, TextPipeline) and model._pair is not None:
        model = model._pair[1]
    if is_learner(model):
        return model.memory_usage, "memory_usage"
    try:
        return len(pickle.dumps(model)), "pickle"
    except Exception:  # pickling an unknown object may raise anything
        return None, None


def _size(n: int | None) -> str:
    if n is None:
        return "n/a"
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000  # type: ignore[assignment]
    return f"{n:.3g} GB"
