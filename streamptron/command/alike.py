"""Labels that look alike but differ: by an invisible character, by case, or as 1 and 1.0.

To a learner these are different labels, but those who wrote them meant the same one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator

from streamptron.common.cells import float_of
from streamptron.common.names import short_repr

MOST = 100_000  # labels that are remembered
NEW = 50  # new labels that are compared with all labels the model knows
NEAR = 0.85  # how similar two labels are if one may be a typing error
END = ",;"  # characters at the end of a list, but not of a label


class Alike:
    """The labels of one run."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._first: dict[object, str] = {}  # of labels that look alike, the first
        self._known: list[str] | None = None  # the model's labels when the run began
        self.new: list[str] = []  # labels that are not among these

    def know(self, labels: Iterable[str]) -> None:
        """Note the model's labels; only those of the first call, before the run learns, count."""
        if self._known is None:
            self._known = [label for label in labels if label]
            for label in self._known:
                self._note(label)

    def look(self, labels: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Warnings about labels: the kind of each, and a sentence."""
        for label in labels:
            if label in self._seen or len(self._seen) >= MOST:
                continue
            other = self._note(label)
            if other is not None:
                yield "alike", _two(other, label)
            elif UNSEEN.search(label):
                unseen = f"the label {label!a} has a character that is not seen; write it as "
                yield "alike", unseen + short_repr(UNSEEN.sub("", label))
            if self._known:
                self.new.append(label)
                near = self._near(label) if other is None else None
                if near is not None:
                    much = f"the new label {short_repr(label)} is much like {short_repr(near)}, "
                    yield "slip", f"{much}which the model knows; is it a slip?"

    def _note(self, label: str) -> str | None:
        """Remember a label; returns an earlier one that looks like it, or None."""
        self._seen.add(label)
        first = self._first.setdefault(_look_of(label), label)
        return None if first == label else first

    def _near(self, label: str) -> str | None:
        if len(self.new) > NEW or len(label) < 4:
            return None
        import difflib  # slow to import, and few labels are new to a model

        found = difflib.get_close_matches(label, self._known or [], 1, NEAR)
        # v1.2 is not a slip of v1.3
        return found[0] if found and _letters(found[0]) != _letters(label) else None


# Characters without width, and marks that change how the character before them is drawn.
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)


def _letters(label: str) -> str:
    return re.sub(r"\d", "", label)


def _look_of(label: str) -> object:
    """A key that is equal for labels that look alike."""
    plain = unicodedata.normalize("NFKC", UNSEEN.sub("", label)).strip()
    plain = (plain.rstrip(END) or plain).strip().casefold()
    number = float_of(plain)
    return plain if number is None or math.isnan(number) else number


def _two(first: str, label: str) -> str:
    """The warning about two labels that look alike; it says how they differ."""
    unseen = UNSEEN.sub("", first), UNSEEN.sub("", label)
    forms = [unicodedata.normalize("NFKC", each) for each in unseen]
    if unseen[0] == unseen[1]:
        why = "by a character that is not seen"
    elif forms[0] == forms[1]:
        why = "by the form of their letters in Unicode"
    elif forms[0].strip() == forms[1].strip():
        why = "by a space"
    elif forms[0].casefold() == forms[1].casefold():
        why = "by upper and lower case"
    elif float_of(first) is not None and float_of(label) is not None:
        why = "as two ways to write one number"
    else:
        why = "by how they begin or end"
    names = (ascii, short_repr)[first.isascii() and label.isascii()]
    return (
        f"the labels {names(first)} and {names(label)} look alike, and differ {why}: they are two; "
        "write them in one way"
    )
