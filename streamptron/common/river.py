"""River's modules; where River is not installed, ours in their place.

Whether it is installed is found out once, here, when streamptron is imported. No other module of
the package imports River itself: they take it from here. If River is missing and we have no
stand-in, the error says what to do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import_module("river.base")
    _version = str(getattr(import_module("river"), "__version__", "unknown"))
except ModuleNotFoundError as _error:
    # "river.base" is what is missing if a folder of data happens to be called river
    if _error.name not in ("river", "river.base"):
        raise
    _version = ""
VERSION: str = _version
INSTALLED = bool(VERSION)

# River's modules that have a stand-in, and where it is.
OURS = {
    "base": "streamptron.common.own",
    "compose": "streamptron.common.own",
    "metrics.base": "streamptron.common.own",
}

if TYPE_CHECKING:
    from river import base as base
    from river import compose as compose
else:

    def __getattr__(name: str) -> Any:
        if name not in OURS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return module_of(name, name)  # on demand: compose takes long to import


def module_of(module: str, what: str) -> Any:
    """A module of River's, or ours in its place.

    Parameters
    ----------
    module
        Its name within River, such as "compose".
    what
        What needs it, for the error.

    Raises
    ------
    ModuleNotFoundError
        If River is not installed, and no module of ours can take its place.
    """
    if not INSTALLED and module in OURS:
        return import_module(OURS[module])
    need(what)
    return import_module(f"river.{module}")


def need(what: str) -> None:
    """Raise a ModuleNotFoundError if River is not installed: `what` needs it."""
    if not INSTALLED:
        from streamptron.common.own import missing  # not needed if River is installed

        raise missing(what)
