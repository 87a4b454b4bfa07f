"""The weight vector as an arrow, and events projected on it."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from streamptron.common.checks import at_least_one
from streamptron.common.names import short_repr, type_shown
from streamptron.estimator.finite import data_of
from streamptron.estimator.looking import Before
from streamptron.plot.drawing import (
    COLOURS,
    HATCHES,
    Axes,
    arrow,
    axes_of,
    check_axes,
    colours_of,
    halo,
    ink,
    label_text,
    legend_above,
    name_point,
    write_beside,
)
from streamptron.plot.linear import (
    answering,
    check_linear,
    line_between,
    towards,
    two_features,
    weights_between,
)


def update(
    model: Any,
    x: Mapping[Any, float],
    y: Any,
    features: tuple[Hashable, Hashable] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot one update: how far the weight vector turns when it learns an event.

    The arrows are the current weights before (dashed) and after, the step between them, and the
    event itself; the arc is the angle. If both labels have their own weights, the vector is that of
    the second label minus that of the first.

    Parameters
    ----------
    model
        A learner with two labels whose score is a sum of weights times values. It is not changed: a
        copy of it learns the event.
    x, y
        The event, a mapping of features to numbers, and its label.
    features
        The two features on the axes. By default the features of the model and the event, if there
        are two.
    ax
        The Axes to draw on; None: the current one.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If the model and the event do not have exactly two features and none are named, or if an
        argument is invalid. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"x": 2.0, "y": 0.0})
    >>> ax = plot.update(model, {"x": -1, "y": 1}, True, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['step', 'w before', 'w after', 'event True', '45°']
    """
    check_axes(ax)
    steps, learner = answering(model, "current")
    check_linear(learner, "it has no vector that turns")
    if not isinstance(x, Mapping):
        raise TypeError(f"x is {type_shown(x)}; give a mapping of two features to numbers")
    twin = copy.deepcopy(learner)
    if isinstance(steps, Before):
        x = steps.transform_one(x)
    known = twin._known_labels
    if len(known) != 2:
        raise ValueError(
            f"model has met {len(known)} label{'s'[: len(known) != 1]}; the vector needs two"
        )
    if twin._checked_label(y) not in known:
        raise ValueError(f"y={short_repr(y)} is a third label; the model knows {short_repr(known)}")
    plane = two_features(features, twin, x)
    before = line_between(twin, plane)[0]
    twin.learn_one(x, y)
    after = line_between(twin, plane)[0]
    event = np.array([float(x.get(name, 0.0)) for name in plane])
    ax = axes_of(ax)
    corners = np.stack([np.zeros(2), before, after, event])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, half = (low + high) / 2, 0.65 * float((high - low).max()) or 1.0
    low, high = middle - half, middle + half
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    for each in (ax.axhline, ax.axvline):
        each(0.0, color=ink(ax), linewidth=0.5, zorder=0)
    zero, moved = np.zeros(2), bool((before != after).any())
    named = [("w after" if moved else "w (no update)", after), (f"event {label_text(y)}", event)]
    if moved and before.any():
        named.insert(0, ("w before", before))
        arrow(ax, zero, before, color=COLOURS[0], linestyle="--")
        arrow(ax, before, after, color=COLOURS[2])
        name_point(ax, "step", (before + after) / 2)
    arrow(ax, zero, after, color=COLOURS[0])
    arrow(ax, zero, event, color=ink(ax), linewidth=1.0)
    ends: dict[tuple[float, ...], list[str]] = {}
    for name, end in named:  # arrows that end at the same point share a text
        ends.setdefault(tuple(end.tolist()), []).append(name)
    for point, names in ends.items():
        name_point(ax, " = ".join(names), point)
    if moved and before.any() and after.any():
        _angle(ax, before, after)
    names = [f"{label_text(name)} (weight, value)" for name in plane]
    ax.set(xlabel=names[0], ylabel=names[1])
    return ax


def projections(
    model: Any,
    data: Any,
    serve: str | None = None,
    bins: int = 30,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot where events of two labels lie along the weight vector, and the threshold between them.

    The position of an event is ``w.x / |w|``, a length in the unit of the features; the answer
    changes at the threshold, ``-b / |w|``.

    Parameters
    ----------
    model
        A learner with two labels, and any number of features, whose score is a sum of weights times
        values; or ``Tokenizer() | learner`` for texts. It is not changed.
    data
        Labelled events, as for ``streamptron.study.fit``.
    serve
        Which of the kept vectors: "current", "average" or "pocket"; None: the one that is best
        overall, ``model.serving``.
    bins
        The number of bars.
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
        Nothing is drawn.
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
    at_least_one("bins", bins)
    tokenizer, learner = answering(model, serve)
    check_linear(learner, "there is no vector to project on")
    labels = learner._known_labels
    if len(labels) != 2:
        raise ValueError(f"model has met {len(labels)} labels; the vector needs two")
    lessons = data_of(data, tokenizer, learner._checked_label, missing=learner.missing)
    scores = towards(learner, lessons.scores(learner))
    w, b = weights_between(learner)
    length = math.sqrt(math.fsum(each * each for each in w.values()))
    if length == 0.0:
        raise ValueError("all weights of the model are 0: there is no vector to project on")
    places, threshold = (scores - b) / length, -b / length
    ax = axes_of(ax)
    low = min(float(places.min()), threshold)
    high = max(float(places.max()), threshold)
    room = 0.04 * (high - low) or 1.0
    edges = np.linspace(low - room, high + room, bins + 1)
    order = {label: at for at, label in enumerate(labels)}
    numbers = {label: number for number, label in enumerate(lessons.labels)}
    own = colours_of([*labels, ""])
    for label in sorted(numbers, key=lambda label: order.get(label, 2)):
        at, number = order.get(label, 2), numbers[label]
        style = {
            "histtype": "stepfilled",
            "facecolor": own[at],
            "alpha": 0.75,
            "hatch": HATCHES[at % len(HATCHES)],
            "edgecolor": ink(ax),
            "linewidth": 1,
            "label": label_text(label),
            **kwargs,
        }
        ax.hist(places[lessons.numbers == number], edges.tolist(), **style)
    ax.axvline(threshold, color=ink(ax), linestyle="--", linewidth=1.5)
    top = ax.get_ylim()[1] * 1.12
    ax.set_ylim(0.0, top)
    right = -5 if threshold > (low + high) / 2 else 5
    write_beside(ax, f"threshold {threshold:.3g}", (threshold, 0.985 * top), right, va="top")
    ax.set(xlabel="projection on w (unit of the features)", ylabel="events")
    legend_above(ax)
    return ax


def _angle(ax: Axes, before: Any, after: Any) -> None:
    """Draw the arc between two vectors, with its angle in degrees."""
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
        (radius * math.cos(at), radius * math.sin(at)),
        (7 * math.cos(at), 7 * math.sin(at)),
        textcoords="offset points",
        ha="center" if abs(math.cos(at)) < 0.4 else "left" if math.cos(at) > 0 else "right",
        va="center" if abs(math.sin(at)) < 0.4 else "bottom" if math.sin(at) > 0 else "top",
        color=ink(ax),
        **halo(ax),
        zorder=5,
    )
