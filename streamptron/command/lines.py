"""A model on lines: the learner, what makes an event of a line, and how its labels are written.

A model file of the command line keeps all of it: the learner and, where lines are texts, the
Tokenizer, as that of a pipeline ``Tokenizer() | learner``; and beside them, as its `lines`:

    reading     the format of the lines and its options, as streamptron.files.read takes them
    positive    of a Perceptron: the label that is True; None: labels are truth values
    names       of a Perceptron: how False and True are written; None until a line has shown it

A pipeline that was saved in Python has no `lines`: its lines are then plain ones. Older
files have all this, and the tokenizer's parameters, in the user's metadata.

Labels are text here, whatever the format: the 1 of svmlight and the "1" before a TAB are one label.
Blocks of plain lines go to the core as they are, and nothing is done line by line in Python; the
events of the other formats come one by one.
"""

from __future__ import annotations

import os
import typing
import warnings
from array import array
from itertools import count
from typing import Any

from streamptron._core import BinaryModel
from streamptron.doors.candidates import RankModel
from streamptron.doors.many import write_ahead
from streamptron.doors.parameters import UnfitRow
from streamptron.doors.texts import LINES, Lines
from streamptron.estimator.names import shown
from streamptron.files.sources import MAX_LINE, not_encoded
from streamptron.modelfile.layout import Contents
from streamptron.modelfile.lock import ModelLock, ModelLockError
from streamptron.modelfile.read import read
from streamptron.modelfile.write import write
from streamptron.text import Tokenizer

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Sequence

    from streamptron.files.reader import Reader
    from streamptron.files.sources import LineError

# The formats whose blocks the core reads itself.
BLOCKS = {"plain": LINES.LABELLED, "fasttext": LINES.FASTTEXT}

TRUTHS = {"1": True, "+1": True, "true": True, "0": False, "-1": False, "false": False}


