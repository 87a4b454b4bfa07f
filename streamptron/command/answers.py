"""How answers are written: by a template, which is filled for a whole block at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from string import Formatter
from typing import Any

from streamptron.command.blocks import Block
from streamptron.files.lines import LineModel

UNSURE = "unsure"  # the label of an answer whose probability is too small

JSON = '"label": {label}, "probability": {probability}'
FORMS = {
    "json": "{{" + JSON + "}}",
    "rsyslog": '{{"$!": {{' + JSON + "}}}}",
    "merge": "{object}" + JSON + "}}",
}


class Answers:
    """How answers are written.

    Parameters
    ----------
    template
        The output line, with {label}, {probability}, {text} or fields of the input line; {{ and }}
        are braces. None: label and probability.
    form
        One of FORMS, instead of a template.
    top
        How many labels to write, the most probable first; 0: only the answer.
    unsure
        Below this probability the label is `UNSURE`.

    Attributes
    ----------
    fields, of_line
        The placeholders of the template; and those of them that are fields of input lines.

    Examples
    --------
    >>> from array import array
    >>> from types import SimpleNamespace
    >>> from streamptron.command.answers import Answers
    >>> block = SimpleNamespace(n=2, n_lines=3, places=[0, 2])  # a blank line in the middle
    >>> block.predictions, block.confidences = array("q", [1, 0]), array("d", [0.75, 0.5])
    >>> Answers("{label}: {probability}", unsure=0.6).block(block, [b"ham", b"spam"])
    [b'spam: 0.7500\\n', b': \\n', b'unsure: 0.5000\\n']
    """

    number = "%.4f"  # a probability
    plain = "{label}\t{probability}"  # without a template
    plain_top = "{label}\t{probability}{others}"

    def __init__(
        self,
        template: str | None = None,
        form: str | None = None,
        top: int = 0,
        unsure: float = 0.0,
    ) -> None:
        self.given = template, form, top, unsure
        self.top = top
        self.unsure = unsure
        self.form = form
        self._nothing = b"null" if form else b""
        if form:
            template = FORMS[form]
            if top:
                template = template.replace("{probability}", '{probability}, "top": {top}')
        elif template is None:
            template = self.plain_top if top else self.plain
        else:
            _check(template, top)
        self.fields: list[str] = []
        answer = empty = ""
        for literal, field, _, _ in Formatter().parse(template):
            literal = literal.replace("%", "%%")
            answer, empty = answer + literal, empty + literal
            if field is not None:
                self.fields.append(field)
                answer += self.number if field == "probability" else "%b"
                empty += "%b"
        self._answer = os.fsencode(answer) + b"\n"
        self._empty = os.fsencode(empty) + b"\n"
        own = {"label", "probability", "top", "others"}
        self._by_line = [field for field in self.fields if field not in own]
        self.of_line = [field for field in self._by_line if field not in ("text", "object")]

    def written(self, name: str) -> bytes:
        """A label, encoded for the output."""
        return (json.dumps(name) if self.form else name).encode(errors="replace")

    def block(self, block: Block, labels: list[bytes]) -> list[bytes]:
        """The output lines for a block; `labels`: by output, encoded."""
        by_line = {field: self._of_lines(field, block) for field in self._by_line}
        rows = self._rows(block, labels, by_line)
        if block.n == block.n_lines:
            return rows
        lines = [self._no_answer(by_line, place) for place in range(block.n_lines)]
        for place, row in zip(block.places, rows, strict=False):
            lines[place] = row
        return lines

    def none(self) -> bytes:
        """The answer to a line that could not be read."""
        return self._no_answer(
            {field: [b"{" if field == "object" else b""] for field in self._by_line}, 0
        )

    def _rows(
        self, block: Block, labels: list[bytes], by_line: dict[str, Sequence[bytes]]
    ) -> list[bytes]:
        """The output lines for the block's texts or events."""
        labels = labels or [b""]  # for events without an answer
        if not self.fields:  # a fixed text, the same for every line
            return [self._answer % ()] * block.n
        columns: list[Iterable[Any]] = []
        for field in self.fields:
            if field == "label":
                columns.append(self._labels(block, labels))
            elif field == "probability":
                columns.append(self._probabilities(block))
            elif field in ("top", "others"):
                columns.append(self._tops(field, block, labels))
            else:
                columns.append(map(by_line[field].__getitem__, block.places))
        rows = list(map(self._answer.__mod__, zip(*columns, strict=False)))
        if block.n and min(block.predictions) < 0:  # answered before the first label was known
            for row, output in enumerate(block.predictions):
                if output < 0:
                    rows[row] = self._no_answer(by_line, block.places[row])
        return rows

    def _labels(self, block: Block, labels: list[bytes]) -> Iterable[bytes]:
        if not self.unsure:
            return map(labels.__getitem__, block.predictions)
        unsure = self.written(UNSURE)
        return [
            labels[output] if probability >= self.unsure else unsure
            for output, probability in zip(block.predictions, block.confidences, strict=True)
        ]

    def _probabilities(self, block: Block) -> Iterable[Any]:
        return block.confidences

    def _tops(self, field: str, block: Block, labels: list[bytes]) -> Iterable[bytes]:
        """The most probable labels; for `others`, without the first."""
        if self.form:
            pair, between = b'{"label": %b, "probability": %.4f}', b", "
        else:
            pair, between = b"%b\t%.4f", b"\t"
        for pairs in block.tops:
            shown = [pair % (labels[output], p) for output, p in pairs]
            if field == "others":
                yield b"".join(between + each for each in shown[1:])
            else:
                yield b"[%b]" % between.join(shown) if self.form else between.join(shown)

    def _of_lines(self, field: str, block: Block) -> Sequence[bytes]:
        if field == "text":
            return block.texts()
        if field == "object":
            return [self._begun(*line) for line in block.objects()]
        return block.fields(field)

    def _begun(self, line: bytes, parsed: dict[str, Any] | None) -> bytes:
        """A JSON object without its last brace, and without the keys that will be added."""
        own = {"label", "probability", "top"} if self.top else {"label", "probability"}
        if parsed is None:
            return b"{"
        if not own.isdisjoint(parsed):
            parsed = {key: value for key, value in parsed.items() if key not in own}
            line = json.dumps(parsed).encode()
        return line.rstrip()[:-1] + b", " if parsed else b"{"

    def _no_answer(self, by_line: dict[str, Sequence[bytes]], place: int) -> bytes:
        """The output line for a line that has no answer."""
        return self._empty % tuple(
            by_line[field][place] if field in by_line else self._nothing for field in self.fields
        )


