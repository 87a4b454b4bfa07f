"""Mails to test on: real ones from ../shared/data, random ones, and changed ones."""

import base64
import functools
import io
import lzma
import quopri
import random
import tarfile

import pytest

from tests.support.streams import DATA

CORPORA = ("trec07p_first12000_raw", "spamassassin_raw")

needs_mails = pytest.mark.skipif(
    not all((DATA / f"{name}.tar.xz").is_file() for name in CORPORA),
    reason=f"the raw mails are not there: no {CORPORA[0]}.tar.xz in {DATA}",
)


@functools.lru_cache(maxsize=2)
def corpus(name):
    """(mail, label) of a corpus, in its order; the whole of it."""
    with lzma.open(DATA / f"{name}.tar.xz") as file:
        data = file.read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {
            member.name.rpartition("/")[2]: archive.extractfile(member).read()
            for member in archive
            if member.isfile()
        }
    rows = [row.split("\t") for row in files["index"].decode().splitlines()]
    return [(files[path], label) for label, path in rows]


FRAGMENTS = [
    b"Subject: ", b"Content-Type: ", b"text/html", b"text/plain; charset=koi8-r",
    b'multipart/mixed; boundary="x"', b"multipart/alternative;\n boundary = y", b"message/rfc822",
    b"\n\n", b"\r\n", b"\n--x\n", b"\n--y \r\n", b"\n--x--\n", b"--y--", b"\n ", b"\t",
    b"Content-Transfer-Encoding: BASE64\n", b"Content-Transfer-Encoding: quoted-printable\n",
    b"=?utf-8?Q?", b"=?x?b?", b"?=", b"=\r\n", b"=E2=82", b"QUJD", b"=", b"<b>", b"</B>", b"<p ",
    b">", b"<script x>", b"</script>", b"<style>", b"</style", b"<!--", b"-->", b"<", b"</", b"<!",
    b"&#x430;", b"&nbsp;", b"&#99999999;", b"&#55296;", b"&zwnj;", b"&", b";", b"_",
    "\u0430".encode(), "\u03b1\u03b2".encode(), "\u4e2d".encode() * 9, "\U0001d400".encode(),
    "\u200b".encode(), "\u00c9".encode(), "\u0451".encode(), b"\xc3", b"\xff", b"\xed\xa0\x80",
    b"word", b"Free", b"p", b"i", b"x" * 33, b"X-Spam-Flag: ", b"From a 12:30\n", b"Status: ",
    b"Name With Space: ", b": ", b"\0", b"\x0b", b"\x85", b"boundary=", b"; boundary*0=x",
    b"; boundary*1*=%79", b"; charset=gb18030", b"=?koi8-r?Q?", b"= \n", b"X-Mozilla-Keys: ",
]  # fmt: skip


def random_mail(rng, size=60):
    """Pieces of mails, and any bytes, in any order."""
    return b"".join(
        rng.choice(FRAGMENTS) if rng.random() < 0.9 else rng.randbytes(rng.randrange(5))
        for _ in range(rng.randrange(size))
    )


def likely_mail(rng):
    """A mail as programs write it, with words that may be of any script."""
    words = [
        "free",
        "Prize",
        "\u043f\u0440\u0438\u0432\u0435\u0442",
        "p\u0440ize",
        "caf\u00e9",
        "\u4e2d\u6587" * 20,
        "a" * 40,
        "&lt;b",
    ]

    def text():
        return " ".join(rng.choices(words, k=rng.randrange(12))).encode()

    def part(kind, encoding):
        body = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}.get(
            encoding, bytes
        )(text())
        return (
            b"Content-Type: %s\nContent-Transfer-Encoding: %s\nContent-Disposition: inline\n\n%s\n"
            % (kind.encode(), encoding.encode(), body)
        )

    kinds = ("text/plain", "text/html", "image/png", "message/delivery-status")
    parts = [
        part(rng.choice(kinds), rng.choice(("7bit", "base64", "quoted-printable")))
        for _ in range(rng.randrange(4))
    ]
    subject = base64.b64encode(text())
    return (
        b"From: a@example.org\nSubject: =?utf-8?B?%s?=\n" % subject
        + b"Content-Type: multipart/mixed;\n boundary=zz\n\n--zz\n"
        + b"\n--zz\n".join(parts)
        + b"\n--zz--\n"
    )


