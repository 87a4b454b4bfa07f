"""What a filter would do wrong, at several least probabilities: is it safe to switch on?"""

from __future__ import annotations

from typing import Any

from streamptron.command.blocks import Block
from streamptron.common.table import table
from streamptron.doors.texts import MailDoor
from streamptron.files.lines import LineModel

CUTS = (0.0, 0.9, 0.99, 0.999)


class Losses:
    """Mails of each label that are taken for the other one, or that are unsure.

    Parameters
    ----------
    least
        A further least probability that was asked for.
    """

    def __init__(self, least: float) -> None:
        self._cuts = sorted({*CUTS, least})
        self._totals: dict[str, int] = {}
        self._counts: dict[tuple[float, str, str], int] = {}

    def add(self, block: Block) -> None:
        """Count a block that is answered."""
        names = block.model.names
        labels = list(map(block.model.name, block.labels))
        answers = zip(block.numbers, block.predictions, block.confidences, strict=True)
        for number, output, confidence in answers:
            label = labels[number]
            self._totals[label] = self._totals.get(label, 0) + 1
            wrong = output < 0 or names[output] != label
            for cut in self._cuts:
                kind = "unsure" if confidence < cut else "wrong" if wrong else ""
                if kind:
                    key = cut, label, kind
                    self._counts[key] = self._counts.get(key, 0) + 1

    def found(self) -> list[dict[str, Any]]:
        """For each least probability, and each label: how many are wrong, unsure, and there."""
        return [
            {
                "min_probability": cut,
                "labels": {
                    label: {
                        "wrong": self._counts.get((cut, label, "wrong"), 0),
                        "unsure": self._counts.get((cut, label, "unsure"), 0),
                        "of": total,
                    }
                    for label, total in self._totals.items()
                },
            }
            for cut in self._cuts
        ]


def is_filter(model: LineModel) -> bool:
    """Whether a model tells mails of two labels apart."""
    return isinstance(model.tokenizer, MailDoor) and not model.multilabel and len(model.names) == 2


def losses(found: list[dict[str, Any]]) -> str:
    """What `Losses.found` gives, as a table."""
    labels = list(found[0]["labels"])
    heads = [head for label in labels for head in (f"{label} answered wrongly", f"{label} unsure")]
    rows = [("--min-probability", *heads)]
    for each in found:
        cells = [f"{each['min_probability']:g}"]
        for label in labels:
            counts = each["labels"][label]
            cells += [f"{counts['wrong']:,} of {counts['of']:,}", f"{counts['unsure']:,}"]
        rows.append(tuple(cells))
    return table(rows)
