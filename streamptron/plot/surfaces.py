"""What two columns of numbers add together, and which curves and surfaces matter."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from streamptron.common.checks import at_least_one
from streamptron.common.names import Pair, short_repr
from streamptron.plot.columns import (
    Spread,
    columns_of,
    columns_shown,
    reach,
    shares,
    spread_of,
    usual,
)
from streamptron.plot.drawing import (
    COLOURS,
    HATCHES,
    NAMED,
    Axes,
    axes_of,
    check_axes,
    draw_bars,
    ink,
    label_text,
    shades,
)

SIDE = 9  # knots on a side of a surface, half a deviation apart
PLACES = (np.arange(SIDE) - SIDE // 2) / 2  # in standard deviations
WIDTH = 2.25  # standard deviations to each side of the mean
POINTS = 37  # points on a side of the picture
CURVE, SURFACE = 0, 1  # the styles of bars
ASK = "plot.gates(model) shows which pairs have one"


def surface(
    model: Any,
    first: Hashable,
    second: Hashable,
    label: Hashable = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot what two columns of numbers add to the score together, beyond what each adds alone.

    All other columns are at their means, and there are no words. One colour is for the label, the
    other against it; in grey, the dashed lines are against it. The bars above and to the right show
    how many events lay there: each is half a standard deviation wide, and the outermost include all
    beyond. Where events are rare in both columns, little is known.

    Parameters
    ----------
    model
        An AdaptiveClassifier of shape "auto", or a pipeline that ends in one.
    first, second
        The columns on the horizontal and on the vertical axis.
    label
        The label whose score to show. None: with two labels, the one that the score is for; with
        more, the one for which the surface matters most.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.imshow``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if the model does not have these columns, or no surface of the
        two. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import random
    >>> from matplotlib.figure import Figure
    >>> from streamptron import AdaptiveClassifier, plot
    >>> rng = random.Random(1)
    >>> model = AdaptiveClassifier()
    >>> for _ in range(500):
    ...     age, pay = rng.gauss(45, 12), rng.gauss(3000, 800)
    ...     model.learn_one({"age": age, "pay": pay}, (age > 45) != (pay > 3000))
    >>> ax = plot.surface(model, "age", "pay", ax=Figure(layout="constrained").subplots())
    >>> part = ax.images[0].get_array()
    >>> bool(part[0, 0] < 0 < part[0, -1]), bool(part[-1, 0] > 0 > part[-1, -1])
    (True, True)
    """
    check_axes(ax)
    learner, columns = columns_of(model)
    spreads = spread_of(columns, first), spread_of(columns, second)
    met = _met(learner, first, second)
    limits = [reach(spread, WIDTH) for spread in spreads]
    label = _label(learner, columns, (first, second), limits, label)
    part = _part(learner, columns, (first, second), limits, POINTS, label)
    most = float(np.abs(part).max()) or 1.0
    extent = (*limits[0], *limits[1])
    ax = axes_of(ax)
    # the background's colour is at 0
    colours = shades(COLOURS[NAMED["red"]], ax.get_facecolor(), COLOURS[NAMED["blue"]])
    style = {"cmap": colours, "vmin": -most, "vmax": most, "interpolation": "bilinear"}
    image = ax.imshow(part, origin="lower", extent=extent, aspect="auto", **{**style, **kwargs})
    xs, ys = (np.linspace(*limit, POINTS) for limit in limits)
    levels = most * np.array([-0.75, -0.5, -0.25, 0.25, 0.5, 0.75])
    if part.any():
        ax.contour(xs, ys, part, levels, colors=[ink(ax)], linewidths=0.5, alpha=0.6)
    # beside the bars of events; a figure with a layout leaves room for these by itself
    room: dict[str, Any] = {} if ax.figure.figure.get_layout_engine() else {"pad": 0.14}
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.07, **room)
    bar.set_label(
        f"part of the score for {label_text(learner._towards if label is None else label)}"
    )
    _margins(ax, spreads, met)
    ax.set(xlim=limits[0], ylim=limits[1], xlabel=label_text(first), ylabel=label_text(second))
    return ax


