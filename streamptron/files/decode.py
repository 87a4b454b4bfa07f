"""From a file's raw bytes to UTF-8: decompression and decoding.

Each layer fills a buffer on request, like a file's own `readinto`: the file, its decompression on
top, and its decoding on top of that. At most one read is held in memory.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

READ = 1 << 17  # the most that is read or decompressed at a time: it fits into a near cache
HEAD = 16  # bytes, enough to recognise a compression or an encoding

GZIP = b"\x1f\x8b\x08"
XZ = b"\xfd7zXZ\0"
ZSTD = b"\x28\xb5\x2f\xfd"
# a text may begin with "BZh"; in a bzip2 file, a level and the first block or the end follow
BZIP2 = [b"BZh%d%b" % (n, b) for n in range(1, 10) for b in (b"1AY&SY", b"\x17rE8P\x90")]
COMPRESSIONS = {GZIP: "gzip", XZ: "xz", ZSTD: "zstd"} | dict.fromkeys(BZIP2, "bzip2")
SUFFIXES = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", ".bz2": "bzip2"}

UTF8 = b"\xef\xbb\xbf"
FOREIGN = {b"\xff\xfe": "UTF-16 or UTF-32", b"\xfe\xff": "UTF-16", b"\0\0\xfe\xff": "UTF-32"}

# Written for bytes that are invalid in the given encoding; it is not valid UTF-8 either.
NOT_THERE = b"\xff"


class Damaged(Exception):
    """Bytes that cannot be decompressed or decoded."""


def decompressed(
    path: str | None, name: str, file: Any, view: memoryview
) -> tuple[Callable[[memoryview], int], int]:
    """A function that fills a buffer with decompressed bytes, and how many `view` already has."""
    readinto = reading(file)
    n = first_read(readinto, view, [*COMPRESSIONS, UTF8, *FOREIGN])
    head = bytes(view[: min(n, HEAD)])
    kind = next((kind for magic, kind in COMPRESSIONS.items() if head.startswith(magic)), None)
    if kind is None:
        promised = SUFFIXES.get(os.path.splitext(path or "")[1].lower())
        if promised:
            raise Damaged(
                f"its name says {promised}, but its data are not; rename the file if it is not "
                "compressed, or fetch it again"
            )
        return readinto, n
    readinto = _Decompressor(name, kind, readinto, bytes(view[:n])).readinto
    return readinto, first_read(readinto, view, [UTF8, *FOREIGN])


def reading(file: Any) -> Callable[[memoryview], int]:
    """A function that reads once into a buffer, as soon as there is data; 0 at the end."""
    method = getattr(file, "readinto1", None) or getattr(file, "readinto", None)

    def readinto(view: memoryview) -> int:
        if method is not None:
            n = method(view)
            if n is None:
                raise BlockingIOError(
                    "the file is non-blocking and has no data yet; make it blocking"
                )
            return int(n)
        data = file.read(len(view))
        if not isinstance(data, bytes):
            raise TypeError(
                f'{type(file).__name__}.read() does not return bytes; open it with "rb"'
            )
        view[: len(data)] = data
        return len(data)

    return readinto


def first_read(
    readinto: Callable[[memoryview], int], view: memoryview, marks: Iterable[bytes]
) -> int:
    """Read once, and read on only while what was read may be the start of a longer mark."""
    n = readinto(view)
    while 0 < n < HEAD and any(m.startswith(bytes(view[:n])) for m in marks if len(m) > n):
        more = readinto(view[n:])
        if not more:
            break
        n += more
    return n


class _Pieces:
    """Bytes that are produced piece by piece, read like a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        while not self._piece:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._piece = memoryview(piece)
        n = min(len(view), len(self._piece))
        view[:n] = self._piece[:n]
        self._piece = self._piece[n:]
        return n


def _not_there(error: UnicodeError) -> tuple[str | bytes, int]:
    """Decoding: a lone surrogate for bad bytes. Encoding: NOT_THERE for that surrogate."""
    if isinstance(error, UnicodeEncodeError):
        return NOT_THERE * (error.end - error.start), error.end
    assert isinstance(error, UnicodeDecodeError)
    return "\udcff", error.end


class Decoded(_Pieces):
    """The bytes of a file in some encoding, converted to UTF-8."""

    def __init__(self, encoding: str, readinto: Callable[[memoryview], int], head: bytes) -> None:
        codecs.register_error("streamptron.not_there", _not_there)
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("streamptron.not_there")
        super().__init__(self._run(readinto, head))

    def _run(self, readinto: Callable[[memoryview], int], head: bytes) -> Iterator[bytes]:
        yield self._decoded(head)
        view = memoryview(bytearray(READ))
        while n := readinto(view):
            yield self._decoded(bytes(view[:n]))
        yield self._decoded(b"", final=True)

    def _decoded(self, data: bytes, final: bool = False) -> bytes:
        try:
            text = self._decoder.decode(data, final)
        except UnicodeError:  # the handler deals with all other errors
            raise Damaged(
                f"a file in {self._encoding} begins with a byte order mark, and this one does not; "
                f"give {self._encoding}-le or {self._encoding}-be as its encoding"
            ) from None
        return text.encode("utf-8", "streamptron.not_there")


class _Decompressor(_Pieces):
    """The decompressed bytes of a file, which may consist of several joined members."""

    def __init__(
        self, name: str, kind: str, readinto: Callable[[memoryview], int], head: bytes
    ) -> None:
        self._new, self._error, self._size = _codec(name, kind)
        self._kind = kind
        self._readinto = readinto
        super().__init__(self._run(head))

    def _run(self, head: bytes) -> Iterator[bytes]:
        member = self._new()
        for data in self._inputs(head):
            while data:
                if member.eof:  # another member follows, or zeros up to a whole block
                    data = data.lstrip(b"\0")
                    if not data:
                        break
                    member = self._new()
                try:
                    piece = member.decompress(data, READ)
                    yield piece
                    while not (member.eof or getattr(member, "needs_input", len(piece) < READ)):
                        piece = member.decompress(getattr(member, "unconsumed_tail", b""), READ)
                        yield piece
                except self._error as error:
                    raise Damaged(
                        f"the {self._kind} data are damaged here ({error}); fetch the file again"
                    ) from None
                data = member.unused_data if member.eof else b""
        if not member.eof:
            raise Damaged(f"the {self._kind} data end early, here; fetch the file again")

    def _inputs(self, head: bytes) -> Iterator[bytes]:
        for at in range(0, len(head), self._size):
            yield head[at : at + self._size]
        view = memoryview(bytearray(self._size))
        while n := self._readinto(view):
            yield bytes(view[:n])


def _codec(name: str, kind: str) -> tuple[Callable[[], Any], type[Exception], int]:
    """A factory of decompressors, their exception, and how many bytes to pass at a time."""
    if kind == "gzip":
        return lambda: zlib.decompressobj(31), zlib.error, 1 << 16
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, OSError, 1 << 16
    if kind == "xz":
        import lzma

        return lzma.LZMADecompressor, lzma.LZMAError, 1 << 16
    with contextlib.suppress(ImportError):
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return zstd.ZstdDecompressor, zstd.ZstdError, 1 << 16
    try:
        import zstandard
    except ImportError:
        raise ImportError(
            f"{name} is compressed with zstd, which needs zstandard: "
            'pip install "streamptron[files]"'
        ) from None
    # it decompresses all of its input at once, and 4 bytes may give 128 KiB: pass few at a time
    return _Zstandard, zstandard.ZstdError, 1 << 9


class _Zstandard:
    """zstandard's decompressor, with the interface of the others."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._member = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._member.decompress(data)
