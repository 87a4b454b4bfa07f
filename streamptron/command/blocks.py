"""Blocks: lines of a file that are read, answered and learned together.

Both kinds have the same attributes, so that train, predict and eval treat them alike:

    TextBlock     lines of texts, as bytes, which the core reads all at once
    EventBlock    events that a Reader has made, one by one, from lines of features

A line is what gets one answer: in CSV a row, which may span several lines of the file.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from streamptron.command.worded import worded
from streamptron.common.names import short_repr
from streamptron.common.parameters import UnfitRow
from streamptron.doors.batch import LINES, Lines, write_ahead
from streamptron.doors.rows import count_wrong
from streamptron.files.fields import texts_of
from streamptron.files.sources import Block as FileBlock
from streamptron.files.sources import LineError
from streamptron.learners.learn_unsure import is_unsure, margin_of

if TYPE_CHECKING:
    from streamptron.command.grades import Score
    from streamptron.files.lines import LineModel
    from streamptron.files.reader import Record

    ReadLine = tuple[Record | LineError, Any, dict[str, Any] | None]

EVENT = 500  # about how many bytes an event takes
# The formats whose blocks the core reads itself.
BLOCKS = {"plain": LINES.LABELLED, "fasttext": LINES.FASTTEXT}


class Block:
    """The base class of blocks.

    Attributes
    ----------
    file
        The file's name.
    n, n_lines
        The number of texts or events; the number of lines, blank and bad ones included.
    places
        For each text or event, its line in the block, from 0.
    named
        The distinct labels as they were written; one is None if a required label is missing.
    labels, numbers
        The distinct labels as the learner takes them, in order of appearance; and for each text or
        event the index of its label, or -1.
    unfit
        Texts or events with bad labels, which are answered but not learned.
    faults
        The errors of bad lines, in order: (line in the block, reason).
    predictions, confidences
        For each text or event, once it is answered: the output of the answer (-1: none) and its
        probability.
    lacking
        For each field that was asked for and is missing, the first line that lacks it.
    top, tops
        How many labels to answer with; for each text or event, their outputs and probabilities.
    least, ranked
        With several labels per event: the minimum probability of an answered label (0: as the
        model does it); and whether the probabilities of all labels are kept.
    """

    n: int
    n_lines: int
    places: Sequence[int]
    faults: Sequence[tuple[int, str]]
    header: list[str] | None = None  # the columns of CSV

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
        """The number of texts or events that are learned."""
        return self.n - self.numbers.count(-1)

    def errors(self, known: Collection[tuple[int, str]] = ()) -> Iterator[LineError]:
        """The errors of bad lines, except for the faults in `known`."""
        for place, reason in self.faults:
            if (place, reason) not in known:
                yield LineError(self.file, self.line(place), reason)

    # --- What the two kinds do differently

    def line(self, place: int) -> int:
        """The line number in the file of a line in the block."""
        raise NotImplementedError

    def texts(self) -> Sequence[bytes]:
        """The text of each line; empty for features."""
        raise NotImplementedError

    def features(self) -> Iterable[dict[Any, float]]:
        """The events, if they are features."""
        return []

    def fields(self, name: str) -> Sequence[bytes]:
        """The value of a field in each line; a block of texts has no fields."""
        raise NotImplementedError

    def objects(self) -> Iterable[tuple[bytes, dict[str, Any] | None]]:
        """Each line, and its JSON object."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """About how many bytes the lines take."""
        raise NotImplementedError

    def mark(self) -> int:
        """A checksum of the last line, by which it is recognised later."""
        raise NotImplementedError

    def kept(self) -> Callable[[LineModel], Block]:
        """A function that makes the block for another model; it holds little but the lines."""
        raise NotImplementedError

    def singly(self) -> Iterable[Block]:
        """A block for each line, so that each is answered before it is learned; or this block."""
        return [self]

    def learn(self, confidences: bool = False) -> None:
        """Answer each text, then learn it if it has a label that the model may learn."""
        raise NotImplementedError

    def answer(self) -> None:
        """Answer each text; with its most probable labels if `top` is not 0."""
        raise NotImplementedError

    def replaced(self) -> list[int]:
        """Lines whose texts have bytes that are not UTF-8; a Reader counts those of events."""
        return []

    def _named(self) -> tuple[Sequence[bytes | str | None], array[int]]:
        """Distinct labels as they were written, and for each text or event the index of its own."""
        raise NotImplementedError

    # --- How good the answers are

    def count(self, first: int, last: int, number: int | None = None) -> tuple[int, int]:
        """How many of the rows first .. last - 1 have label and answer, and how many are wrong.

        With `number`, only rows with this label.
        """
        right = list(map(self.model.output, self.labels))
        rows = first, last, -1 if number is None else number
        wrong: tuple[int, int] = count_wrong(self.numbers, right, self.predictions, *rows)
        return wrong

    def is_wrong(self, row: int) -> bool:
        """Whether a row has a label that is not its answer."""
        label, answer = self.shown(row)
        return label is not None and label != answer

    def grade(self, score: Score) -> None:
        """Add the right and wrong answers for each label to a score."""
        labels = enumerate(map(self.model.name, self.labels))
        found = ((label, *self.count(0, self.n, number)) for number, label in labels)
        score.add_labels(len(self.model.names), found)

    def shown(self, row: int) -> tuple[str | None, str]:
        """A row's label, or None, and its answer, as they are shown."""
        number = self.numbers[row]
        label = None if number < 0 else self.model.name(self.labels[number])
        return label, [*self.model.names, ""][self.predictions[row]]  # -1, no answer, is the last

    # --- Labels

    def label(self, held: slice | None = None) -> None:
        """Set the labels; texts that are held out get none."""
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
        """Remove the labels of all other texts."""
        numbers = array("q", [-1]) * self.n
        numbers[kept] = self.numbers[kept]
        self.numbers = numbers

    def _refuse(self, bad: dict[int, str]) -> None:
        """Mark texts with these labels as bad; `bad` has the reason by the label's index."""
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
        """Labels and numbers without the bad labels, and without labels that no text has."""
        used = [number for number in dict.fromkeys(self.numbers) if number not in {-1, *bad}]
        place = dict.fromkeys([-1, *bad], -1) | dict(zip(used, count(), strict=False))
        labels = [self.labels[number] for number in used]
        return labels, array("q", map(place.__getitem__, self.numbers))

    def _answers(self) -> None:
        self.predictions = array("q", bytes(8 * self.n))
        self.confidences = array("d", bytes(8 * self.n))

    def _forget(self, row: int) -> None:
        """Remove a text that the learner refuses."""
        self.n -= 1
        self.unfit = {other - (other > row) for other in self.unfit if other != row}
        if self.numbers:
            del self.numbers[row]
            self.labels, self.numbers = self._without()


