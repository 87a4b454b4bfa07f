"""Errors that a Recorder recorded on a stream: of one or several models, and by label.

No model learns for these pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.common.checks import at_least_one
from streamptron.common.names import short_repr, type_shown
from streamptron.common.record import Record, Window, check_record
from streamptron.plot.answers import wilson
from streamptron.plot.drawing import (
    COLOURS,
    Axes,
    axes_of,
    check_axes,
    draw_bars,
    halo,
    ink,
    label_text,
    line_colour,
    line_style,
    name_lines,
    write_beside,
)
from streamptron.plot.streams import frame_stream

POINTS = 100  # the most points of a line of windows
FEW = 30  # the most points if there are several lines
BY = ("window", "so far")


def errors(recorded: Any, by: str | None = None, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Plot recorded errors, window by window and so far; or those of several models.

    A triangle marks where a detector found a change. For a single model that keeps several vectors,
    the ribbon below shows which of them served.

    Parameters
    ----------
    recorded
        A ``streamptron.study.Recorder``, or ``{name: Recorder}`` for one line each. A Comparison
        has such a dict as `recorders`.
    by
        "window": the error of each window; "so far": the error over all events up to a point. None:
        both for a single model, "so far" for several.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    The Axes. Its lines are labelled with the models' names, or "window" and "so far".

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if nothing has been recorded. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> from streamptron.study import Recorder
    >>> recorder = Recorder(window=50)
    >>> for n in range(200):
    ...     recorder.update(n % 2 == 0, n % 4 == 0)
    >>> ax = plot.errors(recorder, ax=Figure().subplots())
    >>> {line.get_label(): line.get_ydata()[-1].item() for line in ax.lines}
    {'window': 26.0, 'so far': 25.0}
    """
    check_axes(ax)
    if by is not None and by not in BY:
        raise ValueError(f'by={short_repr(by)}; give "window", "so far" or None for both')
    if isinstance(recorded, Mapping):
        if not recorded:
            raise ValueError("recorded is empty; give at least one Recorder")
        records = {
            label_text(name): check_record(f"recorded[{short_repr(name)}]", record)
            for name, record in recorded.items()
        }
    elif isinstance(recorded, Record):
        records = {label_text(recorded.name or ""): check_record("recorded", recorded)}
    else:
        raise TypeError(
            f"recorded is {type_shown(recorded)}; give a streamptron.study.Recorder, or several as "
            "{name: Recorder}"
        )
    alone = len(records) == 1
    kinds = [by] if by else [*BY] if alone else ["so far"]
    curves = {
        (name, kind): _curve(record.windows, kind, POINTS if alone else FEW)
        for name, record in records.items()
        for kind in kinds
    }
    ax = axes_of(ax)
    lines = {}
    for at, ((name, kind), (numbers, values)) in enumerate(curves.items()):
        called = kind if alone else name
        style = _style(ax, kind) if alone else line_style(at)
        (line,) = ax.plot(numbers, values, **{**style, "label": called, **kwargs})
        known = values[~np.isnan(values)]
        if len(known):
            lines[f"{called} {known[-1]:.3g} %"] = line
    total = max(record.n_events for record in records.values())
    serving = _serving(next(iter(records.values())).windows) if alone else []
    most = 1.12 * max(_height(numbers, values, total) for numbers, values in curves.values())
    ribbon = frame_stream(ax, most, total, serving)
    for at, record in enumerate(records.values()):
        _mark_changes(ax, record.drifts, ink(ax) if alone else line_colour(at))
    if not alone or len(lines) > 1 or serving:
        name_lines(ax, lines, ribbon)
    ax.set_ylabel("error (%)" if len(kinds) > 1 else f"error{_AFTER[kinds[0]]} (%)")
    return ax


_AFTER = {"window": " of the window", "so far": " so far"}


