"""The start of the command line, ``streamptron``, its errors and its exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from streamptron.common.process import UNWRITABLE, hold_streams, say, undated_again, unwritable

COMPLETE = "_STREAMPTRON_COMPLETE"  # set by shells that ask for completions, as click expects

EXIT_CODES = {
    0: "success",
    1: "failure",
    2: "wrong usage",
    130: "ended by Ctrl-C",
    143: "a training ended by SIGTERM",
}


@undated_again()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        The words after the program's name; by default those of this process.

    Returns
    -------
    The exit code, one of EXIT_CODES; for predict --exit-code the answer. If STREAMPTRON_DEBUG is in
    the environment, an error is raised instead.

    Examples
    --------
    >>> from streamptron.command.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    streamptron ...
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    hold_streams()
    try:
        import click

        from streamptron.command.commands import commands
    except ImportError as error:
        reason = str(error)
        if isinstance(error, ModuleNotFoundError) and error.name == "click":
            reason = 'the command line needs click: pip install "streamptron[cli]"'
        if words[:1] == ["filter"]:  # which must pass on the mail
            from streamptron.command.passing import passed_on

            return passed_on(reason)
        return _failed(reason)
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        if not shell_complete(commands, {}, "streamptron", COMPLETE, instruction):
            return 0
        return _failed(f"{COMPLETE}={instruction}: give bash_source, zsh_source or fish_source", 2)
    try:
        # not by click's own main, which has other exit codes
        with (
            warnings.catch_warnings(),
            commands.make_context("streamptron", words or ["--help"]) as context,
        ):
            warnings.showwarning = _warned  # type: ignore[assignment]
            code = commands.invoke(context)
        sys.stdout.flush()
        return code or 0
    except click.exceptions.Exit as end:  # --help, --version
        return end.exit_code
    except click.UsageError as error:
        where = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        return _failed(error.format_message().rstrip(".") + where, error.exit_code)
    except click.ClickException as error:
        return _failed(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _failed("interrupted; nothing was saved", 130)
    except BrokenPipeError:
        # the reader has closed the pipe, and Python flushes its output once more at its end
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.close(sink)
        return 0
    except Exception as error:
        if os.environ.get("STREAMPTRON_DEBUG"):
            raise
        code = getattr(error, "exit_code", 1)
        if isinstance(error, OSError) and error.strerror:
            if error.filename is not None:
                return _failed(f"{os.fsdecode(error.filename)}: {error.strerror}", code)
            if error.errno in UNWRITABLE:  # errors of files have a file name
                return _failed(unwritable(error), code)
        return _failed(str(error) or type(error).__name__, code)


def _warned(message: Warning | str, *where: object) -> None:
    say(f"streamptron: warning: {message}")


def _failed(message: str, code: int = 1) -> int:
    say(f"streamptron: error: {message}")
    return code