STYLES = [
    "display:none", "display: none !important", "visibility:hidden", "visibility:visible",
    "font-size:0", "font-size:12px", "opacity:0.0", "font:12px x", "all:initial", "display:block",
    "font-family:'a;b'", "background:url(x;y)", "display:none/*", "DISPLAY:NONE", "x:'", "x:(", ")",
    "font-size:.", "font-size:-0.0em", "display", "opacity:0%", "display:&none", "color:red",
]  # fmt: skip
TAGS = [
    "div",
    "span",
    "p",
    "table",
    "td",
    "tr",
    "tbody",
    "li",
    "ul",
    "dd",
    "dl",
    "a",
    "font",
    "h1",
    "h2",
    "b",
    "br",
    "img",
    "wbr",
    "option",
    "select",
    "button",
    "script",
    "title",
    "blockquote",
    "o:p",
    "x-y",
    "TD",
    "averyverylongname",
]
MARKS = [
    "<!-- x", "-->", "<!-->", "--!>", "<!--!>", "<!x>", "<?y>", "</>", "</ z>", "<3", "<", "&",
    "&#x41", "&#146;", "&#0;", "&#99999999999999;", "&nbsp;", "&uuml", "&notit;", "&hellip;",
    "</script>", "</title x>", "</scripty>", "w", " free", "\u00fc ", "x\u00ad",
]  # fmt: skip


def random_html(rng):
    """Tags, styles and texts in any order."""

    def piece():
        kind = rng.randrange(4)
        if kind == 0:
            return rng.choice(MARKS)
        if kind == 1:
            return f"</{rng.choice(TAGS)}>"
        quote = rng.choice('\'""')
        style = ";".join(rng.choices(STYLES, k=rng.randrange(3)))
        more = rng.choice(["", "", "", " hidden", " size=2", " a='>'", " =x", " '", "/"])
        return f"<{rng.choice(TAGS)} style={quote}{style}{quote}{more}>" + rng.choice(["", "word"])

    text = "".join(piece() for _ in range(rng.randrange(30))) + "<div>" * rng.choice((0, 0, 70))
    return b"Content-Type: text/html; charset=utf-8\n\n" + (text + "end").encode()


CHARSETS = [
    "windows-1251",
    "iso-8859-1",
    "iso-8859-16",
    "koi8-r",
    "windows-1256",
    "windows-1258",
    "x-mac-roman",
    "tis-620",
    "utf-8",
    "us-ascii",
    "utf-16",
    "utf-16be",
    "utf-7",
    "iso-2022-jp",
    "iso-2022-kr",
    "x-sjis",
    "euc-jp",
    "gb18030",
    "big5",
    "euc-kr",
    "no",
]


def random_charset(rng):
    """A mail in a charset, of bytes that may have a meaning there."""
    name = rng.choice(CHARSETS).encode()
    kind = rng.randrange(3)
    if kind == 0:
        data = rng.randbytes(rng.randrange(60))
    elif kind == 1:
        data = bytes(
            rng.choice((rng.randrange(0x81, 0xFF), rng.randrange(0x30, 0xFF), 32))
            for _ in range(rng.randrange(60))
        )
    else:
        codes = [
            b"\x1b$B",
            b"\x1b(B",
            b"\x1b(I",
            b"\x1b$(D",
            b"\x1b$)C",
            b"\x0e",
            b"\x0f",
            b"\x1b$A",
        ]
        codes += [b"+", b"-", b"\xff\xfe", b"\xef\xbb\xbf", b"\x82\xa0", b"ab", b'$"', b"\x81\x308"]
        data = b"".join(rng.choices(codes, k=rng.randrange(30)))
    word = b"".join(b"=%02X" % byte for byte in data[:40])
    head = b"Subject: =?%s?Q?%s?=\nContent-Type: text/%s; charset=%s\n\n"
    return head % (name, word, rng.choice((b"html", b"plain")), name) + data


def changed(rng, mail):
    """The mail with some of its bytes changed, cut out, doubled or replaced by pieces of others."""
    mail = bytearray(mail)
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(mail) + 1)
        end = min(len(mail), at + rng.choice((1, 1, 4, 60, 2000)))
        kind = rng.randrange(4)
        if kind == 0:
            mail[at:end] = rng.randbytes(end - at)
        elif kind == 1:
            del mail[at:end]
        elif kind == 2:
            mail[at:at] = mail[at:end]
        else:
            mail[at:at] = rng.choice(FRAGMENTS)
    return bytes(mail)


def random_parameters(rng):
    while True:
        params = {
            "headers": rng.random() < 0.7,
            "text": rng.random() < 0.7,
            "bytes": rng.choice((0, 4, 50, 3500)),
            "fold": rng.random() < 0.7,
        }
        if params["headers"] or params["text"] or params["bytes"]:
            return params


def sample(name, n, seed=0):
    """Some mails of a corpus, in its order."""
    mails = corpus(name)
    places = sorted(random.Random(seed).sample(range(len(mails)), n))
    return [mails[place] for place in places]