def gates(model: Any, n: int = 20, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Plot how much each curve of a column, and each surface of two columns, counts.

    Each curve and surface is multiplied by a learned gate, and there is another gate for all curves
    and one for all surfaces. A bar is the product of both.

    Parameters
    ----------
    model
        An AdaptiveClassifier of shape "auto" or "curve", or a pipeline that ends in one.
    n
        The largest number of bars to draw: the longest ones.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.barh``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if the model has neither curves nor surfaces. Nothing is drawn
        then.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import random
    >>> from matplotlib.figure import Figure
    >>> from streamptron import AdaptiveClassifier, plot
    >>> rng = random.Random(1)
    >>> model = AdaptiveClassifier()
    >>> for _ in range(500):
    ...     age, pay = rng.gauss(45, 12), rng.gauss(3000, 800)
    ...     model.learn_one({"age": age, "pay": pay}, (age > 45) != (pay > 3000))
    >>> ax = plot.gates(model, n=1, ax=Figure(layout="constrained").subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['age * pay']
    """
    check_axes(ax)
    at_least_one("n", n)
    learner, columns = columns_of(model)
    if learner.shape == "line":
        raise ValueError(
            "shape='line' has neither curves nor surfaces, and so no gates; draw its lines by "
            "plot.column, or train a model with shape='auto'"
        )
    parts, taus = learner._shapes()
    if not parts:
        raise ValueError(
            "the model has learned no curve yet: "
            + ("learn more events first" if columns else columns_shown(columns))
        )
    bars = []
    for one, other, gate, cells in parts:
        kind = SURFACE if len(cells) == SIDE**2 else CURVE
        name = label_text(Pair(one, other) if kind == SURFACE else one)
        bars.append((gate * taus[1 + kind], name, kind))
    bars = sorted(bars, key=lambda bar: -bar[0])[:n]
    ax = axes_of(ax)
    counts, names, kinds = zip(*bars, strict=True)
    draw_bars(ax, counts, names, kinds, **kwargs)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("how much it counts")
    ax.legend(handles=_kinds(ax, {*kinds}), loc="lower right")
    return ax


def _met(learner: Any, first: Any, second: Any) -> Any:
    """How many events met each cell of a surface; the rows are those of the second column."""
    both = f"{short_repr(first)} and {short_repr(second)}"
    if first == second:
        raise ValueError(
            f"{both} are the same column; give two, or draw the column's curve by plot.column"
        )
    if learner.shape != "auto":
        raise ValueError(
            f"shape={learner.shape!r} has no surfaces; draw the columns one by one by plot.column, "
            "or train a model with shape='auto'"
        )
    pairs = {}
    for one, other, _, met in learner._shapes()[0]:
        if len(met) == SIDE**2:
            cells = np.reshape(met, (SIDE, SIDE))
            pairs[one, other], pairs[other, one] = cells.T, cells
    if (first, second) in pairs:
        return pairs[first, second]
    if pairs:
        raise ValueError(
            f"{both} have no surface: if there are many columns, only the most informative have "
            f"surfaces, and pairs of features have none; {ASK}"
        )
    raise ValueError(
        f"{both} have no surface, nor has any pair of columns: "
        + (
            f"max_features={learner.max_features} leaves room for none"
            if learner.max_features
            else "learn more events first"
        )
    )


def _label(learner: Any, columns: Any, names: Any, limits: Any, label: Hashable) -> Hashable:
    """The given label, or the one for which the surface matters most; None: that of the score."""
    if label is not None or not learner._scores_by_label:
        return label
    ranges: dict[Hashable, float] = {
        known: float(np.ptp(_part(learner, columns, names, limits, SIDE, known)))
        for known in learner._known_labels
    }
    return max(ranges, key=lambda known: ranges[known])


def _part(learner: Any, columns: Any, names: Any, limits: Any, points: int, label: Hashable) -> Any:
    """What the surface adds to the score, on a grid with `points` points on a side."""
    first, second = names
    xs, ys = (np.linspace(low, high, points).tolist() for low, high in limits)
    others = usual(columns, first, second)
    events = [{**others, first: x, second: y} for y in ys for x in xs]
    return shares(learner, events, Pair(first, second), label).reshape(points, points)


def _margins(ax: Axes, spreads: tuple[Spread, Spread], met: Any) -> None:
    """Draw the numbers of events as bars, above and to the right."""
    (left, wide, _), (low, high, _) = spreads
    style = {"color": ink(ax), "alpha": 0.35, "edgecolor": ax.get_facecolor(), "linewidth": 0.6}
    above = ax.inset_axes((0.0, 1.015, 1.0, 0.12), sharex=ax)
    above.bar(left + PLACES * wide, met.sum(axis=0), 0.5 * wide, **style)
    beside = ax.inset_axes((1.015, 0.0, 0.12, 1.0), sharey=ax)
    beside.barh(low + PLACES * high, met.sum(axis=1), 0.5 * high, **style)
    above.set_axis_off()
    beside.set_axis_off()


def _kinds(ax: Axes, kinds: set[int]) -> list[Any]:
    """The legend's entries for curves and surfaces."""
    from matplotlib.patches import Patch

    names = {CURVE: "curves", SURFACE: "surfaces"}
    return [
        Patch(facecolor=COLOURS[kind], hatch=HATCHES[kind], edgecolor=ink(ax), label=names[kind])
        for kind in sorted(kinds)
    ]
