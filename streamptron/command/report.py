"""Tables of what a model is, what it weighs, and how well it answers."""

from __future__ import annotations

import io
import json
import math
import typing
from collections import Counter
from collections.abc import Iterator
from typing import Any

from streamptron._core import BinaryModel
from streamptron.command.lines import BLOCKS, Block, LineModel, Replaced
from streamptron.doors.adaptive import AdaptiveModel
from streamptron.estimator.base import value_in
from streamptron.estimator.table import table
from streamptron.files.sources import LineError, blocks

if typing.TYPE_CHECKING:
    from streamptron.study.compare import Comparison

NOTHING = "(none)"  # the answer of a model that knows no label


def evaluated(
    model: LineModel, files: list[str], reading: dict[str, Any], encoding: str | None = None
) -> Counter[tuple[str, str]]:
    """How often each (label, answer) occurs. A bad line raises its LineError."""
    pairs = _pairs(model, files, reading, encoding)
    if not pairs:
        raise no_event(files)
    return pairs


def no_event(files: list[str]) -> ValueError:
    return ValueError(f"{', '.join(files)}: no labelled event; give files that have some")


def _pairs(
    model: LineModel, files: list[str], reading: dict[str, Any], encoding: str | None
) -> Counter[tuple[str, str]]:
    pairs: Counter[tuple[str, str]] = Counter()
    if reading["format"] in BLOCKS and model.tokenizer is not None:
        replaced = Replaced(encoding)
        for file, line, data in blocks(files, encoding=encoding):
            block = Block(model, data, BLOCKS[reading["format"]])
            block.label()
            for answered in (False, True):
                for number, reason in block.faults:
                    raise LineError(file, line + number, reason)
                if not answered:
                    block.answer()
            names = [*model.names, NOTHING]
            labels = list(map(model.name, block.labels))
            for (number, output), n in Counter(
                zip(block.numbers, block.predictions, strict=True)
            ).items():
                pairs[labels[number], names[output]] += n
            replaced.add(block, f"{file}:", line)
        replaced.warn()
        return pairs
    reader = model.read(files, "raise", encoding=encoding, **reading)
    for x, y, _, _, _, file, line in reader.records():
        try:
            if y is None:
                raise ValueError("no label to compare with")
            answer = model.answer(model.event(x))[0]
            pairs[model.name(model.label(model.written(y))), answer or NOTHING] += 1
        except (TypeError, ValueError) as error:
            raise LineError(file, line, str(error)) from None
    return pairs


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
    for label, answers in found["confusion"].items():
        matrix.append((label, *(str(answers.get(answer, 0)) for answer in labels)))
    return "\n\n".join((table(rows), f"accuracy  {shown(found, 'accuracy')[0]}", table(matrix)))


def compared(
    models: dict[str, LineModel],
    files: list[str],
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
    model: LineModel, files: list[str], reading: dict[str, Any], encoding: str | None = None
) -> Iterator[tuple[Any, Any]]:
    """Events and labels of some files as a model's learner takes them. A bad line raises its error.

    A line without a label is a bad one; no line at all is an error too.
    """
    reader = model.read(files, "raise", encoding=encoding, **reading)
    for x, y, _, _, _, file, line in reader.records():
        try:
            if y is None:
                raise ValueError("no label to compare with")
            event = model.event(x), model.label(model.written(y))
        except (TypeError, ValueError) as error:
            raise LineError(file, line, str(error)) from None
        yield event
    if not reader.n_events:
        raise no_event(files)


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


def explained(model: LineModel, text: str) -> str:
    """Which features made the answer to a text, and by which weights."""
    learner = model.learner
    event = event_of(model, text)
    answer, probability = model.answer(event)
    if answer is None:
        return "the model has seen no label yet"
    binary = isinstance(learner, BinaryModel)
    parts, kind, _ = learner._explanation(event, True if binary else learner.predict_one(event))
    rows: list[tuple[str, ...]] = [("feature", "weight", "value", "contribution")]
    for feature, part in parts:
        value = 1.0 if feature is None else value_in(event, feature)
        name = "(intercept)" if feature is None else str(feature)
        rows.append((name, f"{part / value:.5f}", f"{value:.5f}", f"{part:.5f}"))
    said = f"answer: {answer}, probability {probability:.4f}"
    if isinstance(learner, AdaptiveModel):  # whose contributions are more than weight times value
        rows = [(feature, *rest) for feature, _, *rest in rows]
    else:
        said += f", by the {kind} weights"
    return f"{table(rows)}\n\ncontributions towards {model.names[1] if binary else answer}\n{said}"


def event_of(model: LineModel, text: str) -> Any:
    """The event of a text, or of a line of features, without its label."""
    x: Any = text
    if model.tokenizer is None:
        line = io.BytesIO(text.encode())
        line.name = "TEXT"
        x = next(model.read(line, "raise", labelled=False))[0]
    return model.event(x)


def ranked(model: LineModel, n: int, label: str | None) -> dict[str, Any]:
    """{label: the n largest and the n smallest weights}; a hashed learner has slots, no names."""
    learner = model.learner
    what = "" if learner.hash_bits is None else "slot "
    if isinstance(learner, BinaryModel):
        wanted = [label is None or model.label(label)]
    else:
        wanted = learner.labels if label is None else [model.label(label)]
    found = {}
    for each in wanted:
        top = learner.top_features(n, each)
        found[model.name(each)] = {
            sign: [[f"{what}{feature}", weight] for feature, weight in getattr(top, sign)]
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


def described(model: LineModel) -> dict[str, Any]:
    """What a model is, what it has seen and what it takes."""
    learner = model.learner
    parameters = learner._get_params()
    if parameters["class_weight"]:
        weights = parameters["class_weight"].items()
        parameters["class_weight"] = {model.name(label): weight for label, weight in weights}
    counters = ("n_seen", "n_updates", "n_mistakes", "n_features", "serving", "memory_usage")
    return {
        "learner": type(learner).__name__,
        "parameters": parameters,
        **{name: getattr(learner, name) for name in counters},
        "labels": model.names,
        "positive": model.positive,
        "tokenizer": model.tokenizer and model.tokenizer._get_params(),
        "reading": model.reading,
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
