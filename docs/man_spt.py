"""Write the manual page of spt, of what its commands show for --help.

    python docs/man_spt.py > docs/spt.1

tests/command/test_man.py says when that is to be done again.
"""

import ast
import re
from pathlib import Path

from man import escaped

ROOT = Path(__file__).resolve().parents[1]
HELP = re.compile(r"^const char usage_(\w+)\[\] =\n((?: +\".*\"\n?)+);", re.M)
RELEASE = re.compile(r'^RELEASE = "(.+)"', re.M)

HEAD = """\
.TH SPT 1 "" "spt {release}" "User Commands"
.SH NAME
spt \\- label lines and mails by a model of streamptron's, and let it learn
.SH SYNOPSIS
.B spt
.I COMMAND
[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...
.SH DESCRIPTION
What daemons and mail servers need of
.BR streamptron (1),
without Python: the same options, answers, exit codes and model files.
.SH COMMANDS
"""
TAIL = """\
.SH EXIT STATUS
.TP
.B 0
success; of filter: spam, or any answer with \\-\\-pass
.TP
.B 1
failure; of filter: another label
.TP
.B 2
wrong usage; of filter and predict \\-\\-exit\\-code: unsure
.TP
.B 3
of filter and predict \\-\\-exit\\-code: an error
.TP
.B 75
of filter: the mail could not be read or written; a mail server delivers it again
.TP
.B 130
ended by Ctrl\\-C
.SH EXAMPLES
.nf
printf \\(aqspam\\etwin a prize\\enham\\etsee you\\en\\(aq |
    spt predict \\-\\-learn \\-\\-create \\-\\-model mail.model
echo \\(aqa prize\\(aq | spt predict \\-\\-model mail.model
spt filter \\-\\-pass \\-\\-model mail.model < mail.eml
spt learn \\-\\-as ham \\-\\-model mail.model < mail.eml
.fi
.SH SEE ALSO
.BR streamptron (1),
which can train, evaluate, compare and serve, too.
"""


def helps() -> dict[str, str]:
    """What each command shows, by its name."""
    text = (ROOT / "program" / "usage.c").read_text("utf-8")
    return {name: ast.literal_eval(f"({lines})") for name, lines in HELP.findall(text)}


def option(lines: list[str]) -> str:
    """An option, whose description begins two spaces behind it, or in the next line."""
    words, _, first = lines[0].strip().partition("  ")
    means = " ".join([first.strip(), *(line.strip() for line in lines[1:])]).strip()
    return f".TP\n.B {escaped(words)}\n{escaped(means)}\n"


def paragraph(text: str) -> str:
    """A paragraph, or options below their heading, if they have one of their own."""
    heading, *lines = text.split("\n")
    if not heading.endswith(":") or heading.startswith(" "):
        if heading.startswith("    "):
            return f".PP\n.nf\n{escaped(text)}\n.fi\n"
        joined = " ".join(line.strip() for line in text.split("\n"))
        return f".PP\n{escaped(joined)}\n"
    options: list[list[str]] = []
    for line in lines:
        if line.startswith("  -"):
            options.append([])
        options[-1].append(line)
    title = "" if heading == "Options:" else f".PP\n{escaped(heading)}\n"
    return title + "".join(map(option, options))


def section(text: str) -> str:
    usage, *paragraphs = text.rstrip("\n").split("\n\n")
    usage = usage.removeprefix("Usage: ")
    return f".SS {escaped(usage)}\n" + "".join(map(paragraph, paragraphs))


def page() -> str:
    release = RELEASE.search((ROOT / "streamptron" / "common" / "version.py").read_text("utf-8"))
    assert release
    commands = {name: text for name, text in helps().items() if name != "all"}
    sections = "".join(map(section, commands.values()))
    return HEAD.format(release=release[1]) + sections + TAIL


if __name__ == "__main__":
    print(page(), end="")
