"""Blocks: lines of a file that have been read, answered and learned together.

Both kinds have the same attributes, so that train, predict and eval need not know which they have:

    TextBlock     lines of texts, as bytes; the core reads them, and nothing is done line by line
    EventBlock    events that a Reader has made, one by one, of lines of features

A line is one that gets an answer: of CSV it is a row, which may span lines of the file.
"""

from __future__ import annotations

import json
import typing
import zlib
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from streamptron.command.worded import worded
from streamptron.common.names import short_repr
from streamptron.common.parameters import UnfitRow
from streamptron.doors.batch import LINES, Lines, write_ahead
from streamptron.doors.rows import count_wrong
from streamptron.files.fields import texts_of
from streamptron.files.sources import Block as FileBlock
from streamptron.files.sources import LineError
from streamptron.learners.learn_unsure import is_unsure, margin_of

if typing.TYPE_CHECKING:
    from streamptron.command.grades import Score
    from streamptron.files.lines import LineModel
    from streamptron.files.reader import Record

    ReadLine = tuple[Record | LineError, Any, dict[str, Any] | None]

EVENT = 500  # bytes of an event, about
# The formats whose blocks the core reads itself.
BLOCKS = {"plain": LINES.LABELLED, "fasttext": LINES.FASTTEXT}


