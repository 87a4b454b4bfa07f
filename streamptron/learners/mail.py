"""The tokenizer of mails: from the raw bytes of a mail to features."""

from __future__ import annotations

from streamptron.common.parameters import arguments
from streamptron.doors.texts import MailDoor
from streamptron.learners.text import TextTransformer


class Mail(MailDoor, TextTransformer):  # type: ignore[misc]
    """Turns the raw bytes of a mail into words of its headers and text, and runs of bytes.

    ``Mail() | AdaptiveClassifier()`` is a spam filter. It can be used wherever
    ``Tokenizer() | learner`` can. A broken mail is not an error: what can be read is read.

    Parameters
    ----------
    headers
        Whether the words of header fields are features: ``"subject:free"``.
    text
        Whether the words of the text that a reader sees are features: ``"free"``.
    bytes
        Of how many raw bytes, from the mail's first one on, each four in a row are a feature:
        ``b"Free"``. 0: none. They tell how a mail was written and packed, and take most of the
        features, of the memory and of the time.
    fold
        Whether letters become what a reader takes them for: accents go, wide, circled and
        mathematical letters become plain, characters that are not seen are dropped, and, in a word
        that has ASCII letters, so do look-alikes from other scripts.

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
    **Fields.** Lines up to the first empty one; a line that begins with a space or a TAB goes on
    with the one before. A line whose name, up to a colon, is not of printable ASCII is left out. If
    the first line is neither a field nor empty, there is no header: all is text. ``From `` lines of
    an mbox before it do not count. Of names the first 31 characters count, in lower case, of values
    the first 4,000 bytes; fields that begin after 65,536 bytes do not. Encoded words are decoded.
    Of a part's own fields Content-Type and Content-Disposition count, as
    ``"p.content-type:html"``.

    What other filters, this one, mailboxes and the receiver's programs have written is left out, of
    the words and of the bytes, as if it were not in the mail: ``X-...Spam...``, ``X-Bogosity``,
    ``X-CRM114-...``, ``X-MS-Exchange-...SCL``, ``X-Streamptron``, ``X-Text-Class...``,
    ``X-POPFile-Link``, ``X-Gmail-Labels``, ``X-GM-...``, ``X-Mozilla-...``, ``X-Evolution...``,
    ``X-IMAP...``, ``X-Account-Key``, ``X-Label``, ``X-Keywords``, ``X-UID``, ``X-UIDL``,
    ``X-Status``, ``Status``, ``Content-Length``, ``Lines``.

    **Text.** Multiparts and forwarded mails are walked: at most 64 parts, eight levels deep. Of a
    part that is text, or ``message/...``, the first 65,536 bytes count, 262,144 of all; they are
    decoded from base64 or quoted-printable, forwarded mails too. Of several Content-Types the one
    counts that leads to the most. Charsets are those that the part, or the encoded word, declares:
    all of ISO 8859, of Windows with one byte a letter, KOI8, Mac Roman, UTF-16 and UTF-7. Of those
    of Japan, China and Korea kana, Hangul and alphabets are decoded; Han characters are only kept
    apart: each is a character of its own, in planes 15 and 16 of Unicode, and not the one of UTF-8.
    Without a charset, or with one that is not known, a text is UTF-8, if most of it is; else each
    byte from 128 on is a letter, which is neither folded nor lowered.

    HTML loses what browsers do not show: comments, scripts, styles, titles, frames, tags, and text
    whose own element, or one around it, has ``hidden``, or in its style ``display:none``,
    ``visibility:hidden``, ``font-size:0`` or ``opacity:0``. Style sheets, colours and places are
    not looked at. Tags that only change how letters look leave nothing, others a space. Named
    characters are those of HTML 4, with and without a semicolon as in browsers.

    **Words** are runs of letters, digits, underscores and marks, as a Tokenizer has them, in lower
    case and composed, without what is not seen. A word of more than 32 bytes becomes
    ``"long<k>"``, k the bits of its length; or, if it does not begin in ASCII, pieces of up to six
    bytes, or two characters, from each of its characters on.

    Every feature has the value 1. Time grows with the bytes of a mail, and memory with its text: a
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
