"""What happened in the passes of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

from streamptron.common.table import frame, table


class Pass(NamedTuple):
    """One pass over the data.

    Attributes
    ----------
    number
        From 1.
    mistakes
        Events that the current weights answered wrongly before learning them, counted as in
        `n_mistakes`. With order="random-mistake": all events that were picked.
    updates
        Events that changed the weights, counted as in `n_updates`.
    error
        The training error: mistakes divided by events. With order="random-mistake": the share of
        the events that the weights answer wrongly at the end of the pass.
    validation_error
        The share of the validation events that the model answers wrongly after the pass; None
        without validation data.
    seconds
        How long the pass took, without the validation.
    """

    number: int
    mistakes: int
    updates: int
    error: float
    validation_error: float | None
    seconds: float


class History(Sequence[Pass]):
    """The passes of a fit, in order.

    Attributes
    ----------
    best
        The number of the pass whose weights the model has now: with validation data, the first
        pass with the smallest error; without, the last pass.
    stopped
        Why the fit ended: "converged" if a pass made no update (with order="random-mistake": if no
        mistake was left), "patience" if the validation error no longer fell, "epochs" if all
        passes were done.

    Examples
    --------
    >>> from streamptron import Perceptron
    >>> from streamptron.study import fit
    >>> data = [({"x": 1}, True), ({"x": -1}, False)]
    >>> history = fit(Perceptron(), data, shuffle=False)
    >>> [(row.mistakes, row.updates) for row in history]
    [(1, 2), (0, 0)]
    >>> history.stopped
    'converged'
    """

    def __init__(self, passes: Sequence[Pass], best: int, stopped: str) -> None:
        self._passes = tuple(passes)
        self.best = best
        self.stopped = stopped

    @overload
    def __getitem__(self, at: int) -> Pass: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Pass, ...]: ...
    def __getitem__(self, at: int | slice) -> Pass | tuple[Pass, ...]:
        return self._passes[at]

    def __len__(self) -> int:
        return len(self._passes)

    def to_frame(self) -> Any:
        """The passes as the rows of a pandas DataFrame, by their number."""
        return frame(self._passes, Pass._fields).set_index("number")

    def __repr__(self) -> str:
        rows = [("pass", "mistakes", "updates", "error", "validation", "seconds")]
        for row in self:
            checked = "" if row.validation_error is None else f"{row.validation_error:.4f}"
            numbers = str(row.number), str(row.mistakes), str(row.updates)
            rows.append((*numbers, f"{row.error:.4f}", checked, f"{row.seconds:.3f}"))
        if all(row.validation_error is None for row in self):
            rows = [row[:4] + row[5:] for row in rows]  # type: ignore[misc]
        why = {
            "converged": "nothing was left to learn",
            "patience": "the validation error no longer fell",
            "epochs": "that was the last of its epochs",
        }[self.stopped]
        return f"{table(rows, left=0)}\n{why}; the model has the weights of pass {self.best}"
