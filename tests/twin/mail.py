"""The plain-Python twin of Mail: slow, obvious, and what the compiled one is held against.

It imports nothing of the library and says the rule once more, in its order: fields, their values,
parts, their texts, words, bytes. Charsets and HTML have modules of their own beside it.
"""

import re
from itertools import groupby
from pathlib import Path

from tests.twin.charsets import UNKNOWN, characters, charset
from tests.twin.html import Page
from tests.twin.text import composed, is_word_character, lowered, seen
from tests.twin.unicode import category, lower, normalize

FIELDS_MOST = 65_536  # where the last field begins, in bytes
NAME_MOST = 31
VALUE_MOST = 4_000
PARTS_MOST = 64
LEVELS_MOST = 8
TEXT_MOST = 65_536  # of a part, as it is encoded
TEXTS_MOST = 262_144  # of all parts; and of mails in mails that are encoded
PARAMETER_MOST = 1_000
SECTIONS_MOST = 20
WORD_MOST = 32
RUN_MOST = 400
PIECE_MOST = 6

# Written by other filters, by the mailbox, or by the program that received the mail.
LEFT_OUT = re.compile(
    rb"x-.*spam.*|x-bogosity|x-crm114-.*|x-gmail-labels|x-gm-.*|x-mozilla-.*|x-ms-exchange-.*scl"
    rb"|x-streamptron|x-text-class.*|x-popfile-link|x-evolution.*|x-imap.*|x-account-key"
    rb"|x-label|x-keywords|x-uid|x-uidl|x-status|status|content-length|lines"
)
PART_FIELDS = (b"content-type", b"content-disposition")


def features(mail, *, headers=True, text=True, bytes=3500, fold=True):
    """{feature: 1.0} of a mail, in order of first occurrence."""
    return dict.fromkeys(tokens(mail, headers, text, bytes, fold), 1.0)


def tokens(mail, headers, text, n_bytes, fold):
    found, body, kept = fields(mail)
    if headers:
        for name, value in found:
            yield from named(name, value, fold)
    if headers or text:
        for what, content in Parts(found, body).walk():
            if what == "field" and headers:
                yield from named(b"p." + content[0], content[1], fold)
            elif what == "text" and text:
                yield from words(folded(content, fold), fold)
    for i in range(min(len(kept), n_bytes) - 3):
        yield kept[i : i + 4]


def named(name, value, fold):
    text = folded(decoded_words(value), fold)
    return (f"{name.decode()}:{word}" for word in words(text, fold))


# --- Fields


def fields(mail):
    """The fields of a header, as (name, value); what comes after it; and the whole mail.

    From both are gone the fields that are left out, and the lines of an mbox before the first one.
    """
    found, kept, at = [], [], 0
    while mail.startswith((b"From ", b">From "), at):
        at = mail.find(b"\n", at) + 1 or len(mail)
    if not re.compile(rb"[!-9;-~]+:|\r?\n|\r$").match(mail, at):
        return [], mail[at:], mail[at:]
    open_ = stays = True
    while at < len(mail):
        end = mail.find(b"\n", at) + 1 or len(mail)
        line = mail[at:end]
        if line in (b"\n", b"\r\n", b"\r"):
            break
        if line[:1] in (b" ", b"\t"):
            if open_:
                found[-1][1] += line
        else:
            name = re.match(rb"[!-9;-~]*:", line)
            open_ = name is not None and at < FIELDS_MOST
            stays = not (open_ and LEFT_OUT.fullmatch(name[0][:-1].lower()))
            open_ = open_ and stays
            if open_:
                found.append([name[0][:-1].lower()[:NAME_MOST], line[name.end() :]])
        if stays:
            kept.append(line)
        at = end
    kept.append(mail[at:])
    found = [(name, value.lstrip(b" \t\r\n")[:VALUE_MOST]) for name, value in found]
    return found, re.sub(rb"^(\n|\r\n|\r)", b"", mail[at:]), b"".join(kept)


ENCODED = re.compile(rb"=\?([^?\s]*)\?([bBqQ])\?([^?]*)\?=")