def errors_by_label(record: Any, n: int = 20, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Plot the share of wrong answers for each label, as recorded.

    Parameters
    ----------
    record
        A ``streamptron.study.Recorder``.
    n
        The largest number of labels to draw: those with the most wrong answers.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.barh``.

    Returns
    -------
    The Axes. Each bar has its 95 % interval (Wilson's), and its counts beside it.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if nothing has been recorded. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> from streamptron.study import Recorder
    >>> recorder = Recorder()
    >>> for label, answer in [("ham", "ham"), ("spam", "ham"), ("ham", "ham"), ("spam", "spam")]:
    ...     recorder.update(label, answer)
    >>> ax = plot.errors_by_label(recorder, ax=Figure().subplots())
    >>> names = [text.get_text() for text in ax.get_yticklabels()]
    >>> list(zip(names, [float(bar.get_width()) for bar in ax.patches], strict=True))
    [('spam', 50.0), ('ham', 0.0)]
    """
    check_axes(ax)
    at_least_one("n", n)
    record = check_record("record", record)
    found = sorted(record.labels.items(), key=lambda item: (-item[1][1], -item[1][0]))[:n]
    counts = np.array([count for _, (count, _) in found])
    wrong = np.array([number for _, (_, number) in found])
    shares = wrong / counts
    below, above = wilson(shares, counts)
    ax = axes_of(ax)
    names = [label_text(label) for label, _ in found]
    draw_bars(ax, 100 * shares, names, [0] * len(found), **kwargs)
    ax.errorbar(
        100 * shares,
        range(len(found)),
        xerr=(100 * below, 100 * above),
        fmt="none",
        ecolor=ink(ax),
        elinewidth=1,
        capsize=3,
    )
    ends = (100 * (shares + above)).tolist()
    for at, end in enumerate(ends):
        write_beside(ax, f"{wrong[at]} of {counts[at]}", (end, at), 6, fontsize="small")
    ax.set_xlim(0.0, 1.3 * max(ends))
    some = (
        f", {len(found)} of {len(record.labels)} labels" if len(found) < len(record.labels) else ""
    )
    ax.set_xlabel(f"wrong answers (%){some}")
    return ax


def _curve(
    windows: Sequence[Window], kind: str | None, points: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Events and errors in percent at the ends of windows, which are grouped if too many."""
    if kind == "so far":
        return (
            np.array([float(window.n_events) for window in windows]),
            np.array([100 * window.error_so_far for window in windows]),
        )
    each = -(-len(windows) // points)
    numbers, values = [], []
    for at in range(0, len(windows), each):
        some = windows[at : at + each]
        answered = sum(window.n_answered for window in some)
        if at and sum(window.n for window in some) < sum(w.n for w in windows[:each]) / 2:
            continue  # the last one is too short to have its own point
        numbers.append(float(some[-1].n_events))
        wrong = sum(window.n_wrong for window in some)
        values.append(100 * wrong / answered if answered else np.nan)
    return np.array(numbers), np.array(values)


def _height(numbers: NDArray[np.float64], values: NDArray[np.float64], total: int) -> float:
    """The largest error of a line that must be visible; its start may be cut off."""
    settled = values[numbers >= min(float(numbers[-1]), total / 20)]
    settled = settled[~np.isnan(settled)]
    return float(settled.max()) if len(settled) and settled.max() > 0 else 1.0


def _serving(windows: Sequence[Window]) -> list[tuple[int, str]]:
    """From which event on each vector served; [] if it was always the same vector."""
    spans, start = [], 0
    for kind, run in groupby(windows, key=lambda window: window.serving):
        if kind is not None:
            spans.append((start, kind))
        start = list(run)[-1].n_events
    return spans if len({kind for _, kind in spans}) > 1 else []


def _mark_changes(ax: Axes, drifts: Sequence[int], of: Any) -> None:
    """Draw triangles along the upper edge, with a text at the first."""
    if not drifts:
        return
    across = ax.get_xaxis_transform()
    ax.plot(
        drifts,
        [0.975] * len(drifts),
        "v",
        color=of,
        markersize=7,
        transform=across,
        clip_on=False,
        label="changes found",
    )
    for number in drifts[:POINTS]:
        ax.axvline(number, color=of, linestyle=":", linewidth=1, zorder=0)
    right = -8 if drifts[0] > sum(ax.get_xlim()) / 2 else 8
    style = {"xycoords": across, "fontsize": "small", **halo(ax)}
    write_beside(ax, "change found", (drifts[0], 0.975), right, **style)


def _style(ax: Axes, kind: str | None) -> dict[str, Any]:
    if kind == "window":
        return {"color": COLOURS[0], "linewidth": 1.2}
    return {"color": ink(ax), "linewidth": 2}
