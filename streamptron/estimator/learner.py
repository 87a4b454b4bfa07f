"""A compiled model as a River estimator, whatever it answers: copies, files, rows."""

from __future__ import annotations

import copy
import os
import typing
from collections.abc import Hashable
from typing import Any, Self

from river import base

from streamptron.doors.model import Model

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

    from streamptron.estimator.batches import Batch
    from streamptron.merging import Delta

# what a copy that keeps the weights cannot change
FIXED = (
    *("average", "pocket", "intercept", "max_features", "hash_bits", "hash_seed"),
    *("degree", "interactions"),
)


class Learner(Model, base.Estimator):
    """A compiled model as a River estimator, whatever it answers."""

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A fresh estimator with the same parameters, as River means it.

        Parameters
        ----------
        new_params
            Parameters to change.
        include_attributes
            Also copy what was learned. What the weights depend on (average, pocket, intercept,
            max_features, hash_bits, hash_seed, degree, interactions) cannot be changed then.
        """
        if not include_attributes:
            return super().clone(new_params)
        state = self.__getstate__()
        for name, value in (new_params or {}).items():
            if name in FIXED and value != getattr(self, name):
                raise ValueError(
                    f"{name} cannot change in a copy of what was learned: the weights depend on it"
                )
        state["params"] = {**state["params"], **(new_params or {})}
        clone: Self = type(self).__new__(type(self))
        clone.__setstate__(copy.deepcopy(state))
        return clone

    def save(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write the model into a file, in the safetensors format; ``streamptron.load`` reads it.

        The file is replaced whole or not at all: after an error, a power failure or ``kill -9`` the
        old one is still there. A new file can be read by its owner only (0600); an existing one
        keeps its permissions, and its owner and group where that is allowed. A link is followed.
        Other threads may use the model meanwhile: learning waits only while the weights are copied.

        The file contains the names of all features, and the seed of the model's hash, even a secret
        one.

        Parameters
        ----------
        path
            The file.
        metadata
            A dict of what JSON can hold, kept with the model; see ``streamptron.read_metadata``.

        Raises
        ------
        TypeError
            If a label or a feature name is an object of a class of your own, if the model's class
            or one of its attributes is your own, or if JSON would not give metadata back as it is.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile, streamptron
        >>> model = streamptron.MIRA()
        >>> model.learn_one({"goal": 1}, "sport")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "topics.model")
        ...     model.save(path)
        ...     streamptron.load(path).labels
        ['sport']
        """
        from streamptron.modelfile.write import save

        save(self, path, metadata)

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

    def _file_parts(self) -> tuple[Any, Any, Any]:
        """Learner, tokenizer and lines, as a model file holds them."""
        return self, None, None

    @staticmethod
    def _batch(X: Any, feature_names: Iterable[Hashable] | None) -> Batch:
        """Look at X as rows."""
        # imported here because it imports numpy, which learn_one does without
        from streamptron.estimator.batches import batch_of

        return batch_of(X, feature_names)
