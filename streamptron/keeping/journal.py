"""A journal: the steps of recent events, by the events' ids, in one file with the model."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Self

from streamptron.common.checks import truth, whole
from streamptron.common.errors import ModelFileError
from streamptron.common.names import count_of, count_packed, short_repr, type_shown
from streamptron.common.values import decode, encoded
from streamptron.doors.steps import check_not_in_a_file
from streamptron.keeping.layout import Contents
from streamptron.keeping.read import model_of, read
from streamptron.keeping.tickets import WRONG, Step, Ticket, check_can_undo, places_of, sized
from streamptron.keeping.write import contents_of, write

_MOST = 2**31


class Journal:
    """Learns events under ids, and remembers the most recent ones so that they can be corrected.

    "The user has moved this mail out of Junk": ``journal.correct(id, "ham")`` takes back what the
    mail has taught, and learns it with the right label. What was learned since then is kept.

    The journal holds the steps of the last `most` events, a few hundred bytes for a short text; the
    oldest are dropped first. It is saved in the same file as the model, which is replaced whole or
    not at all, so the two never disagree: ``journal.save(path)``, or ``Checkpoint(journal, path)``.

    Any number of threads may use a journal. The model may also learn events directly: the journal
    does not know them, and still works.

    Parameters
    ----------
    model
        A Perceptron, MulticlassPerceptron, MIRA, AdaptiveClassifier or MultiLabelClassifier; or a
        pipeline that ends in one, if a model file can hold its steps. What the steps themselves
        learn from an event, as a scaler does from its values, is not taken back. A model opened
        with ``mmap=True`` cannot be used, as it cannot learn.
    most
        The largest number of events to remember.

    Attributes
    ----------
    model
        As given.
    most
        As given.

    Examples
    --------
    >>> from streamptron import Journal, Perceptron, Tokenizer
    >>> journal = Journal(Tokenizer() | Perceptron(), most=1000)
    >>> journal.learn_one("mail-1", "see you at the meeting", True)
    >>> journal.correct("mail-1", False)
    >>> journal.model.predict_one("the meeting")
    False
    """

    def __init__(self, model: Any, most: int = 10_000) -> None:
        self.model = model
        self.most = whole("most", most, 1, _MOST, "an int")
        if isinstance(model, Journal):
            raise TypeError("model is a Journal; give its model, journal.model")
        contents = contents_of(model)
        self._learner = contents.learner
        self._before = _before(model, contents)
        self._teaches = contents.steps is not None
        check_can_undo(self._learner, "model")
        check_not_in_a_file(self._learner)
        self._steps: dict[Hashable, Step] = {}
        self._turn = 0  # how often the steps have changed
        self._lock = threading.RLock()

    def learn_one(self, id: Hashable, x: Any, y: Any, w: float = 1.0) -> None:
        """Learn an event, and remember its step.

        Parameters
        ----------
        id
            The event's id: a str, bytes, int, or another object that a model file can hold.
        x, y, w
            As for ``learn_one`` of the model.

        Raises
        ------
        ValueError
            If there already is an event with this id, perhaps because it was delivered twice.
            Nothing is learned.
        TypeError
            If no file could hold the id.
        """
        with self._lock:
            self._check_new(id)
            if self._teaches:
                check_label(self._learner, y, w)
                self._before.learn_one(x)
            if self._before is not None:
                x = self._before.transform_one(x)
            self._remember(id, self._learner.learn_one(x, y, w, undo=True))

    def learn_ticket(self, id: Hashable, ticket: Ticket | bytes, y: Any, w: float = 1.0) -> None:
        """The same for an event that was predicted earlier; see ``learn_ticket`` of the model."""
        with self._lock:
            self._check_new(id)
            self._remember(id, self._learner.learn_ticket(ticket, y, w, undo=True))

    def undo(self, id: Hashable) -> None:
        """Take back what an event has taught, and forget the event.

        Raises
        ------
        KeyError
            If there is no event of this id.
        """
        with self._lock:
            self._learner.undo(self._step(id))
            self._forget(id)

    def correct(self, id: Hashable, y: Any, w: float | None = None, *, undo: bool = True) -> None:
        """Take back what an event has taught, and learn it with the right label.

        The event then counts as the latest one. If memory runs out between the two steps, the wrong
        label has been taken back and the event is forgotten.

        Parameters
        ----------
        id
            The event's id.
        y
            The right label.
        w
            The sample weight; None: the one that the event was learned with.
        undo
            False: only learn the right label, and leave it to later events to outweigh the wrong
            one. That is better for Perceptron, MulticlassPerceptron and MIRA if more than about ten
            events have come since: see docs/late-labels.md.

        Raises
        ------
        KeyError
            If there is no event of this id.
        TypeError, ValueError
            If y, w or undo is invalid; nothing has changed.
        """
        truth("undo", undo)
        with self._lock:
            step = self._step(id)
            w = step.w if w is None else w
            check_label(self._learner, y, w)
            if undo:
                self._learner.undo(step)
            self._forget(id)
            self._remember(id, self._learner.learn_ticket(step.ticket, y, w, undo=True))

    def label_of(self, id: Hashable) -> Any:
        """The label that an event was last learned with.

        Raises
        ------
        KeyError
            If there is no event of this id.
        """
        with self._lock:
            return self._step(id).label

    def __contains__(self, id: object) -> bool:
        return id in self._steps

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Hashable]:
        """The ids, the oldest first."""
        with self._lock:
            return iter(list(self._steps))

    def __repr__(self) -> str:
        return f"Journal({type(self._learner).__name__}, {len(self)} of {self.most} events)"

    def _check_new(self, id: Hashable) -> None:
        try:
            hash(id)
        except TypeError:
            raise TypeError(
                f"id={short_repr(id)} is {type_shown(id)}, which is not hashable; give a str or int"
            ) from None
        encoded(id, "id")
        if id != id:
            raise ValueError(
                f"id={short_repr(id)} does not equal itself, so it could not be found again; give "
                "another id"
            )
        if id in self._steps:
            raise ValueError(
                f"id={short_repr(id)} is in the journal already; nothing was learned. Use correct "
                "or undo, or give each event its own id"
            )

    def _step(self, id: Hashable) -> Step:
        try:
            return self._steps[id]
        except TypeError:
            raise TypeError(
                f"id={short_repr(id)} is not hashable; give an id that was learned"
            ) from None
        except KeyError:
            raise KeyError(
                f"there is no event {short_repr(id)}: it was not learned here, it was taken back, "
                f"or {self.most} others have come since"
            ) from None

    def _forget(self, id: Hashable) -> None:
        self._turn += 1
        del self._steps[id]

    def _remember(self, id: Hashable, step: Step) -> None:
        self._turn += 1
        self._steps[id] = step
        while len(self._steps) > self.most:
            del self._steps[next(iter(self._steps))]

    # --- Files

    def save(self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None) -> None:
        """Write the model and the journal into one file; ``Journal.load`` reads them back.

        ``streamptron.load`` reads only the model. Otherwise this is like ``Perceptron.save``.

        Parameters
        ----------
        path
            The file.
        metadata
            A dict that JSON can hold, stored with the model.

        Raises
        ------
        TypeError, OSError
            As for ``Perceptron.save``.

        Examples
        --------
        >>> import os, tempfile
        >>> from streamptron import AdaptiveClassifier, Journal
        >>> journal = Journal(AdaptiveClassifier())
        >>> journal.learn_one(17, {"prize": 1}, "ham")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "mail.model")
        ...     journal.save(path)
        ...     journal = Journal.load(path)
        >>> journal.correct(17, "spam")
        >>> list(journal)
        [17]
        """
        write(path, contents_of(self, metadata))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a journal and its model from a file.

        Raises
        ------
        ModelFileError
            If the file is damaged or has no journal.
        OSError
            If it cannot be read.
        """
        contents = read(path)
        if contents.journal is None:
            raise ModelFileError(
                f"{os.fspath(path)!r} has a model but no journal; Journal(streamptron.load(path)) "
                "starts one"
            )
        journal: Self = journal_of(model_of(contents), contents.journal, cls)
        return journal

    def _file_parts(self) -> tuple[Any, Any, Any]:
        return self.model._file_parts()  # type: ignore[no-any-return]

    def _file_journal(self) -> Journal:
        return self

    def _file_state(self, learner: Any) -> tuple[Any, Any]:
        """The learner's state and the journal as bytes, both at the same moment."""
        with self._lock:
            state = learner._file_state()
            steps = list(self._steps.items())
        return state, packed_steps(self.most, steps)

    # --- Copies

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)  # the same model, so the same steps and lock
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle and copy take the steps after the model
        return _rebuilt, (type(self), self.model, self.most, _StepsAfter(self))


