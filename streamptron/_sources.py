"""Files in, blocks of whole lines out: where bytes come from, before anybody reads a label.

    path, glob, directory, "-", open file
        -> sources        in order, each with the name that errors give it
        -> bytes          decompressed if they begin like gzip, bzip2, xz or zstd,
                          and made UTF-8 if an encoding is given
        -> blocks         whole lines, about 128 KiB, in one copy out of a buffer that is reused

Nothing here looks at a single line, only at the last line end of what has just been read. What a
read brings is handed on at once, so a pipe that is slow is a filter that is prompt. At most one
read and the beginning of one line are held: that line may be `max_line` bytes long.
"""

from __future__ import annotations

import codecs
import contextlib
import glob
import io
import os
import sys
import typing
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from streamptron.doors.texts import count_line_ends
from streamptron._names import shown

READ = 1 << 17  # the most that is read, or decompressed, at a time: it stays in a near cache
MAX_LINE = 1 << 24
HEAD = 16  # as many bytes tell a compression or an encoding

GZIP = b"\x1f\x8b\x08"
XZ = b"\xfd7zXZ\0"
ZSTD = b"\x28\xb5\x2f\xfd"
# "BZh" alone might begin a text; it is followed by a level and the first block or the end
BZIP2 = [b"BZh%d%b" % (n, b) for n in range(1, 10) for b in (b"1AY&SY", b"\x17rE8P\x90")]
COMPRESSIONS = {GZIP: "gzip", XZ: "xz", ZSTD: "zstd"} | dict.fromkeys(BZIP2, "bzip2")
SUFFIXES = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", ".bz2": "bzip2"}

FORMAT_SUFFIXES = {
    ".tsv": "plain",
    ".txt": "plain",
    ".ft": "fasttext",
    ".fasttext": "fasttext",
    ".vw": "vw",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
}

UTF8 = b"\xef\xbb\xbf"
FOREIGN = {b"\xff\xfe": "UTF-16 or UTF-32", b"\xfe\xff": "UTF-16", b"\0\0\xfe\xff": "UTF-32"}

NOT_THERE = b"\xff"  # what is written for bytes that the encoding given has not: no UTF-8 either

OnBad = Callable[["LineError"], object]


class LineError(ValueError):
    """A line that cannot be read, or the place where a file is cut off.

    Parameters
    ----------
    file
        The file's name, or "<stdin>".
    line
        The number of the line, from 1; in a compressed file, of the decompressed line.
    reason
        What is wrong, and what to do about it.

    Examples
    --------
    >>> from streamptron.files import LineError

    >>> print(LineError("mail.tsv", 7, "no TAB; write label<TAB>text"))
    mail.tsv:7: no TAB; write label<TAB>text
    """

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(file, line, reason)
        self.file = file
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Block(NamedTuple):
    """Whole lines of one file: its name, the number of the first line, the bytes.

    Examples
    --------
    >>> import io
    >>> from streamptron.files import blocks

    >>> for file, line, data in blocks(io.BytesIO(b"ham\\thello\\n")):
    ...     print(file, line, data)
    <BytesIO> 1 b'ham\\thello\\n'
    """

    file: str
    line: int
    data: bytes


class Source(NamedTuple):
    """A file to be opened (path) or one that is open, and what errors call it."""

    name: str
    path: str | None
    file: Any


class _Damaged(Exception):
    """Compressed bytes that end early or make no sense."""


