"""A request of spamd's protocol: a method, fields, and a mail.

    PROCESS SPAMC/1.5\\r\\n
    Content-length: 1234\\r\\n        of the mail as it is sent
    Compress: zlib\\r\\n              the mail is compressed
    \\r\\n
    the mail

An unknown field that could change how the mail is to be read is refused, so that the client passes
the mail on unchanged; other unknown fields are ignored, as the protocol requires.
"""

from __future__ import annotations

import re
import zlib

from streamptron.common.names import short_repr

# The protocol's codes, which are exit codes of sysexits.h.
OK, NO_USER, UNAVAILABLE, SOFTWARE, TEMPFAIL, PROTOCOL, TOO_BIG = 0, 67, 69, 70, 75, 76, 98
NAMES = {
    OK: "EX_OK",
    NO_USER: "EX_NOUSER",
    UNAVAILABLE: "EX_UNAVAILABLE",
    SOFTWARE: "EX_SOFTWARE",
    TEMPFAIL: "EX_TEMPFAIL",
    PROTOCOL: "EX_PROTOCOL",
    TOO_BIG: "EX_TOOBIG",
}
SHORT = ("PING", "SKIP")  # methods without a mail
KNOWN = ("content-length", "compress", "user", "message-class", "set", "remove")
# Names of fields that say how the mail is sent, as in HTTP.
OTHER_BODY = re.compile(r"content-|transfer-|.*(?:compress|encod|encrypt|chunk)")
LENGTH_MOST = 18  # digits


class Refused(Exception):
    """A request that gets an error: the code and the reason."""


class Request:
    """One client's request: the method, its fields, and the mail."""

    def __init__(self, head: bytes) -> None:
        if head.count(b"\n") != head.count(b"\r\n") or head.count(b"\r") != head.count(b"\r\n"):
            raise Refused(PROTOCOL, "the lines of the request do not all end in CR LF")
        first, *rows = head.decode("latin-1").split("\r\n")
        self.method, _, version = first.partition(" ")
        if not version.startswith("SPAMC/"):
            raise Refused(
                PROTOCOL, f"{short_repr(first, 80)} is not a request such as CHECK SPAMC/1.5"
            )
        self.fields: dict[str, str] = {}
        for row in rows:
            name, colon, value = row.partition(":")
            name = name.strip().lower()
            if not colon:
                raise Refused(PROTOCOL, f"the field {short_repr(row, 80)} has no colon")
            if name not in KNOWN and OTHER_BODY.match(name):
                raise Refused(PROTOCOL, f"the field {short_repr(row, 80)} is not understood here")
            if name in self.fields and name in KNOWN:
                raise Refused(PROTOCOL, f"the field {short_repr(name)} comes twice")
            self.fields[name] = value.strip()
        self.is_packed = "compress" in self.fields
        if self.is_packed and self.fields["compress"].lower() != "zlib":
            how = short_repr(self.fields["compress"], 80)
            raise Refused(PROTOCOL, f"Compress: {how} is not understood; give zlib, or none")
        length = self.fields.get("content-length")
        if length is not None and not (length.isascii() and length.isdigit()):
            raise Refused(
                PROTOCOL, f"Content-length {short_repr(length, 80)} is not a number of bytes"
            )
        digits = None if length is None else length.lstrip("0")[:LENGTH_MOST]
        self.length = None if digits is None else int(digits or "0")
        self.mail = b""

    @property
    def is_short(self) -> bool:
        return self.method in SHORT

    def names(self, field: str) -> list[str]:
        """The items of a field that is a list, such as `local, remote`."""
        return [name.strip().lower() for name in self.fields.get(field, "").split(",")]

    def is_whole(self, n_come: int, at_end: bool, most: int) -> bool:
        """Whether the whole mail has come; an error if it is too long or was cut off."""
        if max(n_come, self.length or 0) > most:
            raise Refused(TOO_BIG, f"a mail of more than {most} bytes (--max-size)")
        if self.is_short:
            return True
        if not at_end and (self.length is None or n_come < self.length):
            return False
        if self.length is not None and n_come != self.length:
            said = f"Content-length is {self.length}, but {n_come} bytes have come"
            raise Refused(PROTOCOL, said)
        return True

    def take(self, sent: bytes, most: int) -> None:
        """Take the mail as it was sent."""
        self.mail = _unpacked(sent, most) if self.is_packed and not self.is_short else sent


def _unpacked(data: bytes, most: int) -> bytes:
    """The mail that zlib has packed; an error if it has more than `most` bytes."""
    unpacker = zlib.decompressobj()
    try:
        mail = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise Refused(PROTOCOL, f"the mail cannot be unpacked by zlib: {error}") from None
    if len(mail) > most:
        raise Refused(TOO_BIG, f"a mail of more than {most} bytes (--max-size), once unpacked")
    if not unpacker.eof or unpacker.unused_data:
        raise Refused(PROTOCOL, "the mail that zlib has packed is cut off, or other bytes follow")
    return mail
