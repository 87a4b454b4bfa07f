"""Files in, blocks of whole lines out: how bytes are read, before any label is.

    path, glob, directory, "-", open file
        -> sources        in order, each with its name in errors
        -> bytes          decompressed if they begin like gzip, bzip2, xz or zstd,
                          and converted to UTF-8 if an encoding is given
        -> blocks         whole lines, about 128 KiB, copied once from a buffer that is reused

Nothing here looks at single lines, only at the last line end of what has just been read. The lines
of each read are passed on at once, so a filter on a slow pipe answers promptly. At most one read
and the beginning of one line are held in memory; that line may be `max_line` bytes long.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from streamptron.common.errors import ParameterError, plain
from streamptron.common.names import short_repr, type_shown
from streamptron.doors.batch import count_line_ends
from streamptron.files import decode

MAX_LINE = 1 << 24

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
    ".eml": "mail",
    ".mbox": "mail",
}
FORMAT_NAMES = (*dict.fromkeys(FORMAT_SUFFIXES.values()), "document")  # which has no suffix

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

    def __init__(self, file: str, line: int, reason: str | ParameterError) -> None:
        super().__init__(file, line, reason)
        self.file = file
        self.line = line
        self.reason = str(reason)

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


class Source:
    """A file to open (path), or an open one (file, perhaps with a path), and its name in errors.

    `listed`: it was found in a folder or by a pattern, not named by the user.
    """

    def __init__(self, name: str, path: str | None, file: Any, listed: bool = False) -> None:
        self.name = name
        self.path = path
        self.file = file
        self.listed = listed

    @property
    def known_as(self) -> str:
        """A file's absolute path; "" for a pipe, whose lines cannot be read again."""
        return os.path.abspath(self.path) if self.path and os.path.isfile(self.path) else ""

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        """The file, open; a file that was open already is not closed at the end."""
        if self.file is not None or self.path is None:
            yield self.file
            return
        path = self.path if os.path.exists(self.path) else _moved(self.path)
        with open(path, "rb", buffering=0) as file:  # each read is one system call
            yield file


