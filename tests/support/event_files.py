"""Files of events, and what a reader makes of them."""

import bz2
import gzip
import io
import lzma

import pytest

from streamptron.files import read


def zstd(data):
    """Data compressed with zstd, by Python itself or by the package for older ones."""
    try:
        from compression.zstd import CompressionParameter, compress
    except ImportError:
        zstandard = pytest.importorskip("zstandard")
        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return compress(data, options={CompressionParameter.checksum_flag: True})


COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
compressions = pytest.mark.parametrize("suffix", COMPRESS)


class Trickle(io.RawIOBase):
    """A file whose reads bring as few bytes as a generator of numbers likes."""

    def __init__(self, data, rng, most):
        self.data = io.BytesIO(data)
        self.rng = rng
        self.most = most

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[: self.rng.randint(1, self.most)])


def events(data, format, **options):
    """[(x, y)] of bytes."""
    return list(read(io.BytesIO(data), format, **options))


def record(data, format, **options):
    """The one record of bytes."""
    (only,) = read(io.BytesIO(data), format, **options).records()
    return only


def problems(data, format, **options):
    """{line: reason} of bytes."""
    found = {}

    def note(error):
        assert error.line not in found
        found[error.line] = error.reason

    for _ in read(io.BytesIO(data), format, on_error=note, **options):
        pass
    return found


def count_lines(data):
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
