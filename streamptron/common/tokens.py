"""Checks of a Tokenizer's and a Mail's parameters, and of their texts."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar, cast

from streamptron.common.checks import choice, truth
from streamptron.common.errors import ParameterError, ParameterTypeError
from streamptron.common.names import short_repr, type_shown

Init = TypeVar("Init", bound=Callable[..., None])

TEXT_MOST = 1 << 28  # characters or bytes of a text: offsets in its UTF-8 are 32-bit numbers


def rule_of(
    analyzer: Any,
    ngram_range: Any,
    lowercase: Any,
    separators: Any,
    min_length: Any,
    max_length: Any,
    fold_numbers: Any,
    value: Any,
    normalize: Any,
    start: dict[str, Any],
) -> tuple[int, int, int, bool, bool, int, int, int, bool]:
    """A Tokenizer's parameters as the engine takes them.

    In order: analyzer, shortest and longest n-gram, whether letters become lower case, whether
    digits are folded, shortest and longest word, what a value is, and whether values are
    normalized. `start` has the defaults.
    """
    kind = choice("analyzer", analyzer, ("word", "char"))
    if not (
        isinstance(ngram_range, tuple | list)
        and len(ngram_range) == 2
        and all(type(n) is int for n in ngram_range)
        and 1 <= ngram_range[0] <= ngram_range[1] <= 100
    ):
        raise ParameterError(
            "ngram_range", ngram_range, "two ints (low, high), 1 <= low <= high <= 100"
        )
    truth("lowercase", lowercase)
    truth("fold_numbers", fold_numbers)
    _check_lengths(min_length, max_length)
    counted = choice("value", value, ("presence", "count", "log"))
    if normalize is not None and (not isinstance(normalize, str) or normalize != "l2"):
        raise ParameterError("normalize", normalize, "None or 'l2'")
    if separators is not None and (not isinstance(separators, str) or not separators):
        raise ParameterError(
            "separators", separators, "None or a str of characters that separate words"
        )
    if analyzer == "char":
        lengths = {"min_length": min_length, "max_length": max_length}
        of_words = {"separators": separators, "fold_numbers": fold_numbers, **lengths}
        for name, given in of_words.items():
            if given != start[name]:
                sentence = f"{{{name}}} applies to words; leave it out with {{analyzer:'char'}}"
                raise ParameterError(name, given, repr(start[name]), sentence)
    if separators is not None and fold_numbers:
        raise ParameterError(
            "fold_numbers",
            fold_numbers,
            "False with separators",
            "{fold_numbers} needs the default word separators; it cannot be combined with "
            "{separators!s}",
        )
    shortest = min(min_length, sys.maxsize)
    longest = sys.maxsize if max_length is None else min(max_length, sys.maxsize)
    return (
        kind, *ngram_range, lowercase, fold_numbers, shortest, longest, counted,
        normalize is not None,
    )  # fmt: skip


def _check_lengths(min_length: Any, max_length: Any) -> None:
    if isinstance(min_length, bool) or not isinstance(min_length, int) or min_length < 1:
        raise ParameterError("min_length", min_length, "an int of at least 1")
    if max_length is not None and (
        isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < min_length
    ):
        raise ParameterError(
            "max_length",
            max_length,
            f"None or an int of at least {min_length}",
            "{max_length}; it must be None or an int of at least {min_length}",
            {"min_length": min_length},
        )


# Parameters of River's BagOfWords and scikit-learn's vectorizers, and what to do here instead.
ELSEWHERE = {
    "on": "give fields={on!r}, the name of the text's field",
    "stop_words": "leave it out: the learner finds out which words do not matter",
    "strip_accents": "leave it out, or strip them first: FuncTransformer(strip) | Tokenizer()",
    "preprocessor": "call it first: FuncTransformer(preprocessor) | Tokenizer()",
    "tokenizer": "give separators, or make {{token: 1}} yourself: the learners take such dicts",
    "token_pattern": "give separators, the characters that separate words",
    "binary": "give value='presence', which is the default, or value='count'",
    "max_df": "leave it out: the learner finds out which words do not matter",
    "min_df": "leave it out, or give the learner max_features",
    "max_features": "give it to the learner: Tokenizer() | AdaptiveClassifier(max_features=...)",
    "vocabulary": "leave it out: new words are learned at any time",
}


def named_as_elsewhere(init: Init) -> Init:
    """A constructor whose error for another library's parameter says what to give instead."""

    @functools.wraps(init)
    def checked(self: Any, *arguments: Any, **given: Any) -> None:
        for name in given:
            if name in ELSEWHERE:
                remedy = ELSEWHERE[name].format(on=given.get("on"))
                raise TypeError(
                    f"{name}={short_repr(given[name])} is not a parameter here; {remedy}"
                )
        init(self, *arguments, **given)

    return cast("Init", checked)