def blocks(
    sources: Any,
    *,
    max_line: int = MAX_LINE,
    on_error: OnBad | str = "raise",
    encoding: str | None = None,
) -> Iterator[Block]:
    """Read whole lines of files as bytes, thousands at a time.

    Parameters
    ----------
    sources
        A path; a pattern such as ``"logs/*.tsv"``; a directory, for all files in it and below,
        sorted, without hidden files and without following links to directories; "-" for the
        standard input; a file open for reading bytes; or several of these in a list. A path that
        exists is never taken for a pattern. Files compressed with gzip, bzip2, xz or zstd are
        recognised by their first bytes; if a name ends in .gz, .bz2, .xz or .zst, the file must be
        compressed. zstd needs ``pip install "streamptron[files]"`` before Python 3.14.
    max_line
        A line of more bytes, without its end, is an error. It is never held as a whole.
    on_error
        "raise", or a function to call with each `LineError`. In the latter case a line that is too
        long is left out, and a truncated or damaged file ends before its last, broken line.
    encoding
        The encoding of the files, after decompression: a name that Python knows, such as "latin-1",
        "cp1252" or "utf-16". The blocks are always UTF-8; a sequence that is invalid in the
        encoding becomes the byte 0xFF. None: the files are UTF-8, and passed on unchanged.

    Yields
    ------
    Block
        (file, line, data): the file's name, the number of the first line, and the lines, each with
        its newline (the last line of a file may have none). A UTF-8 byte order mark is left out.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or nothing matches a pattern, or a directory has no files.
    LineError
        With `on_error` "raise": if a file is damaged, or is UTF-16 and `encoding` does not say so,
        or if a line is too long, or the line ends are CR alone, as on old Macs.
    ValueError
        If Python does not know the encoding.
    ImportError
        If a file is compressed with zstd and there is no module to read it.

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
        raise ValueError(
            f'on_error={short_repr(on_error)}; give "raise" or a function of a LineError'
        )
    on_bad = on_error if callable(on_error) else raise_error
    encoding = check_encoding(encoding)
    found = find_sources(sources)
    return (
        block for source in found for block in source_blocks(source, max_line, on_bad, encoding)
    )


def raise_error(error: LineError) -> NoReturn:
    raise error


def check_max_line(max_line: int) -> None:
    if isinstance(max_line, bool) or not isinstance(max_line, int) or max_line < decode.HEAD:
        raise ValueError(
            f"max_line={short_repr(max_line)}; give a number of bytes, at least {decode.HEAD}"
        )


def find_sources(sources: Any) -> list[Source]:
    """The files of the sources, in order; none is opened yet."""
    one = isinstance(sources, str | bytes | os.PathLike | Source) or hasattr(sources, "read")
    if not one and not isinstance(sources, Iterable):
        raise TypeError(
            f"sources is {type_shown(sources)}; give a path, a pattern, a directory, "
            '"-" for the standard input, a file opened with "rb", or a list of these'
        )
    found = [source for each in ([sources] if one else sources) for source in _expand(each)]
    if not found:
        raise ValueError("sources is empty; give at least one file")
    return found


def _expand(source: Any) -> list[Source]:
    """The files of one path, pattern, directory or open file."""
    if isinstance(source, Source):
        return [source]
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        if isinstance(source, io.TextIOBase):
            raise TypeError(f'{short_repr(name)} is open as text; open it with "rb"')
        return [
            Source(name if isinstance(name, str) else f"<{type(source).__name__}>", None, source)
        ]
    if isinstance(source, bytes):  # a path, or perhaps the data itself
        raise TypeError(
            f"sources has the bytes {short_repr(source)}; give a path as a str, os.fsdecode(path), "
            "or the contents of a file as io.BytesIO(data)"
        )
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f'sources has {type_shown(source)}; give paths, or files opened with "rb"')
    if source == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise ValueError("the standard input is closed, or not binary; give a file")
        return [Source("<stdin>", None, sys.stdin.buffer)]
    path = os.fsdecode(source)  # a PathLike's path may be bytes
    if os.path.isdir(path):
        paths = _directory(path)
        problem = f"the directory {path} has no files that are not hidden"
    elif os.path.exists(path):
        paths, problem = [path], ""
    else:
        import glob  # slow to import, and few paths are patterns

        if not glob.has_magic(path):
            os.stat(path)  # which says that there is no such file
        paths = sorted(p for p in glob.glob(path, recursive=True) if not os.path.isdir(p))
        problem = f"no file matches {path}"
    if not paths:
        raise FileNotFoundError(problem)
    return [Source(each, each, None, listed=each != path) for each in paths]


def _directory(path: str) -> list[str]:
    """All files in a folder and below, sorted (numbers by value), without hidden ones.

    In a Maildir: those of `cur` and `new`, sorted together, as their names begin with the time.
    """
    entries = [entry for entry in os.scandir(path) if not entry.name.startswith(".")]
    if {entry.name for entry in entries} >= MAILDIR:
        entries = [mail for part in ("cur", "new") for mail in os.scandir(os.path.join(path, part))]
        entries = [mail for mail in entries if not mail.name.startswith(".") and mail.is_file()]
    paths = []
    for entry in sorted(entries, key=_turn):
        if entry.is_dir(follow_symlinks=False):
            paths += _directory(entry.path)
        elif entry.is_file():
            paths.append(entry.path)
    return paths


MAILDIR = {"cur", "new", "tmp"}


def _turn(entry: os.DirEntry[str]) -> tuple[bool, int, str]:
    """The key by which a folder is sorted: MH's files are numbers."""
    is_number = entry.name.isascii() and entry.name.isdigit()
    return not is_number, len(entry.name.lstrip("0")) if is_number else 0, entry.name


def _moved(path: str) -> str:
    """The new path of a Maildir's mail if another program has marked or moved it.

    The same path if the mail is gone.
    """
    folder, name = os.path.split(path)
    top, part = os.path.split(folder)
    if part in ("cur", "new"):
        with contextlib.suppress(OSError):
            for other in os.listdir(os.path.join(top, "cur")):
                if other.partition(":")[0] == name.partition(":")[0]:
                    return os.path.join(top, "cur", other)
    return path


