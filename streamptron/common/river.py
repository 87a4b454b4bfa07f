"""River's modules; where River is not installed, ours in their place.

Whether it is installed is asked once, here, when streamptron is imported. No other room of the
package imports anything of River's itself: it takes it from here, with an error that says what to
do where River is missing and nothing of ours can stand in.
"""

from __future__ import annotations

import typing
from importlib import import_module
from typing import Any

try:
    import_module("river.base")
    _version = str(getattr(import_module("river"), "__version__", "unknown"))
except ModuleNotFoundError as _error:
    # "river.base" is missing where a folder of data happens to be called river
    if _error.name not in ("river", "river.base"):
        raise
    _version = ""
VERSION: str = _version
INSTALLED = bool(VERSION)

# Of River's modules those that have a room of ours which can take their place.
OURS = {
    "base": "streamptron.common.own",
    "compose": "streamptron.common.own",
    "metrics.base": "streamptron.common.own",
}

if typing.TYPE_CHECKING:
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
        from streamptron.common.own import missing  # not needed where River is

        raise missing(what)
