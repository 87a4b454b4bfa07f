"""Tables of what the features of an event contribute to its answer."""

from __future__ import annotations

import io
from typing import Any

from streamptron.common.names import Pair, value_in
from streamptron.common.table import table
from streamptron.common.tokens import described as described_name
from streamptron.doors._core import BinaryModel
from streamptron.doors.texts import MailDoor
from streamptron.files.fields import takes_fields
from streamptron.files.lines import LineModel
from streamptron.learners.adaptive import AdaptiveClassifier


def explained(model: LineModel, text: str, n: int | None = None) -> str:
    """What the features of a text contribute to its answer; only the n largest contributions."""
    learner = model.learner
    event = event_of(model, text)
    if model.multilabel:
        return _explained_sets(model, event, n)
    answer, probability = model.answer(event)
    if answer is None:
        return "the model has seen no label yet"
    binary = isinstance(learner, BinaryModel)
    rows, kind = _parts(model, event, True if binary else learner.predict_one(event), n)
    said = f"answer: {answer}, probability {probability:.4f}"
    if learner._can("draw"):
        said += f", by the {kind} weights"
    return f"{rows}\n\ncontributions towards {model.names[1] if binary else answer}\n{said}"


def _explained_sets(model: LineModel, event: Any, n: int | None) -> str:
    """The same for each label that is answered; if none is, for the most probable label."""
    learner = model.learner
    labels, found = learner._probabilities(event)
    if not labels:
        return "the model has seen no label yet"
    ranked = sorted(range(len(labels)), key=lambda k: -found[k])
    said = learner._answered(labels, found)
    chosen = [k for k in ranked if said[labels[k]]]
    tables = []
    for k in chosen or ranked[:1]:
        rows, _ = _parts(model, event, labels[k], n)
        name = model.name(labels[k])
        tables.append(f"{rows}\n\ncontributions towards {name}, probability {found[k]:.4f}")
    answer = ", ".join(model.name(labels[k]) for k in chosen)
    return "\n\n".join([*tables, f"answer: {answer or 'none of the labels'}"])


def _parts(model: LineModel, event: Any, label: Any, n: int | None) -> tuple[str, str]:
    """A table of what features contribute to the score of a label, and which weights were used.

    With `n`, the n largest contributions, and the sum of the others.
    """
    learner = model.learner
    named = described_name if isinstance(model.tokenizer, MailDoor) else str
    parts, kind, _ = learner._explanation(event, label)
    rows: list[tuple[str, ...]] = [("feature", "weight", "value", "contribution")]
    first = len(parts) if n is None else n
    for feature, part in parts[:first]:
        name = "(intercept)" if feature is None else named(feature)
        if _is_gap(learner, event, feature):
            rows.append((name, "", "(gap)", f"{part:.5f}"))
            continue
        value = 1.0 if feature is None else value_in(event, feature)
        rows.append((name, f"{part / value:.5f}", f"{value:.5f}", f"{part:.5f}"))
    if rest := parts[first:]:
        rows.append((f"({len(rest)} others)", "", "", f"{sum(part for _, part in rest):.5f}"))
    if not learner._can("draw"):  # its contributions are more than weight times value
        rows = [(feature, *rest) for feature, _, *rest in rows]
    return table(rows), kind


def _is_gap(learner: Any, event: Any, feature: Any) -> bool:
    """Whether an explanation has a column because the event lacks a value for it."""
    if feature is None or isinstance(feature, Pair) or feature in event:
        return False
    return isinstance(learner, AdaptiveClassifier) and learner.hash_bits is None


def event_of(model: LineModel, text: str) -> Any:
    """The event of a text, or of a line of features, without its label."""
    if isinstance(model.tokenizer, MailDoor):
        mails = list(model.read([text], "raise", labelled=False))
        if len(mails) != 1:
            raise ValueError(f"{text} has {len(mails)} mails; give a file with one")
        return model.event(mails[0][0])
    if model.tokenizer is not None and not takes_fields(model.tokenizer):
        return model.event(text)
    line = io.BytesIO(text.encode())
    line.name = "TEXT"
    format = model.reading["format"]
    reading = _columns_of(model, text) if format == "csv" else {}
    for x, _ in model.read(line, "raise", labelled=False, **reading):
        return model.event(x)
    what = "a header and a row" if format == "csv" and model.header is None else "a line"
    raise ValueError(f"TEXT holds no event; give {what} of the format {format}")


def _columns_of(model: LineModel, text: str) -> dict[str, Any]:
    """Options for reading a row of CSV: its columns, unless the text begins with a header."""
    import csv

    header = model.header
    row = next(csv.reader(io.StringIO(text), delimiter=model.reading.get("delimiter", ",")), [])
    if header is None or not row or set(row) <= set(header):
        return {}
    label = model.reading["label"]
    if len(row) == len(header):
        return {"columns": header}
    if len(row) == len(header) - 1:
        return {"columns": [column for column in header if column != label], "label": None}
    raise ValueError(
        f"TEXT has {len(row)} cells; give those of {', '.join(header)}, with or without the label "
        f"{label}"
    )
