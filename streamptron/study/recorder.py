"""A recorder for your own loop: it notes each answer and label, and can draw them live."""

from __future__ import annotations

import io
import os
import typing
import warnings
from collections.abc import Callable, Collection, Mapping
from time import monotonic
from typing import Any

from streamptron.common.checks import whole
from streamptron.common.disk import replace
from streamptron.common.names import short_repr, type_shown
from streamptron.common.record import Record
from streamptron.common.river import module_of
from streamptron.estimator.looking import is_learner

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 2**53  # events
SIZE = (6.4, 4.4)  # inches of a chart


class Recorder(Record):
    """Records how a model does on a live stream: errors, labels, drift and memory.

    Your loop answers and learns, and gives the recorder each event's label and the answer. The
    recorder learns nothing. Its size is bounded, however long the stream.

    Parameters
    ----------
    model
        The model that answers. If it is a learner of streamptron, or a pipeline that ends with one,
        its `serving`, `memory_usage` and `n_evicted` are recorded. None: they are not.
    window
        How many events share a row of `to_frame` and a point of the chart.
    drift
        The detector of changes in the error: "adwin", which is River's ``drift.ADWIN()``; any other
        detector of River's, such as ``drift.binary.DDM()``; or None. If the detector estimates the
        error, changes for the better, which any model that learns will make, are not marked.
    max_windows
        When there are so many windows, they are merged in pairs, and `window` is doubled.
    name
        The name of the model in charts of several.

    Attributes
    ----------
    n_events, n_answered, n_wrong
        The number of events, of those with an answer, and of those with a wrong answer. No answer
        (None) does not count as an error.
    error
        The share of wrong answers so far; NaN before the first answer.
    windows
        The windows in order, with ``n_events``, ``error``, ``error_so_far``, ``serving``,
        ``memory`` and more; the last one may not be full yet.
    labels
        ``{label: (events, wrong)}``, in the order of appearance.
    drifts
        After how many events each change was found.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from streamptron import AdaptiveClassifier
    >>> from streamptron.study import Recorder

    >>> model = AdaptiveClassifier()
    >>> recorder = Recorder(model, window=100)
    >>> for n in range(1000):
    ...     x, y = {"n": n % 7}, (n % 7 > 3) != (n >= 500)      # all labels flip in the middle
    ...     recorder.update(y, model.predict_one(x))
    ...     model.learn_one(x, y)
    >>> recorder.n_events, len(recorder.windows), len(recorder.drifts)
    (1000, 10, 1)
    >>> 500 < recorder.drifts[0] < 600
    True
    """

    def __init__(
        self,
        model: Any = None,
        window: int = 500,
        drift: Any = "adwin",
        max_windows: int = 1000,
        name: str | None = None,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name={short_repr(name)}; give a text")
        super().__init__(
            whole("window", window, 1, MOST, "an int"),
            whole("max_windows", max_windows, 2, MOST, "an int"),
            name,
        )
        self._learner = _learner(model)
        self.ceiling = getattr(self._learner, "max_features", None)
        self._detector = _detector(drift)
        self._estimates = hasattr(self._detector, "estimation")
        self._charts: list[tuple[str, Callable[[], object]]] = []
        self._every = self._drawn = 0.0

    def update(self, y_true: Any, y_pred: Any) -> None:
        """Record an event: its label, and the answer before it was learned.

        Parameters
        ----------
        y_true
            The label. For several labels, whatever ``learn_one`` takes: a set or list of them, or
            {label: True or False}, where nothing is known about labels that are not in it.
        y_pred
            The answer; None: there was none. For several labels, {label: True or False}; the answer
            is wrong if a label is missing or extra. The counts by label then include both the
            labels that were missed and those that were wrongly answered.

        Raises
        ------
        ValueError
            If the label is None. Nothing is recorded.
        """
        if y_true is None:
            raise ValueError("y_true is None; call update when the event's label is known")
        self._note(y_true, y_pred)

    def _note(self, y_true: Any, y_pred: Any) -> None:
        wrong_of = _wrong_of(y_true, y_pred)
        wrong = any(wrong_of.values())
        if self._learner is not None:
            self._open.served[self._learner.serving] += 1
        full = self._count(wrong_of, y_pred is not None, wrong)
        if self._detector is not None and y_pred is not None:
            before = self._detector.estimation if self._estimates else 0.0
            self._detector.update(wrong)
            if self._detector.drift_detected and (
                not self._estimates or self._detector.estimation > before
            ):
                self.drifts.append(self.n_events)
                self._open.n_drifts += 1
        if full:
            self._measure()
            self._close()
            if self._charts and monotonic() - self._drawn >= self._every:
                self.refresh()

    def _measure(self) -> None:
        if self._learner is not None:
            self._open.memory = self._learner.memory_usage
            self._open.evicted = self._learner.n_evicted

    def _windows(self) -> typing.Iterator[Any]:
        if self._open.n:
            self._measure()
        return super()._windows()

    # --- Charts

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Plot the errors so far and window by window, with changes and the vector that served.

        Parameters
        ----------
        ax
            The Axes to draw on; None: the current one.
        kwargs
            Passed to ``streamptron.plot.errors``, which draws it.

        Returns
        -------
        The Axes.
        """
        from streamptron.plot.errors import errors

        return errors(self, ax=ax, **kwargs)

    def watch(self, chart: Any = None, csv: Any = None, seconds: float = 10.0) -> None:
        """Keep a chart or a file of the windows up to date while the stream runs.

        They are written at the end of a window, if `seconds` have passed since the last time. A
        file is replaced whole. If one cannot be written, there is a warning, and the stream
        continues.

        Parameters
        ----------
        chart
            The file of a picture, such as "errors.png"; its suffix is the format. "notebook": an
            output of the cell, which is updated as the stream runs.
        csv
            The file of a table, as `to_csv` writes it.
        seconds
            The least time between two writes. Drawing takes about a tenth of a second of the loop's
            time.

        Raises
        ------
        TypeError, ValueError
            If an argument is invalid.
        OSError
            If a file cannot be written in this first call.
        ImportError
            If a chart is wanted and matplotlib is missing, or IPython for a notebook.

        Examples
        --------
        >>> import os, tempfile
        >>> from pathlib import Path
        >>> from streamptron.study import Recorder
        >>> path = Path(tempfile.gettempdir(), f"errors-{os.getpid()}.csv")
        >>> recorder = Recorder(window=2)
        >>> recorder.watch(csv=path, seconds=0)
        >>> for label, answer in [("spam", "ham"), ("ham", "ham"), ("ham", "ham")]:
        ...     recorder.update(label, answer)
        >>> path.read_text().splitlines()[1]
        '2,2,2,1,0.5,0.5,,,,0'
        >>> path.unlink()
        """
        if chart is None and csv is None:
            raise ValueError('nothing to watch; give chart="errors.png", csv="errors.csv" or both')
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
            raise ValueError(f"seconds={short_repr(seconds)}; give a number of at least 0")
        found: list[tuple[str, Callable[[], object]]] = []
        if chart is not None:
            found.append(_chart(self, chart))
        if csv is not None:
            path = os.fspath(csv)
            found.append((str(path), lambda: self.to_csv(path)))
        for _, write in found:  # so that errors show now
            write()
        self._charts, self._every, self._drawn = found, float(seconds), monotonic()

    def refresh(self) -> None:
        """Write the chart and the file of `watch` now, for example at the end of a stream."""
        for name, write in self._charts:
            try:
                write()
            except OSError as error:
                warnings.warn(
                    f"{name} cannot be written, and shows an older state: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
        self._drawn = monotonic()

    def __getstate__(self) -> dict[str, Any]:
        # what is watched belongs to this process
        return {**self.__dict__, "_charts": []}


def _chart(recorder: Recorder, chart: Any) -> tuple[str, Callable[[], object]]:
    """The name of a chart, and a function that draws it."""
    from streamptron.plot.drawing import check_axes

    check_axes(None)
    if chart == "notebook":
        return "the notebook's chart", _cell(recorder)
    path = os.fspath(chart)
    kind = os.path.splitext(path)[1].lstrip(".").lower()
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    if kind not in known:
        raise ValueError(
            f"chart={short_repr(chart)}; its suffix must be a format, .{', .'.join(known)}"
        )

    def write() -> None:
        picture = io.BytesIO()
        _figure(recorder).savefig(picture, format=kind)
        replace(path, [picture.getvalue()], mode=0o666)

    return str(path), write


def _cell(recorder: Recorder) -> Callable[[], object]:
    """A function that draws in the cell of a notebook, and redraws there."""
    try:
        from IPython.display import display
    except ModuleNotFoundError:
        raise ImportError('chart="notebook" needs IPython; give the name of a file') from None
    handle: Any = None

    def write() -> None:
        nonlocal handle
        if handle is not None:
            handle.update(_figure(recorder))
            return
        handle = display(_figure(recorder), display_id=True)
        if handle is None:
            raise ValueError('chart="notebook" outside of a notebook; give the name of a file')

    return write


def _figure(recorder: Recorder) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(SIZE, layout="constrained")
    ax = figure.subplots()
    if recorder.n_events:
        recorder.plot(ax)
    else:
        ax.set(xlabel="events", ylabel="error (%)")
    return figure


# --- Arguments


def _wrong_of(y_true: Any, y_pred: Any) -> dict[Any, bool]:
    """{label: whether the answer is wrong about it}, for one label or several."""
    one = y_pred is None and not isinstance(y_true, list | set | Mapping)
    if one or not (y_pred is None or isinstance(y_pred, Mapping)):
        try:
            return {y_true: y_pred is not None and bool(y_pred != y_true)}
        except TypeError:
            raise TypeError(
                f"y_true is {short_repr(y_true)}, {type_shown(y_true)}; a label must be hashable; "
                "for several labels y_pred must be {label: True or False}, as a "
                "MultiLabelClassifier answers"
            ) from None
    if isinstance(y_true, str | bytes) or not isinstance(y_true, Collection):
        raise TypeError(
            f"y_true is {short_repr(y_true)}, {type_shown(y_true)}; the answer has several "
            "labels, so give a set or list of them, or {label: True or False}"
        )
    named = dict(y_true) if isinstance(y_true, Mapping) else dict.fromkeys(y_true, True)
    if y_pred is None:
        return {label: False for label, there in named.items() if there}
    said = [label for label, answered in y_pred.items() if answered]
    if isinstance(y_true, Mapping):  # nothing is known about labels that it does not name
        said = [label for label in said if label in named]
    concerned = [label for label, there in named.items() if there] + said
    return {label: bool(named.get(label)) != (label in said) for label in concerned}


def last_step(model: Any) -> Any:
    """The last step of a pipeline, even of one in another; any other model itself."""
    steps = getattr(model, "steps", None)
    return last_step(list(steps.values())[-1]) if isinstance(steps, Mapping) and steps else model


def _learner(model: Any) -> Any:
    """The learner of streamptron in a model; None if there is none."""
    model = last_step(model)
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}; give an object: {model.__name__}()")
    if model is not None and not hasattr(model, "predict_one"):
        raise TypeError(f"model is {type_shown(model)}; give an object with predict_one, or None")
    return model if is_learner(model) else None


def _detector(drift: Any) -> Any:
    """A detector of River's, or None."""
    if drift is None:
        return None
    if drift == "adwin":
        # slow to import: it brings scipy
        return module_of("drift", 'drift="adwin"').ADWIN()
    if isinstance(drift, type) or not (
        hasattr(drift, "update") and hasattr(drift, "drift_detected")
    ):
        raise TypeError(
            f'drift={short_repr(drift)}; give "adwin", one of River\'s detectors, such as '
            "river.drift.binary.DDM(), or None"
        )
    return drift