def blocks(
    sources: Any,
    *,
    max_line: int = MAX_LINE,
    on_error: OnBad | str = "raise",
    encoding: str | None = None,
) -> Iterator[Block]:
    """Whole lines of files, some thousand at a time, as bytes.

    Parameters
    ----------
    sources
        A path; a pattern such as "logs/*.tsv"; a directory, for all files in it and below, sorted,
        without hidden ones and without following links to directories; "-" for the standard input;
        a file open for reading bytes; or several of these in a list. A path that exists is never
        taken for a pattern. Files compressed with gzip, bzip2, xz or zstd are recognised by their
        first bytes; a file whose name ends in .gz, .bz2, .xz or .zst must be one. zstd needs
        ``pip install "streamptron[files]"`` before Python 3.14.
    max_line
        A longer line, in bytes without its end, is an error. It is never held as a whole.
    on_error
        "raise", or a function to call with each `LineError`: a line that is too long is then left
        out, and a file that is truncated or damaged ends there, without its last, broken line.
        Everything before has been given, once.
    encoding
        Of the files, once they are decompressed: a name that Python knows, as "latin-1", "cp1252"
        or "utf-16". The blocks are in UTF-8 all the same; a sequence that is invalid in the
        encoding becomes the byte 0xFF. None: the files are in UTF-8, and given as they are.

    Yields
    ------
    Block
        (file, line, data): the file's name, the number of the first line, and lines that end in a
        newline, but for the last of a file if it has none. A UTF-8 byte order mark is left out.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or nothing matches a pattern, or a directory has no files.
    LineError
        If a file is damaged, or holds UTF-16 and that is not its `encoding`, or a line is too long,
        or the line ends are CR alone, as on old Macs, and `on_error` is "raise".
    ValueError
        If Python does not know the encoding.
    ImportError
        If a file holds zstd and there is nothing to read it with.

    Examples
    --------
    >>> import io
    >>> from streamptron.files import blocks

    >>> for block in blocks([io.BytesIO(b"ham\\thello\\nspam\\twin"), io.BytesIO(b"ham\\tbye\\n")]):
    ...     print(block.line, block.data)
    1 b'ham\\thello\\n'
    2 b'spam\\twin'
    1 b'ham\\tbye\\n'
    """
    check_max_line(max_line)
    if on_error != "raise" and not callable(on_error):
        raise ValueError(f'on_error={shown(on_error)}; give "raise" or a function of a LineError')
    on_bad = on_error if callable(on_error) else raise_error
    encoding = check_encoding(encoding)
    found = find_sources(sources)
    return (
        block for source in found for block in source_blocks(source, max_line, on_bad, encoding)
    )


def raise_error(error: LineError) -> typing.NoReturn:
    raise error


def check_max_line(max_line: int) -> None:
    if isinstance(max_line, bool) or not isinstance(max_line, int) or max_line < HEAD:
        raise ValueError(f"max_line={shown(max_line)}; give a number of bytes, at least {HEAD}")


def find_sources(sources: Any) -> list[Source]:
    """The files that are meant, in their order; none of them has been opened."""
    one = isinstance(sources, str | os.PathLike) or hasattr(sources, "read")
    if not one and (isinstance(sources, bytes) or not isinstance(sources, Iterable)):
        raise TypeError(
            f"sources is a {type(sources).__name__}; give a path, a pattern, a directory, "
            '"-" for the standard input, a file opened with "rb", or a list of these'
        )
    found = [source for each in ([sources] if one else sources) for source in _expand(each)]
    if not found:
        raise ValueError("sources is empty; give at least one file")
    return found


def _expand(source: Any) -> list[Source]:
    """The files that one path, pattern, directory or file stands for."""
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        if isinstance(source, io.TextIOBase):
            raise TypeError(f'{shown(name)} is open as text; open it with "rb"')
        return [
            Source(name if isinstance(name, str) else f"<{type(source).__name__}>", None, source)
        ]
    if not isinstance(source, str | os.PathLike):
        raise TypeError(
            f'sources has a {type(source).__name__}; give paths, or files opened with "rb"'
        )
    if source == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise ValueError("the standard input is closed, or not binary; give a file")
        return [Source("<stdin>", None, sys.stdin.buffer)]
    path = os.fsdecode(source)
    if os.path.isdir(path):
        paths = _directory(path)
        problem = f"the directory {path} has no files that are not hidden"
    elif os.path.exists(path) or not glob.has_magic(path):
        os.stat(path)  # or says that there is no such file
        paths, problem = [path], ""
    else:
        paths = sorted(p for p in glob.glob(path, recursive=True) if not os.path.isdir(p))
        problem = f"no file matches {path}"
    if not paths:
        raise FileNotFoundError(problem)
    return [Source(path, path, None) for path in paths]


def _directory(path: str) -> list[str]:
    """All files below, by name, without those that are hidden."""
    paths = []
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            paths += _directory(entry.path)
        elif entry.is_file():
            paths.append(entry.path)
    return paths