class Block:
    """What both kinds have.

    Attributes
    ----------
    file
        Its name.
    n, n_lines
        Texts or events; lines, also blank ones and bad ones.
    places
        For each text or event its line in the block, from 0.
    named
        Distinct labels as they were written; None for none, where one is needed.
    labels, numbers
        Distinct labels as the learner takes them, in order of appearance; for each text or event
        the number of its label, or -1.
    unfit
        Texts or events whose labels are bad: they are answered, and not learned.
    faults
        What is wrong with other lines, in their order: (line in the block, reason).
    predictions, confidences
        For each text or event, once it is answered: the output of the answer (-1: none) and its
        probability.
    lacking
        Fields that were asked for and that a line has not: the first such line in the block.
    top, tops
        How many labels to answer with; for each text or event outputs and their probabilities.
    least, ranked
        Of several labels: the least probability of those that are answered, 0: the model's; whether
        the probabilities of all are kept.
    """

    n: int
    n_lines: int
    places: Sequence[int]
    faults: Sequence[tuple[int, str]]
    header: list[str] | None = None  # of CSV

    def __init__(self, model: LineModel, file: str) -> None:
        self.model = model
        self.file = file
        self.numbers = array("q")
        self.named: Sequence[bytes | str | None] = []
        self.labels: list[Hashable] = []
        self.unfit: set[int] = set()
        self.lacking: dict[str, int] = {}
        self.top = 0
        self.least = 0.0
        self.ranked = False
        self.tops: list[list[tuple[int, float]]] = []

    @property
    def n_labelled(self) -> int:
        """Texts or events that have been learned, or will be."""
        return self.n - self.numbers.count(-1)

    def errors(self, known: Collection[tuple[int, str]] = ()) -> Iterator[LineError]:
        """What is wrong with lines, without the faults that are known."""
        for place, reason in self.faults:
            if (place, reason) not in known:
                yield LineError(self.file, self.line(place), reason)

    # --- What the kinds do in their own ways

    def line(self, place: int) -> int:
        """The number of a line of the block in the file."""
        raise NotImplementedError

    def texts(self) -> Sequence[bytes]:
        """The text of each line; of features there is none."""
        raise NotImplementedError

    def features(self) -> Iterable[dict[Any, float]]:
        """The events, where they are features."""
        return []

    def fields(self, name: str) -> Sequence[bytes]:
        """What each line has in a field; of texts there are none."""
        raise NotImplementedError

    def objects(self) -> Iterable[tuple[bytes, dict[str, Any] | None]]:
        """Each line, and the JSON object that it is."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Of the lines, in bytes, or about that."""
        raise NotImplementedError

    def mark(self) -> int:
        """By what the last line is recognised."""
        raise NotImplementedError

    def kept(self) -> Callable[[LineModel], Block]:
        """What makes it again, for another model; it holds the lines and little else."""
        raise NotImplementedError

    def singly(self) -> Iterable[Block]:
        """The block, or each line as one of its own, to learn each after it has been judged."""
        return [self]

    def learn(self, confidences: bool = False) -> None:
        """Answer each text and then learn it, if it has a label and the model a place for that."""
        raise NotImplementedError

    def answer(self) -> None:
        """Answer each text, with its likeliest labels if `top` is not 0."""
        raise NotImplementedError

    def replaced(self) -> list[int]:
        """Lines of texts with bytes that are not UTF-8; those of events, their Reader counts."""
        return []

    def _named(self) -> tuple[Sequence[bytes | str | None], array[int]]:
        """Distinct labels as they were written, and their numbers."""
        raise NotImplementedError

    # --- What the answers are worth, once they are there

    def count(self, first: int, last: int, number: int | None = None) -> tuple[int, int]:
        """Of the rows first .. last - 1: those with label and answer, and how many are wrong; of
        one label by its number.
        """
        right = list(map(self.model.output, self.labels))
        rows = first, last, -1 if number is None else number
        wrong: tuple[int, int] = count_wrong(self.numbers, right, self.predictions, *rows)
        return wrong

    def is_wrong(self, row: int) -> bool:
        """Whether a row has a label, and another answer."""
        label, answer = self.shown(row)
        return label is not None and label != answer

    def grade(self, score: Score) -> None:
        """Count what the answers are worth, label by label."""
        labels = enumerate(map(self.model.name, self.labels))
        found = ((label, *self.count(0, self.n, number)) for number, label in labels)
        score.add_labels(len(self.model.names), found)

    def shown(self, row: int) -> tuple[str | None, str]:
        """The label, if a row has one, and the answer, for people."""
        number = self.numbers[row]
        label = None if number < 0 else self.model.name(self.labels[number])
        return label, [*self.model.names, ""][self.predictions[row]]  # -1, no answer, is the last

    # --- Labels

    def label(self, held: slice | None = None) -> None:
        """Settle the labels; texts that are held get none."""
        self.named, self.numbers = self._named()
        bad = {}
        for number, label in enumerate(self.named):
            try:
                if label is None:
                    raise ValueError("it has no label; give each line one")
                text = label.decode() if isinstance(label, bytes) else label
                self.labels.append(self.model.label(text))
                continue
            except UnicodeDecodeError:
                bad[number] = (
                    f"the label {short_repr(label)} is not UTF-8; give the file's encoding"
                )
            except ValueError as error:
                bad[number] = str(error)
            self.labels.append(None)
        self._refuse(bad)
        if held:
            self.numbers[held] = array("q", [-1]) * len(range(*held.indices(self.n)))
            self.labels, self.numbers = self._without()

    def keep(self, kept: slice) -> None:
        """Let only some texts have their labels."""
        numbers = array("q", [-1]) * self.n
        numbers[kept] = self.numbers[kept]
        self.numbers = numbers

    def _refuse(self, bad: dict[int, str]) -> None:
        """Texts with one of these labels are not learned, for the reason that is given."""
        if not bad:
            return
        self.faults = list(self.faults)
        for row, number in enumerate(self.numbers):
            if number in bad:
                self.faults.append((self.places[row], bad[number]))
                self.unfit.add(row)
        self.faults.sort()
        self.labels, self.numbers = self._without(bad)

    def _without(self, bad: Collection[int] = ()) -> tuple[list[Hashable], array[int]]:
        """Labels and numbers as the learner may see them: of labels that texts still have."""
        used = [number for number in dict.fromkeys(self.numbers) if number not in {-1, *bad}]
        place = dict.fromkeys([-1, *bad], -1) | dict(zip(used, count(), strict=False))
        labels = [self.labels[number] for number in used]
        return labels, array("q", map(place.__getitem__, self.numbers))

    def _answers(self) -> None:
        self.predictions = array("q", bytes(8 * self.n))
        self.confidences = array("d", bytes(8 * self.n))

    def _forget(self, row: int) -> None:
        """A text that the learner refuses is not one of the block's any more."""
        self.n -= 1
        self.unfit = {other - (other > row) for other in self.unfit if other != row}
        if self.numbers:
            del self.numbers[row]
            self.labels, self.numbers = self._without()


