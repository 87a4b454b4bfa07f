"""The plain-Python twin of Mail: slow, obvious, and what the compiled one is held against.

It imports nothing of the library and says the rule once more, in its order: fields, their values,
parts, their texts, words, bytes. Everything is bytes but while a text is folded.
"""

import re
import unicodedata
from pathlib import Path

FIELDS_MOST = 65_536  # where the last field begins, in bytes
NAME_MOST = 31
VALUE_MOST = 4_000
PARTS_MOST = 64
LEVELS_MOST = 8
TEXT_MOST = 65_536  # of a part, as it is encoded
TEXTS_MOST = 262_144  # of all parts
WORD_MOST = 32
RUN_MOST = 400
PIECE_MOST = 6

# Written by other filters, or by the program that received the mail.
LEFT_OUT = b"status x-status x-uid x-uidl content-length lines x-keywords x-streamptron".split()
LEFT_OUT_PREFIX = b"x-spam-"
PART_FIELDS = (b"content-type", b"content-disposition")


def features(mail, *, headers=True, text=True, bytes=3500, fold=True):
    """{feature: 1.0} of a mail, in order of first occurrence."""
    return dict.fromkeys(tokens(mail, headers, text, bytes, fold), 1.0)


def tokens(mail, headers, text, n_bytes, fold):
    found, body = fields(mail)
    if headers:
        for name, value in found:
            if name not in LEFT_OUT and not name.startswith(LEFT_OUT_PREFIX):
                yield from named(name, value, fold)
    if headers or text:
        for what, content in Parts(found, body).walk():
            if what == "field" and headers:
                yield from named(b"p." + content[0], content[1], fold)
            elif what == "text" and text:
                yield from words(folded(content, fold), fold)
    for i in range(min(len(mail), n_bytes) - 3):
        yield mail[i : i + 4]


def named(name, value, fold):
    text = folded(decoded_words(value), fold)
    return (f"{name.decode()}:{word}" for word in words(text, fold))


# --- Fields


def fields(mail):
    """The fields of a header, as (name, value), and what comes after the empty line."""
    found, at, open_ = [], 0, False
    while at < len(mail):
        end = mail.find(b"\n", at) + 1 or len(mail)
        line = mail[at:end]
        if line in (b"\n", b"\r\n", b"\r"):
            at = end
            break
        if line[:1] in (b" ", b"\t"):
            if open_:
                found[-1][1] += line
        else:
            name = re.match(rb"[!-9;-~]*:", line)
            open_ = name is not None and at < FIELDS_MOST
            if open_:
                found.append([name[0][:-1].lower()[:NAME_MOST], line[name.end() :]])
        at = end
    return [(name, value.lstrip(b" \t\r\n")[:VALUE_MOST]) for name, value in found], mail[at:]


ENCODED = re.compile(rb"=\?[^?\s]*\?([bBqQ])\?([^?]*)\?=")


def decoded_words(value):
    """The value of a field with its encoded words (RFC 2047) decoded."""
    out, at = [], 0
    for word in ENCODED.finditer(value):
        between = value[at : word.start()]
        if not (at and not between.strip(b" \t\r\n")):  # space between two of them is dropped
            out.append(between)
        kind, text = word.groups()
        if kind in b"bB":
            out.append(base64(text))
        else:
            out.append(quoted(text.replace(b"_", b" ")))
        at = word.end()
    return b"".join([*out, value[at:]])


# --- Parts


class Parts:
    """The parts of a mail: their fields that count, and their texts."""

    def __init__(self, found, body):
        self.top = found, body
        self.n = 0
        self.room = TEXTS_MOST

    def walk(self):
        return self.entity(*self.top, level=0)

    def inner(self, raw, level):
        """An entity inside another one."""
        if self.n == PARTS_MOST:
            return
        self.n += 1
        found, body = fields(raw)
        for name, value in found:
            if name in PART_FIELDS:
                yield "field", (name, value)
        yield from self.entity(found, body, level)

    def entity(self, found, body, level):
        values = dict(reversed(found))  # the first of several
        given = values.get(b"content-type", b"")
        kind = re.match(rb"[^;\s]*", given)[0].lower()
        if b"/" not in kind:
            kind = b"text/plain"
        if kind.startswith(b"multipart/"):
            parts = split(body, boundary(given)) if level < LEVELS_MOST else None
            if parts is not None:
                for part in parts:
                    yield from self.inner(part, level + 1)
                return
            kind = b"text/plain"
        if kind == b"message/rfc822" and level < LEVELS_MOST:
            yield from self.inner(body, level + 1)
        elif kind.startswith((b"text/", b"message/")):
            body = body[: min(TEXT_MOST, self.room)]
            self.room -= len(body)
            encoding = values.get(b"content-transfer-encoding", b"")
            encoding = re.match(rb"[^;\s]*", encoding)[0].lower()
            if encoding == b"base64":
                body = base64(body)
            elif encoding == b"quoted-printable":
                body = quoted(body)
            yield "text", seen(body) if kind == b"text/html" else body


