"""A model's answers in the plane of two features."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.estimator.finite import data_of
from streamptron.estimator.looking import Before
from streamptron.plot.drawing import (
    MARKERS,
    Axes,
    arrow,
    axes_of,
    check_axes,
    colours_of,
    ink,
    label_text,
    legend_above,
    name_point,
)
from streamptron.plot.linear import (
    aheads,
    answering,
    answers_at,
    is_linear,
    line_between,
    two_features,
)

GRID = 200  # points along each side of the plane
SQUARE = 4.0  # up to this ratio of width to height, both axes have the same scale


def decision_boundary(
    model: Any,
    data: Any = None,
    features: tuple[Hashable, Hashable] | None = None,
    serve: str | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot a model's answers in a plane, with its weight vector and its margin.

    Between two labels, if the score is a sum of weights times values, the boundary is a line. The
    arrow ``w`` stands on it, if both axes can have the same scale. If the boundary separates the
    data, two more lines go through the nearest events. The margin is their distance from the
    boundary, in the unit of the features.

    Parameters
    ----------
    model
        A learner that has met two labels or more. It is not changed.
    data
        Labelled events to show, as for ``streamptron.study.fit``.
    features
        The two features on the axes. By default the features of the model, if there are two. All
        other features are 0 in the plane; events are drawn at their values of these two.
    serve
        Which of the kept vectors answers: "current", "average" or "pocket"; None: the one that is
        best overall, ``model.serving``.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for the boundary (to ``Axes.contour`` if it is not a single line).

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If the model and the data do not have exactly two features and none are named, or if an
        argument is invalid. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"x": 1.0, "y": 1.0}, intercept=-1.0)
    >>> data = [({"x": 2, "y": 1}, True), ({"x": 0, "y": 0}, False)]
    >>> ax = plot.decision_boundary(model, data, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['False', 'True', 'margin 0.707']
    """
    check_axes(ax)
    before, learner = answering(model, serve)
    labels = learner._known_labels
    if len(labels) < 2:
        raise ValueError(
            f"model has met {len(labels)} label{'s'[: len(labels) != 1]}; a boundary needs at "
            "least two"
        )
    lessons: Any = None
    if data is not None:
        steps = before if isinstance(before, Before) else None  # a Tokenizer makes no plane
        lessons = data_of(data, steps, learner._checked_label, missing=learner.missing)
    there = [] if lessons is None else lessons.features()
    plane = two_features(features, learner, there)
    points = np.zeros((0, 2)) if lessons is None else _columns(lessons.matrix(), there, plane)
    if not np.isfinite(points).all():
        raise ValueError("data has a value that is missing or not finite; leave it out")
    line = line_between(learner, plane) if len(labels) == 2 and is_linear(learner) else None
    box = _box(points, line)
    xs, ys = (np.linspace(low, high, GRID) for low, high in box)
    grid = np.stack([each.ravel() for each in np.meshgrid(xs, ys)], axis=1)
    regions = answers_at(learner, grid, plane, labels).reshape(GRID, GRID)
    heights = [] if line is not None else list(aheads(learner, grid, plane, regions))
    least = None if line is None or lessons is None else _margin(line, points, lessons, labels)
    ax = axes_of(ax)
    _regions(ax, xs, ys, regions, labels)
    if line is not None:
        _lines(ax, line, box, least, kwargs)
    else:
        edges = {"colors": [ink(ax)], "linewidths": 1.8, **kwargs}
        for height in heights:
            if height.min() < 0 < height.max():
                ax.contour(xs, ys, height.reshape(GRID, GRID), levels=[0.0], **edges)
    if lessons is not None:
        _events(ax, points, lessons, labels)
    ax.set(xlim=box[0], ylim=box[1], xlabel=label_text(plane[0]), ylabel=label_text(plane[1]))
    narrow, wide = sorted(high - low for low, high in box)
    square = wide / narrow <= SQUARE
    if line is not None and square:  # if not, a right angle would not look like one
        _weight_arrow(ax, line, box, points)
    ax.set_aspect("equal" if square else "auto")
    _legend(ax, labels, lessons)
    return ax


def _margin(line: Any, points: Any, lessons: Any, labels: list[Any]) -> float | None:
    """The distance of the nearest event if all are on the right side, else None."""
    w, b = line
    length = math.hypot(*w)
    if length == 0.0 or any(label not in labels for label in lessons.labels):
        return None
    signs = np.array([1.0 if label == labels[1] else -1.0 for label in lessons.labels])
    least = float((signs[lessons.numbers] * (points @ w + b)).min())
    return least / length if least > 0.0 else None