class SetAnswers(Answers):
    """The same for several labels: separated by commas, or in JSON as lists."""

    number = "%b"
    plain_top = "{top}"

    between = b","

    def _labels(self, block: Any, labels: list[bytes]) -> Iterable[bytes]:
        return (self._listed(labels[k] for k, _ in found) for found in block.answered)

    def _probabilities(self, block: Any) -> Iterable[bytes]:
        return (self._listed(b"%.4f" % p for _, p in found) for found in block.answered)

    def _listed(self, parts: Iterable[bytes]) -> bytes:
        return b"[%b]" % b", ".join(parts) if self.form else self.between.join(parts)


def answers_of(model: LineModel, answers: Answers) -> Answers:
    """How the answers of this model are written."""
    if not model.multilabel or isinstance(answers, SetAnswers):
        return answers
    made = SetAnswers(*answers.given)
    made.between = str(model.reading.get("separator", ",")).encode()
    return made


def _check(template: str, top: int) -> None:
    """Raise a ValueError if a template cannot be filled, or is more than one line."""
    try:
        for _, field, form, conversion in Formatter().parse(template):
            if field is None:
                continue
            if form or conversion:
                raise ValueError(f"{{{field}}} takes no format, such as :>9 or !r")
            if not field:
                raise ValueError("{} names nothing")
            if field == "top" and not top:
                raise ValueError("{top} needs --top")
        if "\n" in template or "\r" in template:
            raise ValueError("it is more than a line")
    except ValueError as error:
        raise ValueError(
            f"the template {template!r} cannot be used: {error}; give one line with {{label}}, "
            "{probability} or {text}, and {{ and }} for braces"
        ) from None
