"""Where the SQLite extension is: docs/sqlite.md."""

from __future__ import annotations

from pathlib import Path

__all__ = ["path"]


def path() -> str:
    """The SQLite extension of this installation, to be loaded by a connection.

    A package has it that was built with ``STREAMPTRON_SQLITE=1`` in the environment, which needs
    SQLite's headers; ``make sqlite`` builds it by itself.

    Returns
    -------
    str
        The file, for ``db.load_extension`` or ``.load``.

    Raises
    ------
    FileNotFoundError
        If the package was built without it.

    Examples
    --------
    >>> import streamptron.sqlite
    >>> db.load_extension(streamptron.sqlite.path())  # doctest: +SKIP
    """
    found = Path(__file__).with_name("streamptron.so")
    if not found.is_file():
        raise FileNotFoundError(
            f"{str(found)!r} is not there: this package was built without the SQLite extension; "
            "install it with STREAMPTRON_SQLITE=1 in the environment, or use make sqlite"
        )
    return str(found)
