"""Labelled events from files: read() for texts, features, JSON and CSV; blocks() for bytes."""

from typing import TYPE_CHECKING, Any

from streamptron.files.sources import Block, LineError, blocks

if TYPE_CHECKING:
    from streamptron.files.reader import Reader, Record, read

__all__ = ["Block", "LineError", "Reader", "Record", "blocks", "read"]


def __getattr__(name: str) -> Any:
    # Imported on first use: the command line reads plain lines without any format's module.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from streamptron.files import reader

    return getattr(reader, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
