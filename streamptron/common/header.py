"""Our field in a mail's header: added and removed, however malformed the mail is."""

from __future__ import annotations

import re

# Verdicts on a mail, as exit codes.
SPAM, HAM, UNSURE, ERROR = range(4)

NAME = "X-Streamptron"
OURS = re.compile(rb"^x-streamptron:[^\n]*\n?(?:[ \t][^\n]*\n?)*", re.MULTILINE | re.IGNORECASE)
HEADER_END = re.compile(rb"^\r?\n", re.MULTILINE)


def without_ours(mail: bytes) -> bytes:
    """The mail without fields that have our name.

    Examples
    --------
    >>> without_ours(b"To: a\\nX-Streamptron: ham\\n  1.0\\nCc: b\\n\\nX-Streamptron: stays")
    b'To: a\\nCc: b\\n\\nX-Streamptron: stays'
    """
    end = HEADER_END.search(mail)
    at = end.start() if end else len(mail)
    return OURS.sub(b"", mail[:at]) + mail[at:]


def with_field(mail: bytes, said: str) -> bytes:
    """The mail with a field in front of its others, behind the `From ` line of an mbox.

    Examples
    --------
    >>> with_field(b"From a 12:30\\nTo: b\\n\\n", "ham 0.9")
    b'From a 12:30\\nX-Streamptron: ham 0.9\\nTo: b\\n\\n'
    """
    at = mail.find(b"\n") + 1 if mail.startswith(b"From ") else 0
    first = mail[at : mail.find(b"\n", at) + 1]
    end = "\r\n" if first.endswith(b"\r\n") else "\n"
    return mail[:at] + f"{NAME}: {said}{end}".encode() + mail[at:]