class TextBlock(Block):
    """Lines of texts, as `kind` has them; one of LINES."""

    def __init__(self, model: LineModel, block: FileBlock, kind: int) -> None:
        super().__init__(model, block.file)
        self.block = block
        self._kind = kind
        self.lines = Lines(model.tokenizer, block.data, kind)
        self.n = len(self.lines)
        self.n_lines = self.lines.n_lines
        self.places = self.lines.line_numbers
        self.faults = self.lines.faults
        if self.faults:
            self._name_formats()

    def _name_formats(self) -> None:
        """Say of lines without a TAB which format they look like."""
        from streamptron.files.plain import NO_TAB, no_tab

        lines = self.block.data.split(b"\n")
        for at, (place, reason) in enumerate(self.faults):
            if reason == NO_TAB:
                self.lines.faults[at] = place, worded(no_tab(lines[place]))

    def line(self, place: int) -> int:
        return self.block.line + place

    def texts(self) -> Sequence[bytes]:
        whole = [line.removesuffix(b"\r") for line in self.block.data.split(b"\n")]
        if self._kind == LINES.TEXT:
            return whole
        return [line[line.find(b"\t") + 1 :] for line in whole]

    @property
    def size(self) -> int:
        return len(self.block.data)

    def mark(self) -> int:
        data = self.block.data.removesuffix(b"\n")
        return zlib.crc32(data[data.rfind(b"\n") + 1 :])

    def kept(self) -> Callable[[LineModel], Block]:
        block, kind = self.block, self._kind
        return lambda model: TextBlock(model, block, kind)

    def singly(self) -> Iterable[Block]:
        for place, line in enumerate(self.block.data.split(b"\n")[: self.n_lines]):
            block = FileBlock(self.file, self.line(place), line + b"\n")
            yield TextBlock(self.model, block, self._kind)

    def write_ahead(self) -> None:
        """Split the texts into words now, in this thread, rather than when they are learned."""
        write_ahead(self.model.learner, self.lines)

    def _named(self) -> tuple[Sequence[bytes], array[int]]:
        return self.lines.labels, self.lines.numbers[: self.n]

    def learn(self, confidences: bool = False) -> None:
        if self.top:  # the core learns without it, so this is a block of one line
            self.answer()
        self._run(self._learn, confidences)

    def answer(self) -> None:
        self._run(self._answer)

    def _run(self, run: Callable[..., int], *arguments: Any) -> None:
        """Run all texts; those that cannot be paired are left out, with labels they had first."""
        while True:
            self._answers()
            try:
                done = run(*arguments)
            except UnfitRow as error:
                self._leave_out(error.args[0], worded(error.args[1]))
                continue
            if done < self.n:
                raise MemoryError(f"no memory after {done} of {self.n} lines")
            return

    def _learn(self, confidences: bool) -> int:
        too_many = self.model.too_many(self.labels)
        labels, numbers = self._without(too_many) if too_many else (self.labels, self.numbers)
        learner = self.model.learner
        margin = self.model.learn_unsure
        if labels and margin is not None and not self._is_unsure(labels[0], margin):
            labels, numbers = [], array("q", [-1])
        steps = learner._steps(1.0, labels, numbers)
        given = (self.predictions, self.confidences if confidences else None)
        done: int = learner._learn_rows(self.lines, None, labels, numbers, steps, *given)[0]
        self._refuse(too_many)
        return done

    def _is_unsure(self, label: Hashable, margin: float) -> bool:
        """Whether the text of a block of one line is to be learned."""
        known = self.model.names
        if len(known) < 2 or not self.n:
            return True
        learner = self.model.learner
        scores = array("d", bytes(8 * (len(known) if learner._scores_by_label else 1)))
        row = memoryview(scores).cast("B").cast("d", (1, len(scores)))
        learner._predict_rows(self.lines, None, self.predictions, row, None)
        right = self.predictions[0] == self.model.output(label)
        return not right or margin_of(scores.tolist()) < margin

    def _answer(self) -> int:
        probabilities = None
        if self.top:
            import numpy as np

            probabilities = np.zeros((self.n, len(self.model.names)))
        given = (self.predictions, None, probabilities, self.confidences)
        done: int = self.model.learner._predict_rows(self.lines, None, *given)[0]
        if probabilities is not None:
            rows = zip(self.predictions, probabilities.tolist(), strict=True)
            self.tops = [likeliest(self.top, row, output) for output, row in rows]
        return done

    def _leave_out(self, row: int, reason: str) -> None:
        self.lines.leave_out(row, reason)
        if self.faults is not self.lines.faults:
            self.faults = sorted([*self.faults, *set(self.lines.faults) - set(self.faults)])
        self._forget(row)

    def replaced(self) -> list[int]:
        if not self.lines.replaced:  # the usual case, settled without a look at each line
            return []
        texts = set(self.places[: self.n]) - {number for number, _ in self.faults}
        return [
            number
            for number, line in enumerate(self.block.data.split(b"\n"))
            if number in texts and not _is_utf8(line)
        ]


