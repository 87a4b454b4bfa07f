"""Errors of the library as the command line words them: C=2 becomes --C 2."""

from __future__ import annotations

import click

from streamptron.common.errors import ParameterError, in_python
from streamptron.files.sources import LineError


def worded(error: Exception | str) -> str:
    """The message of an error, with parameters written as options of the current command."""
    if isinstance(error, LineError) and isinstance(error.args[2], ParameterError):
        return str(LineError(error.file, error.line, worded(error.args[2])))
    if not isinstance(error, ParameterError):
        return str(error)
    context = click.get_current_context(silent=True)
    options: dict[str, click.Parameter] = {}
    for each in [] if context is None else context.command.params:
        options[str(each.name)] = options[each.opts[0].lstrip("-")] = each

    def typed(name: str, value: str | None, label: str | None) -> str:
        option = options.get(name)
        if value == "False":
            option = options.get(f"no-{name}", option)
        if not isinstance(option, click.Option):
            return in_python(name, value, label)
        if value is None or (option.is_flag and value == repr(option.flag_value)):
            return option.opts[0]
        return f"{option.opts[0]} {value if label is None else f'{label}={value}'}"

    return error.words(typed)