def decoded_words(value):
    """The text of a value, with its encoded words (RFC 2047) decoded.

    Those that are beside each other, in the same charset, are decoded in one.
    """
    runs, at = [], 0  # [charset, bytes]
    for word in ENCODED.finditer(value):
        between = value[at : word.start()]
        if not (at and not between.strip(b" \t\r\n")):  # space between two of them is dropped
            runs.append(["", between])
        name, kind, text = word.groups()
        text = base64(text) if kind in b"bB" else quoted(text, spaces=True)
        if runs and runs[-1][0] == charset(name):
            runs[-1][1] += text
        else:
            runs.append([charset(name), text])
        at = word.end()
    runs.append(["", value[at:]])
    return "".join(characters(run, kind or None) for kind, run in runs)


# --- Parts


class Parts:
    """The parts of a mail: their fields that count, and their texts."""

    def __init__(self, found, body):
        self.top = found, body
        self.n = 0
        self.room = TEXTS_MOST
        self.room_encoded = TEXTS_MOST

    def walk(self):
        return self.entity(*self.top, level=0)

    def inner(self, raw, level):
        """An entity inside another one."""
        if self.n == PARTS_MOST:
            return
        self.n += 1
        found, body, _ = fields(raw)
        for name, value in found:
            if name in PART_FIELDS:
                yield "field", (name, value)
        yield from self.entity(found, body, level)

    def entity(self, found, body, level):
        given = max(values(found, b"content-type"), key=rank, default=b"")
        encodings = map(encoded, values(found, b"content-transfer-encoding"))
        encoding = next(filter(None, encodings), None)
        kind = kind_of(given)
        if kind.startswith(b"multipart/"):
            parts = split(body, parameter(given, b"boundary")) if level < LEVELS_MOST else None
            if parts is not None:
                for part in parts:
                    yield from self.inner(part, level + 1)
                return
            kind = b"text/plain"
        if kind == b"message/rfc822" and level < LEVELS_MOST:
            if encoding:
                body = body[: self.room_encoded]
                self.room_encoded -= len(body)
                body = encoding(body)
            yield from self.inner(body, level + 1)
        elif kind.startswith((b"text/", b"message/")):
            body = body[: min(TEXT_MOST, self.room)]
            self.room -= len(body)
            if encoding:
                body = encoding(body)
            text = characters(body, charset(parameter(given, b"charset")))
            yield "text", Page(text).seen() if kind == b"text/html" else text


def values(found, name):
    return [value for each, value in found if each == name]


def kind_of(given):
    kind = re.match(rb"[^;\s]*", given)[0].lower()
    return kind if b"/" in kind else b"text/plain"


def rank(given):
    """Of several Content-Types the first counts of those that say the most."""
    kind = kind_of(given)
    if kind.startswith(b"multipart/"):
        return 4 if parameter(given, b"boundary") else 1
    if kind == b"message/rfc822":
        return 3
    if kind == b"text/html":
        return 2
    return kind.startswith((b"text/", b"message/"))


def encoded(value):
    """What decodes a Content-Transfer-Encoding, if anything has to."""
    name = re.match(rb"[^;\s]*", value)[0].lower()
    return {b"base64": base64, b"quoted-printable": quoted}.get(name)


def parameter(value, name):
    """A parameter of a field, whole or in sections, plain or encoded (RFC 2231); or b""."""

    def of(name):
        text = rb'[ \t\r\n]*=[ \t\r\n]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))'
        found = re.search(name + text, value, re.I | re.S)
        if not found:
            return None
        text = found[2] if found[1] is None else re.sub(rb"\\(.)", rb"\1", found[1], flags=re.S)
        too_long.extend([text] * (len(text) > PARAMETER_MOST))
        return text

    def plain(text):
        return re.sub(rb"%([0-9A-Fa-f]{2})", lambda c: bytes([int(c[1], 16)]), text)

    def first(text):
        return plain(text.split(b"'", 2)[2] if text.count(b"'") > 1 else text)

    too_long = []
    whole = of(name)
    if whole is None and (text := of(name + rb"\*")) is not None:
        whole = first(text)
    if whole is None:
        whole = b""
        for i in range(SECTIONS_MOST):
            section = name + rb"\*%d" % i
            if (text := of(section)) is None:
                text = of(section + rb"\*")
                if text is None:
                    break
                text = plain(text) if i else first(text)
            whole += text
    return whole if len(whole) <= PARAMETER_MOST and not too_long else b""


