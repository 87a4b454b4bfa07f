"""Passes: the labelled rows of a batch, learned again and again, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streamptron.doors.ranking import RankModel
from streamptron.estimator.batches import Batch, batch_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Passes:
    """Labelled rows that are learned more than once: checked and sorted only here.

    Parameters
    ----------
    batch
        The rows, which must not change from now on.
    labels, numbers
        Distinct labels as the learner takes them, and for each row the number of its label.
    steps
        Sample weight times class weight of each row; None: all are 1.
    """

    def __init__(
        self,
        batch: Batch,
        labels: list[Any],
        numbers: NDArray[np.intp],
        steps: NDArray[np.float64] | None = None,
    ) -> None:
        self.batch = batch.ready()
        self.labels = labels
        self.numbers = numbers
        self.steps = steps

    def learn(self, model: Any, order: NDArray[np.intp] | None = None) -> None:
        """Learn the rows in an order, without copying them; None: in their own order."""
        numbered = labels_met(model, self.labels, self.numbers, order)
        model._learned(self.batch, *numbered, self.steps, None, order)


def labels_met(
    model: Any,
    labels: list[Any],
    numbers: NDArray[np.intp],
    order: NDArray[np.intp] | None = None,
) -> tuple[list[Any], NDArray[np.intp]]:
    """Labels, and each row's label number, as the model takes them.

    A model that does not know all labels gets those of the rows, in the order of the rows.
    """
    if set(labels) <= set(model._known_labels):
        return labels, numbers
    met, firsts = np.unique(numbers if order is None else numbers[order], return_index=True)
    met = met[np.argsort(firsts)]
    places = np.full(len(labels), -1, dtype=np.intp)
    places[met] = np.arange(len(met))
    return [labels[number] for number in met], places[numbers]


def check_learns(model: Any) -> None:
    """Raise the model's error if it cannot learn, for example because it was opened read-only."""
    batch, none = batch_of(np.empty((0, 0)), None), np.empty(0, dtype=np.intp)
    if isinstance(model, RankModel):
        model._learn_queries(batch.rows, None, none, None, none)
    else:
        model._learned(batch, [], none, None)
