"""Pictures of a stream as it is learned: errors, the vector that answers, memory.

The given model is not changed; copies of it learn.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.common.checks import at_least_one
from streamptron.common.record import Record, check_record
from streamptron.estimator.finite import error_of, pairs_of
from streamptron.estimator.looking import Before, learner_of, ranks
from streamptron.plot.drawing import (
    COLOURS,
    HATCHES,
    IN_LINES,
    Axes,
    axes_of,
    check_axes,
    halo,
    ink,
    limit_x,
    limit_y,
    name_lines,
    write_beside,
)

KINDS = ("current", "average", "pocket", "best")
POINTS = 1000  # the most points of a line
RIBBON = 0.07  # its height as a share of the Axes' height


def progressive_error(
    model: Any,
    stream: Iterable[tuple[Any, Any]],
    window: int | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot the progressive error of each kept vector, and which one serves.

    Each event is answered before it is learned. The line "best" is for a model that answers by
    ``serve="best"``; the ribbon below shows the vector that was the best overall at that time, its
    `serving`. A learner that keeps only one vector has one line and no ribbon.

    Parameters
    ----------
    model
        A learner, or a pipeline that ends in one. It is not changed: copies of it learn the stream.
    stream
        Pairs (x, y), read once and to the end: a list, a generator, what ``streamptron.files.read``
        returns.
    window
        None: the error over all events so far. A number: the error over that many last events.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    The Axes. Its lines are labelled with the names of the vectors.

    Raises
    ------
    TypeError, ValueError
        If an argument or an event is invalid; the message has the event's number. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> stream = [({"x": n % 7, "y": n % 3}, n % 7 > 3) for n in range(300)]
    >>> model = Perceptron(pocket=True)
    >>> ax = plot.progressive_error(model, stream, ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['current', 'average', 'pocket', 'best']
    >>> model.n_seen
    0
    """
    check_axes(ax)
    if window is not None:
        at_least_one("window", window)
    tokenizer, learner = _parts(model)
    twins = _twins(learner)
    judge = twins.get("best")
    wrong = {kind: array("b") for kind in twins}  # 1 wrong, 0 right, -1 no answer
    serving: list[tuple[int, str]] = []  # from which event on each vector serves
    for n, (x, y) in enumerate(pairs_of(stream)):
        try:
            event = asked = x if tokenizer is None else tokenizer.transform_one(x)
            if isinstance(tokenizer, Before):
                tokenizer.learn_one(x)
                event = tokenizer.transform_one(x)
            if judge is not None and (not serving or serving[-1][1] != judge.serving):
                serving.append((n, judge.serving))
            for kind, twin in twins.items():
                answer = twin.predict_one(asked)
                twin.learn_one(event, y)
                wrong[kind].append(-1 if answer is None else int(answer != y))
        except (TypeError, ValueError) as error:
            raise error_of(f"event {n} of the stream", error) from error
    total = len(next(iter(wrong.values())))
    if not total:
        raise ValueError("stream is empty; has a generator been read before?")
    numbers = np.unique(np.linspace(1, total, POINTS).astype(int))
    curves = {kind: _error(np.array(found), numbers, window) for kind, found in wrong.items()}
    ax = axes_of(ax)
    settled = numbers >= min(total, max(2, total // 20, window or 0))
    shown_part = [curve[settled] for curve in curves.values()]
    most = max((float(np.nanmax(c)) for c in shown_part if not np.isnan(c).all()), default=1.0)
    most = 1.12 * (most or 1.0)
    lines = {}
    for kind, curve in curves.items():
        (line,) = ax.plot(numbers, curve, **{**_style(ax, kind), **kwargs})
        if not np.isnan(curve[-1]):
            lines[f"{kind} {curve[-1]:.3g} %".strip()] = line
    frame_stream(ax, most, total, serving)
    name_lines(ax, lines)
    past = "" if window is None else f" of the last {window} events"
    ax.set_ylabel(f"progressive error{past} (%)")
    return ax


def memory(
    model: Any,
    stream: Iterable[tuple[Any, Any]] | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot the memory, and the evicted features, while a stream is learned.

    Memory is on the left axis. If the model has ``max_features``, the number of features that have
    been evicted is on a right axis.

    Parameters
    ----------
    model
        A learner, or a pipeline that ends in one. It is not changed: a copy of it learns the
        stream. Or a ``streamptron.study.Recorder`` that was given its model: then nothing is
        learned.
    stream
        Pairs (x, y), read once and to the end; None for a Recorder.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for the line of the memory.

    Returns
    -------
    The Axes of the memory.

    Raises
    ------
    TypeError, ValueError
        If an argument or an event is invalid; the message has the event's number. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> stream = [({f"word {n}": 1, f"word {n % 5}": 1}, n % 2) for n in range(300)]
    >>> ax = plot.memory(Perceptron(max_features=50), stream, ax=Figure().subplots())
    >>> [axes.get_ylabel() for axes in ax.figure.axes]
    ['memory (kB, solid)', 'features evicted (dashed)']
    """
    check_axes(ax)
    if isinstance(model, Record):
        found, ceiling = _recorded_memory(model, stream)
    else:
        found, ceiling = _learned_memory(model, stream)
    numbers, sizes, evicted = (np.array(column) for column in zip(*found, strict=True))
    n = int(numbers[-1])
    from matplotlib.ticker import MaxNLocator

    unit, name = (1e6, "MB") if sizes.max() >= 2e6 else (1e3, "kB")
    ax = axes_of(ax)
    style = {"color": COLOURS[0], "linewidth": 2, "label": "memory", **kwargs}
    ax.plot(numbers, sizes / unit, **style)
    ax.set(xlim=(0, n), ylim=(0.0, 1.12 * sizes.max() / unit), xlabel="events")
    ax.set_ylabel(f"memory ({name})" if ceiling is None else f"memory ({name}, solid)")
    if ceiling is None:
        return ax
    other = ax.twinx()
    other.plot(numbers, evicted, color=COLOURS[2], linestyle="--", linewidth=2, label="evicted")
    other.set_ylim(0.0, 1.12 * max(int(evicted.max()), 1))
    other.yaxis.set_major_locator(MaxNLocator(integer=True))
    other.set_ylabel("features evicted (dashed)")
    if evicted[-1]:
        full = int(numbers[np.flatnonzero(evicted)[0]])
        ax.axvline(full, color=ink(ax), linestyle=":", linewidth=1, zorder=0)
        right = -5 if full > n / 2 else 5
        style = {"xycoords": ax.get_xaxis_transform(), "va": "baseline", **halo(ax)}
        write_beside(ax, f"{ceiling} features", (full, 0.5), right, **style)
    return ax


# --- Learning, and its results


def _learned_memory(model: Any, stream: Any) -> tuple[list[tuple[int, int, int]], int | None]:
    """(events, bytes, evicted features) while a copy of the model learns, and max_features."""
    tokenizer, learner = _parts(model)
    twin = copy.deepcopy(learner)
    every, n = 1, 0
    found = [(0, twin.memory_usage, twin.n_evicted)]
    for n, (x, y) in enumerate(pairs_of(stream), 1):
        try:
            if isinstance(tokenizer, Before):
                tokenizer.learn_one(x)
            twin.learn_one(x if tokenizer is None else tokenizer.transform_one(x), y)
        except (TypeError, ValueError) as error:
            raise error_of(f"event {n - 1} of the stream", error) from error
        if n % every == 0:
            found.append((n, twin.memory_usage, twin.n_evicted))
            if len(found) > POINTS:
                found, every = found[::2], 2 * every
    if not n:
        raise ValueError("stream is empty; has a generator been read before?")
    if found[-1][0] != n:
        found.append((n, twin.memory_usage, twin.n_evicted))
    return found, getattr(learner, "max_features", None)


def _recorded_memory(record: Any, stream: Any) -> tuple[list[tuple[int, int, int]], int | None]:
    """The same from a recorder."""
    if stream is not None:
        raise ValueError("stream is for a model that learns it; with a Recorder, leave it out")
    found = [
        (window.n_events, window.memory, window.n_evicted or 0)
        for window in check_record("model", record).windows
        if window.memory is not None
    ]
    if not found:
        raise ValueError("the Recorder has no memory recorded; give it the model, Recorder(model)")
    return found, record.ceiling


def _parts(model: Any) -> tuple[Any, Any]:
    """A copy of what comes before the learner (or None), which may learn; and the learner."""
    tokenizer, learner = learner_of(model)
    if tokenizer is not None and ranks(learner):
        raise TypeError(
            "model begins with a Tokenizer or other steps; give the RankingPerceptron alone, and "
            "candidates that are dicts or what transform_one of the Tokenizer makes"
        )
    return copy.deepcopy(tokenizer), learner


def _twins(learner: Any) -> dict[str, Any]:
    """A copy of the learner for each way to answer that it has, by the name of that way."""
    params = learner._get_params()
    kinds = ["current"]
    if params.get("average", "none") != "none":
        kinds.append("average")
    if params.get("pocket", False):
        kinds.append("pocket")
    if "serve" not in params or len(kinds) == 1:
        return {"": copy.deepcopy(learner)}
    return {
        kind: learner.clone({"serve": kind}, include_attributes=True) for kind in [*kinds, "best"]
    }


def _error(wrong: NDArray[Any], numbers: NDArray[Any], window: int | None) -> NDArray[np.float64]:
    """The error in percent, among answered events, after these numbers of events."""
    errors = np.concatenate([[0], np.cumsum(wrong > 0)])
    answered = np.concatenate([[0], np.cumsum(wrong >= 0)])
    before = 0 if window is None else np.maximum(numbers - window, 0)
    n = answered[numbers] - answered[before]
    found: NDArray[np.float64] = np.full(len(numbers), np.nan)
    np.divide(100.0 * (errors[numbers] - errors[before]), n, out=found, where=n > 0)
    return found


# --- Lines and the ribbon


def _style(ax: Axes, kind: str) -> dict[str, Any]:
    if not kind:
        return {"color": COLOURS[0], "label": "error"}
    at = KINDS.index(kind)
    return {
        "color": ink(ax) if kind == "best" else COLOURS[IN_LINES[at]],
        "linestyle": ("--", "-.", ":", "-")[at],
        "linewidth": (1.5, 1.5, 2, 2)[at],
        "label": kind,
    }


def frame_stream(ax: Axes, most: float, total: int, serving: list[tuple[int, str]]) -> list[Any]:
    """Set the limits of a stream's picture; with a ribbon below, whose parts are returned.

    `serving` says from which event on each vector served; if it is empty, there is no ribbon.
    """
    limit_x(ax, 0, total)
    ax.set_xlabel("events")
    if not serving:
        limit_y(ax, 0.0, most)
        return []
    limit_y(ax, -most * 1.5 * RIBBON / (1 - 1.5 * RIBBON), most)
    return _ribbon(ax, serving, total)


def _ribbon(ax: Axes, serving: list[tuple[int, str]], total: int) -> list[Any]:
    """Draw which vector served when, along the lower edge, with names in the longest spans."""
    spans: dict[str, list[tuple[float, float]]] = {}
    ends = [*(n for n, _ in serving[1:]), total]
    for (first, kind), after in zip(serving, ends, strict=True):
        spans.setdefault(kind, []).append((first, after - first))
    across = ax.get_xaxis_transform()
    parts = []
    for at, kind in enumerate(KINDS):
        if kind not in spans:
            continue
        part = ax.broken_barh(
            spans[kind],
            (0.0, RIBBON),
            transform=across,
            facecolor=_style(ax, kind)["color"],
            hatch=HATCHES[at],
            edgecolor=ink(ax),
            linewidth=0,
            label=f"{kind} serves",
        )
        parts.append(part)
        start, length = max(spans[kind], key=lambda span: span[1])
        ground = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6, "alpha": 0.9}
        if length > 0.2 * total:
            ax.text(
                start + length / 2,
                RIBBON / 2,
                kind,
                transform=across,
                ha="center",
                va="center_baseline",
                fontsize="small",
                color=ink(ax),
                bbox=ground,
            )
    write_beside(ax, "serves", (1.0, RIBBON / 2), xycoords="axes fraction")
    return parts
