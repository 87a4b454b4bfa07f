"""Tables of what a model is, what it weighs, and how well it answers."""

from __future__ import annotations

import json
import math
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from streamptron.command.blocks import BLOCKS, Block, EventBlock, Replaced, bad_line
from streamptron.command.input_warnings import InputWarnings
from streamptron.command.sets import Grades, Several
from streamptron.command.stream import EVENTS, Stream
from streamptron.common.table import table
from streamptron.common.values import BY_LABEL
from streamptron.doors._core import BinaryModel
from streamptron.doors.texts import MailDoor
from streamptron.files.lines import LineModel
from streamptron.files.sources import LineError, Source, raise_error
from streamptron.keeping.read import about, read
from streamptron.learners.mail import described as described_name

if typing.TYPE_CHECKING:
    from streamptron.command.wrong import Wrong
    from streamptron.study.compare import Comparison

UNSURE = "unsure"
NOTHING = "(none)"  # the answer of a model that knows no label
ZEROS = 8  # with more labels than this a matrix has no zeros


def evaluated(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
    wrong: Wrong | None = None,
    least: float = 0.0,
    watch: Callable[[Block], object] | None = None,
) -> Counter[tuple[str, str]]:
    """How often each (label, answer) occurs. A bad line raises its LineError.

    An answer whose probability is below `least` is `unsure`. `watch` gets each block.
    """
    pairs: Counter[tuple[str, str]] = Counter()

    def count(block: Block) -> None:
        names = [*model.names, UNSURE, NOTHING]
        labels = list(map(model.name, block.labels))
        outputs: Iterable[int] = block.predictions
        if least:
            rows = zip(block.predictions, block.confidences, strict=True)
            outputs = (-2 if k >= 0 and p < least else k for k, p in rows)
        found = Counter(zip(block.numbers, outputs, strict=True))
        if watch is not None:
            watch(block)
        for (number, output), n in found.items():
            pairs[labels[number], names[output]] += n

    _answered(model, files, reading, encoding, count, wrong)
    if not pairs:
        raise no_event(files)
    return pairs


def graded_sets(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
    wrong: Wrong | None = None,
) -> Grades:
    """What the answers of several labels are worth. A bad line raises its LineError."""
    grades = Grades()

    def grade(block: Block) -> None:
        assert isinstance(block, Several)
        block.grade(grades)

    _answered(model, files, reading, encoding, grade, wrong)
    if not grades.n:
        raise no_event(files)
    return grades


def no_event(files: Sequence[str | Source]) -> ValueError:
    names = [file.name if isinstance(file, Source) else file for file in files]
    return ValueError(f"{', '.join(names)}: no labelled event; give files that have some")


def _answered(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None,
    count: Callable[[Block], object],
    wrong: Wrong | None,
) -> None:
    """Answer the events of some files, and count each block. A bad line raises its LineError."""
    replaced, doubts = Replaced(encoding), InputWarnings()

    def take(block: Block) -> None:
        block.label()
        doubts.look(block)
        raise_faults(block)
        doubts.unmet(block)
        if isinstance(block, Several):
            block.ranked = True
        block.answer()
        raise_faults(block)
        count(block)
        if wrong is not None:
            wrong.note(block)
        replaced.add(block)

    def raise_faults(block: Block) -> None:
        for place, reason in block.faults:
            raise LineError(block.file, block.line(place), reason)

    format = reading["format"]
    texts = format in BLOCKS and model.tokenizer is not None and not model.several
    kind = format if texts else None
    stream = Stream(model, files, take, raise_error, kind=kind, reading=reading, encoding=encoding)
    stream.run()
    replaced.warn()


