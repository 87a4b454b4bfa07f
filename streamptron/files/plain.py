"""One text per line: label<TAB>text, or fastText's format, where a word is the label."""

from __future__ import annotations

import re
from typing import Any

from streamptron.common.errors import ParameterError
from streamptron.common.names import short_repr
from streamptron.files.format import Event, Format
from streamptron.files.tokens import BadLine, label_of

NO_TAB = "no TAB; write label<TAB>text"
# How to recognise lines of other formats.
OTHERS = {
    "fasttext": re.compile(rb"__label__\S"),
    "jsonl": re.compile(rb"\s*\{.*\}\s*$"),
    "vw": re.compile(rb"[^|,]*\|\S* "),
    "svmlight": re.compile(rb"[-+.\deE,]+(\s+(qid|\d+):[-+.\deE]+)+\s*(#.*)?$"),
    "csv": re.compile(rb'("[^"]*"|[^",]*),'),
}


def no_tab(line: bytes) -> ValueError:
    """The error for a line without a TAB; it names the format that the line seems to have."""
    for format, looks in OTHERS.items():
        if looks.match(line):
            sentence = f"{NO_TAB}; the line looks like another format: give {{format}}"
            return ParameterError("format", format, sentence=sentence)
    return ValueError(NO_TAB)


class Plain(Format):
    """A label, a TAB and a text."""

    separator = ","

    def __init__(self, *, raw: bool = False) -> None:
        self._raw = raw

    def parse(self, item: bytes) -> Event:
        if not item:
            return None
        label, tab, text = item.partition(b"\t")
        if not tab:
            if self.several and not self.label_needed:
                return self.text(item, self._raw), None, 1.0, None, None
            raise BadLine(no_tab(item))
        if self.several:
            between = (self.separator or ",").encode()
            y: Any = self.labels(label.split(between) if label else [], label_of)
        else:
            y = label_of(label)
        return self.text(text, self._raw), y, 1.0, None, None


class FastText(Format):
    """A text in which a word with a prefix is the label."""

    def __init__(self, *, prefix: str = "__label__", raw: bool = False) -> None:
        if not isinstance(prefix, str) or not prefix or re.search(r"\s", prefix):
            raise ValueError(
                f"prefix={short_repr(prefix)}; give a text without spaces, as __label__"
            )
        self._prefix = prefix
        self._label = re.compile(re.escape(prefix.encode()) + rb"(\S*)\s?")
        self._raw = raw

    def parse(self, item: bytes) -> Event:
        if not item.strip():
            return None
        found = [
            label
            for label in self._label.finditer(item)
            if not item[max(label.start() - 1, 0) : label.start()].strip()  # a word begins there
        ]
        if self.several:
            text, at = b"", 0
            for label in found:
                text, at = text + item[at : label.start()], label.end()
            labels = self.labels([label[1] for label in found], label_of)
            y = labels if labels or self.label_needed else None
            return self.text((text + item[at:]).rstrip(), self._raw), y, 1.0, None, None
        if len(found) != 1:
            raise BadLine(
                f"{len(found) or 'no'} labels; a line must have exactly one word that begins with "
                f"{self._prefix}; several labels are for MultiLabelClassifier"
            )
        text = item[: found[0].start()] + item[found[0].end() :]
        return self.text(text, self._raw), label_of(found[0][1]), 1.0, None, None
