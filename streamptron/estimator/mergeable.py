"""What a model says of merging; streamptron/merging.py does it, and is imported when it is asked."""

from __future__ import annotations

import typing
from typing import Any

from streamptron.doors.model import Model

if typing.TYPE_CHECKING:
    from streamptron.merging import Delta


class Mergeable(Model):
    """A model that can be merged with others of its kind; see ``streamptron.merge``."""

    def delta(self, since: Any, shard: int = 0) -> Delta:
        """What this model has learned since it was a copy of another one.

        Parameters
        ----------
        since
            That model, as it still is.
        shard
            The number of this shard, when several learn: sums run in the order of these numbers.

        Raises
        ------
        ValueError
            If this model did not go on from `since`.

        Examples
        --------
        >>> import copy
        >>> from streamptron import Perceptron
        >>> base = Perceptron()
        >>> model = copy.deepcopy(base)
        >>> model.learn_one({"free": 1}, True)
        >>> base.apply(model.delta(base))
        >>> base.weights == model.weights
        True
        """
        from streamptron.merging import delta_of

        return delta_of(self, since, shard)

    def apply(self, delta: Delta) -> None:
        """Learn what one shard or several have learned since they were copies of this model.

        All of it or, after an error, nothing. Predictions continue until the new weights take the
        place of the old ones, at once; learning waits.

        Parameters
        ----------
        delta
            From ``delta`` of a model that went on from this one, or ``Delta.combine`` of several.

        Raises
        ------
        ValueError
            If the delta goes on from another model, or from this one before it learned something:
            so nothing is learned twice.
        ModelFileError
            If the delta contradicts itself.
        RuntimeError
            If the model was opened read-only, with ``mmap=True``.
        """
        from streamptron.merging import apply_delta

        apply_delta(self, delta)