def format_of(sources: list[Source]) -> str:
    """The format for the suffixes of the files' names."""
    found: dict[str, str] = {}
    for name in [source.name for source in sources]:
        stem, suffix = os.path.splitext(name.lower())
        if suffix in decode.SUFFIXES:
            suffix = os.path.splitext(stem)[1]
        if suffix not in FORMAT_SUFFIXES:
            formats = "; ".join(
                f"{form}: {' '.join(s for s, f in FORMAT_SUFFIXES.items() if f == form)}"
                for form in dict.fromkeys(FORMAT_SUFFIXES.values())
            )
            raise ParameterError(
                "format",
                None,
                "a format",
                f"{plain(name)} has no suffix that tells its format; give {{format!s}} ({formats})",
            )
        found.setdefault(FORMAT_SUFFIXES[suffix], name)
    if len(found) > 1:
        several = ", ".join(f"{name}: {form}" for form, name in found.items())
        raise ParameterError(
            "format",
            None,
            "a format",
            f"several formats ({plain(several)}); read each separately, or give {{format!s}}",
        )
    return next(iter(found))


# Encodings of Python's that are for domain names, string literals and tests.
NO_CHARACTER_SETS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")


def check_encoding(encoding: str | None) -> str | None:
    """The encoding's canonical name; None for UTF-8, which needs no decoding."""
    if encoding is None:
        return None
    try:
        found = codecs.lookup(encoding)
        if not found._is_text_encoding or found.name in NO_CHARACTER_SETS:  # as base64
            raise LookupError
        codecs.getincrementaldecoder(encoding)
    except (LookupError, TypeError, ValueError):
        raise ParameterError(
            "encoding",
            encoding,
            "an encoding of texts",
            "{encoding} is unknown to Python, or not of texts; give an encoding such as utf-8, "
            "latin-1, cp1252 or utf-16",
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
    source: Source,
    max_line: int,
    on_bad: OnBad,
    encoding: str | None = None,
    size: int = decode.READ,
    *,
    whole: bool = True,
) -> Iterator[Block]:
    """The blocks of one source.

    `encoding`: as check_encoding returns it; `size`: of a read. `whole`: this is the beginning of a
    file, which may be compressed or in another encoding; otherwise it is lines from a stream that
    has already begun.
    """
    with source.opened() as file:
        yield from _file_blocks(source, file, max_line, on_bad, encoding, size, whole)


def _file_blocks(
    source: Source,
    file: Any,
    max_line: int,
    on_bad: OnBad,
    encoding: str | None,
    size: int,
    whole: bool,
) -> Iterator[Block]:
    # no read is longer than a line may be, so only a line begun in an earlier read is too long
    buffer = bytearray(min(size, max_line))
    view = memoryview(buffer)
    name, line = source.name, 1
    begun: list[bytes] = []  # pieces of the line whose end has not come yet
    n_begun = 0
    too_long = False  # whether that line is too long, and is left out up to its end
    try:
        if whole:
            readinto, n = decode.decompressed(source.path, source.name, file, view)
        else:
            readinto = decode.reading(file)
            n = readinto(view)
        if encoding is not None:
            readinto = decode.Decoded(encoding, readinto, bytes(view[:n])).readinto
            n = decode.first_read(readinto, view, [decode.UTF8] if whole else [])
        at = len(decode.UTF8) if whole and buffer.startswith(decode.UTF8, 0, n) else 0
        for mark, name_of_it in decode.FOREIGN.items() if whole else ():
            if buffer.startswith(mark, 0, n):
                raise decode.Damaged(
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
    except decode.Damaged as damage:
        on_bad(LineError(name, line, str(damage)))
        return
    if begun:
        data = b"".join(begun)
        if line == 1 and b"\r" in data.rstrip(b"\r") and b"\n" not in data:
            on_bad(LineError(name, line, ONLY_CR))
            return
        yield Block(name, line, data)


ONLY_CR = (
    "the file's line ends are CR alone, as on old Macs, so it is read as one line; convert it "
    "first, for example by tr '\\r' '\\n'"
)
