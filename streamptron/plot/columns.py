"""What a column of numbers adds to a score: its line and its curve."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from streamptron.common.checks import at_least_one
from streamptron.common.names import short_repr, type_shown
from streamptron.estimator.looking import learner_of
from streamptron.plot.drawing import (
    Axes,
    axes_of,
    check_axes,
    ink,
    label_text,
    line_style,
    name_lines,
)

POINTS = 121  # points of a line
NEAR = 1e-3  # relative difference between the mean size and minus the mean, if all are negative
TINY = 1e-9  # in standard deviations
WIDTH = 3.0  # standard deviations to each side of the mean
THIN = 0.9  # the width of a straight line beside a curve

Spread = tuple[float, float, float]  # mean, standard deviation, mean size


def column(model: Any, name: Hashable, n: int = 6, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Plot what a column of numbers adds to the score, from low values to high ones.

    All other columns are at their means, and there are no words. If the column has a curve, the
    thin line is its straight line alone. `surface` shows what a column adds together with another.
    The band shows where the column's values lie: one standard deviation to each side of the mean,
    which is the line in the band. A column that was never negative is drawn from 0 on, and one that
    was never positive up to 0.

    Parameters
    ----------
    model
        An AdaptiveClassifier, or a pipeline that ends in one.
    name
        The column: a feature that many events have, and whose value varies.
    n
        The largest number of labels to draw lines for: those for which the column matters most. Two
        labels share one line.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if the model has no such column. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import AdaptiveClassifier, plot
    >>> model = AdaptiveClassifier()
    >>> for age in range(20, 80):
    ...     model.learn_one({"age": age}, age > 50)
    >>> ax = plot.column(model, "age", ax=Figure().subplots())
    >>> line = ax.lines[-1].get_ydata()
    >>> bool(line[0] < 0 < line[-1])
    True
    """
    check_axes(ax)
    at_least_one("n", n)
    learner, columns = columns_of(model)
    spread, others = spread_of(columns, name), usual(columns, name)
    xs = np.linspace(*reach(spread, WIDTH), POINTS)
    labels = learner._known_labels if learner._scores_by_label else [None]
    events = [{**others, name: x} for x in xs.tolist()]
    lines = {label: shares(learner, events, name, label) for label in labels}
    drawn = sorted(lines, key=lambda label: -np.ptp(lines[label]))[:n]
    straight = _straight(learner)
    alone = {label: shares(straight, events, name, label) for label in drawn}
    ax = axes_of(ax)
    ax.axvspan(*reach(spread, 1.0), color=ink(ax), alpha=0.08, linewidth=0)
    ax.axvline(spread[0], color=ink(ax), linewidth=0.8, alpha=0.5)
    ax.axhline(0.0, color=ink(ax), linewidth=0.8)
    named = {}
    for at, label in enumerate(drawn):
        (named[label_text(label)],) = ax.plot(xs, lines[label], **{**line_style(at), **kwargs})
    bent = [label for label in drawn if np.any(lines[label] != alone[label])]
    for label in bent:
        style = {**line_style(drawn.index(label)), "linewidth": THIN, "alpha": 0.7}
        ax.plot(xs, alone[label], label="_", zorder=1.9, **style)
    if labels == [None]:
        ax.set_ylabel(f"part of the score for {label_text(learner._towards)}")
        named = dict(zip(["line and curve"], named.values(), strict=True))
    else:
        ax.set_ylabel("part of the label's score")
    if bent or labels != [None]:
        name_lines(ax, named, [_thin(ax)] if bent else ())
    ax.set(xlabel=label_text(name), xlim=(xs[0], xs[-1]))
    return ax


def columns_of(model: Any) -> tuple[Any, dict[Hashable, Spread]]:
    """The learner of a model, and its columns of numbers; an error if it cannot have any."""
    _, learner = learner_of(model)
    if not hasattr(learner, "_columns"):
        raise TypeError(
            f"the model is {type_shown(learner)}, which keeps no columns of numbers; give an "
            "AdaptiveClassifier, or draw the weights of any learner by top_weights"
        )
    if learner.hash_bits is not None:
        raise ValueError("a model with hash_bits keeps no names: its columns cannot be drawn")
    if learner.degree != 1 or learner.interactions:
        raise ValueError(
            "with pairs of features, a column does not act alone; draw a model without degree and "
            "interactions"
        )
    return learner, learner._columns()


def spread_of(columns: dict[Hashable, Spread], name: Hashable) -> Spread:
    """The distribution of a column's values, or an error that says why it cannot be drawn."""
    if name not in columns:
        raise ValueError(f"{short_repr(name)} is not a column of numbers: {columns_shown(columns)}")
    spread = columns[name]
    if not (math.isfinite(spread[1]) and spread[1] > 0.0):
        raise ValueError(f"the values of {short_repr(name)} hardly vary: there is nothing to draw")
    return spread


def columns_shown(columns: dict[Hashable, Spread]) -> str:
    """The columns of a model, for an error."""
    if columns:
        return f"the model has {short_repr(list(columns), 200)}"
    return "the model has none. A column is a feature of half of the events, whose value varies"


def usual(columns: dict[Hashable, Spread], *names: Hashable) -> dict[Hashable, float]:
    """An event with all columns except these, at their means."""
    return {name: mean for name, (mean, *_) in columns.items() if mean and name not in names}


def reach(spread: Spread, width: float) -> tuple[float, float]:
    """The range of `width` deviations around the mean, cut at 0 if all values have one sign."""
    mean, deviation, size = spread
    edge = TINY * deviation  # not 0 itself, which may be a gap
    least = edge if math.copysign(1.0, size) > 0.0 else -math.inf
    most = -edge if abs(abs(size) + mean) <= NEAR * -mean else math.inf
    low, high = (min(max(mean + side * deviation, least), most) for side in (-width, width))
    return low, high


def shares(learner: Any, events: list[dict[Hashable, float]], name: Any, label: Any) -> Any:
    """The contribution of a feature to the score of each event."""
    return np.array([dict(learner.explain_one(event, label)).get(name, 0.0) for event in events])


def _straight(learner: Any) -> Any:
    """A copy with the same straight lines, but without curves and surfaces."""
    state = learner.__getstate__()
    state["params"] = {**state["params"], "shape": "line"}
    state["arrays"] = {name: data for name, data in state["arrays"].items() if name != "shapes"}
    return learner._of_state(state)


def _thin(ax: Axes) -> Any:
    """The legend's entry for straight lines."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=ink(ax), linewidth=THIN, alpha=0.7, label="straight line alone")
