"""Events and weights as points and arrows: the boundary, one update, the line along w.

The picture's two axes are two features. Where the score is a sum of weights times values, the
weights between two labels are found by asking: of one label's score less the other's, b is its
value at the origin, and w is what the unit steps add.
"""

from __future__ import annotations

import copy
import math
import typing
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from streamptron._core import PairModel
from streamptron.doors.adaptive import AdaptiveModel
from streamptron.doors.candidates import RankModel
from streamptron.doors.voted import VotedModel
from streamptron.estimator.names import shown
from streamptron.plot.drawing import (
    HATCHES,
    MARKERS,
    axes_of,
    check_axes,
    colour,
    ink,
    said,
    whole,
)
from streamptron.study.data import data_of, learner_of

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

GRID = 200  # points along each side of the plane
SQUARE = 4.0  # up to this ratio of width to height a unit is as long on both axes


def decision_boundary(
    model: Any,
    data: Any = None,
    features: tuple[Hashable, Hashable] | None = None,
    serve: str | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """What a model answers where in a plane, with its weight vector and its margin.

    Between two labels the boundary is a line. If the score is a sum of weights times values, the
    arrow ``w`` stands on it, and if the boundary separates the data, two more lines go through the
    nearest events. The margin is their distance from it, in the unit of the features.

    Parameters
    ----------
    model
        A learner that has met two labels or more. It stays as it is.
    data
        Labelled events to show, as of ``streamptron.study.fit``.
    features
        The two features that are the axes. By default those that the model has, if they are two.
        Any others are 0 in the plane; events are shown at their values of these two.
    serve
        Which of the kept vectors answers: "current", "average" or "pocket"; None: the one that is
        best overall, ``model.serving``.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for the boundary (of more labels and curves: to ``Axes.contour``).

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If the model or the data have other than two features and none are named, or if an argument
        is invalid. Nothing is drawn then.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"x": 1.0, "y": 1.0}, intercept=-1.0)
    >>> data = [({"x": 2, "y": 1}, True), ({"x": 0, "y": 0}, False)]
    >>> ax = plot.decision_boundary(model, data, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel(), [text.get_text() for text in ax.texts]
    ('x', 'y', ['w', 'margin 0.707'])
    """
    check_axes(ax)
    learner = _learner(model, serve)
    labels = learner._known_labels
    if len(labels) < 2:
        raise ValueError(
            f"model has met {len(labels)} label{'s'[: len(labels) != 1]}; a boundary lies between "
            "two or more"
        )
    lessons = None if data is None else data_of(data, check=learner._checked_label)
    there = None if lessons is None else lessons.features()
    plane = _named(features, learner, there or ())
    points = np.zeros((0, 2))
    if lessons is not None and there is not None:
        points = _columns(lessons.matrix(), there, plane)
        if not np.isfinite(points).all():
            raise ValueError("data has a value that is missing or not finite; leave it out")
    line = _line(learner, plane) if len(labels) == 2 and _linear(learner) else None
    box = _box(points, line)
    xs, ys = np.linspace(*box[0], GRID), np.linspace(*box[1], GRID)
    grid = np.stack([each.ravel() for each in np.meshgrid(xs, ys)], axis=1)
    regions = _numbers(learner, grid, plane, labels).reshape(GRID, GRID)
    heights = None
    if line is None and len(labels) == 2:
        heights = _leads(learner, grid, plane).reshape(GRID, GRID)
    least = None
    if line is not None and lessons is not None:
        least = _margin(learner, lessons, line)
    ax = axes_of(ax)
    _regions(ax, xs, ys, regions, labels)
    style = {"color": ink(ax), "linewidth": 1.8, "label": "boundary", **kwargs}
    if line is not None:
        ends = _across(line, box, 0.0)
        if ends is not None:
            ax.plot(*ends, **style)
        if least is not None:
            dashed = {"color": ink(ax), "linewidth": 1, "linestyle": "--", "label": "margin"}
            for side in (least, -least):
                if (ends := _across(line, box, side)) is not None:
                    ax.plot(*ends, **dashed)
    else:
        edges = {"colors": [ink(ax)], "linewidths": 1.8, **kwargs}
        if heights is not None:
            if heights.min() < 0 < heights.max():
                ax.contour(xs, ys, heights, levels=[0.0], **edges)
        elif len(np.unique(regions)) > 1:
            for at in np.unique(regions):
                ax.contour(xs, ys, (regions == at).astype(float), levels=[0.5], **edges)
    if lessons is not None:
        order = {label: at for at, label in enumerate(labels)}
        new = [label for label in lessons.labels if label not in order]
        for number, label in enumerate(lessons.labels):
            at = order.get(label, len(labels) + (new.index(label) if label in new else 0))
            mine = points[lessons.numbers == number]
            ax.scatter(
                mine[:, 0],
                mine[:, 1],
                s=28,
                color=colour(at),
                marker=MARKERS[at % len(MARKERS)],
                edgecolors=ink(ax),
                linewidths=0.6,
                label=said(label),
                zorder=3,
            )
    ax.set_xlim(*box[0])
    ax.set_ylim(*box[1])
    if line is not None:
        _weight_arrow(ax, line, box, least, points)
    ax.set_aspect("equal" if _ratio(box) <= SQUARE else "auto")
    ax.set_xlabel(said(plane[0]))
    ax.set_ylabel(said(plane[1]))
    _legend(ax, labels, lessons)
    return ax


def update(
    model: Any,
    x: Mapping[Any, float],
    y: Any,
    features: tuple[Hashable, Hashable] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """One update: how far the weight vector turns when it learns an event.

    Arrows are the current weights before (dashed) and after, the step between them, and the event
    itself; the arc is the angle. Between two labels that have weights of their own the vector is
    that of the second label less that of the first.

    Parameters
    ----------
    model
        A learner whose score is a sum of weights times values, with two labels. It stays as it is:
        a copy of it learns the event.
    x, y
        The event, a mapping of features to numbers, and its label.
    features
        The two features that are the axes. By default those of the model and the event, if they are
        two.
    ax
        The Axes to draw on; None: the current one.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If model and event have other than two features and none are named, or if an argument is
        invalid. Nothing is drawn then.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"x": 2.0, "y": 0.0})
    >>> ax = plot.update(model, {"x": -1, "y": 1}, True, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts if text.get_text()]
    ['w before', 'w after', 'step', 'event True', '45°']
    """
    check_axes(ax)
    learner = _learner(model, None)
    if not _linear(learner):
        raise TypeError(
            f"the score of this {type(learner).__name__} is no sum of weights times values, so it "
            "has no vector that turns"
        )
    if not isinstance(x, Mapping):
        raise TypeError(f"x is a {type(x).__name__}; give a mapping of two features to numbers")
    twin = copy.deepcopy(_serving(learner_of(model)[1], "current"))
    known = twin._known_labels
    if len(known) != 2:
        raise ValueError(
            f"model has met {len(known)} label{'s'[: len(known) != 1]}; the vector lies between two"
        )
    if twin._checked_label(y) not in known:
        raise ValueError(f"y={shown(y)} is a third label; the model knows {shown(known)}")
    plane = _named(features, twin, x)
    before = _line(twin, plane)[0]
    twin.learn_one(x, y)
    after = _line(twin, plane)[0]
    event = np.array([float(x.get(name, 0.0)) for name in plane])
    ax = axes_of(ax)
    ends = np.stack([np.zeros(2), before, after, event])
    low, high = ends.min(axis=0), ends.max(axis=0)
    middle, half = (low + high) / 2, 0.62 * float((high - low).max()) or 1.0
    ax.set_xlim(middle[0] - half, middle[0] + half)
    ax.set_ylim(middle[1] - half, middle[1] + half)
    ax.set_aspect("equal")
    for each in (ax.axhline, ax.axvline):
        each(0.0, color=ink(ax), linewidth=0.5, zorder=0)
    moved = bool((before != after).any())
    if before.any() and moved:
        _arrow(ax, np.zeros(2), before, "w before", color=colour(0), linestyle="--")
    if after.any() or not moved:
        name = "w after" if moved else "w (no update)"
        _arrow(ax, np.zeros(2), after, name, color=colour(0))
    if moved:
        _arrow(ax, before, after, "step", color=colour(2), middle=True)
    _arrow(ax, np.zeros(2), event, f"event {said(y)}", color=ink(ax), thin=True)
    if moved and before.any() and after.any():
        _angle(ax, before, after)
    ax.set_xlabel(f"{said(plane[0])} (weight, value)")
    ax.set_ylabel(f"{said(plane[1])} (weight, value)")
    return ax


def projections(
    model: Any,
    data: Any,
    serve: str | None = None,
    bins: int = 30,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Where the events of two labels lie along the weight vector, and the threshold between them.

    The place of an event is w.x / |w|, a length in the unit of the features; the model's answer
    changes at the threshold, -b / |w|.

    Parameters
    ----------
    model
        A learner whose score is a sum of weights times values, with two labels, of any number of
        features; or ``Tokenizer() | learner`` for texts. It stays as it is.
    data
        Labelled events, as of ``streamptron.study.fit``.
    serve
        Which of the kept vectors: "current", "average" or "pocket"; None: the one that is best
        overall, ``model.serving``.
    bins
        Into how many bars the events go.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.hist``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If the model has no such score, or if its weights are all 0, or if an argument is invalid.
        Nothing is drawn then.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"x": 3.0, "y": 4.0}, intercept=-5.0)
    >>> data = [({"x": 3, "y": 4}, True), ({"x": -1}, False)]
    >>> ax = plot.projections(model, data, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['threshold 1']
    """
    check_axes(ax)
    whole("bins", bins)
    tokenizer, _ = learner_of(model)
    learner = _learner(model, serve)
    if not _linear(learner):
        raise TypeError(
            f"the score of this {type(learner).__name__} is no sum of weights times values, so "
            "there is no vector to project on"
        )
    labels = learner._known_labels
    if len(labels) != 2:
        raise ValueError(f"model has met {len(labels)} labels; one vector lies between two")
    lessons = data_of(data, tokenizer, learner._checked_label)
    scores = _towards(learner, lessons.scores(learner))
    w, b = _between(learner)
    length = math.sqrt(math.fsum(each * each for each in w))
    if length == 0.0:
        raise ValueError("all weights of the model are 0: there is no vector to project on")
    places, threshold = (scores - b) / length, -b / length
    ax = axes_of(ax)
    low = min(float(places.min()), threshold)
    high = max(float(places.max()), threshold)
    room = 0.04 * (high - low) or 1.0
    edges = np.linspace(low - room, high + room, bins + 1)
    order = {label: at for at, label in enumerate(labels)}
    for number, label in enumerate(lessons.labels):
        at = order.get(label, 2 + number)
        style = {
            "histtype": "stepfilled",
            "facecolor": colour(at),
            "alpha": 0.75,
            "hatch": HATCHES[at % len(HATCHES)],
            "edgecolor": ink(ax),
            "linewidth": 1,
            "label": said(label),
            **kwargs,
        }
        ax.hist(places[lessons.numbers == number], edges, **style)
    ax.axvline(threshold, color=ink(ax), linestyle="--", linewidth=1.5)
    top = ax.get_ylim()[1] * 1.12
    ax.set_ylim(0.0, top)
    left = threshold > (low + high) / 2
    ax.annotate(
        f"threshold {threshold:.3g}",
        (threshold, 0.985 * top),
        (-5 if left else 5, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        color=ink(ax),
    )
    ax.set_xlabel("projection on w (unit of the features)")
    ax.set_ylabel("events")
    ax.legend(loc="upper left" if not left else "upper right", title="label")
    return ax


# --- The model: who answers, its labels, its line


def _learner(model: Any, serve: Any) -> Any:
    """The learner, answering by one kept vector only."""
    _, learner = learner_of(model)
    if isinstance(learner, RankModel):
        raise TypeError(
            f"a {type(learner).__name__} has no boundary between labels; top_weights and "
            "explanation show it"
        )
    return _serving(learner, serve)


def _serving(learner: Any, serve: Any) -> Any:
    if "serve" not in learner._get_params():
        if serve not in (None, "current"):
            raise ValueError(f"serve={shown(serve)}; a {type(learner).__name__} has one vector")
        return learner
    if serve == "best":
        raise ValueError("serve='best' chooses anew for each event; name one vector, or None")
    wanted = learner.serving if serve is None else serve
    return learner.clone({"serve": wanted}, include_attributes=True)


def _linear(learner: Any) -> bool:
    """Whether the score is a sum of weights times values."""
    if isinstance(learner, AdaptiveModel | VotedModel):
        return False
    return learner.degree == 1 and not learner.interactions


def _named(
    features: Any, learner: Any, others: typing.Iterable[Hashable]
) -> tuple[Hashable, Hashable]:
    """The two features that are the axes, or an error that says how to name them."""
    if features is not None:
        if isinstance(features, str | bytes) or not isinstance(features, tuple | list):
            raise TypeError(f"features={shown(features)}; name two, as features=('a', 'b')")
        if len(features) != 2 or features[0] == features[1]:
            raise ValueError(f"features={shown(features)}; name two, as features=('a', 'b')")
        return features[0], features[1]
    known: dict[Hashable, None] = {}
    if getattr(learner, "hash_bits", None) is None:
        known = dict.fromkeys(_features(learner))
    known |= dict.fromkeys(others)
    names = list(known)
    if len(names) == 2:
        try:
            first, second = sorted(names)  # type: ignore[type-var]
        except TypeError:
            first, second = names
        return first, second
    example = f"features={tuple(names[:2])!r}" if len(names) > 2 else "features=('a', 'b')"
    what = f"{len(names)} feature{'s'[: len(names) != 1]} ({shown(names, 80)})" if names else "none"
    raise ValueError(
        f"the picture is of two features, and there {'are' if len(names) != 1 else 'is'} {what}; "
        f"name two, {example}: any others are 0 in the plane"
    )


def _features(learner: Any) -> list[Hashable]:
    """The names that have weights."""
    if isinstance(learner, VotedModel) and learner.degree > 1:
        return []  # it has no weights by name
    found = dict.fromkeys(
        name for weights in learner._weights(learner.serving)[1] for name in weights
    )
    paired = getattr(learner, "degree", 1) != 1 or getattr(learner, "interactions", None)
    return [name for name in found if not (paired and hasattr(name, "second"))]


def _towards(learner: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the second label is ahead of the first: of one score or two a row."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        alone: NDArray[np.float64] = scores.reshape(-1)
        return -alone if isinstance(learner, PairModel) and learner._positive == 0 else alone
    ahead: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
    return ahead


def _leads(learner: Any, points: NDArray[np.float64], plane: tuple[Any, Any]) -> Any:
    found = learner.decision_function_many(points, feature_names=list(plane))
    return _towards(learner, np.asarray(found))


def _line(learner: Any, plane: tuple[Any, Any]) -> tuple[NDArray[np.float64], float]:
    """w and b of how far the second label is ahead, in the plane of two features."""
    at = _leads(learner, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), plane)
    return np.array([at[1] - at[0], at[2] - at[0]]), float(at[0])


def _between(learner: Any) -> tuple[list[float], float]:
    """All weights between two labels, and the intercept; towards the second label."""
    kind = learner.serving
    rows = learner._weights(kind)[1]
    biases = learner._intercepts(kind)[1]
    if len(rows) == 1:
        sign = -1.0 if isinstance(learner, PairModel) and learner._positive == 0 else 1.0
        return [sign * weight for weight in rows[0].values()], sign * biases[0]
    first, second = rows
    names = dict.fromkeys([*first, *second])
    return [second.get(n, 0.0) - first.get(n, 0.0) for n in names], biases[1] - biases[0]


def _numbers(
    learner: Any, points: NDArray[np.float64], plane: tuple[Any, Any], labels: list[Any]
) -> NDArray[np.intp]:
    """The number of each point's answer among the labels."""
    answers = learner.predict_many(points, feature_names=list(plane)).tolist()
    order = {label: at for at, label in enumerate(labels)}
    return np.array([order[answer] for answer in answers], dtype=np.intp)


def _margin(learner: Any, lessons: Any, line: Any) -> float | None:
    """The distance of the nearest event, if all are on their sides; else None."""
    labels = learner._known_labels
    if any(label not in labels for label in lessons.labels):
        return None
    leads = _towards(learner, lessons.scores(learner))
    signs = np.array([1.0 if label == labels[1] else -1.0 for label in lessons.labels])
    least = float((signs[lessons.numbers] * leads).min())
    length = math.hypot(*line[0])
    return least / length if least > 0.0 and length > 0.0 else None


def _columns(matrix: Any, there: list[Any], plane: tuple[Any, Any]) -> NDArray[np.float64]:
    """Each event's values of the two features."""
    column = {name: at for at, name in enumerate(there)}
    found = np.zeros((matrix.shape[0], 2))
    for at, name in enumerate(plane):
        if name in column:
            found[:, at] = matrix[:, [column[name]]].toarray().ravel()
    return found


# --- The plane


def _box(points: NDArray[np.float64], line: Any) -> Any:
    """The limits of both axes: around the events, or around the boundary's nearest point."""
    if len(points):
        low, high = points.min(axis=0), points.max(axis=0)
        size = high - low
        room = 0.15 * np.where(size > 0, size, size.max() or 1.0)
        low, high = low - room, high + room
        width = high - low
        if width.max() <= SQUARE * width.min():  # square, so that an arrow has room beside
            more = (np.maximum(width, 0.8 * width.max()) - width) / 2
            low, high = low - more, high + more
        return (low[0], high[0]), (low[1], high[1])
    half = 1.0
    if line is not None and line[0].any():
        half = max(1.0, 1.5 * abs(line[1]) / math.hypot(*line[0]))
    return (-half, half), (-half, half)


def _ratio(box: Any) -> float:
    width, height = box[0][1] - box[0][0], box[1][1] - box[1][0]
    return float(max(width / height, height / width))


def _across(line: Any, box: Any, distance: float) -> Any:
    """Where the line at some distance from the boundary enters and leaves the box: xs, ys."""
    w, b = line
    length = math.hypot(*w)
    if length == 0.0:
        return None
    wanted = distance * length - b
    found = []
    for axis in (0, 1):
        other = 1 - axis
        if w[other] == 0.0:
            continue
        for edge in box[axis]:
            at = (wanted - w[axis] * edge) / w[other]
            low, high = box[other]
            if low <= at <= high:
                found.append((edge, at) if axis == 0 else (at, edge))
    if len(found) < 2:
        return None
    first = min(found)
    last = max(found, key=lambda point: math.dist(point, first))
    return (first[0], last[0]), (first[1], last[1])


def _weight_arrow(ax: Axes, line: Any, box: Any, least: float | None, points: Any) -> None:
    """The arrow w on the boundary, and what the margin is."""
    w, b = line
    ends = _across(line, box, 0.0)
    if ends is None:
        return
    (x0, x1), (y0, y1) = ends
    start = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    size = min(box[0][1] - box[0][0], box[1][1] - box[1][0])
    unit = w / math.hypot(*w)
    _arrow(ax, start, start + 0.18 * size * unit, "w", color=ink(ax))
    if least is None:
        return
    along = np.array([x1 - x0, y1 - y0])
    foot = np.array([x0, y0]) + 0.25 * along
    _shaft(ax, foot, foot + least * unit, arrowstyle="<->", color=ink(ax), mutation_scale=10)
    ax.annotate(
        f"margin {least:.3g}",
        tuple(foot + least * unit),
        (5 if unit[0] >= 0 else -5, 3 if unit[1] >= 0 else -3),
        textcoords="offset points",
        ha="left" if unit[0] >= 0 else "right",
        va="bottom" if unit[1] >= 0 else "top",
        color=ink(ax),
        zorder=4,
    )


def _regions(ax: Axes, xs: Any, ys: Any, regions: Any, labels: list[Any]) -> None:
    """What is answered where, faintly behind everything."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap([colour(at) for at in range(len(labels))])
    dx, dy = (xs[1] - xs[0]) / 2, (ys[1] - ys[0]) / 2
    ax.imshow(
        regions,
        cmap=colours,
        vmin=-0.5,
        vmax=len(labels) - 0.5,
        alpha=0.22,
        origin="lower",
        extent=(xs[0] - dx, xs[-1] + dx, ys[0] - dy, ys[-1] + dy),
        interpolation="nearest",
        aspect="auto",
        zorder=0,
    )


def _legend(ax: Axes, labels: list[Any], lessons: Any) -> None:
    from matplotlib.patches import Patch

    handles: list[Any] = []
    if lessons is None:
        handles = [
            Patch(facecolor=colour(at), alpha=0.5, label=said(label))
            for at, label in enumerate(labels)
        ]
    else:
        handles = list(ax.collections[-len(lessons.labels) :])
    ax.legend(handles=handles, title="label", loc="best", framealpha=0.9)


def _arrow(
    ax: Axes,
    start: Any,
    end: Any,
    name: str,
    *,
    color: Any,
    linestyle: str = "-",
    middle: bool = False,
    thin: bool = False,
) -> None:
    """An arrow with its name at its head, or beside its middle."""
    ax.annotate(
        name,
        tuple((start + end) / 2 if middle else end),
        (5, 5),
        textcoords="offset points",
        color=ink(ax),
        zorder=5,
    )
    width = 1.0 if thin else 2.0
    _shaft(ax, start, end, color=color, linestyle=linestyle, linewidth=width)


def _shaft(ax: Axes, start: Any, end: Any, **style: Any) -> None:
    from matplotlib.patches import FancyArrowPatch

    style = {"arrowstyle": "-|>", "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0, **style}
    ax.add_patch(FancyArrowPatch(tuple(start), tuple(end), zorder=4, **style))


def _angle(ax: Axes, before: Any, after: Any) -> None:
    """The arc between two vectors, with its degrees."""
    from matplotlib.patches import Arc

    radius = 0.4 * min(math.hypot(*before), math.hypot(*after))
    first, second = (math.degrees(math.atan2(v[1], v[0])) for v in (before, after))
    turned = (second - first + 180) % 360 - 180
    low, high = sorted((first, first + turned))
    ax.add_patch(
        Arc((0, 0), 2 * radius, 2 * radius, theta1=low, theta2=high, color=ink(ax), linewidth=1.5)
    )
    at = math.radians((low + high) / 2)
    ax.annotate(
        f"{abs(turned):.3g}°",
        (1.25 * radius * math.cos(at), 1.25 * radius * math.sin(at)),
        ha="center",
        va="center",
        color=ink(ax),
        zorder=5,
    )