class EventBlock(Block):
    """Events of lines that a Reader has read.

    Parameters
    ----------
    lines
        Of each line: its record, or the error of a bad one; itself, as its format has it; and the
        object that it is in JSON.
    needed
        Whether an event without a label is a bad one.
    header
        Of CSV.
    """

    def __init__(
        self,
        model: LineModel,
        file: str,
        lines: list[ReadLine],
        needed: bool,
        header: list[str] | None = None,
    ) -> None:
        super().__init__(model, file)
        self.n_lines = len(lines)
        self.header = header
        self.places: list[int] = []
        self.faults: list[tuple[int, str]] = []
        self._lines = lines
        self._needed = needed
        self._events: list[Any] = []
        self._records: list[Record] = []  # of the events
        made = model.event
        for place, (record, _, _) in enumerate(lines):
            if isinstance(record, LineError):
                self.faults.append((place, worded(record.args[2])))
            elif record.x is not None:  # else it is blank
                try:
                    self._events.append(made(record.x))
                except (TypeError, ValueError) as error:
                    self.faults.append((place, worded(error)))
                    continue
                self._records.append(record)
                self.places.append(place)
        self.n = len(self._events)

    def line(self, place: int) -> int:
        return self._lines[place][0].line

    def texts(self) -> Sequence[bytes]:
        if self.model.tokenizer is None:
            return []
        texts = [b""] * self.n_lines
        for place, record in zip(self.places, self._records, strict=True):
            if isinstance(record.x, str):
                texts[place] = _in_line(record.x)
        return texts

    def features(self) -> Iterable[dict[Any, float]]:
        texts = set(texts_of(self.model.reading))
        for record in self._records:
            if isinstance(record.x, dict):
                x = record.x
                yield {name: x[name] for name in x if name not in texts} if texts else x

    @property
    def size(self) -> int:
        return EVENT * self.n_lines

    def mark(self) -> int:
        return mark_of(self._lines[-1][1])

    def kept(self) -> Callable[[LineModel], Block]:
        # without the block, which would keep the model that has learned it
        kind, arguments = type(self), (self.file, self._lines, self._needed, self.header)
        return lambda model: kind(model, *arguments)

    def objects(self) -> Iterable[tuple[bytes, dict[str, Any] | None]]:
        return ((item, parsed) for _, item, parsed in self._lines)

    def fields(self, name: str) -> Sequence[bytes]:
        if self.header is None:
            from streamptron.files.jsonl import field_of, path_of

            path = path_of(name, "--template")
            found = [field_of(parsed, path) for _, _, parsed in self._lines]
            for place in self.places:
                if found[place] is None:
                    self.lacking.setdefault(name, place)
            return list(map(_in_line, found))
        if name not in self.header:
            raise ValueError(
                f"{{{name}}} of the template is not a column; there are "
                f"{short_repr(self.header, 300)}"
            )
        at = self.header.index(name)
        return [_in_line(row[at]) if len(row) > at else b"" for _, row, _ in self._lines]

    def _named(self) -> tuple[Sequence[str | None], array[int]]:
        written = self.model.written
        names = [None if record.y is None else written(record.y) for record in self._records]
        distinct = [name for name in dict.fromkeys(names) if name is not None or self._needed]
        number_of = {None: -1, **{name: number for number, name in enumerate(distinct)}}
        return distinct, array("q", map(number_of.__getitem__, names))

    def learn(self, confidences: bool = False) -> None:
        self._run(self._learn_after_answer if confidences else self._learn)

    def answer(self) -> None:
        self._run(self._answer)

    def _run(self, run: Callable[[int], None]) -> None:
        """Run the events one by one; what the learner cannot read is left out."""
        self._answers()
        self.tops = [[] for _ in range(self.n if self.top else 0)]
        left_out = []
        for row in range(self.n):
            try:
                run(row)
            except (TypeError, ValueError) as error:
                left_out.append((row, worded(error)))
        for row, reason in reversed(left_out):
            self.faults.append((self.places[row], reason))
            for column in self._columns():
                del column[row : row + 1]
            del self._events[row], self._records[row]
            self._forget(row)
        self.faults.sort()

    def _columns(self) -> Sequence[Any]:
        """What has an entry for each event."""
        return self.predictions, self.confidences, self.places, self.tops

    def _answer(self, row: int) -> None:
        event = self._events[row]
        label = self.model.learner.predict_one(event)
        self.predictions[row] = self.model.output(label)
        if label is not None:
            found = self.model.learner.predict_proba_one(event)
            self.confidences[row] = found[label]
            if self.top:
                self.tops[row] = likeliest(self.top, list(found.values()), self.predictions[row])

    def _learn(self, row: int) -> None:
        event, number = self._events[row], self.numbers[row]
        learner = self.model.learner
        if number < 0 or not self._has_place(row, self.labels[number]):
            answer = learner.predict_one(event)
        elif not self._is_unsure(row):
            answer = self.labels[number]
        else:
            w = self._records[row].w
            answer = learner.test_then_train_one(event, self.labels[number], w)
            self._remember(row)
        self.predictions[row] = self.model.output(answer)

    def _learn_after_answer(self, row: int) -> None:
        self._answer(row)
        number = self.numbers[row]
        if number < 0 or not self._has_place(row, self.labels[number]):
            return
        if not self._is_unsure(row):
            return
        try:
            learn = self.model.learner.learn_one
            learn(self._events[row], self.labels[number], self._records[row].w)
            self._remember(row)
        except (TypeError, ValueError) as error:
            self._not_learned(row, worded(error))

    def _remember(self, row: int) -> None:
        """Know a mail that has been learned, so that `learn` does not do so again."""
        model, mail = self.model, self._records[row].x
        if isinstance(mail, bytes) and not model.multilabel:
            from streamptron.files.mail import identity

            label = model.name(self.labels[self.numbers[row]])
            model.learned.add(identity(mail), label, model.names)

    def _is_unsure(self, row: int) -> bool:
        """Whether an event that has a label is to be learned."""
        margin, label = self.model.learn_unsure, self.labels[self.numbers[row]]
        return margin is None or is_unsure(self.model.learner, self._events[row], label, margin)

    def _has_place(self, row: int, label: Hashable) -> bool:
        """Whether a label may be learned: the model knows it, or has a place for it."""
        if self.model.max_labels is None:
            return True
        too_many = self.model.too_many(self._parts(label))
        if too_many:
            self._not_learned(row, next(iter(too_many.values())))
        return not too_many

    def _parts(self, label: Any) -> list[Hashable]:
        """The labels of an event: one, as a list."""
        return [label]

    def _not_learned(self, row: int, reason: str) -> None:
        """An event is answered and not learned."""
        self.faults.append((self.places[row], reason))
        self.unfit.add(row)
        self.numbers[row] = -1


def likeliest(
    n: int, probabilities: list[float], answer: int | None = None
) -> list[tuple[int, float]]:
    """The answer, and the other outputs by their probabilities: n together, or all there are."""
    if answer == -1:
        return []
    outputs = sorted(range(len(probabilities)), key=lambda k: (k != answer, -probabilities[k]))
    return [(output, probabilities[output]) for output in outputs[:n]]


def _in_line(value: Any) -> bytes:
    """A field as a template shows it, in one line: a text as it is, anything else in JSON."""
    if value is None:
        return b""
    text = " ".join(value.splitlines()) if isinstance(value, str) else json.dumps(value)
    return text.encode(errors="replace")


def mark_of(line: Any) -> int:
    """By what a line of a file is recognised: bytes, or the cells of a row."""
    return zlib.crc32(line if isinstance(line, bytes) else repr(line).encode())


def bad_line(record: Any, error: Exception) -> LineError:
    """The error of a line whose event or label the model does not take."""
    return LineError(record.file, record.line, worded(error))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
