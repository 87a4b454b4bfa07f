"""Tickets and steps that somebody has changed."""

import zlib


def sealed(data):
    """The same bytes with the checksum that fits them."""
    crc = zlib.crc32(data[8:], zlib.crc32(data[:4]))
    return data[:4] + crc.to_bytes(4, "little") + data[8:]
