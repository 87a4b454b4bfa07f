"""The plain-Python twin of the tokenizer: slow, obvious, and what the compiled one is held against.

It imports nothing of the library and says the rule once more, in its order: text, what is not seen,
lower-casing, composing, words, folding, length, n-grams, features, fields. Values are the same IEEE
operations in the same order: sums of squares run in the order of the features with one accumulator
(no `sum()`, which compensates its rounding errors since Python 3.12).

What a bad argument raises is settled at the library's doors and does not concern the twin.
"""

import ipaddress
import math
import re
from decimal import Context, Decimal
from itertools import groupby

from tests.twin.unicode import category, combining, is_letter_or_digit, lower, normalize, parts

MANY_DIGITS = Context(prec=50)  # a logarithm of a count is the nearest double


def tokens(
    text,
    *,
    analyzer="word",
    ngram_range=(1, 1),
    lowercase=True,
    separators=None,
    min_length=1,
    max_length=100,
    fold_numbers=False,
):
    """The tokens of a str or bytes in their order, each as often as it occurs."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = seen(text)
    if lowercase:
        text = lowered(text)
    text = composed(text)
    if analyzer == "char":
        units, joint = text, ""
    else:
        if lowercase and separators:
            separators = lowered(separators)
        spans = word_spans(text, separators)
        if fold_numbers:
            words = folded_words(text, spans)
        else:
            words = [(text[start:end], False) for start, end in spans]
        longest = math.inf if max_length is None else max_length
        units = [word for word, folded in words if folded or min_length <= len(word) <= longest]
        joint = " "
    low, high = ngram_range
    return [
        joint.join(units[i : i + n])
        for n in range(low, high + 1)
        for i in range(len(units) - n + 1)
    ]


def features(x, *, value="presence", normalize=None, fields=None, **parameters):
    """{token: value} of a text, or of the fields of a mapping, in order of first occurrence."""
    if fields is None:
        found = tokens(x, **parameters)
    else:
        names = [fields] if isinstance(fields, str) else fields
        found = [f"{name}:{token}" for name in names for token in tokens(x[name], **parameters)]
    counts = {}
    for token in found:
        counts[token] = counts.get(token, 0) + 1
    values = {
        "presence": lambda count: 1.0,
        "count": float,
        "log": lambda count: 1.0 + float(Decimal(count).ln(MANY_DIGITS)),
    }
    event = {token: values[value](count) for token, count in counts.items()}
    if normalize == "l2":
        squares = 0.0
        for v in event.values():
            squares += v * v
        event = {token: v / math.sqrt(squares) for token, v in event.items()}
    return event


def lowered(text):
    """Every character on its own, and one for one."""
    return "".join(map(lower, text))


UNSEEN = {
    *(0x00AD, 0x034F, 0x061C, 0x17B4, 0x17B5, 0xFEFF),
    *range(0x180B, 0x1810),
    *range(0x200C, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE0200),
}
MARKS_MOST = 30  # of a letter


def seen(text):
    """Without characters that are not seen."""
    return "".join(c for c in text if ord(c) not in UNSEEN)


def stays(c):
    """Whether it stays as it is, beyond the first plane or for compatibility."""
    return c >= "\U00010000" or "\uf900" <= c < "\ufb00"


def composed(text):
    """In Unicode's form NFC, in pieces: after what stays, and after so many marks, one begins."""
    if text.isascii():
        return text
    pieces, marks = [[]], 0
    for c in text:
        if stays(c):
            pieces += [[c], []]
            marks = 0
            continue
        marks = marks + 1 if combining(parts("NFD", c)[0]) else 0
        if marks > MARKS_MOST:
            pieces.append([])
            marks = 1
        pieces[-1].append(c)
    return "".join(
        piece if stays(piece[:1]) else normalize("NFC", dotted_once(piece))
        for piece in map("".join, pieces)
    )


def dotted_once(text):
    """Decomposed, without dots above an i that nothing else is above: small İ has none either."""
    out, is_i = [], False
    for c in normalize("NFD", text):
        if c == "\u0307" and is_i:
            continue
        if combining(c) == 0:
            is_i = c == "i"
        elif combining(c) >= 230:
            is_i = False
        out.append(c)
    return "".join(out)


def is_word_character(c):
    return is_letter_or_digit(c) or c == "_" or category(c)[0] == "M"


def word_spans(text, separators):
    """Where the words begin and end: (start, end) of every maximal run."""
    spans, start = [], 0
    belongs = (lambda c: c not in separators) if separators else is_word_character
    for is_word, run in groupby(text, belongs):
        end = start + len(list(run))
        if is_word:
            spans.append((start, end))
        start = end
    return spans


def folded_words(text, spans):
    """(word, whether it was folded), an address being one word."""
    addresses = ip4_spans(text, spans)
    addresses += [
        (start, end)
        for start, end in ip6_spans(text)
        if not any(start < b and a < end for a, b in addresses)
    ]
    words = []
    for start, end in spans:
        address = next(((a, b) for a, b in addresses if a <= start and end <= b), None)
        word = text[start:end]
        if address is not None:
            # the first word of an address stands for all of it, and a run may begin with a colon
            if not any(c in HEX for c in text[address[0] : start]):
                words.append(("<ip>", True))
        elif all(c in DIGITS for c in word):
            words.append(("<num>", True))
        elif is_hex(word):
            words.append(("<hex>", True))
        else:
            words.append((word, False))
    return words


DIGITS = "0123456789"
LETTERS = "abcdefABCDEF"
HEX = DIGITS + LETTERS


def is_hex(word):
    if word[:2] in ("0x", "0X"):
        return len(word) > 2 and all(c in HEX for c in word[2:])
    return (
        len(word) >= 4
        and all(c in HEX for c in word)
        and any(c in DIGITS for c in word)
        and any(c in LETTERS for c in word)
    )


def ip4_spans(text, spans):
    def is_octet(word):
        return len(word) <= 3 and all(c in DIGITS for c in word) and int(word) <= 255

    found = []
    for i in range(len(spans) - 3):
        four = spans[i : i + 4]
        start, end = four[0][0], four[-1][1]
        gaps = [text[four[k][1] : four[k + 1][0]] for k in range(3)]
        before = start >= 2 and text[start - 1] == "." and is_word_character(text[start - 2])
        after = end + 1 < len(text) and text[end] == "." and is_word_character(text[end + 1])
        if (
            all(is_octet(text[a:b]) for a, b in four)
            and gaps == [".", ".", "."]
            and not before
            and not after
        ):
            found.append((start, end))
    return found


def ip6_spans(text):
    found = []
    for match in re.finditer("[0-9a-fA-F:]+", text):
        run, (start, end) = match.group(), match.span()
        beside = text[start - 1 : start] + text[end : end + 1]  # text[-1:0] is empty
        if (
            run.count(":") >= 2
            and any(c in HEX for c in run)
            and not any(is_word_character(c) for c in beside)
            and is_ip6(run)
        ):
            found.append((start, end))
    return found


def is_ip6(run):
    try:
        ipaddress.IPv6Address(run)
    except ValueError:
        return False
    return True
