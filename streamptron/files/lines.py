"""A model for lines: the learner, what makes an event of a line, and how its labels are written.

A model file of the command line stores all of it: the learner and, if lines are texts, the
Tokenizer, as in a pipeline ``Tokenizer() | learner``; and in addition, as its `lines`:

    reading     the format of the lines and its options, as streamptron.files.read takes them
    positive    for a Perceptron: the label that is True; None: labels are truth values
    names       for a Perceptron: how False and True are written; None until a line has shown it

and optionally:

    header      for CSV: the columns of the file that was read last
    place       where training stopped, see stream.Place; None if it reached the end
    spool       files of corrections that were learned but not moved away yet, see command/spool.py
    labels      `known`: whether no other labels are learned; `negative`: some that are False
                (Perceptron)
    mails       `known`: the mails that were learned, see keeping/known.py

A pipeline that was saved in Python has no `lines`: its lines are taken as plain ones.

Labels are texts here, whatever the format: the 1 of svmlight and the "1" before a TAB are the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Self

from streamptron.common.disk import beside
from streamptron.common.names import short_repr
from streamptron.doors._core import BinaryModel
from streamptron.doors.ranking import RankModel
from streamptron.doors.texts import MailDoor, TextDoor
from streamptron.files.fields import event_of, is_union, takes_fields, texts_of
from streamptron.files.sources import MAX_LINE
from streamptron.keeping.known import TRUTHS, Known, Labels
from streamptron.keeping.layout import Contents
from streamptron.keeping.lock import ModelLock, ModelLockError
from streamptron.keeping.read import read
from streamptron.keeping.write import contents_of, write

if TYPE_CHECKING:
    from streamptron.files.reader import Reader
    from streamptron.files.sources import LineError

# The `lines` of a pipeline that was saved in Python, which has none.
PLAIN: dict[str, Any] = {"reading": {"format": "plain"}, "positive": None, "names": None}
MAILS: dict[str, Any] = {**PLAIN, "reading": {"format": "mail"}}
OF_FILES = ("label_by", "labels_of")
OPTIONAL = ("header", "place", "spool", "mails", "labels")
FEW = 100  # a Perceptron's negative labels that are remembered


class Truths(dict[Any, bool]):
    """``{label: whether the event has it}``, hashable so that it can be a label of a block.

    The order of the labels matters for equality, since new labels are learned in that order.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Truths) and tuple(self.items()) == tuple(other.items())

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


