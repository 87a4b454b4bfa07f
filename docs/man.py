"""Write the manual page of what the command line says of itself.

    python docs/man.py > docs/streamptron.1

tests/command/test_man.py says when that is to be done again.
"""

import inspect

import click

from streamptron.command.cli import EXIT_CODES
from streamptron.command.commands import commands
from streamptron.common.version import RELEASE

HEAD = f"""\
.TH STREAMPTRON 1 "" "streamptron {RELEASE}" "User Commands"
.SH NAME
streamptron \\- train text classifiers online, and label lines with them
.SH SYNOPSIS
.B streamptron
.I COMMAND
[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...
"""
SEE = """\
.SH SEE ALSO
The pages that come with the source, above all docs/command-line.md and docs/daemons.md.
"""


def escaped(text: str) -> str:
    """Text as roff takes it literally."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in lines)


def paragraphs(text: str) -> str:
    """The paragraphs of a help text; one behind a backspace keeps its lines."""
    parts = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b\n"):
            parts.append(f".PP\n.nf\n{escaped(paragraph[2:])}\n.fi\n")
        else:
            parts.append(f".PP\n{escaped(paragraph)}\n")
    return "".join(parts)


def section(command: click.Command, name: str, parent: click.Context) -> str:
    """What the page says of a command, and of those below it."""
    context = click.Context(command, parent, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    text = f".SS {escaped(context.command_path)} {escaped(usage)}\n{paragraphs(command.help or '')}"
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record and isinstance(option, click.Option) and option.name != "help":
            text += f".TP\n.B {escaped(record[0])}\n{escaped(record[1])}\n"
    for below in getattr(command, "commands", {}).values():
        text += section(below, str(below.name), context)
    return text


def page() -> str:
    context = click.Context(commands, info_name="streamptron")
    codes = "".join(f".TP\n.B {code}\n{escaped(means)}\n" for code, means in EXIT_CODES.items())
    return (
        f"{HEAD}.SH DESCRIPTION\n{paragraphs(commands.help or '')}.SH COMMANDS\n"
        + "".join(section(each, name, context) for name, each in commands.every_command().items())
        + f".SH EXIT STATUS\n{codes}{SEE}"
    )


if __name__ == "__main__":
    print(page(), end="")
