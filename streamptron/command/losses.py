"""How many mails a filter would answer wrongly, or be unsure of, by its minimum probability."""

from __future__ import annotations

from collections import Counter
from typing import Any

from streamptron.command.blocks import Block
from streamptron.common.table import table
from streamptron.doors.texts import MailDoor
from streamptron.files.lines import LineModel

CUTS = (0.0, 0.9, 0.99, 0.999)


class Losses:
    """Counts the mails of each label that get the wrong label, or are unsure.

    Parameters
    ----------
    least
        A minimum probability to count for, in addition to those of CUTS.
    """

    def __init__(self, least: float) -> None:
        self._cuts = sorted({*CUTS, least})
        self._totals: Counter[str] = Counter()
        self._counts: Counter[tuple[float, str, str]] = Counter()

    def add(self, block: Block) -> None:
        """Count a block that was answered."""
        names = block.model.names
        labels = list(map(block.model.name, block.labels))
        answers = zip(block.numbers, block.predictions, block.confidences, strict=True)
        for number, output, confidence in answers:
            label = labels[number]
            self._totals[label] += 1
            wrong = output < 0 or names[output] != label
            for cut in self._cuts:
                if wrong or confidence < cut:
                    self._counts[cut, label, "unsure" if confidence < cut else "wrong"] += 1

    def found(self) -> list[dict[str, Any]]:
        """For each minimum probability and label: how many mails are wrong, unsure, and in all."""
        return [
            {
                "min_probability": cut,
                "labels": {
                    label: {
                        "wrong": self._counts[cut, label, "wrong"],
                        "unsure": self._counts[cut, label, "unsure"],
                        "of": total,
                    }
                    for label, total in self._totals.items()
                },
            }
            for cut in self._cuts
        ]


def is_filter(model: LineModel) -> bool:
    """Whether a model answers mails with one of two labels."""
    return isinstance(model.tokenizer, MailDoor) and not model.multilabel and len(model.names) == 2


def losses(found: list[dict[str, Any]]) -> str:
    """The result of `Losses.found` as a table."""
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