def _columns(matrix: Any, there: list[Any], plane: tuple[Any, Any]) -> NDArray[np.float64]:
    """The values of the two features for each event."""
    column = {name: at for at, name in enumerate(there)}
    found = np.zeros((matrix.shape[0], 2))
    for at, name in enumerate(plane):
        if name in column:
            found[:, at] = matrix[:, [column[name]]].toarray().ravel()
    return found


def _box(points: NDArray[np.float64], line: Any) -> Any:
    """The limits of both axes: around the events, or around the boundary's nearest point."""
    if len(points):
        low, high = points.min(axis=0), points.max(axis=0)
        size = high - low
        room = 0.15 * np.where(size > 0, size, size.max() or 1.0)
        low, high = low - room, high + room
        width = high - low
        if width.max() <= SQUARE * width.min():  # nearly square, so that an arrow has room
            more = (np.maximum(width, 0.8 * width.max()) - width) / 2
            low, high = low - more, high + more
        return (low[0], high[0]), (low[1], high[1])
    half = 1.0
    if line is not None and line[0].any():
        half = max(1.0, 1.5 * abs(line[1]) / math.hypot(*line[0]))
    return (-half, half), (-half, half)


def _across(line: Any, box: Any, distance: float) -> Any:
    """Where a line parallel to the boundary, at a distance, enters and leaves the box: xs, ys."""
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


def _lines(ax: Axes, line: Any, box: Any, least: float | None, given: dict[str, Any]) -> None:
    """Draw the boundary, and a line through the nearest events on each side."""
    style = {"color": ink(ax), "linewidth": 1.8, "label": "boundary", **given}
    if (ends := _across(line, box, 0.0)) is not None:
        ax.plot(*ends, **style)
    if least is not None:
        dashed = {"color": ink(ax), "linewidth": 1, "linestyle": "--"}
        sides = [ends for side in (least, -least) if (ends := _across(line, box, side)) is not None]
        for at, ends in enumerate(sides):
            ax.plot(*ends, label="_other side" if at else f"margin {least:.3g}", **dashed)


def _events(ax: Axes, points: Any, lessons: Any, labels: list[Any]) -> None:
    """Draw the events, each label with its own colour and marker."""
    there = {label: number for number, label in enumerate(lessons.labels)}
    every = list(dict.fromkeys([*labels, *lessons.labels]))
    for at, (label, own) in enumerate(zip(every, colours_of(every), strict=True)):
        if label in there:
            mine = points[lessons.numbers == there[label]]
            ax.scatter(
                mine[:, 0],
                mine[:, 1],
                s=28,
                color=own,
                marker=MARKERS[at % len(MARKERS)],
                edgecolors=ink(ax),
                linewidths=0.6,
                label=label_text(label),
                zorder=3,
            )


def _weight_arrow(ax: Axes, line: Any, box: Any, points: Any) -> None:
    """Draw the arrow w on the boundary, where it hides no event."""
    w = line[0]
    ends = _across(line, box, 0.0)
    if ends is None:
        return
    (x0, x1), (y0, y1) = ends
    size = min(box[0][1] - box[0][0], box[1][1] - box[1][0])
    unit = w / math.hypot(*w)
    foot, along = np.array([x0, y0]), np.array([x1 - x0, y1 - y0])
    start = _clearest(foot, along, 0.18 * size * unit, points)
    arrow(ax, start, start + 0.18 * size * unit, color=ink(ax))
    name_point(ax, "w", start + 0.18 * size * unit)


def _clearest(foot: Any, along: Any, arrow: Any, points: Any) -> Any:
    """The place on the boundary where an arrow and its name are farthest from all points."""
    best, widest = foot + 0.5 * along, -1.0
    for share in np.linspace(0.2, 0.8, 25):
        start = foot + share * along
        places = start + np.linspace(0, 1.3, 8)[:, None] * arrow
        gaps = np.linalg.norm(places[:, None] - points[None], axis=2)
        # of two equally clear places, prefer the one nearer to the middle
        clear = (gaps.min() if gaps.size else 1.0) * (1.0 - 0.3 * abs(share - 0.5))
        if clear > widest:
            best, widest = start, float(clear)
    return best


def _regions(ax: Axes, xs: Any, ys: Any, regions: Any, labels: list[Any]) -> None:
    """Draw the regions of the answers, faintly behind everything."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap(colours_of(labels))
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

    if lessons is not None:
        margins = [line for line in ax.lines if str(line.get_label()).startswith("margin")]
        legend_above(ax, [*ax.collections[-len(lessons.labels) :], *margins])
        return
    regions = zip(labels, colours_of(labels), strict=True)
    parts = [Patch(facecolor=own, alpha=0.5, label=label_text(label)) for label, own in regions]
    legend_above(ax, parts)