def boundary(value):
    """The boundary that a Content-Type names, or None."""
    found = re.search(rb'boundary[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|([^\s;"]+))', value, re.I)
    return (found[1] or found[2]) if found else None


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


def quoted(data):
    """Quoted-printable; what is not well encoded stays as it is."""

    def of(match):
        return bytes([int(match[1], 16)]) if match[1] else b""

    return re.sub(rb"=(?:([0-9A-Fa-f]{2})|\r?\n)", of, data)


# --- HTML

NOTHING = set(
    b"b i u a em strong font span big small tt s strike o:p sub sup ins del acronym abbr".split()
)
ENTITY = re.compile(rb"&([a-z]{2,4}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
ENTITIES = {
    b"nbsp": 0xA0, b"amp": 38, b"lt": 60, b"gt": 62, b"quot": 34, b"shy": 0xAD, b"zwnj": 0x200C,
}  # fmt: skip


def seen(html):
    """What is seen of HTML, as bytes: without comments, tags, scripts and styles."""
    out, at = [], 0
    while at < len(html):
        if html.startswith(b"<!--", at):
            end = html.find(b"-->", at + 4)
            at = len(html) if end < 0 else end + 3
        elif tag := re.compile(rb"<[A-Za-z/!?]").match(html, at):
            end = html.find(b">", at)
            name = re.compile(rb"</?([A-Za-z0-9:]*)").match(html, at)[1].lower()
            if name not in NOTHING:
                out.append(b" ")
            at = len(html) if end < 0 else end + 1
            if name in (b"script", b"style") and tag[0] != b"</":
                close = re.compile(b"</" + name, re.I).search(html, at)
                at = close.start() if close else len(html)
        elif entity := re.compile(rb"&([a-z]{2,4}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});").match(
            html, at
        ):
            out.append(character(entity[1]) or entity[0])
            at = entity.end()
        else:
            out.append(html[at : at + 1])
            at += 1
    return b"".join(out)


def character(entity):
    """The character of an entity in UTF-8, or None."""
    if entity[:2] in (b"#x", b"#X"):
        code = int(entity[2:], 16)
    elif entity[:1] == b"#":
        code = int(entity[1:])
    else:
        code = ENTITIES.get(entity, 0)
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return None
    return chr(code).encode()


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


def characters(data):
    """Valid UTF-8 as what it encodes, any other byte as Latin-1."""
    at = 0
    while at < len(data):
        for n in (1, 2, 3, 4):
            try:
                c = data[at : at + n].decode()
            except UnicodeDecodeError:
                continue
            yield c
            at += n
            break
        else:
            yield chr(data[at])
            at += 1


_known = {}


def folded(data, fold):
    """Lower case in UTF-8; and a str of it, in which look-alikes are still themselves."""
    out = []
    for c in characters(data):
        if c not in _known:
            _known[c] = c.lower()[0], fold_one(c)
        out.append(_known[c][fold])
    return "".join(out)


def fold_one(c):
    if ord(c) in DROPPED:
        return ""
    low = c.lower()[0]
    if low < "\x80":
        return low
    found = bare(low)
    return found if " " <= found <= "~" else low


def bare(low):
    """A character without accents, width and style, if it is one then; else itself."""
    if low in STROKES:
        return STROKES[low]
    category = unicodedata.category(low)
    if category in ("Pd", "Pi", "Pf", "Zs"):
        return {"Pd": "-", "Pi": "'", "Pf": "'", "Zs": " "}[category]
    parts = unicodedata.normalize("NFKD", low)
    letters = [part for part in parts if unicodedata.category(part)[0] != "M"]
    return letters[0].lower()[0] if len(letters) == 1 else low


# --- Words

WORD = re.compile(r"[a-z0-9A-Z_\x80-\U0010ffff]+")


def words(text, fold=True):
    """The words of a folded text, and what stands for those that are too long."""
    for match in WORD.finditer(text):
        word = match[0]
        if fold and re.search("[a-z]", word):
            word = "".join(LOOKALIKES.get(bare(c), c) if c > "\x7f" else c for c in word)
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
    """The first whole characters within so many bytes."""
    while len(word.encode()) > PIECE_MOST:
        word = word[:-1]
    return word