def format_of(sources: list[Source]) -> str:
    """The format that the suffixes of the names tell."""
    found: dict[str, str] = {}
    for name in [source.name for source in sources]:
        stem, suffix = os.path.splitext(name.lower())
        if suffix in SUFFIXES:
            suffix = os.path.splitext(stem)[1]
        if suffix not in FORMAT_SUFFIXES:
            formats = "; ".join(
                f"{form}: {' '.join(s for s, f in FORMAT_SUFFIXES.items() if f == form)}"
                for form in dict.fromkeys(FORMAT_SUFFIXES.values())
            )
            raise ValueError(
                f"{name} has no suffix that tells its format; give format= ({formats})"
            )
        found.setdefault(FORMAT_SUFFIXES[suffix], name)
    if len(found) > 1:
        several = ", ".join(f"{name}: {form}" for form, name in found.items())
        raise ValueError(f"several formats ({several}); read each on its own, or give format=")
    return next(iter(found))


def check_encoding(encoding: str | None) -> str | None:
    """The encoding's own name; None for UTF-8, which needs no decoding."""
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding)
        if not found._is_text_encoding:  # as base64
            raise LookupError
        codecs.getincrementaldecoder(encoding)
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding={shown(encoding)}; give an encoding that Python knows, as utf-8, latin-1, "
            "cp1252 or utf-16"
        ) from None
    return None if found.name in ("utf-8", "utf-8-sig") else found.name


def not_encoded(n: int, n_events: int, first: str, encoding: str | None) -> str:
    """The warning about texts with bytes that could not be decoded."""
    name = (encoding or "UTF-8").upper()
    return (
        f"{n} of {n_events} texts have bytes that are not {name}, read as U+FFFD; the first: "
        f"{first}; give the file's encoding, as latin-1 or cp1252, or convert it"
    )


def source_blocks(
    source: Source, max_line: int, on_bad: OnBad, encoding: str | None = None
) -> Iterator[Block]:
    """The blocks of one source; the encoding as check_encoding gives it."""
    # unbuffered: a read of ours is a read of the system's
    opened = open(source.path, "rb", buffering=0) if source.path else None  # noqa: SIM115
    with opened or contextlib.nullcontext():
        yield from _file_blocks(source, opened or source.file, max_line, on_bad, encoding)


def _file_blocks(
    source: Source, file: Any, max_line: int, on_bad: OnBad, encoding: str | None
) -> Iterator[Block]:
    # A read is no longer than max_line, so that only the line that began before it can be too long
    buffer = bytearray(min(READ, max_line))
    view = memoryview(buffer)
    name, line = source.name, 1
    begun: list[bytes] = []  # the line that has no end yet, in the pieces that were read
    n_begun = 0
    too_long = False  # that line is, and is left out up to its end
    try:
        readinto, n = _decompressed(source, file, view)
        if encoding is not None:
            readinto = Decoded(encoding, readinto, bytes(view[:n])).readinto
            n = _first(readinto, view, [UTF8])
        at = len(UTF8) if buffer.startswith(UTF8, 0, n) else 0
        for mark, name_of_it in FOREIGN.items():
            if buffer.startswith(mark, 0, n):
                raise _Damaged(
                    f"the file is {name_of_it}; give its encoding, or convert it to UTF-8 first"
                )
        while n:
            end = buffer.find(b"\n", at, n)
            if not too_long and n_begun + (n if end < 0 else end) - at > max_line:
                too_long = True
                begun, n_begun = [], 0
                on_bad(
                    LineError(
                        name,
                        line,
                        f"longer than {max_line} bytes; check that the file has line ends, LF or "
                        "CRLF",
                    )
                )
            if too_long and end >= 0:
                at = end + 1
                too_long = False
                line += 1
            if not too_long:
                cut = buffer.rfind(b"\n", at, n) + 1
                if cut:
                    data = b"".join((*begun, view[at:cut]))
                    yield Block(name, line, data)
                    line += count_line_ends(data)
                    begun, n_begun, at = [], 0, cut
                if at < n:
                    begun.append(bytes(view[at:n]))
                    n_begun += n - at
            n, at = readinto(view), 0
    except _Damaged as damage:
        on_bad(LineError(name, line, str(damage)))
        return
    if begun:
        data = b"".join(begun)
        if line == 1 and has_only_cr(data):
            on_bad(LineError(name, line, ONLY_CR))
            return
        yield Block(name, line, data)


ONLY_CR = (
    "the file's line ends are CR alone, as on old Macs, which makes it one line; convert it "
    "first, for example by tr '\\r' '\\n'"
)


def has_only_cr(data: bytes) -> bool:
    """Whether the one line that a file has, without an LF, is several by its CRs."""
    return b"\r" in data.rstrip(b"\r") and b"\n" not in data