def split(body, mark):
    """What is between the lines that begin with the boundary; None if there are none."""
    if not mark:
        return None
    parts, start, at = [], None, 0
    while at < len(body):
        end = body.find(b"\n", at) + 1 or len(body)
        if body.startswith(b"--" + mark, at):
            rest = body[at + 2 + len(mark) : end]
            last = rest.startswith(b"--")
            if last or not rest.strip(b" \t\r\n"):
                if start is not None:
                    parts.append(body[start:at])
                start = end
                if last:
                    return parts or None
        at = end
    if start is not None:
        parts.append(body[start:])
    return parts or None


# --- Encodings

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SIXES = {c: i for i, c in enumerate(ALPHABET)}


def base64(data):
    """Other characters are skipped; `=` ends a group, of which whole bytes count."""
    out = b""
    for group in data.split(b"="):
        bits = "".join(f"{SIXES[c]:06b}" for c in group if c in SIXES)
        out += bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8))
    return out


def quoted(data, spaces=False):
    """Quoted-printable; what is not well encoded stays as it is. `spaces`: `_` is one."""

    def of(match):
        if match[0] == b"_":
            return b" " if spaces else b"_"
        return bytes([int(match[1], 16)]) if match[1] else b""

    return re.sub(rb"_|=(?:([0-9A-Fa-f]{2})|[ \t]*\r?\n)", of, data)


# --- Folding

DROPPED = [
    *range(0x00AD, 0x00AE), *range(0x0300, 0x0370), *range(0x180E, 0x180F),
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065),
    *range(0xFE00, 0xFE10), *range(0xFEFF, 0xFF00), *range(0xE0000, 0xE0080),
]  # fmt: skip
STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "\u0131": "i", "ŧ": "t"}
LIST = Path(__file__).resolve().parents[1] / "mail" / "lookalikes.txt"
LOOKALIKES = {
    chr(int(row.split()[0], 16)): row.split()[1]
    for row in LIST.read_text(encoding="utf-8").splitlines()[1:]
}


_known = {}


def folded(text, fold):
    """A text in lower case, composed; look-alikes are still themselves."""
    text = composed(lowered(seen(text)))
    if not fold:
        return text
    out = []
    for c in text:
        if c not in _known:
            _known[c] = fold_one(c)
        out.append(_known[c])
    return "".join(out)


def fold_one(c):
    if ord(c) in DROPPED:
        return ""
    low = lower(c)
    if low < "\x80":
        return low
    if "\U0001d400" <= low < "\U0001d6a4":  # with the places that stay empty there
        return chr(97 + (ord(low) - 0x1D400) % 26)
    if low == "\xb5":  # the micro sign is the letter
        return "\u03bc"
    found = bare(low)
    return found if " " <= found <= "~" else low


def bare(low):
    """A character without accents, width and style, if it is one then; else itself."""
    if low in STROKES:
        return STROKES[low]
    signs = {"Pd": "-", "Pi": "'", "Pf": "'", "Zs": " "}
    if category(low) in signs:
        return signs[category(low)]
    letters = [part for part in normalize("NFKD", low) if category(part)[0] != "M"]
    return lower(letters[0]) if len(letters) == 1 else low


# --- Words


def belongs(c):
    """Whether a character belongs to words, as those do that charsets only keep apart."""
    return is_word_character(c) or c >= "\U000f0000"


def words(text, fold=True):
    """The words of a folded text, and what stands for those that are too long."""
    for inside, run in groupby(text, belongs):
        if not inside:
            continue
        word = "".join(run)
        if fold and re.search("[a-z]", word):
            word = "".join(LOOKALIKES.get(bare(c), c) if c > "\x7f" else c for c in word)
        word = "".join(chr(ord(c) - UNKNOWN) if ord(c) >= UNKNOWN else c for c in word)
        data = word.encode()
        if len(data) <= WORD_MOST:
            yield word
        elif data[0] < 0x80:
            yield f"long<{len(data).bit_length()}>"
        else:
            at = 0
            for i, c in enumerate(word):
                if at >= RUN_MOST:
                    break
                yield piece(word[i : i + PIECE_MOST])
                at += len(c.encode())


def piece(word):
    """The first whole characters within so many bytes, or two."""
    while len(word) > 2 and len(word.encode()) > PIECE_MOST:
        word = word[:-1]
    return word
