"""A compiled model as a River estimator, whatever it answers: copies, files, rows."""

from __future__ import annotations

import copy
import os
import typing
from collections.abc import Hashable, Mapping
from typing import Any, Self

from streamptron.common.parameters import kept
from streamptron.common.river import base
from streamptron.doors.model import Model

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

    from streamptron.estimator.batches import Batch
    from streamptron.keeping.merging import Delta
    from streamptron.keeping.tickets import Step, Ticket

# what a copy that keeps the weights cannot change
FIXED = (
    *("average", "pocket", "intercept", "max_features", "hash_bits", "hash_seed"),
    *("degree", "interactions", "shape"),
)


class Savable:
    """What a model file holds: a learner, a tokenizer and one, a classifier for scikit-learn."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write the model into a file, in the safetensors format; ``streamptron.load`` reads it.

        The file is replaced whole or not at all: after an error, a power failure or ``kill -9`` the
        old one is still there. A new file can be read by its owner only (0600); an existing one
        keeps its permissions, and its owner and group where that is allowed. A link is followed.
        Other threads may use the model meanwhile: learning waits only while the weights are copied.

        The file contains the names of all features, and the seed of the model's hash, even a secret
        one. That of ``Tokenizer() | learner`` contains both, and the command line takes it, too:
        ``streamptron predict --model PATH``. That of a classifier for scikit-learn is the file of
        its `model_`, with what the classifier has beside it; the C library opens it, too, and sees
        the learner alone.

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
            If a parameter or a class of a classifier for scikit-learn is an object that no file can
            hold, such as a RandomState. If a pipeline has other names for its steps than theirs.
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
        from streamptron.keeping.write import save

        save(self, path, metadata)


class Learner(Savable, Model, base.Estimator):
    """A compiled model as a River estimator, whatever it answers."""

    # The parameters that learners share, as they were given.
    intercept = kept[bool]("Whether an intercept is learned.")
    class_weight = kept[Mapping[Hashable, float] | None]("What scales the steps for each label.")
    false_positive_rate = kept[Mapping[Hashable, float] | None](
        "How many events of other labels may be answered with a label, as a share."
    )
    max_features = kept[int | None]("How many features have weights at most.")
    hash_bits = kept[int | None]("A feature is one of 2**hash_bits numbers; None: it has a name.")
    hash_seed = kept[int | None]("The seed of the hash; None: it is a secret.")
    degree = kept[int]("2: all pairs of features are features, too.")
    interactions = kept[tuple[tuple[str, str], ...] | None]("The fields whose features are paired.")
    max_pairs = kept[int]("How many pairs an event makes at most.")
    missing = kept[str]('What is left out of an event: "skip", "skip_nan" or "refuse".')

    @property
    def _positive(self) -> int:
        """The place of the label that a single score stands for."""
        return 1

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
            max_features, hash_bits, hash_seed, degree, interactions, shape) cannot be changed then.
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
        from streamptron.keeping.merging import delta_of

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
        from streamptron.keeping.merging import apply_delta

        apply_delta(self, delta)

    def predict_ticket(self, x: Any) -> Ticket:
        """Predict one event, and keep it for ``learn_ticket``, when its label is known.

        Parameters
        ----------
        x
            A mapping of features to numbers.

        Returns
        -------
        A small value to store or to send, see :class:`Ticket`. Its ``prediction`` is what
        ``predict_one`` answers.

        Raises
        ------
        TypeError, ValueError
            If x is invalid, if it has a feature name that no model file can hold, or if the label
            predicted is such an object.

        Examples
        --------
        >>> from streamptron import Perceptron
        >>> model = Perceptron.from_weights({"free": 1.0})
        >>> ticket = model.predict_ticket({"free": 1, "meeting": 1})
        >>> ticket.prediction
        True
        >>> model.learn_ticket(ticket, False)
        >>> model.weights
        {'meeting': -1.0}
        """
        from streamptron.keeping.tickets import predict_ticket

        self._check_one_event("predict_ticket")
        return predict_ticket(self, x)

    def learn_ticket(self, ticket: Any, y: Any, w: float = 1.0, undo: bool = False) -> Any:
        """Learn an event that was predicted before, as ``learn_one`` would at this moment.

        The model may have learned, grown, been saved, loaded or merged meanwhile. A ticket can be
        learned as often as you like: nothing keeps count.

        Parameters
        ----------
        ticket
            From ``predict_ticket`` of a model of the same class and parameters, or its bytes.
        y, w, undo
            As for ``learn_one``.

        Raises
        ------
        TypeError, ValueError
            If the ticket is damaged or for another kind of model, or if y or w is invalid. Nothing
            is learned then.
        MemoryError
            If memory runs out. The model has not changed then, either.
        """
        from streamptron.keeping.tickets import ticket_event

        self._check_one_event("learn_ticket")
        learner: Any = self
        return learner.learn_one(ticket_event(self, ticket), y, w, undo)

    def undo(self, step: Any) -> None:
        """Take back what one event has taught; everything learned since stays as it was learned.

        The weights and their average are as if the event had been seen and had not moved them: for
        whole numbers to the last bit, for others up to a rounding in the last place. It is still
        counted in ``n_seen`` and ``n_mistakes``, and its label stays known. The pocket, which
        vector answers, and the calibration of the probabilities stay as they are: they heal as
        events come. Later steps were taken by a model that had learned the event, and are kept.
        docs/late-labels.md says what comes back of AdaptiveClassifier's numbers.

        Parameters
        ----------
        step
            From ``learn_one(x, y, undo=True)`` of this model, or its bytes. The model may have been
            saved and loaded, pickled or copied since.

        Raises
        ------
        TypeError
            If the learner cannot take steps back, or if this is not a step.
        ValueError
            If the step is damaged, has been taken back already, or is not of this model: if another
            one learned the event, or a copy of this one by itself, or if this model is from a file
            or a copy made before the event. Nothing has changed then.
        MemoryError
            If memory runs out. The model has not changed then, either.

        Examples
        --------
        >>> from streamptron import Perceptron
        >>> model = Perceptron()
        >>> step = model.learn_one({"free": 1, "win": 2}, True, undo=True)
        >>> model.learn_one({"free": 1, "meeting": 1}, False)
        >>> model.undo(step)
        >>> model.weights
        {'free': -1.0, 'meeting': -1.0}
        """
        from streamptron.keeping.tickets import undo_step

        undo_step(self, step)

    def _learn_undoable(self, x: Any, y: Any, w: Any, undo: Any) -> Step:
        """``learn_one`` with undo=True."""
        from streamptron.keeping.tickets import learn_undoable

        return learn_undoable(self, x, y, w, undo)

    def _check_one_event(self, what: str) -> None:
        """That the learner learns from one event, not from candidates."""

    def _file_parts(self) -> tuple[Any, Any, Any]:
        """Learner, tokenizer and lines, as a model file holds them."""
        return self, None, None

    def _batch(self, X: Any, feature_names: Iterable[Hashable] | None) -> Batch:
        """Look at X as rows."""
        # imported here because it imports numpy, which learn_one does without
        from streamptron.estimator.batches import batch_of

        return batch_of(X, feature_names, self.missing)