class Block:
    """The texts of a block of lines.

    Attributes
    ----------
    lines
        The core's `Lines`.
    labels, numbers
        Distinct labels as the learner takes them, in order of appearance; for each text the number
        of its label, or -1.
    unfit
        Texts whose labels are bad: they are answered, and no events.
    faults
        What is wrong with other lines, in their order: (line number in the block, reason).
    predictions, confidences
        For each text, once it is answered: the output of the answer (-1: none) and its probability.
    """

    def __init__(self, model: LineModel, data: bytes, kind: int) -> None:
        self._model = model
        self._data = data
        self.lines = Lines(model.tokenizer, data, kind)
        self.n = len(self.lines)
        self.faults = self.lines.faults
        self.numbers = array("q")
        self.labels: list[Hashable] = []
        self.unfit: set[int] = set()

    def write_ahead(self) -> None:
        """Split the texts into words now, in this thread, rather than when they are learned."""
        write_ahead(self._model.learner, self.lines)

    def label(self, held: slice | None = None) -> None:
        """Settle the labels; texts that are held get none."""
        self.numbers = self.lines.numbers[: self.n]
        bad = {}
        for number, label in enumerate(self.lines.labels):
            try:
                self.labels.append(self._model.label(label.decode()))
                continue
            except UnicodeDecodeError:
                bad[number] = f"the label {shown(label)} is not UTF-8; give the file's encoding"
            except ValueError as error:
                bad[number] = str(error)
            self.labels.append(None)
        self._refuse(bad)
        if held:
            self.numbers[held] = array("q", [-1]) * len(range(*held.indices(self.n)))
            self.labels, self.numbers = self._without()

    def _refuse(self, bad: dict[int, str]) -> None:
        """Texts with one of these labels are no events, for the reason that is given."""
        if not bad:
            return
        self.faults = list(self.faults)
        for row, number in enumerate(self.numbers):
            if number in bad:
                self.faults.append((self.lines.line_numbers[row], bad[number]))
                self.unfit.add(row)
        self.faults.sort()
        self.labels, self.numbers = self._without(bad)

    def keep(self, kept: slice) -> None:
        """Let only some texts have their labels."""
        numbers = array("q", [-1]) * self.n
        numbers[kept] = self.numbers[kept]
        self.numbers = numbers

    def _without(self, bad: Collection[int] = ()) -> tuple[list[Hashable], array[int]]:
        """Labels and numbers as the learner may see them: of labels that texts still have."""
        used = [number for number in dict.fromkeys(self.numbers) if number not in {-1, *bad}]
        place = dict.fromkeys([-1, *bad], -1) | dict(zip(used, count(), strict=False))
        labels = [self.labels[number] for number in used]
        return labels, array("q", map(place.__getitem__, self.numbers))

    def _answers(self) -> tuple[array[int], array[float]]:
        self.predictions = array("q", bytes(8 * self.n))
        self.confidences = array("d", bytes(8 * self.n))
        return self.predictions, self.confidences

    def _leave_out(self, row: int, reason: str) -> None:
        """A text that the learner refuses becomes one of the faults."""
        reason = f"it {reason}"
        self.lines.leave_out(row, reason)
        if self.faults is not self.lines.faults:
            self.faults = sorted([*self.faults, *set(self.lines.faults) - set(self.faults)])
        self.n -= 1
        self.unfit = {other - (other > row) for other in self.unfit if other != row}
        if self.numbers:
            del self.numbers[row]
            self.labels, self.numbers = self._without()

    def learn(self, confidences: bool = False) -> None:
        """Answer each text and then learn it, if it has a label and the model a place for that."""
        while True:
            try:
                return self._learn(confidences)
            except UnfitRow as error:  # a label that it was the first to have leaves its place
                self._leave_out(*error.args)

    def _learn(self, confidences: bool) -> None:
        answers = self._answers()
        too_many = self._model.too_many(self.labels)
        labels, numbers = self._without(too_many) if too_many else (self.labels, self.numbers)
        done, _ = self._model.learner._learn_rows(
            self.lines,
            None,
            labels,
            numbers,
            None,
            answers[0],
            answers[1] if confidences else None,
        )
        self._check(done)
        self._refuse(too_many)

    def answer(self) -> None:
        """Answer each text."""
        while True:
            try:
                return self._answer()
            except UnfitRow as error:
                self._leave_out(*error.args)

    def _answer(self) -> None:
        predictions, confidences = self._answers()
        done, _ = self._model.learner._predict_rows(
            self.lines, None, predictions, None, None, confidences
        )
        self._check(done)

    def replaced(self) -> list[int]:
        """The lines whose texts, which have been read, hold bytes that are not UTF-8."""
        if not self.lines.replaced:  # the usual case, settled without a look at each line
            return []
        texts = set(self.lines.line_numbers[: self.n]) - {number for number, _ in self.faults}
        return [
            number
            for number, line in enumerate(self._data.split(b"\n"))
            if number in texts and not _is_utf8(line)
        ]

    def _check(self, done: int) -> None:
        if done < self.n:
            raise MemoryError(f"no memory after {done} of {self.n} lines")


class Replaced:
    """Texts with bytes that are not UTF-8: how many there were, and the first."""

    def __init__(self, encoding: str | None) -> None:
        self.encoding = encoding
        self.n_texts = 0
        self.n = 0
        self.first = ""

    def add(self, block: Block, where: str, line: int) -> None:
        self.n_texts += block.n
        if lines := block.replaced():
            self.n += len(lines)
            self.first = self.first or f"{where}{line + lines[0]}"

    def warn(self) -> None:
        if self.n:
            warnings.warn(
                not_encoded(self.n, self.n_texts, self.first, self.encoding), stacklevel=2
            )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# The `lines` of a pipeline that was saved in Python, which has none.
PLAIN: dict[str, Any] = {"reading": {"format": "plain"}, "positive": None, "names": None}