def check_label(learner: Any, y: Any, w: float) -> None:
    """Check that a label can be learned, before anything is done that cannot be taken back."""
    labels: Any
    if learner._can("set"):
        labels = learner._target(y)
        encoded(labels, "y")
        learner._weight(w)
    else:
        labels = [learner._checked_label(y)]
        encoded(labels[0], "y")
        learner._checked_step(labels[0], w)
    known = learner._get_labels()
    new = [] if known is None else [label for label in labels if label not in known]
    if new and learner.max_labels is not None:
        over = len(known) + len(new) - learner.max_labels
        if over > 0:
            raise ValueError(
                f"y={short_repr(new[-over])} is a new label, and the model already has "
                f"max_labels={learner.max_labels}; nothing has changed"
            )


def _before(model: Any, contents: Contents) -> Any:
    """The steps before the model's learner, as one step; None if there are none."""
    if contents.steps is None:
        return contents.tokenizer
    from streamptron.common.river import compose

    return compose.Pipeline(*list(model.steps.items())[:-1])


class _StepsAfter:
    """The steps of a journal whose model has just been copied or pickled.

    If other threads have used the journal in the meantime, this includes a new copy of its model:
    the first copy may be older than the steps.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        with journal._lock:
            self.turn = journal._turn

    def __reduce__(self) -> tuple[Any, ...]:
        journal = self.journal
        with journal._lock:
            model = None if journal._turn == self.turn else copy.deepcopy(journal.model)
            return _steps_and_model, (dict(journal._steps), model)


def _steps_and_model(steps: dict[Hashable, Step], model: Any) -> tuple[Any, Any]:
    return steps, model


def _rebuilt(cls: Any, model: Any, most: int, after: tuple[dict[Hashable, Step], Any]) -> Any:
    steps, later = after
    journal = cls(model if later is None else later, most)
    journal._steps = steps
    return journal


def packed_steps(most: int, steps: Iterable[tuple[Hashable, Step]]) -> bytes:
    """A journal as the bytes that a file holds."""
    parts = [
        part for id, step in steps for part in (json.dumps(encoded(id, "id")).encode(), bytes(step))
    ]
    return count_packed(most) + b"".join(sized(parts))


def journal_of(model: Any, data: bytes, cls: Any = Journal) -> Any:
    """The journal in a file, with its model.

    Raises
    ------
    ModelFileError
        If the data contradicts itself.
    """
    try:
        most, at = count_of(data, 0)
        journal = cls(model, most)
        parts = [data[start:end] for start, end in places_of(data, at)]
        for name, step in zip(parts[::2], parts[1::2], strict=True):
            id = decode(json.loads(name))
            if id in journal._steps:
                raise ValueError("an id occurs twice")
            journal._steps[id] = Step.from_bytes(step)
        if len(journal._steps) > most:
            raise ValueError("it was cut off")
    except WRONG as error:
        raise ModelFileError(f"the journal is damaged: {error}; take an older file") from error
    return journal