class TextBlock(Block):
    """Lines of texts; `kind`, one of LINES, says where a line has its label."""

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
        """Add to the faults of lines without a TAB which format they look like."""
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
        if self.top:  # learning gives no such answers; the block has one line, see `singly`
            self.answer()
        self._run(self._learn, confidences)

    def answer(self) -> None:
        self._run(self._answer)

    def _run(self, run: Callable[..., int], *arguments: Any) -> None:
        """Run all texts; those whose features cannot be paired are left out, with their labels."""
        while True:
            self._answers()
            try:
                done = run(*arguments)
            except UnfitRow as error:
                row, why = error.args
                self.lines.leave_out(row, worded(why))
                if self.faults is not self.lines.faults:
                    new = set(self.lines.faults) - set(self.faults)
                    self.faults = sorted([*self.faults, *new])
                self._forget(row)
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
        """Whether to learn the text of a block of one line."""
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

    def replaced(self) -> list[int]:
        if not self.lines.replaced:  # as usual: there is no need to look at each line
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
        For each line: its record, or the error of a bad line; the line as its format reads it; and
        its JSON object.
    needed
        Whether an event without a label is bad.
    header
        The columns of CSV.
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
        self._records: list[Record] = []  # one per event
        made = model.event
        for place, (record, _, _) in enumerate(lines):
            if isinstance(record, LineError):
                self.faults.append((place, worded(record.args[2])))
            elif record.x is not None:  # otherwise the line is blank
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
        # without `self`, which would keep the model in memory
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
        """Run the events one by one; those that the learner refuses are left out."""
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
        """The lists with an entry for each event."""
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
        event, learner = self._events[row], self.model.learner
        if not self._may_learn(row):
            answer = learner.predict_one(event)
        else:
            answer = self.labels[self.numbers[row]]
            if self._is_unsure(row):
                answer = learner.test_then_train_one(event, answer, self._records[row].w)
                self._remember(row)
        self.predictions[row] = self.model.output(answer)

    def _learn_after_answer(self, row: int) -> None:
        self._answer(row)
        if not self._may_learn(row) or not self._is_unsure(row):
            return
        try:
            event, label = self._events[row], self.labels[self.numbers[row]]
            self.model.learner.learn_one(event, label, self._records[row].w)
            self._remember(row)
        except (TypeError, ValueError) as error:
            self._not_learned(row, worded(error))

    def _remember(self, row: int) -> None:
        """Remember a mail that was learned, so that the command `learn` does not learn it again."""
        model, mail = self.model, self._records[row].x
        if isinstance(mail, bytes) and not model.multilabel:
            from streamptron.files.mail import identity

            label = model.name(self.labels[self.numbers[row]])
            model.learned.add(identity(mail), label, model.names)

    def _is_unsure(self, row: int) -> bool:
        """Whether an event is to be learned: always, or if its answer is wrong or too unsure."""
        margin, label = self.model.learn_unsure, self.labels[self.numbers[row]]
        return margin is None or is_unsure(self.model.learner, self._events[row], label, margin)

    def _may_learn(self, row: int) -> bool:
        """Whether an event has a label, and the model knows it or may learn one more."""
        number = self.numbers[row]
        if number < 0 or self.model.max_labels is None:
            return number >= 0
        label: Any = self.labels[number]
        too_many = self.model.too_many(list(label) if self.model.multilabel else [label])
        if too_many:
            self._not_learned(row, next(iter(too_many.values())))
        return not too_many

    def _not_learned(self, row: int, reason: str) -> None:
        """Note that an event is answered but not learned."""
        self.faults.append((self.places[row], reason))
        self.unfit.add(row)
        self.numbers[row] = -1


def likeliest(
    n: int, probabilities: list[float], answer: int | None = None
) -> list[tuple[int, float]]:
    """The answer and then the other most probable outputs, up to n, with their probabilities."""
    if answer == -1:
        return []
    outputs = sorted(range(len(probabilities)), key=lambda k: (k != answer, -probabilities[k]))
    return [(output, probabilities[output]) for output in outputs[:n]]


def _in_line(value: Any) -> bytes:
    """A field in one line of a template: a text as it is, anything else as JSON."""
    if value is None:
        return b""
    text = " ".join(value.splitlines()) if isinstance(value, str) else json.dumps(value)
    return text.encode(errors="replace")


def mark_of(line: Any) -> int:
    """A checksum by which a line is recognised; the line is bytes, or the cells of a row."""
    return zlib.crc32(line if isinstance(line, bytes) else repr(line).encode())


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