def _of_metadata(metadata: dict[str, Any]) -> tuple[Tokenizer | None, dict[str, Any], Any]:
    """Tokenizer and `lines` as older files have them, and the metadata without them."""
    metadata = dict(metadata)
    tokenizer = metadata.pop("tokenizer")
    if tokenizer is not None:
        low, high = tokenizer.get("ngram_range", (1, 1))
        tokenizer = Tokenizer(**{**tokenizer, "ngram_range": (low, high)})
    lines = {name: metadata.pop(name, default) for name, default in PLAIN.items()}
    if names := lines["names"]:
        no, yes = names
        if not all(name is None or isinstance(name, str) for name in (no, yes)):
            raise ValueError(f"the labels' names {shown(names)} are not texts")
    if not isinstance(lines["positive"], str | None):
        raise ValueError(f"the label {shown(lines['positive'])} is not text")
    return tokenizer, {**lines, "reading": dict(lines["reading"])}, metadata


class LineModel:
    """A learner, its tokenizer and its labels.

    Parameters
    ----------
    learner
        One of streamptron.learners.
    tokenizer
        What makes events of texts; None: the lines hold features.
    reading
        The format of the lines, and its options.
    positive
        The label that is True, for a Perceptron.
    names
        How a Perceptron's False and True are written.
    kept
        The user's metadata, and a position in a stream: they stay in the file.
    """

    def __init__(
        self,
        learner: Any,
        tokenizer: Tokenizer | None,
        reading: dict[str, Any],
        positive: str | None = None,
        names: list[str | None] | None = None,
        kept: tuple[Any, Any] = (None, None),
    ) -> None:
        self.learner = learner
        self.tokenizer: Any = tokenizer
        self.reading = reading
        self.positive = positive
        self.kept = kept
        self._names = names or [None, None]
        if positive is not None:
            self._names = [f"not {positive}", positive]
        self.wanted: set[str] = set()  # labels that the command named and no line has had
        self.others: dict[str, None] = {}  # some of the labels that lines had
        self._written: list[str] = []
        self._binary = isinstance(learner, BinaryModel)
        # a learner trained in Python may have labels that are not texts
        known = [] if self._binary else learner.labels
        self._known: set[Hashable] = set()  # labels that have a place
        self._others = {str(label): label for label in known if not isinstance(label, str)}

    def save(self, path: str | os.PathLike[str]) -> None:
        lines = {
            "reading": self.reading,
            "positive": self.positive,
            "names": self._names if self._binary else None,
        }
        write(path, Contents(self.learner, self.tokenizer, lines, *self.kept))

    def save_at_last(self, lock: ModelLock) -> None:
        """Save at the end: beside the model, if another program has replaced the file."""
        try:
            lock.save(self)
        except ModelLockError as error:
            beside = f"{lock.path}.of-process-{os.getpid()}"
            self.save(beside)
            raise ModelLockError(f"{error}; what was learned is in {beside!r}") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> typing.Self:
        learner, tokenizer, lines, metadata, position, _ = read(path)
        if isinstance(learner, RankModel):
            raise ValueError(
                f"{path}: it chooses among candidates, and a line is one event; use it from "
                "Python, with streamptron.load(path)"
            )
        if tokenizer is None and lines is None:
            if "tokenizer" not in metadata:
                raise ValueError(
                    f"{path}: it holds a learner alone, and nothing says how to make events of "
                    "lines; save it with its tokenizer: (Tokenizer() | learner).save(path)"
                )
            try:
                tokenizer, lines, metadata = _of_metadata(metadata)
            except (TypeError, AttributeError, ValueError) as error:
                raise ValueError(f"{path}: the model's metadata cannot be used: {error}") from error
        if tokenizer is not None and tokenizer.fields is not None:
            raise ValueError(
                f"{path}: its tokenizer takes mappings with the fields {shown(tokenizer.fields)}, "
                "and a line is one text; train it on one text, or use it from Python"
            )
        lines = lines or PLAIN
        kept = metadata, position
        names = lines["names"]
        return cls(
            learner,
            tokenizer,
            dict(lines["reading"]),
            lines["positive"],
            names and list(names),
            kept,
        )

    # --- Labels

    def label(self, text: str) -> Hashable:
        """The label as the learner takes it."""
        if self.wanted:
            self.wanted.discard(text)
            if len(self.others) < 5:
                self.others[text] = None
        if not self._binary:
            if "\n" in text or "\r" in text:
                raise ValueError(f"the label {shown(text)} has a line end; write it in one line")
            label: Hashable = self._others.get(text, text)
            return label
        if self.positive is not None:
            return text == self.positive
        truth = TRUTHS.get(text.lower())
        if truth is None:
            raise ValueError(
                f"the label {shown(text)} is not one of 0, 1, -1, +1, true and false; name the one "
                "that is true with --positive, or use another learner"
            )
        if self._names[truth] is None:
            self._names[truth] = text
            self._written = []
        return truth

    def too_many(self, labels: Sequence[Hashable]) -> dict[int, str]:
        """Which of some labels, in order, the learner has no place for, and why."""
        most = None if self._binary else self.learner.max_labels
        if most is None or self._known.issuperset(labels):
            return {}
        self._known.update(self.learner.labels)
        new = [number for number, label in enumerate(labels) if label not in self._known]
        return {
            number: f"the label {shown(labels[number])} is one more than --max-labels {most} "
            "allows; leave the line out, or train a model that takes more labels"
            for number in new[max(0, most - len(self._known)) :]
        }

    def check_place(self, label: Hashable) -> None:
        """That a label may be learned: the model knows it, or has a place for it."""
        for reason in self.too_many([label]).values():
            raise ValueError(reason)

    def name(self, label: Any) -> str:
        """How a label of the learner is written, in one line."""
        if self._binary:
            return self._names[label] or "01"[label]
        return " ".join(str(label).splitlines())

    @property
    def names(self) -> list[str]:
        """How labels are written, by output; a new list whenever that changes."""
        labels = [False, True] if self._binary else self.learner.labels
        if len(self._written) < len(labels):
            self._written = list(map(self.name, labels))
        return self._written

    def outputs(self, labels: list[Hashable]) -> list[int]:
        """The output of each label; -1 for one that is not known."""
        if self._binary:
            return [int(bool(label)) for label in labels]
        number = {label: output for output, label in enumerate(self.learner.labels)}
        return [number.get(label, -1) for label in labels]

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
        """The events of some sources; what is not in `reading` is as it was in training.

        If not `labelled`, nobody asks for their labels, to answer.
        """
        from streamptron.files.reader import read

        format = reading.pop("format", None) or self.reading["format"]
        options = {**self.reading, **reading} if format == self.reading["format"] else reading
        options.pop("format", None)
        if format == "vw":
            options["label_type"] = "text"
        if format == "jsonl" and not labelled and "label" not in reading:
            options["label"] = None
        reader = read(
            sources, format, on_error=on_error, max_line=max_line, encoding=encoding, **options
        )
        return reader if labelled else reader.without_labels()

    def event(self, x: Any) -> Any:
        """What the learner takes for what a Reader gives."""
        if self.tokenizer is None:
            if not isinstance(x, dict):
                raise ValueError("the model learns from features, and this format gives texts")
            return x
        if isinstance(x, dict):
            raise ValueError("the model learns from texts, and this format gives features")
        return self.tokenizer.transform_one(x)

    def written(self, y: Any) -> str:
        """A Reader's label as text."""
        return str(y).lower() if isinstance(y, bool) else str(y)

    def answer(self, x: Any) -> tuple[str | None, float | None]:
        """The label of an event, and its probability."""
        label = self.learner.predict_one(x)
        if label is None:
            return None, None
        return self.name(label), self.learner.predict_proba_one(x)[label]
