"""Texts without words, such as emoji, and scripts without spaces, where a sentence is one word."""

from __future__ import annotations

import re

from streamptron.command.blocks import Block
from streamptron.common.names import short_repr
from streamptron.learners.text import Tokenizer

MANY = 100  # the number of texts to look at
FEW = 10  # texts; if there are fewer, all of them must be without words
CHARACTERS = "--analyzer char --ngrams 1,2"
# Chinese, Japanese, Thai, Lao, Burmese, Khmer: scripts that are written without spaces.
UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)


class Words:
    """The first texts of one run."""

    def __init__(self) -> None:
        self._n = self._n_empty = 0
        self._n_letters = self._n_unspaced = 0

    def look(self, block: Block) -> str | None:
        """A warning about the texts so far, or None."""
        tokenizer = block.model.tokenizer
        if self._n >= MANY or not isinstance(tokenizer, Tokenizer) or tokenizer.fields is not None:
            return None
        if tokenizer.min_length > 1:  # the user wants fewer words
            return None
        lines = block.texts()
        empty = ""
        for place in block.places[: min(block.n, MANY - self._n)]:
            text = lines[place].decode(errors="replace")
            if not text.strip():
                continue
            self._n += 1
            self._n_letters += sum(map(str.isalpha, text))
            self._n_unspaced += len(UNSPACED.findall(text))
            if not len(tokenizer.transform_one(text)):
                self._n_empty += 1
                empty = empty or text
        if empty and (self._n_empty == self._n > 1 or FEW <= self._n <= 10 * self._n_empty):
            return (
                f"{self._n_empty} of {self._n} texts have no word, as {short_repr(empty, 60)}, "
                f"and are all the same to the model; {_cure(tokenizer, empty)}"
            )
        if (
            tokenizer.analyzer == "word"
            and tokenizer.separators is None
            and 2 * self._n_unspaced > self._n_letters > 0
        ):
            return (
                "most letters are of a script without spaces, of which a sentence is one word; "
                f"give {CHARACTERS}, for which every two letters count"
            )
        return None


def _cure(tokenizer: Tokenizer, text: str) -> str:
    """How to get words from a text that has none."""
    if tokenizer.analyzer == "char":
        return f"runs of {tokenizer.ngram_range[0]} characters are longer; give other --ngrams"
    if any(map(str.isalnum, text)):
        return (
            f"words of more than {tokenizer.max_length} characters, and texts of fewer words than "
            f"--ngrams asks for, give nothing; give --max-length none, or {CHARACTERS}"
        )
    return f"only letters and digits make words; give --separators ' ', or {CHARACTERS}"
