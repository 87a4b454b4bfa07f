"""A compiled model as a River estimator, whatever it answers: copies, files, rows."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from streamptron.common.parameters import kept
from streamptron.common.river import base
from streamptron.doors.model import Model

if TYPE_CHECKING:
    from streamptron.estimator.batches import Batch
    from streamptron.keeping.merging import Delta
    from streamptron.keeping.tickets import Step, Ticket

# parameters that a copy with the same weights must keep
FIXED = (
    *("average", "pocket", "intercept", "max_features", "hash_bits", "hash_seed"),
    *("degree", "interactions", "shape"),
)


class Savable:
    """What a model file can hold: a learner, alone or in a pipeline or scikit-learn classifier."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write the model into a file, in the safetensors format; ``streamptron.load`` reads it.

        The file is replaced whole or not at all: after an error, a power failure or ``kill -9`` the
        old one is still there. A new file can be read by its owner only (0600); an existing one
        keeps its permissions and, if the system allows it, its owner and group. Symbolic links are
        followed. Other threads may use the model during the call: learning waits only while the
        weights are copied.

        The file contains the names of all features and the seed of the model's hash, even if that
        is secret. The file of ``Tokenizer() | learner`` contains both steps, and works with the
        command line too: ``streamptron predict --model PATH``. The file of a classifier for
        scikit-learn is that of its `model_`, plus what the classifier itself keeps; the C library
        opens it, too, and sees only the learner.

        Parameters
        ----------
        path
            The file.
        metadata
            A dict that JSON can hold, stored with the model; see ``streamptron.read_metadata``.

        Raises
        ------
        TypeError
            If a label or a feature name is an object of your own class, if the model's class or one
            of its attributes is your own, or if JSON would give back other metadata. If a parameter
            or a class of a classifier for scikit-learn is an object that no file can hold, such as
            a RandomState. If the steps of a pipeline have names of your own.
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

    # The parameters that all learners share, as they were given.
    intercept = kept[bool]("Whether an intercept is learned.")
    class_weight = kept[Mapping[Hashable, float] | None]("What scales the steps for each label.")
    false_positive_rate = kept[Mapping[Hashable, float] | None](
        "For each label, the share of the events of other labels that may be answered with it."
    )
    max_features = kept[int | None]("The largest number of features that have weights.")
    hash_bits = kept[int | None]("Features are hashed to 2**hash_bits numbers; None: not hashed.")
    hash_seed = kept[int | None]("The seed of the hash; None: it is a secret.")
    degree = kept[int]("2: all pairs of features are features, too.")
    interactions = kept[tuple[tuple[str, str], ...] | None]("The fields whose features are paired.")
    max_pairs = kept[int]("The largest number of pairs that an event may make.")
    missing = kept[str]('What is left out of an event: "skip", "skip_nan" or "refuse".')

    @property
    def _positive(self) -> int:
        """The index of the label that a positive score stands for, if there is a single score."""
        return 1

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A new estimator with the same parameters, which has learned nothing, as in River.

        Parameters
        ----------
        new_params
            Parameters to change.
        include_attributes
            Also copy what was learned. Then the parameters that the weights depend on (average,
            pocket, intercept, max_features, hash_bits, hash_seed, degree, interactions, shape)
            cannot be changed.
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
        return self._of_state(copy.deepcopy(state))

    @classmethod
    def _of_state(cls, state: dict[str, Any]) -> Self:
        """A model of this class with a state, as ``__getstate__`` returns it."""
        made = cls.__new__(cls)
        made.__setstate__(state)
        return made

    def delta(self, since: Any, shard: int = 0) -> Delta:
        """What this model has learned since it was copied from another one.

        Parameters
        ----------
        since
            The model that it was copied from, which has not learned since.
        shard
            The number of this shard, if several learn: deltas are added up in this order.

        Raises
        ------
        ValueError
            If this model is not a continuation of `since`.

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
        """Learn what one or more shards have learned since they were copied from this model.

        All of it is learned or, after an error, nothing. Other threads can predict during the call,
        and get the new weights all at once; learning waits.

        Parameters
        ----------
        delta
            From ``delta`` of a copy of this model that has learned more, or from ``Delta.combine``
            of several such deltas.

        Raises
        ------
        ValueError
            If the delta is based on another model, or on this one before it learned something: so
            nothing is learned twice.
        ModelFileError
            If the delta contradicts itself.
        RuntimeError
            If the model was opened read-only, with ``mmap=True``.
        """
        from streamptron.keeping.merging import apply_delta

        apply_delta(self, delta)

    def predict_ticket(self, x: Any) -> Ticket:
        """Predict one event, and keep it for ``learn_ticket`` until its label is known.

        Parameters
        ----------
        x
            A mapping of features to numbers.

        Returns
        -------
        A small object to store or send; see :class:`Ticket`. Its ``prediction`` is what
        ``predict_one`` answers.

        Raises
        ------
        TypeError, ValueError
            If x is invalid, or if a feature name or the predicted label is an object that no model
            file can hold.

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
        """Learn an event that was predicted earlier, as ``learn_one`` would learn it now.

        In the meantime the model may have learned, grown, been saved, loaded or merged. Nothing
        prevents a ticket from being learned more than once.

        Parameters
        ----------
        ticket
            From ``predict_ticket`` of a model of the same class and parameters, or its bytes.
        y, w, undo
            As for ``learn_one``.

        Raises
        ------
        TypeError, ValueError
            If the ticket is damaged or for another kind of model, or if y or w is invalid. The
            model has not changed.
        MemoryError
            If memory runs out. The model has not changed.
        """
        from streamptron.keeping.tickets import ticket_event

        self._check_one_event("learn_ticket")
        learner: Any = self
        return learner.learn_one(ticket_event(self, ticket), y, w, undo)

    def undo(self, step: Any) -> None:
        """Take back what one event has taught; everything learned since then is kept.

        The weights and their average become as if the event had been seen and had not moved them:
        exactly if all values are whole numbers, otherwise up to rounding in the last place. The
        event still counts in ``n_seen`` and ``n_mistakes``, and its label stays known. The pocket,
        the choice of the vector that answers, and the calibration of the probabilities do not
        change back, but adapt as new events come. Steps after this one were taken by a model that
        had learned the event, and stay as they are. docs/late-labels.md says what is restored of an
        AdaptiveClassifier.

        Parameters
        ----------
        step
            From ``learn_one(x, y, undo=True)`` of this model, or its bytes. The model may have been
            saved and loaded, pickled or copied since.

        Raises
        ------
        TypeError
            If the learner cannot take steps back, or if `step` is not a step.
        ValueError
            If the step is damaged, has been taken back already, or is not this model's: if another
            model learned the event, even a copy of this one, or if this model comes from a file or
            a copy made before the event. The model has not changed.
        MemoryError
            If memory runs out. The model has not changed.

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
        """Raise an error if the learner learns from candidates, not from one event."""

    def _file_parts(self) -> tuple[Any, Any, Any]:
        """Learner, tokenizer and lines, as a model file holds them."""
        return self, None, None

    def _batch(self, X: Any, feature_names: Iterable[Hashable] | None) -> Batch:
        """Look at X as rows."""
        # imported here because it imports numpy, which learn_one does not need
        from streamptron.estimator.batches import batch_of

        return batch_of(X, feature_names, self.missing)
