"""What all pictures share: the Axes, colours that also differ in grey, and texts.

A picture calls `check_axes` first, so that a wrong argument or a missing matplotlib is found before
any work, and `axes_of` after everything that can fail, so that an error leaves no empty figure
behind. Text has the colour of the Axes' own labels, so that dark styles work.
"""

from __future__ import annotations

import os
import re
import typing
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, cycle
from typing import Any

import numpy as np

from streamptron.common.names import type_shown

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # for the other rooms, too
    from matplotlib.lines import Line2D
else:
    Axes = Any  # the first picture imports matplotlib

# Their lightness L* is 42, 80, 52 and 67: the first two differ most.
COLOURS = ("#3f5fb0", "#f2c14e", "#d1553b", "#58b683")
NAMED = {"blue": 0, "yellow": 1, "red": 2, "green": 3}
HATCHES = ("", "///", "...", "xxx")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
IN_LINES = (0, 2, 3, 1)  # the order for lines: in a light colour, thin lines are hard to see
# Control characters and lone surrogates: no font has them, and SVG does not allow them.
NOT_DRAWN = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def check_axes(ax: Any) -> None:
    """Check that matplotlib is installed, and that `ax` is one of its Axes or None."""
    try:
        from matplotlib.axes import Axes
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError('pictures need matplotlib: pip install "streamptron[plot]"') from None
    except ValueError as error:
        if "MPLBACKEND" not in os.environ or "backend" not in str(error):
            raise
        raise ValueError(
            f"MPLBACKEND={os.environ['MPLBACKEND']!r} in the environment is not a backend "
            "of matplotlib; unset it, or set it to agg"
        ) from None
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(
            f"ax is {type_shown(ax)}; give one Axes, as made by fig, ax = plt.subplots(), or "
            "None for the current one"
        )


def axes_of(ax: Any, inches: float = 0.0) -> Axes:
    """The Axes to draw on: pyplot's current one if none is given.

    If a figure has to be made, it is at least `inches` wide and high.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        if not plt.get_fignums():
            width, height = plt.rcParams["figure.figsize"]
            if inches > height:
                plt.figure(figsize=(max(width, inches), inches), layout="constrained")
        ax = plt.gca()
    return typing.cast("Axes", ax)


def ink(ax: Axes) -> Any:
    """The colour of texts, and of lines that are not data."""
    return ax.xaxis.label.get_color()


def colours_of(labels: Iterable[Any]) -> list[str]:
    """A colour for each label; a label that is the name of one of our colours gets that."""
    called = [str(label).casefold() for label in labels]
    left = [at for name, at in NAMED.items() if name not in called]
    others = chain(left, cycle(range(len(COLOURS))))
    return [COLOURS[NAMED[name] if name in NAMED else next(others)] for name in called]


def line_colour(at: int) -> str:
    """The colour of one of several lines."""
    return COLOURS[IN_LINES[at % len(IN_LINES)]]


def line_style(at: int) -> dict[str, Any]:
    """The style of the line of one of several models."""
    return {"color": line_colour(at), "linestyle": LINES[at % len(LINES)], "linewidth": 1.8}


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Labels or features without repetitions: sorted, or as they come if they cannot be sorted."""
    found = list(dict.fromkeys(labels))
    try:
        return sorted(found)
    except TypeError:
        return found


def label_text(name: Any) -> str:
    """A feature or label as a picture shows it: one line, with no markup, not too long."""
    text = "(intercept)" if name is None else " ".join(str(name).splitlines())
    text = text if len(text) <= 30 else text[:29] + "…"
    text = NOT_DRAWN.sub("\ufffd", text)
    text = f" {text}" if text.startswith("_") else text  # legends leave out names with a leading _
    return text.replace("$", r"\$")


def name_lines(ax: Axes, named: Mapping[str, Line2D], others: Iterable[Any] = ()) -> None:
    """A legend where the lines leave room, in the order of their ends from top to bottom."""
    ends = {name: np.asarray(line.get_ydata(), dtype=float) for name, line in named.items()}
    order = sorted(named, key=lambda name: -ends[name][~np.isnan(ends[name])][-1])
    handles = [*(named[name] for name in order), *others]
    names = [*order, *(str(each.get_label()) for each in others)]
    ax.legend(handles, names, loc="best", handlelength=2.5)


def legend_above(ax: Axes, handles: list[Any] | None = None) -> None:
    """A legend above the picture, where it hides no point."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        borderaxespad=0.1,
        ncols=min(len(handles), 4),
        frameon=False,
        handletextpad=0.5,
        columnspacing=1.2,
    )


def limit_x(ax: Axes, first: float, last: float) -> None:
    """Set limits of x, with ticks that begin at the first point."""
    room = 0.03 * ((last - first) or 1.0)
    ax.set_xlim(first - room, last + room)
    ax.set_xticks(_ticks(first, last, whole=True))


def limit_y(ax: Axes, low: float, high: float) -> None:
    """Set limits of y, with ticks that begin at 0."""
    ax.set_ylim(low, high)
    ax.set_yticks(_ticks(0.0, high))


def _ticks(low: float, high: float, whole: bool = False) -> list[float]:
    from matplotlib.ticker import MaxNLocator

    places = MaxNLocator(7, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)
    return [float(place) for place in places if low <= place <= high]


def shades(*colours: Any) -> Any:
    """A colormap that goes from one colour to the next."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    return LinearSegmentedColormap.from_list("shades", [to_rgb(each) for each in colours])


def halo(ax: Axes) -> dict[str, Any]:
    """A rim in the background's colour, which keeps a text readable over lines and points."""
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=3, foreground=ax.get_facecolor())]}


def arrow(ax: Axes, start: Any, end: Any, **style: Any) -> None:
    """Draw an arrow between two points, unless they are equal."""
    from matplotlib.patches import FancyArrowPatch

    if tuple(start) != tuple(end):
        fixed = {"arrowstyle": "-|>", "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0, "zorder": 4}
        ax.add_patch(
            FancyArrowPatch(tuple(start), tuple(end), **{"linewidth": 2.0, **fixed, **style})
        )


def write_beside(
    ax: Axes, text: str, point: Any, right: float = 5, up: float = 0, **style: Any
) -> None:
    """Write a text so many points to the right of a point; to its left if that is negative."""
    style = {"ha": "left" if right > 0 else "right", "va": "center", "color": ink(ax), **style}
    ax.annotate(text, tuple(point), (right, up), textcoords="offset points", **style)


def name_point(ax: Axes, name: str, point: Any) -> None:
    """Write a name beside a point, on top of lines and other points."""
    write_beside(ax, name, point, up=5, va="baseline", zorder=5, **halo(ax))


def draw_bars(
    ax: Axes, lengths: Sequence[float], names: Sequence[str], kinds: Sequence[int], **style: Any
) -> None:
    """Draw bars from top to bottom, each with its name; a kind has its own colour and hatch."""
    style = {
        "color": [COLOURS[kind] for kind in kinds],
        "hatch": [HATCHES[kind] for kind in kinds],
        "edgecolor": ink(ax),
        "linewidth": 0.6,
        **style,
    }
    ax.barh(range(len(names)), lengths, **style)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
