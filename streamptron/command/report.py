"""Tables for info, top and compare: what a model is, its weights, and how often it errs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streamptron.command.blocks import EventBlock
from streamptron.command.evaluate import no_event
from streamptron.command.input_warnings import InputWarnings
from streamptron.command.stream import EVENTS
from streamptron.command.worded import worded
from streamptron.common.table import table
from streamptron.common.tokens import described as described_name
from streamptron.common.values import BY_LABEL
from streamptron.doors._core import BinaryModel
from streamptron.doors.texts import MailDoor
from streamptron.files.lines import LineModel
from streamptron.files.sources import LineError, Source
from streamptron.keeping.read import about, read

if TYPE_CHECKING:
    from streamptron.study.compare import Comparison


def compared(
    models: dict[str, LineModel],
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
) -> Comparison:
    """Compare untrained models on the events of some files. A bad line raises its LineError.

    If one of the models is a Perceptron, the labels are truth values for all of them.
    """
    judge = next(
        (model for model in models.values() if isinstance(model.learner, BinaryModel)),
        next(iter(models.values())),
    )
    from streamptron.study.compare import compare  # it imports scipy: only this command needs it

    learners = {name: model.learner for name, model in models.items()}
    return compare(learners, labelled(judge, files, reading, encoding))


def labelled(
    model: LineModel,
    files: list[str | Source],
    reading: dict[str, Any],
    encoding: str | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Events and labels of some files as a model's learner takes them. A bad line raises its error.

    A line without a label is bad; files without any line are an error, too.
    """
    reader = model.read(files, "raise", encoding=encoding, **reading)
    first: list[Any] = []
    for record in reader.records():
        try:
            if record.y is None:
                raise ValueError("it has no label; give each line one")
            event = model.event(record.x), model.label(model.written(record.y))
        except (TypeError, ValueError) as error:
            raise LineError(record.file, record.line, worded(error)) from None
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
    """Warn of lines that are probably not what the user meant."""
    block = EventBlock(model, first[0][0].file, first, needed=True)
    block.label()
    InputWarnings().look(block)


def comparison(found: Comparison) -> list[dict[str, Any]]:
    """The result of `compared` as plain values; None for NaN."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in result._asdict().items()
            if name != "metrics"
        }
        for result in found
    ]


def ranked(model: LineModel, n: int, label: str | None) -> dict[str, Any]:
    """{label: the n largest and n smallest weights}; with slots instead of names if hashed."""
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
    """The result of `ranked` as tables."""
    parts = []
    for label, features in found.items():
        rows = [("feature", "weight")]
        rows += [(feature, f"{weight:.5f}") for feature, weight in features["positive"]]
        rows += [(feature, f"{weight:.5f}") for feature, weight in reversed(features["negative"])]
        parts.append(f"towards {label}\n{table(rows)}")
    return "\n\n".join(parts) or "the model has seen no label yet"


def described(path: str) -> dict[str, Any]:
    """The parameters, counters and memory of the model in a file, and facts about the file.

    The events of the model need not be lines.
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
    labels = getattr(learner, "_known_labels", [])  # a RankingPerceptron has none
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
    """The result of `described` as a table."""
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