def _decompressed(
    source: Source, file: Any, view: memoryview
) -> tuple[Callable[[memoryview], int], int]:
    """What fills a buffer with a file's bytes, decompressed, and how many are in it already."""
    readinto = _readinto(file)
    n = _first(readinto, view, [*COMPRESSIONS, UTF8, *FOREIGN])
    head = bytes(view[: min(n, HEAD)])
    kind = next((kind for magic, kind in COMPRESSIONS.items() if head.startswith(magic)), None)
    if kind is None:
        promised = SUFFIXES.get(os.path.splitext(source.path or "")[1].lower())
        if promised:
            raise _Damaged(
                f"not {promised} data, as its name says; rename the file if it is not "
                "compressed, or fetch it again"
            )
        return readinto, n
    readinto = _Decompressor(source.name, kind, readinto, bytes(view[:n])).readinto
    return readinto, _first(readinto, view, [UTF8, *FOREIGN])


def _readinto(file: Any) -> Callable[[memoryview], int]:
    """One read of a file, as soon as something is there, into a buffer; 0 at the end."""
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


def _first(readinto: Callable[[memoryview], int], view: memoryview, marks: Iterable[bytes]) -> int:
    """Read once, and on only while that may be the beginning of a mark."""
    n = readinto(view)
    while 0 < n < HEAD and any(m.startswith(bytes(view[:n])) for m in marks if len(m) > n):
        more = readinto(view[n:])
        if not more:
            break
        n += more
    return n


class _Pieces:
    """Bytes that are made piece by piece, read as a file's."""

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


class Decoder:
    """Bytes of an encoding to UTF-8, as they come.

    Examples
    --------
    >>> from streamptron._sources import Decoder
    >>> decoder = Decoder("utf-16-le")
    >>> decoder.decode(b"a\\0b"), decoder.decode(b"\\0"), decoder.decode(b"c", final=True)
    (b'a', b'b', b'\\xff')
    """

    def __init__(self, encoding: str) -> None:
        codecs.register_error("streamptron.not_there", _not_there)
        self._decoder = codecs.getincrementaldecoder(encoding)("streamptron.not_there")

    def decode(self, data: bytes, final: bool = False) -> bytes:
        text = self._decoder.decode(data, final)
        return text.encode("utf-8", "streamptron.not_there")


def _not_there(error: UnicodeError) -> tuple[str | bytes, int]:
    """A lone surrogate for what cannot be decoded, and for that a byte that is not UTF-8."""
    if isinstance(error, UnicodeEncodeError):
        return NOT_THERE * (error.end - error.start), error.end
    assert isinstance(error, UnicodeDecodeError)
    return "\udcff", error.end


class Decoded(_Pieces):
    """The bytes of a file of some encoding, in UTF-8."""

    def __init__(self, encoding: str, readinto: Callable[[memoryview], int], head: bytes) -> None:
        super().__init__(self._run(Decoder(encoding), readinto, head))

    def _run(
        self, decoder: Decoder, readinto: Callable[[memoryview], int], head: bytes
    ) -> Iterator[bytes]:
        yield decoder.decode(head)
        view = memoryview(bytearray(READ))
        while n := readinto(view):
            yield decoder.decode(bytes(view[:n]))
        yield decoder.decode(b"", final=True)


class _Decompressor(_Pieces):
    """The decompressed bytes of a file: member after member, as such files may be joined."""

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
                if member.eof:  # what follows is another member, or zeros up to a whole block
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
                    raise _Damaged(
                        f"the {self._kind} data are damaged here ({error}); fetch the file again"
                    ) from None
                data = member.unused_data if member.eof else b""
        if not member.eof:
            raise _Damaged(f"the {self._kind} data end early, here; fetch the file again")

    def _inputs(self, head: bytes) -> Iterator[bytes]:
        for at in range(0, len(head), self._size):
            yield head[at : at + self._size]
        view = memoryview(bytearray(self._size))
        while n := self._readinto(view):
            yield bytes(view[:n])


def _codec(name: str, kind: str) -> tuple[Callable[[], Any], type[Exception], int]:
    """What makes a decompressor, what it raises, and how many bytes to give it at a time."""
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
    # it gives all that its input holds at once, up to 128 KiB for 4 bytes: so little at a time
    return _Zstandard, zstandard.ZstdError, 1 << 9


class _Zstandard:
    """zstandard's decompressor, with the face of the others."""

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
