"""The answers to the events of some files, and how good they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from streamptron.command.blocks import Block
from streamptron.command.grades import Score, evaluation, graded, measures
from streamptron.command.losses import Losses, is_filter, losses
from streamptron.command.run import Run
from streamptron.command.stream import texts_kind
from streamptron.command.wrong import Wrong
from streamptron.files.lines import LineModel
from streamptron.files.sources import LineError, Source

UNSURE = "unsure"
NOTHING = "(none)"  # the answer of a model without labels


def judged(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None,
    least: float,
    n_wrong: int | None,
) -> tuple[dict[str, Any], str]:
    """How good the answers to the events of files are, as values and as tables.

    `n_wrong`: how many wrong answers to list.
    """
    notes = [] if n_wrong is None else [Wrong(n_wrong)]
    lost = Losses(least) if is_filter(model) else None
    if model.multilabel:
        score = Score()
        _answer(model, files, reading, encoding, [lambda block: block.grade(score), *notes])
        if not score.grades.n:
            raise no_event(files)
        found = score.grades.measures()
        said = graded(found)
    else:
        watch = [] if lost is None else [lost.add]
        pairs = evaluated(model, files, reading, encoding, least, [*watch, *notes])
        found = measures(pairs)
        said = evaluation(found)
    if lost is not None:
        found["thresholds"] = lost.found()
        said = f"{said}\n\n{losses(found['thresholds'])}"
    for listed in notes:
        found, said = {**found, "wrong": listed.found}, f"{said}\n\n{listed}"
    return found, said


def evaluated(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
    least: float = 0.0,
    notes: Iterable[Callable[[Block], object]] = (),
) -> Counter[tuple[str, str]]:
    """How often each (label, answer) occurs. A bad line raises its LineError.

    An answer with a probability below `least` is `unsure`. `notes` are called with each block.
    """
    pairs: Counter[tuple[str, str]] = Counter()

    def count(block: Block) -> None:
        names = [*model.names, UNSURE, NOTHING]
        labels = list(map(model.name, block.labels))
        outputs: Iterable[int] = block.predictions
        if least:
            rows = zip(block.predictions, block.confidences, strict=True)
            outputs = (-2 if k >= 0 and p < least else k for k, p in rows)
        for (number, output), n in Counter(zip(block.numbers, outputs, strict=True)).items():
            pairs[labels[number], names[output]] += n

    _answer(model, files, reading, encoding, [count, *notes])
    if not pairs:
        raise no_event(files)
    return pairs


def no_event(files: Sequence[str | Source]) -> ValueError:
    names = [file.name if isinstance(file, Source) else file for file in files]
    return ValueError(f"{', '.join(names)}: no labelled event; give files that have some")


class _Evaluation(Run):
    """Answers each block, and passes it to some functions. A bad line raises its error."""

    def __init__(self, encoding: str | None, notes: list[Callable[[Block], object]]) -> None:
        super().__init__(encoding)
        self._notes = notes

    def bad(self, error: LineError) -> None:
        raise error

    def take(self, block: Block) -> None:
        block.label()
        self.warnings.look(block)
        self.faults(block)
        self.warnings.unmet(block)
        block.ranked = True
        block.answer()
        self.faults(block)
        for note in self._notes:
            note(block)
        self.count(block)


def _answer(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None,
    notes: list[Callable[[Block], object]],
) -> None:
    run = _Evaluation(encoding, notes)
    run.stream(model, files, kind=texts_kind(model, reading["format"]), reading=reading).run()
    run.warn_replaced()
