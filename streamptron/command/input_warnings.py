"""Warnings of lines that are probably not what the user meant.

Such lines may be right, so none is refused. But if the columns of a file are swapped, if its header
is read as an event, or if each text is taken for one category, the training ends without an error,
and the model has learned nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

from streamptron.command.alike import Alike
from streamptron.command.blocks import Block
from streamptron.command.columns import Columns
from streamptron.command.words import Words
from streamptron.common.names import short_repr
from streamptron.learners.adaptive import AdaptiveClassifier

LEAST = 10  # lines; in fewer, it means nothing if no label comes twice
LONG = 20  # words; a label with so many may be a text
MANY = 100  # lines that are searched for columns that the model does not know
FAR = 3  # standard deviations; if a mean is so far from 0, gaps should not count as 0
# How a header may name the column of labels, and that of texts.
LABELS = "category class kind label labels sentiment tag target topic type v1 y"
TEXTS = "body content document message review sentence text texts title tweet v2 x"


class InputWarnings:
    """The warnings of one run; each is given once."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._where = ""  # file:line of what is looked at
        self._columns = Columns()
        self._alike = Alike()
        self._words = Words()
        self._n_looked = 0  # events whose features were looked at
        self._n_met = 0  # events that were only answered

    @property
    def new(self) -> list[str]:
        """Labels that are new to a model which knew some when the run began."""
        return self._alike.new

    def look(self, block: Block) -> None:
        """Look at a block that has its labels."""
        if block.n == 0:
            return
        labels: list[str] = []
        n = block.n  # the number of labels of all lines
        for number, name in enumerate(block.named):
            if isinstance(name, tuple | dict):  # several
                labels += name
                n += (len(name) - 1) * block.numbers.count(number)
            elif name is not None:
                labels.append(name.decode(errors="replace") if isinstance(name, bytes) else name)
        labels = list(dict.fromkeys(labels))
        self._where = f"{block.file}:{block.line(block.places[0])}"
        self._several(block, labels)
        self._labels(block, labels, n)
        self._spaces(block, labels)
        self._alike.know(block.model.names)
        for kind, message in self._alike.look(labels):
            if "labels" not in self._said and not (kind == "alike" and "spaces" in self._said):
                self._say(kind, message)
        if empty := self._words.look(block):
            self._say("words", empty)
        self._marks(block, labels)
        if block.line(block.places[0]) == 1 and labels:
            self._header(block, labels[0])
        if self._n_looked < 1000:
            self._n_looked += block.n
            for column, message in self._columns.look(block):
                self._say(column, message)
            self._gaps(block)
            self._fields(block)

    def unmet(self, block: Block) -> None:
        """Look for columns of CSV that the model does not know, where it answers without learning.

        The features of a column are its name, or begin with its name and an equals sign.
        """
        model = block.model.learner
        events = list(block.features())[:MANY]
        if block.header is None or not events or self._n_met >= MANY:
            return
        self._n_met += len(events)
        if block.model.multilabel or model.hash_bits or not model.n_seen:
            return
        known: set[str] = set()
        unknown: dict[str, None] = {}
        for x in events:
            weighed = {name for name, part in model.explain_one(x) if part}
            for name in filter(x.get, x):  # a 0 says nothing
                column, is_category, _ = str(name).partition("=")
                if name in weighed:
                    known.add(column)
                elif not is_category or len(events) >= LEAST:
                    unknown[column] = None
        self._where = f"{block.file}:{block.line(block.places[0])}"
        for column in unknown:
            if column not in known:
                self._say(
                    column,
                    f"{column} has no weight in this model, so it says nothing; is it named as in "
                    "the training?",
                )
        if isinstance(model, AdaptiveClassifier):
            for missed in model._columns():
                if isinstance(missed, str) and missed not in block.header:
                    self._say(
                        missed,
                        f"there is no {missed} here, a column that the model has learned from; it "
                        "counts as missing in every line",
                    )

    def lacks(self, block: Block) -> None:
        """Warn of fields in the template that a line does not have."""
        for name, place in block.lacking.items():
            self._where = f"{block.file}:{block.line(place)}"
            self._say(
                f"{{{name}}}",
                f"the line has no {short_repr(name)}, which --template names; it is left empty",
            )

    def _say(self, what: str, message: str) -> None:
        if what not in self._said:
            self._said.add(what)
            warnings.warn(f"{self._where}: {message}", stacklevel=2)

    def _several(self, block: Block, labels: list[str]) -> None:
        """Warn of labels that look like lists of several labels."""
        if block.model.multilabel or len(labels) < LEAST // 2 or "labels" in self._said:
            return
        for separator in ",;|":
            lists = [label.split(separator) for label in labels]
            parts = {part.strip() for each in lists for part in each}
            if 2 * sum(len(each) > 1 for each in lists) > len(lists) > len(parts):
                option = "" if separator == "," else f" --label-separator {short_repr(separator)}"
                example = short_repr(max(labels, key=lambda label: label.count(separator)), 60)
                return self._say(
                    "labels",
                    f"labels such as {example} look like several with {short_repr(separator)} "
                    f"between them, and are taken for one; give --learner multilabel{option}",
                )

    def _labels(self, block: Block, labels: list[str], n: int) -> None:
        long = max(labels, key=len, default="")
        if len(labels) >= 3 and len(labels) > n // 2:
            lines = block.texts()
            texts = {lines[place].decode(errors="replace") for place in block.places if lines}
            shorter = max(map(_words, texts), default=0) < max(map(_words, labels))
            if 0 < 2 * len(texts) <= len(labels) and shorter:
                few = sorted(texts)
                return self._say(
                    "labels",
                    f"label and text look swapped: {len(labels)} labels, as "
                    f"{short_repr(long, 60)}, and the texts {short_repr(few, 60)}; a line is "
                    "label<TAB>text",
                )
        if block.n >= LEAST and len(labels) >= 0.9 * n and not block.model.multilabel:
            self._say(
                "labels",
                f"{len(labels)} labels in {block.n} events, as {short_repr(labels[0], 60)}; is "
                "that the label? One that comes once teaches nothing",
            )
        elif _words(long) >= LONG:
            self._say(
                "labels",
                f"a label of {_words(long)} words, {short_repr(long, 60)}; is it the text?",
            )

    def _marks(self, block: Block, labels: list[str]) -> None:
        marked = next((label for label in labels if label.startswith("__label__")), None)
        if marked is not None and block.model.reading["format"] == "plain":
            self._say(
                "marks",
                f"the label {short_repr(marked, 60)} is written as fastText's are; give --format "
                "fasttext, unless __label__ is a part of it",
            )

    def _spaces(self, block: Block, labels: list[str]) -> None:
        spaced = next((label for label in labels if label != label.strip()), None)
        if spaced is not None and "labels" not in self._said:
            separator = str(block.model.reading.get("separator", ","))
            several = f", or give --label-separator {separator + ' '!r}" * block.model.multilabel
            self._say(
                "spaces",
                f"the label {short_repr(spaced)} begins or ends with a space, which makes it "
                f"another one than {short_repr(spaced.strip())}; leave the space out{several}",
            )

    def _header(self, block: Block, label: str) -> None:
        lines = block.texts()
        text = lines[block.places[0]].decode(errors="replace") if lines else ""
        if block.numbers.count(0) > 1 or _words(text) != 1:
            return
        found = label.strip().lower() in LABELS.split(), text.strip().lower() in TEXTS.split()
        if all(found) or (any(found) and block.n >= LEAST):
            self._say(
                "header",
                f"the label {short_repr(label)} and the text {short_repr(text)} look like a "
                "header, which is learned as an event; leave that line out",
            )

    def _gaps(self, block: Block) -> None:
        if block.model.reading["format"] not in ("csv", "jsonl"):
            return  # in the other formats, what is not written is meant to be 0
        if isinstance(block.model.learner, AdaptiveClassifier):
            return  # which does not take a gap for a value of the column
        import statistics  # slow to import, and only needed here

        columns: dict[Any, list[float]] = {}
        for x in block.features():
            for name, value in x.items():
                columns.setdefault(name, []).append(value)
        for column, values in columns.items():
            n_gaps, mean = block.n - len(values), statistics.fmean(values)
            is_number = max(values) != min(values) and len(values) >= max(LEAST, n_gaps)
            if is_number and n_gaps and abs(mean) > FAR * statistics.pstdev(values, mean):
                self._say(
                    column,
                    f"{column} is missing in {n_gaps} of {block.n} lines, where it counts as 0, "
                    f"far from its other values, as {mean:.4g}; fill it in, or leave {column} out",
                )

    def _fields(self, block: Block) -> None:
        """Warn of fields to be paired that no event has; their names may be misspelt."""
        pairs = getattr(block.model.learner, "interactions", None) or ()
        names = {str(name): None for x in block.features() for name in x}
        for field in {field: None for pair in pairs for field in pair}:
            beginnings = tuple(field + sign for sign in ":=^")
            if (
                block.n >= LEAST
                and field not in names
                and not any(name.startswith(beginnings) for name in names)
            ):
                self._say(
                    f"field {field}",
                    f"none of {block.n} lines has a feature of the field {field!r}, which "
                    f"--interactions pairs; there are {short_repr(list(names), 100)}",
                )


def _words(text: str) -> int:
    return len(text.split())
