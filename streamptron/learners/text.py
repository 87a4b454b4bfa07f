"""The tokenizer: from a text to features."""

from __future__ import annotations

from typing import Any

from streamptron.common.parameters import arguments
from streamptron.common.river import base
from streamptron.common.tokens import named_as_elsewhere
from streamptron.doors.model import Model
from streamptron.doors.texts import TextDoor


class TextTransformer(base.MiniBatchTransformer):
    """The methods that make a Tokenizer or a Mail a transformer of River."""

    def __or__(self, other: Any) -> Any:
        """A pipeline; if the model is not one of streamptron's, it gets real dicts."""
        if isinstance(other, Model):
            from streamptron.estimator.pipeline import pipeline_of

            return pipeline_of(self, other)  # type: ignore[arg-type]
        from streamptron.common.river import compose, need

        need(f"a pipeline of {type(self).__name__} and {type(other).__name__}")
        return super().__or__(compose.FuncTransformer(dict)) | other

    def _more_tags(self) -> set[str]:
        return {base.tags.TEXT_INPUT}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._get_params().values())


class Tokenizer(TextDoor, TextTransformer):  # type: ignore[misc]
    """Turns a text into words, or runs of words or characters, and how often they occur.

    ``Tokenizer() | Perceptron()`` learns from texts. The learners of streamptron read what
    ``transform_one`` returns without making a dict or a str for each token; for other code it
    becomes a mapping on first use. A tokenizer learns nothing, and its parameters cannot be
    changed.

    Parameters
    ----------
    analyzer
        "word": tokens are words. A word is a run of letters, digits and underscores of any script
        (``str.isalnum``), and of marks that combine with them (Unicode category M). "char": tokens
        are n characters in a row; white space counts like any character.
    ngram_range
        ``(low, high)``, a tuple or a list: tokens are low, low + 1, ... high words or characters in
        a row. Words are joined by a space.
    lowercase
        Whether each character c becomes ``c.lower()[0]`` first.
    separators
        A str of the characters that separate words: a word is then a run of any other characters.
        The separators are lower-cased, too.
    min_length, max_length
        Words of fewer or more characters are left out, as if they were not in the text. None: no
        limit.
    fold_numbers
        Whether numbers are replaced: a word of ASCII digits by ``<num>``; ``0x`` with hex digits,
        or at least four hex digits with a digit and a letter among them, by ``<hex>``; and a
        separate IPv4 or IPv6 address by ``<ip>``. These are never too short or too long.
    value
        "presence": 1. "count": how often the token occurs. "log": 1 + ln(count).
    normalize
        "l2": the values are divided by the square root of the sum of their squares.
    fields
        A name or a tuple of names: events are then mappings with a text under each name, and the
        tokens of the text under "subject" are named like "subject:free".

    Examples
    --------
    >>> from streamptron import Perceptron, Tokenizer
    >>> dict(Tokenizer().transform_one("Win, win a prize!"))
    {'win': 1.0, 'a': 1.0, 'prize': 1.0}
    >>> pairs = Tokenizer(ngram_range=(2, 2), fold_numbers=True)
    >>> dict(pairs.transform_one("port 4096 from 10.0.0.1"))
    {'port <num>': 1.0, '<num> from': 1.0, 'from <ip>': 1.0}
    >>> dict(Tokenizer(analyzer="char", ngram_range=(3, 3), value="count").transform_one("ababa"))
    {'aba': 2.0, 'bab': 1.0}

    >>> model = Tokenizer() | Perceptron()
    >>> model.learn_one("win a free prize now", True)
    >>> model.learn_one("see you at the meeting", False)
    >>> model.predict_one("a free prize")
    True

    Notes
    -----
    Bytes are read as UTF-8; each bad sequence becomes one U+FFFD, as in
    ``bytes.decode("utf-8", "replace")``. Features come in order of their first occurrence.

    First, invisible characters are left out: soft hyphens, joiners and non-joiners, direction
    marks, variation selectors (Unicode's Default_Ignorable_Code_Point, except the Hangul fillers).
    The zero-width space, U+200B, separates words. Then letters and their marks are composed as in
    Unicode's form NFC, whether lower-cased or not, so that a word is the same however its accents
    were written. Code points from U+10000 on and the ideographs U+F900 to U+FAFF are not changed,
    marks beyond a letter's thirtieth are counted from one again, and a dot above an i is dropped,
    because a Turkish capital has none in lower case.

    The package has its own table of which characters are letters, digits or marks, and of their
    lower case, so that tokens are the same under every Python. ``streamptron.engine.api.UNICODE``
    is the table's Unicode version; newer characters separate words, and have no lower case.

    Some of River's models need real dicts: ``Tokenizer() | model`` inserts
    ``compose.FuncTransformer(dict)`` if the model is not one of streamptron's. If you build the
    pipeline in another way, insert it yourself.

    A tokenizer has no file of its own: ``(Tokenizer() | learner).save(path)`` stores both.
    """

    @named_as_elsewhere
    def __init__(
        self,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        separators: str | None = None,
        min_length: int = 1,
        max_length: int | None = 100,
        fold_numbers: bool = False,
        value: str = "presence",
        normalize: str | None = None,
        fields: str | tuple[str, ...] | None = None,
    ) -> None:
        self._configure(**arguments(locals()))
