"""The tokenizer of mails: from the raw bytes of a mail to features."""

from __future__ import annotations

import typing

from streamptron.doors.texts import MailDoor
from streamptron.text import TextTransformer

if typing.TYPE_CHECKING:
    from collections.abc import Hashable


class Mail(MailDoor, TextTransformer):  # type: ignore[misc]
    """Turns a mail, as raw bytes, into the words of its headers and text, and bytes in a row.

    ``Mail() | AdaptiveClassifier()`` is a spam filter: it learns from mails as they lie in a file,
    and stands wherever ``Tokenizer() | learner`` does. All that a mail has is read, whatever is
    wrong with it: nothing in a mail is an error.

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
    with the one before. A line whose name, up to a colon, is not of printable ASCII is left out,
    such as the ``From `` of an mbox. Of names the first 31 characters count, in lower case, of
    values the first 4,000 bytes; fields that begin after 65,536 bytes do not. What other filters,
    the receiver or this program have written is left out: ``X-Spam-...``, ``X-Streamptron``,
    ``Status``, ``X-Status``, ``X-UID``, ``X-UIDL``, ``X-Keywords``, ``Content-Length``, ``Lines``.
    Encoded words are decoded. Of a part's own fields Content-Type and Content-Disposition count,
    as ``"p.content-type:html"``.

    **Text.** Multiparts and forwarded mails are walked: at most 64 parts, eight levels deep. Of a
    part that is text, or ``message/...``, the first 65,536 bytes count, 262,144 of all; they are
    decoded from base64 or quoted-printable. HTML loses what is not seen: comments, scripts, styles
    and tags; those that only change how letters look leave nothing, others a space.

    **Words** are runs of letters, digits, underscores and whatever is not ASCII, in lower case.
    Charsets are not asked for: valid UTF-8 is read as that, any other byte as Latin-1. A word of
    more than 32 bytes becomes ``"long<k>"``, k the bits of its length; or, if it does not begin in
    ASCII, pieces of up to six bytes from each of its characters on.

    Every feature has the value 1. Time grows with the bytes of a mail, and memory with its text: a
    mail of 50 MB takes a few MB.

    References
    ----------
    RFC 5322, RFC 2045 to 2047. Look-alikes: Unicode Technical Standard 39. Bytes in a row for spam:
    D. Sculley and G. M. Wachman (2007), Relaxed Online SVMs for Spam Filtering, SIGIR.
    """

    def __init__(
        self, headers: bool = True, text: bool = True, bytes: int = 3500, fold: bool = True
    ) -> None:
        self._configure(headers=headers, text=text, bytes=bytes, fold=fold)


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
