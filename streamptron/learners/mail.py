"""The tokenizer of mails: from the raw bytes of a mail to features."""

from __future__ import annotations

from streamptron.common.parameters import arguments
from streamptron.doors.texts import MailDoor
from streamptron.learners.text import TextTransformer


class Mail(MailDoor, TextTransformer):  # type: ignore[misc]
    """Turns a mail's raw bytes into features: words of its headers and text, and runs of bytes.

    ``Mail() | AdaptiveClassifier()`` is a spam filter. It can be used wherever
    ``Tokenizer() | learner`` can. A broken mail is not an error: what can be read is read.

    Parameters
    ----------
    headers
        Whether the words of header fields are features: ``"subject:free"``.
    text
        Whether the words of the text that a reader sees are features: ``"free"``.
    bytes
        The number of raw bytes, from the start of the mail, of which each four in a row are a
        feature: ``b"Free"``. 0: none. They show how a mail was written and encoded, and account for
        most of the features, memory and time.
    fold
        Whether letters are replaced by what a reader takes them for: accents are removed; wide,
        circled and mathematical letters become plain ones; invisible characters are dropped; and in
        a word that has ASCII letters, look-alikes from other scripts become ASCII letters.

    Examples
    --------
    >>> from streamptron import AdaptiveClassifier, Mail
    >>> mail = b"Subject: =?utf-8?Q?Fr=C3=A9e?=\\nContent-Type: text/html\\n\\n<p>A <b>pri</b>ze"
    >>> list(Mail(bytes=0).transform_one(mail))
    ['subject:free', 'content-type:text', 'content-type:html', 'a', 'prize']
    >>> list(Mail(headers=False, text=False, bytes=6).transform_one(mail))
    [b'Subj', b'ubje', b'bjec']

    >>> model = Mail() | AdaptiveClassifier()
    >>> model.learn_one(b"Subject: win now\\n\\na free prize", "spam")
    >>> model.learn_one(b"Subject: tomorrow\\n\\nsee you at the meeting", "ham")
    >>> model.predict_one(b"Subject: prize\\n\\nfree")
    'spam'

    Notes
    -----
    **Fields** are the lines up to the first empty one; a line that begins with a space or a TAB
    continues the one before. A line whose name, up to a colon, is not printable ASCII is left out.
    If the first line is neither a field nor empty, there is no header: all is text. ``From `` lines
    of an mbox before it do not count. Of a name the first 31 characters count, in lower case; of a
    value the first 4,000 bytes. Fields that begin after 65,536 bytes are ignored. Encoded words are
    decoded. Of the fields of a part, Content-Type and Content-Disposition count, as
    ``"p.content-type:html"``.

    Fields that other filters, this one, mailboxes and the receiver's programs write are left out of
    both the words and the bytes, as if they were not in the mail: ``X-...Spam...``, ``X-Bogosity``,
    ``X-CRM114-...``, ``X-MS-Exchange-...SCL``, ``X-Streamptron``, ``X-Text-Class...``,
    ``X-POPFile-Link``, ``X-Gmail-Labels``, ``X-GM-...``, ``X-Mozilla-...``, ``X-Evolution...``,
    ``X-IMAP...``, ``X-Account-Key``, ``X-Label``, ``X-Keywords``, ``X-UID``, ``X-UIDL``,
    ``X-Status``, ``Status``, ``Content-Length``, ``Lines``.

    **Text.** Multiparts and forwarded mails are read: at most 64 parts, eight levels deep. Of each
    part that is text or ``message/...``, the first 65,536 bytes count, and 262,144 of all parts
    together; they are decoded from base64 or quoted-printable, also in forwarded mails. If a part
    has several Content-Types, the one that leads to the most text counts. The charset is the one
    that the part, or the encoded word, declares: any of ISO 8859, of Windows with one byte per
    letter, KOI8, Mac Roman, UTF-16 and UTF-7. In those of Japan, China and Korea, kana, Hangul and
    alphabets are decoded; Han characters are only kept distinct: each becomes a character in planes
    15 and 16 of Unicode, not the one that UTF-8 has for it. Without a charset, or with an unknown
    one, a text is read as UTF-8 if most of it is valid; otherwise each byte from 128 on counts as a
    letter, without folding or lower case.

    In HTML, what browsers do not show is left out: comments, scripts, styles, titles, frames, tags,
    and text in an element that, or whose parent, is ``hidden`` or has a style with
    ``display:none``, ``visibility:hidden``, ``font-size:0`` or ``opacity:0``. Style sheets, colours
    and positions are not considered. Tags that only change how letters look are removed, others
    become a space. Named characters are those of HTML 4, with and without a semicolon as in
    browsers.

    **Words** are runs of letters, digits, underscores and marks, as in a Tokenizer, in lower case
    and composed, without invisible characters. A word of more than 32 bytes becomes ``"long<k>"``,
    where k is the number of bits of its length; or, if its first character is not ASCII, pieces of
    up to six bytes or two characters, one from each of its characters on.

    Every feature has the value 1. Time grows with the size of a mail, and memory with its text: a
    mail of 50 MB takes a few MB.

    References
    ----------
    RFC 5322, RFC 2045 to 2047, RFC 2231. Look-alikes: Unicode Technical Standard 39. Bytes in
    a row for spam: D. Sculley and G. M. Wachman (2007), Relaxed Online SVMs for Spam Filtering,
    SIGIR.
    """

    def __init__(
        self, headers: bool = True, text: bool = True, bytes: int = 3500, fold: bool = True
    ) -> None:
        self._configure(**arguments(locals()))