def names_of(fields: Any) -> tuple[str, ...] | None:
    """The names of the fields, or None; an error if one is invalid."""
    if fields is None:
        return None
    if not isinstance(fields, str | tuple | list):
        raise ParameterTypeError("fields", fields, "None, a name, or a tuple of names")
    names = (fields,) if isinstance(fields, str) else tuple(fields)
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterTypeError("fields", fields, "at least one name, each a str")
    if len(set(names)) < len(names):
        raise ParameterError("fields", fields, "names, each of which occurs once")
    return names


def too_long(what: str, n: int) -> str:
    return f"{what} has a length of {n}; split a text of more than {TEXT_MOST}"


def plain_text(text: Any, what: str) -> str | bytes:
    """A text as a str or bytes, which cannot change."""
    if isinstance(text, str | bytes):
        if len(text) > TEXT_MOST:
            raise ValueError(too_long(what, len(text)))
        return str.__str__(text) if isinstance(text, str) else bytes(text)
    raise TypeError(
        f"{what} is {short_repr(text)}, {type_shown(text)}; it must be a text: a str, or bytes of "
        "UTF-8"
    )


def plain_fields(x: Any, names: tuple[str, ...]) -> tuple[str | bytes, ...]:
    """The texts of a mapping's fields."""
    if not isinstance(x, dict | Mapping):
        raise TypeError(
            f"x is {short_repr(x)}, {type_shown(x)}; with fields={short_repr(names)} it must be a "
            "mapping with these keys"
        )
    texts = []
    for name in names:
        if name not in x:
            raise ValueError(f"x has no field {name!r}; it has {short_repr(list(x))}")
        text = x[name]
        if type(text) is not str or len(text) > TEXT_MOST:
            text = plain_text(text, f"x[{name!r}]")
        texts.append(text)
    return tuple(texts)


def frame_texts(X: Any, names: tuple[str, ...]) -> tuple[list[dict[str, Any]], Any]:
    """The rows of a frame with a column of texts for each field, and one of its series."""
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise TypeError(
            f"X is {type_shown(X)}; with fields={short_repr(names)} it must be a frame with these "
            "columns (not a lazy one), or a sequence of mappings with these keys"
        ) from None
    for name in names:
        if name not in frame.columns:
            raise ValueError(f"X has no column {name!r}; it has {short_repr(list(frame.columns))}")
    columns = [frame[name].to_list() for name in names]
    rows = [dict(zip(names, texts, strict=True)) for texts in zip(*columns, strict=True)]
    return rows, frame[names[0]].to_native()


def check_texts(X: Any) -> None:
    """Raise a TypeError if X is a single text or a frame."""
    if isinstance(X, str | bytes | Mapping):
        raise TypeError(f"X is one {type(X).__name__}; transform_many takes a sequence of texts")
    if hasattr(X, "columns"):  # iterating it would give names or columns
        raise TypeError(
            f"X is {type_shown(X)}; transform_many takes a sequence of texts: give it one column "
            "of the frame"
        )


def check_mail(headers: Any, text: Any, bytes: Any, fold: Any) -> None:
    """Check a Mail's parameters, which must leave something of a mail."""
    truth("headers", headers)
    truth("text", text)
    truth("fold", fold)
    if (
        isinstance(bytes, bool)
        or not isinstance(bytes, int)
        or not (bytes == 0 or 4 <= bytes <= TEXT_MOST)
    ):
        raise ParameterError("bytes", bytes, f"0, for none, or an int from 4 to {TEXT_MOST}")
    if not (headers or text or bytes):
        raise ParameterError(
            "headers",
            headers,
            "True without text and bytes",
            "{headers}, {text} and {bytes} leave nothing of a mail; turn one of them on",
            {"text": text, "bytes": bytes},
        )


def plain_mail(x: Any) -> bytes:
    """A mail as bytes, which cannot change."""
    if not isinstance(x, bytes | bytearray | memoryview):
        raise TypeError(
            f"x is {short_repr(x)}, {type_shown(x)}; a mail is the bytes of its file, as "
            "open(path, 'rb').read() gives them"
        )
    if memoryview(x).nbytes > TEXT_MOST:
        raise ValueError(f"x has {memoryview(x).nbytes} bytes; a mail has at most {TEXT_MOST}")
    return bytes(x)


def described(feature: Hashable) -> str:
    """A feature of a Mail as a person reads it.

    Examples
    --------
    >>> described("subject:free"), described("prize"), described(b"\\nTo:")
    ('subject: free', 'text: prize', 'bytes: "\\\\nTo:"')
    """
    if isinstance(feature, bytes):
        return 'bytes: "' + repr(feature)[2:-1].replace('"', '\\"') + '"'
    field, colon, word = str(feature).partition(":")
    return f"{field}: {word}" if colon else f"text: {field}"