class LineModel:
    """A learner, its tokenizer and its labels.

    Parameters
    ----------
    learner
        A learner of streamptron.learners.registry.
    tokenizer
        Makes events of texts; None: the lines hold features.
    reading
        The format of the lines, and its options.
    positive
        The label that is True, for a Perceptron.
    names
        How a Perceptron's False and True are written.
    kept
        The user's metadata, a position in a stream, and a journal, which are saved again.

    Attributes
    ----------
    learn_unsure
        The margin below which an event is learned even if the answer is right; None: all events
        are learned. It belongs to the command, and is not in the file.
    journal
        The journal, once it is needed (see teach.py); then it is the one that is saved.
    """

    def __init__(
        self,
        learner: Any,
        tokenizer: TextDoor | None,
        reading: dict[str, Any],
        positive: str | None = None,
        names: list[str | None] | None = None,
        kept: tuple[Any, Any, bytes | None] = (None, None, None),
    ) -> None:
        self.learner = learner
        self.tokenizer: Any = tokenizer
        self.reading = reading
        self.positive = positive
        self.kept = kept
        self.header: list[str] | None = None
        self.place: dict[str, Any] | None = None
        self.spool: dict[str, Any] | None = None
        self.mails: dict[str, Any] | None = None  # as in the file
        self._learned: Known | None = None
        self.labels: dict[str, Any] | None = None
        self._labels: Labels | None = None  # those that may be learned; None: all
        self._learn_unsure: float | None = None
        self.journal: Any = None
        self._names = names or [None, None]
        if positive is not None:
            self._names = [f"not {positive}", positive]
        self.wanted: set[str] = set()  # labels that the command names and no line has had yet
        self.others: dict[str, None] = {}  # some of the labels that lines had
        self._written: list[str] = []
        self._binary = isinstance(learner, BinaryModel)
        self.multilabel: bool = learner._can("set")  # whether an event has several labels
        self.max_labels: int | None = None if self._binary else learner.max_labels
        # a learner trained in Python may have labels that are not texts
        known = [] if self._binary else learner.labels
        self._known: set[Hashable] = set()  # labels that the learner has
        self._outputs: dict[Hashable, int] = {}
        self._others = {str(label): label for label in known if not isinstance(label, str)}

    @property
    def learn_unsure(self) -> float | None:
        return self._learn_unsure

    @learn_unsure.setter
    def learn_unsure(self, margin: float | None) -> None:
        if margin is not None and self.multilabel:
            raise ValueError(
                "--learn-unsure is for models that answer one label, and the model answers "
                "several; leave it out"
            )
        self._learn_unsure = margin

    @property
    def learned(self) -> Known:
        """The mails that it has learned."""
        if self._learned is None:
            self._learned = Known((self.mails or {}).get("known", ""))
        return self._learned

    def save(self, path: str | os.PathLike[str]) -> None:
        if self._learned is not None:
            self.mails = {"known": self._learned.kept()} if self._learned else None
        # which files have which label is not part of the model
        reading = {name: part for name, part in self.reading.items() if name not in OF_FILES}
        lines = {
            "reading": reading,
            "positive": self.positive,
            "names": self._names if self._binary else None,
            **{name: value for name in OPTIONAL if (value := getattr(self, name))},
        }
        metadata, position, journal = self.kept
        journal = journal if self.journal is None else self.journal
        tokenizer, steps = self.tokenizer, None
        if is_union(tokenizer):
            from streamptron.common.river import compose

            steps = contents_of(compose.Pipeline(tokenizer, self.learner)).steps
            tokenizer = None
        kept = metadata, position, journal
        write(path, Contents(self.learner, tokenizer, lines, *kept, steps=steps))

    def save_at_last(self, lock: ModelLock) -> None:
        """Save at the end: beside the model, if another program has replaced the file."""
        try:
            lock.save(self)
        except ModelLockError as error:
            path = beside(lock.path, f".of-process-{os.getpid()}")
            self.save(path)
            raise ModelLockError(f"{error}; what was learned is in {path!r}") from None

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], multilabel: bool = False, mmap: bool = False
    ) -> Self:
        """Load a model from a file.

        `multilabel`: accept a model whose events have several labels. With `mmap` it is read in
        place, and can only answer.
        """
        contents = read(path, mmap)
        learner, tokenizer, lines = contents[:3]
        steps = contents.steps
        if steps is not None and not (lines and texts_of(lines["reading"])):
            raise ValueError(
                f"{path}: it holds a pipeline of {', '.join(steps.names)}, whose events are not "
                "lines; use it from Python, with streamptron.load(path)"
            )
        if isinstance(learner, RankModel):
            raise ValueError(
                f"{path}: it chooses among candidates, and a line is one event; use it from "
                "Python, with streamptron.load(path)"
            )
        if learner._can("set") and not multilabel:
            raise ValueError(
                f"{path}: its events have several labels, and this is for one label; use it with "
                "train, predict, eval, top, explain or info"
            )
        if tokenizer is None and lines is None and steps is None:
            raise ValueError(
                f"{path}: it holds only a learner, and nothing that makes events from lines; "
                "save it with its tokenizer: (Tokenizer() | learner).save(path)"
            )
        of_fields = tokenizer is not None and tokenizer.fields is not None
        if of_fields and not (lines and texts_of(lines["reading"])):
            raise ValueError(
                f"{path}: its tokenizer takes mappings with the fields "
                f"{short_repr(tokenizer.fields)}, and a line is one text; train it on one text, or "
                "use it from Python"
            )
        return cls.of(contents)

    @classmethod
    def of(cls, contents: Contents) -> Self:
        """The model in a file whose events are known to be lines."""
        learner, tokenizer, lines, metadata, position, journal = contents[:6]
        if contents.steps is not None:  # texts and features
            (tokenizer,) = contents.steps.before
        lines = lines or (MAILS if isinstance(tokenizer, MailDoor) else PLAIN)
        kept = metadata, position, journal
        names = lines["names"]
        model = cls(
            learner,
            tokenizer,
            dict(lines["reading"]),
            lines["positive"],
            names and list(names),
            kept,
        )
        for name in OPTIONAL:
            setattr(model, name, lines.get(name))
        return model

    # --- Labels

    def label(self, text: str | tuple[str, ...] | Truths) -> Hashable:
        """The label as the learner takes it; for several labels, a tuple of them or Truths."""
        if isinstance(text, tuple):
            return tuple(map(self.label, text))
        if isinstance(text, Truths):
            return Truths({self.label(name): there for name, there in text.items()})
        if self._labels is not None:
            self._labels.check(text)
        if self.wanted:
            self.wanted.discard(text)
            if len(self.others) < 5:
                self.others[text] = None
        if not self._binary:
            if "\n" in text or "\r" in text:
                raise ValueError(
                    f"the label {short_repr(text)} has a line end; write it in one line"
                )
            found: Hashable = self._others.get(text, text)
            return found
        if self.positive is not None:
            if text != self.positive:
                self._note_negative(text)
            return text == self.positive
        truth = TRUTHS.get(text.lower())
        if truth is None:
            raise ValueError(
                f"the label {short_repr(text)} is not one of 0, 1, -1, +1, true and false; name "
                "the one that is true with --positive, or use another learner"
            )
        if self._names[truth] is None:
            self._names[truth] = text
            self._written = []
        return truth

    def _note_negative(self, text: str) -> None:
        noted = (self.labels or {}).get("negative", [])
        if text not in noted and len(noted) < FEW:
            self.labels = {**(self.labels or {}), "negative": [*noted, text]}

    def settle_labels(self, known: bool = False, new: bool = False, learns: bool = True) -> None:
        """Set which labels may be learned.

        By default all labels may be, except in a filter, which reads mails and learns only the
        first two: there, a third label is usually a typing error, and would spoil the answers for
        good mail. With `known`, or if the model was trained with it, only the labels that the model
        has; with `new`, all labels.
        """
        names = self.names
        if self._binary:
            negative = (self.labels or {}).get("negative", [])
            names = [name for name in names if name] if self.positive is None else []
            names += [str(self.positive), f"not {self.positive}", *negative] if negative else []
        if known and not names:
            raise ValueError("--known-labels: the model knows no label yet; leave it out")
        asked = known or (self.labels or {}).get("known", False)
        is_filter = learns and isinstance(self.tokenizer, MailDoor) and not self.multilabel
        self._labels = None
        if new or (asked and names) or (is_filter and (names or not self._binary)):
            self._labels = Labels(names, 0 if asked else 2, new)

    def too_many(self, labels: Sequence[Hashable]) -> dict[int, str]:
        """Which of these labels exceed the learner's max_labels, with the reason."""
        most = self.max_labels
        if most is None or self._known.issuperset(labels):
            return {}
        self._known.update(self.learner.labels)
        new = [number for number, label in enumerate(labels) if label not in self._known]
        return {
            number: f"the label {short_repr(labels[number])} is one more than --max-labels {most} "
            "allows; leave the line out, or train a model that takes more labels"
            for number in new[max(0, most - len(self._known)) :]
        }

    def name(self, label: Any) -> str:
        """How a label of the learner is written, in one line."""
        if self._binary:
            return self._names[label] or "01"[label]
        return " ".join(str(label).splitlines())

    @property
    def names(self) -> list[str]:
        """How labels are written, by output; a new list whenever one changes."""
        labels = self.learner._known_labels
        if len(self._written) < len(labels):
            self._written = list(map(self.name, labels))
        return self._written

    def output(self, label: Any) -> int:
        """The output of a label; -1 for None and for unknown labels."""
        if self._binary:
            return -1 if label is None else int(label)
        if label not in self._outputs and label is not None:
            self._outputs = {each: output for output, each in enumerate(self.learner.labels)}
        return self._outputs.get(label, -1)

    # --- Events, for formats whose lines Python reads

    def read(
        self,
        sources: Any,
        on_error: Callable[[LineError], object] | str,
        *,
        max_line: int = MAX_LINE,
        encoding: str | None = None,
        labelled: bool = True,
        **reading: Any,
    ) -> Reader:
        """The events of some sources; options not in `reading` are those of the training.

        If not `labelled`, labels are not read: the events will only be answered.
        """
        from streamptron.files.reader import read

        format = reading.pop("format", None) or self.reading["format"]
        options = {**self.reading, **reading} if format == self.reading["format"] else reading
        options.pop("format", None)
        if format == "vw":
            options["label_type"] = "text"
        if self.multilabel:
            options["several"] = True
        if format == "jsonl" and not labelled and "label" not in reading:
            options["label"] = None
        reader = read(
            sources, format, on_error=on_error, max_line=max_line, encoding=encoding, **options
        )
        return reader if labelled else reader.without_labels()

    def event(self, x: Any) -> Any:
        """A Reader's event as the learner takes it."""
        if self.tokenizer is None:
            if not isinstance(x, dict):
                raise ValueError("the model learns from features, and this format gives texts")
            return x
        if takes_fields(self.tokenizer):
            if not isinstance(x, dict):
                raise ValueError("the model learns from several fields, and this format gives one")
            return event_of(self.tokenizer, x)
        if isinstance(x, dict):
            raise ValueError("the model learns from texts, and this format gives features")
        if isinstance(x, bytes) is not isinstance(self.tokenizer, MailDoor):
            raise ValueError(
                "the model learns from texts, and this format gives mails"
                if isinstance(x, bytes)
                else "the model learns from mails, and this format gives texts; give --format mail"
            )
        return self.tokenizer.transform_one(x)

    def written(self, y: Any) -> Any:
        """A Reader's label as text; for several labels, a tuple of texts or Truths."""
        if isinstance(y, list):
            return tuple(map(self.written, y))
        if isinstance(y, dict):
            return Truths({self.written(label): there for label, there in y.items()})
        return str(y).lower() if isinstance(y, bool) else str(y)

    def answer(self, x: Any) -> tuple[str | None, float | None]:
        """The label of an event, and its probability."""
        label = self.learner.predict_one(x)
        if label is None:
            return None, None
        return self.name(label), self.learner.predict_proba_one(x)[label]