def measures(pairs: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Accuracy, and precision, recall and F1 by label and over all of them.

    A ratio of nothing to nothing is None. The means are over the labels that occur, and take it for
    0, as scikit-learn does.

    Examples
    --------
    >>> from collections import Counter
    >>> from streamptron.command.report import measures
    >>> found = measures(Counter({("spam", "spam"): 3, ("spam", "ham"): 1, ("ham", "ham"): 4}))
    >>> found["accuracy"], found["labels"]["spam"]["recall"], found["labels"]["ham"]["precision"]
    (0.875, 0.75, 0.8)
    """
    total = sum(pairs.values())
    support: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for (label, answer), n in pairs.items():
        support[label] += n
        answered[answer] += n
    labels = {}
    for label in sorted(support | answered):
        right = pairs[label, label]
        precision = _ratio(right, answered[label])
        recall = _ratio(right, support[label])
        f1 = 2 * right / (answered[label] + support[label])
        labels[label] = {
            "precision": precision,
            "recall": recall,
            "f1": f1,
            "support": support[label],
        }
    kinds = ("precision", "recall", "f1")
    there = [label for label in labels if support[label]]
    return {
        "events": total,
        "accuracy": _ratio(sum(pairs[label, label] for label in labels), total),
        "labels": labels,
        "macro": {k: _ratio(sum(labels[y][k] or 0.0 for y in there), len(there)) for k in kinds},
        "weighted": {
            k: _ratio(sum((labels[y][k] or 0.0) * support[y] for y in there), total) for k in kinds
        },
        "confusion": {
            label: {answer: pairs[label, answer] for answer in labels if pairs[label, answer]}
            for label in there
        },
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def evaluation(found: dict[str, Any]) -> str:
    """What `measures` gives, as tables."""

    def shown(values: dict[str, Any], *kinds: str) -> list[str]:
        return ["-" if values[kind] is None else f"{values[kind]:.4f}" for kind in kinds]

    kinds = ("precision", "recall", "f1")
    rows: list[tuple[str, ...]] = [("label", *kinds, "support")]
    for label, values in found["labels"].items():
        rows.append((label, *shown(values, *kinds), str(values["support"])))
    for mean in ("macro", "weighted"):
        values = found[mean]
        rows.append((f"({mean})", *shown(values, *kinds), str(found["events"])))
    labels = list(found["labels"])
    matrix = [("label \\ answer", *labels)]
    none = "0" if len(labels) <= ZEROS else ""
    for label, answers in found["confusion"].items():
        counts = (answers.get(answer, 0) for answer in labels)
        matrix.append((label, *(str(count) if count else none for count in counts)))
    return "\n\n".join((table(rows), f"accuracy  {shown(found, 'accuracy')[0]}", table(matrix)))


def compared(
    models: dict[str, LineModel],
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
) -> Comparison:
    """Untrained models on the events of some files. A bad line raises its LineError.

    Labels are truth values for all of them if one is a Perceptron, which knows no others.
    """
    judge = next(
        (model for model in models.values() if isinstance(model.learner, BinaryModel)),
        next(iter(models.values())),
    )
    from streamptron.study.compare import compare  # it brings scipy, which the others do without

    learners = {name: model.learner for name, model in models.items()}
    return compare(learners, labelled(judge, files, reading, encoding))


def labelled(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Events and labels of some files as a model's learner takes them. A bad line raises its error.

    A line without a label is a bad one; no line at all is an error too.
    """
    reader = model.read(files, "raise", encoding=encoding, **reading)
    first: list[Any] = []
    for record in reader.records():
        try:
            if record.y is None:
                raise ValueError("it has no label; give each line one")
            event = model.event(record.x), model.label(model.written(record.y))
        except (TypeError, ValueError) as error:
            raise bad_line(record, error) from None
        if len(first) < EVENTS:
            first.append((record, None, None))
            if len(first) == EVENTS:
                _doubt(model, first)
        yield event
    if not first:
        raise no_event(files)
    if len(first) < EVENTS:
        _doubt(model, first)


def _doubt(model: LineModel, first: list[Any]) -> None:
    """Warn of what looks as if it were not meant."""
    block = EventBlock(model, first[0][0].file, first, needed=True)
    block.label()
    InputWarnings().look(block)


def comparison(found: Comparison) -> list[dict[str, Any]]:
    """What `compared` gives, as plain values; None for what is not known."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in result._asdict().items()
            if name != "metrics"
        }
        for result in found
    ]


def ranked(model: LineModel, n: int, label: str | None) -> dict[str, Any]:
    """{label: the n largest and the n smallest weights}; a hashed learner has slots, no names."""
    learner = model.learner
    what = "" if learner.hash_bits is None else "slot "
    is_mail = isinstance(model.tokenizer, MailDoor) and not what
    named = described_name if is_mail else str
    if isinstance(learner, BinaryModel):
        wanted = [label is None or model.label(label)]
    else:
        wanted = learner.labels if label is None else [model.label(label)]
    found = {}
    for each in wanted:
        top = learner.top_features(n, each)
        found[model.name(each)] = {
            sign: [[f"{what}{named(feature)}", weight] for feature, weight in getattr(top, sign)]
            for sign in ("positive", "negative")
        }
    return found


def ranking(found: dict[str, Any]) -> str:
    """What `ranked` gives, as tables."""
    parts = []
    for label, features in found.items():
        rows = [("feature", "weight")]
        rows += [(feature, f"{weight:.5f}") for feature, weight in features["positive"]]
        rows += [(feature, f"{weight:.5f}") for feature, weight in reversed(features["negative"])]
        parts.append(f"towards {label}\n{table(rows)}")
    return "\n\n".join(parts) or "the model has seen no label yet"


def described(path: str) -> dict[str, Any]:
    """What the model of a file is, what it has seen and what it takes; and the file.

    Any model's: also of one whose events are not lines.
    """
    contents = read(path)
    learner, steps = contents.learner, contents.steps
    model = LineModel.of(contents) if contents.lines or contents.tokenizer else None
    name = model.name if model else str
    parameters = learner._get_params()
    for parameter in BY_LABEL:
        if parameters.get(parameter):
            numbers = parameters[parameter].items()
            parameters[parameter] = {name(label): number for label, number in numbers}
    labels = [False, True] if isinstance(learner, BinaryModel) else getattr(learner, "labels", [])
    file = about(path)
    if file["journal"]:
        from streamptron.keeping.journal import Journal  # slow to import, and few files have one

        file["journal"] = len(Journal.load(path))
    else:
        file["journal"] = None
    counters = ("n_seen", "n_updates", "n_mistakes", "n_features", "serving", "memory_usage")
    return {
        "learner": type(learner).__name__,
        **({"pipeline": [*steps.names]} if steps else {}),
        "parameters": parameters,
        **{counter: getattr(learner, counter) for counter in counters},
        "labels": model.names if model else [str(label) for label in labels],
        "positive": model and model.positive,
        "tokenizer": contents.tokenizer and contents.tokenizer._get_params(),
        "reading": model and model.reading,
        "file": file,
    }


def description(found: dict[str, Any]) -> str:
    """What `described` gives, as a table."""
    rows = []
    for name, value in found.items():
        if isinstance(value, dict):
            rows.append((name, ""))
            rows += [(f"  {inner}", json.dumps(v)) for inner, v in value.items()]
        elif isinstance(value, list):
            rows.append((name, f"{len(value)}: {', '.join(value)}"))
        else:
            rows.append((name, "none" if value is None else str(value)))
    return table(rows, left=2)
