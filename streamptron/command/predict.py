"""``streamptron predict``: a line filter, which may learn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from streamptron.command import options
from streamptron.common.process import date_messages
from streamptron.files.sources import MAX_LINE, find_sources, format_of
from streamptron.learners.registry import BY_NAME

if TYPE_CHECKING:
    from streamptron.command.answers import Answers
    from streamptron.command.filter import Chore
    from streamptron.files.lines import LineModel

# Options for processes that run for a long time, whose messages begin with the time.
OF_SERVICES = ("reload_seconds", "save_seconds", "corrections", "status")
ERROR = 3  # the exit code of an error, with --exit-code


class Sorting(options.CommandOfOptions):
    """A command whose errors end with the exit code 3 if --exit-code is given."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        with _errors("--exit-code" in args):
            args = self.with_config(context, args)
        with _errors("--exit-code" in args):
            return super().parse_args(context, args)

    def invoke(self, context: click.Context) -> Any:
        with _errors(context.params["exit_code"]):
            return super().invoke(context)


@contextlib.contextmanager
def _errors(have_one: bool) -> Iterator[None]:
    try:
        yield
    except click.exceptions.Exit:  # --help
        raise
    except Exception as error:
        if have_one:
            error.exit_code = ERROR  # type: ignore[attr-defined]
        raise


@click.command(
    cls=Sorting,
    sections={
        "Answers": ["form", "template", "top", "min_probability", "exit_code"],
        "Learning": [
            "learn",
            "learn_unsure",
            "known_labels",
            "new_label",
            "save_every",
            "save_seconds",
            "corrections",
        ],
        "The model's file": ["reload_seconds", "create", "status"],
        **options.READING_SECTION,
        **{
            f"{title}, with --create": names
            for title, names in (options.LEARNER_SECTION | options.TEXT_SECTION).items()
        },
    },
)
@click.argument("files", nargs=-1, type=options.FILE)
@options.model_option
@options.config_option
@click.option(
    "--input",
    "kind",
    type=click.Choice(["text", "labelled"]),
    help="The line is the text (the default), or label<TAB>text (with --learn).",
)
@options.READING_OPTIONS
@click.option("--json", "form", flag_value="json", help='Write {"label": ..., "probability": ...}.')
@click.option("--rsyslog", "form", flag_value="rsyslog", help='The same within {"$!": ...}.')
@click.option(
    "--merge",
    "form",
    flag_value="merge",
    help="JSON lines: write each object with its label and probability.",
)
@options.count("--top", "Write this many labels, the likeliest first.")
@options.min_probability_option
@click.option(
    "--template",
    help="Write this; {label}, {probability}, {text} and fields of JSON or CSV are filled in.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="For one event: 0 for the label of --positive, 1 for others, 2 unsure, 3 an error.",
)
@click.option("--learn", is_flag=True, help="Learn lines that have a label, after answering them.")
@options.learn_unsure_option
@options.known_labels_option
@options.new_label_option
@options.count("--save-every", "Save after this many lines, and at the end.")
@options.seconds("--save-seconds", "Save this often, and at the end.")
@click.option(
    "--corrections",
    metavar="FOLDER",
    type=options.FILE,
    help="Learn files that are put into this folder, each once.",
)
@options.reload_seconds_option
@click.option("--create", is_flag=True, help="Begin a new model if there is no file.")
@click.option(
    "--status",
    type=options.FILE,
    metavar="FILE",
    help="Write the state to this file every 5 seconds.",
)
@click.option(
    "--max-line", type=click.IntRange(16), default=MAX_LINE, help="The most bytes in a line."
)
@click.option(
    "--learner", type=options.Learner(list(BY_NAME)), help=f"By default {options.DEFAULT}."
)
@click.option(
    "--positive", metavar="LABEL", help="perceptron, and --exit-code: the label that is true."
)
@options.LEARNER_OPTIONS
@options.TOKENIZER_OPTIONS
def predict(files: tuple[str, ...], model: str, **given: Any) -> int:
    """Label lines from standard input or files.

    A line is a text, or what --format says; a FILE in the format that the model was trained on
    (JSON lines, CSV, svmlight, vw) is read in that format. Each line is answered at once with one
    line: label<TAB>probability, or what --json, --rsyslog, --merge or --template say. A blank or
    bad line gets an empty label and probability (null in JSON), and so does any line before the
    model knows a label. A model of several labels writes all likely labels, and their
    probabilities, separated by commas; in JSON both are lists.

    \b
    With --learn:
      SIGTERM, end of input    saves and ends with exit code 0 (1: it could not be saved)
      SIGINT                   saves and ends with exit code 130
      SIGHUP                   reloads the model file, and learns again what was not saved

    With --create, if there is no model yet, a new one is begun with the learner's options; if there
    is one, these options are ignored. perceptron also needs --positive.

    With --exit-code the whole input is one text, unless --input or --format are given.

    \b
    Examples:
      echo 'a prize' | streamptron predict --model mail.model
      echo 'a prize' | streamptron predict --model mail.model --json
      streamptron predict mail.tsv --input labelled --model mail.model --template '{label} {text}'
      streamptron predict mail.tsv --learn --save-every 1000 --model mail.model
      streamptron predict mail.tsv --learn --create --status status.json --model new.model
      streamptron predict mail.tsv --reload-seconds 5 --model new.model
      echo 'a prize' | streamptron predict --exit-code --positive spam --model mail.model
    """
    from streamptron.command.filter import Filter
    from streamptron.command.model_on_disk import ModelOnDisk

    _check_given(given)
    answers = _answers(given)
    reading, encoding = options.reading_of(given), options.encoding_of(given)
    if given["kind"] and reading:
        raise click.UsageError("--input cannot be given with the options of a format; give one")
    if any(given[name] is not None for name in OF_SERVICES):
        date_messages()
    on_disk = ModelOnDisk(
        model,
        writes=given["learn"],
        lines=given["save_every"],
        seconds=given["save_seconds"],
        reload_seconds=given["reload_seconds"],
        learn_unsure=given["learn_unsure"],
        known_labels=given["known_labels"],
        new_label=given["new_label"],
    )
    settings: dict[str, Any] = {
        "max_line": given["max_line"],
        "files": [] if files == ("-",) else files,
        "kind": given["kind"],
        "reading": reading,
        "encoding": encoding,
        "chores": _chores(given),
    }
    if given["exit_code"]:
        from streamptron.command.one import One

        options.taken([*options.LEARNER_OPTIONS.names, *options.TOKENIZER_OPTIONS.names], given)
        return One(on_disk, answers, positive=given["positive"], **settings).run()
    create = _new(given, reading, files)
    return Filter(on_disk, answers, learn=given["learn"], create=create, **settings).run()


def _check_given(given: dict[str, Any]) -> None:
    """Raise a usage error if two options contradict each other, or one is missing."""
    learn = given["learn"]
    if given["form"] and given["template"] is not None:
        raise click.UsageError(f"--{given['form']} and --template exclude each other; give one")
    if given["kind"] == "text" and learn:
        raise click.UsageError("--learn needs labels; give --input labelled or a --format")
    if not learn and (given["save_every"] or given["save_seconds"]):
        raise click.UsageError("without --learn there is nothing to save")
    if not learn and given["learn_unsure"] is not None:
        raise click.UsageError("--learn-unsure says what is learned; give --learn too")
    if not learn and (given["known_labels"] or given["new_label"]):
        raise click.UsageError("--known-labels and --new-label say what is learned; give --learn")
    if given["known_labels"] and given["new_label"]:
        raise click.UsageError("--known-labels and --new-label exclude each other; give one")
    if not learn and given["corrections"] is not None:
        raise click.UsageError("--corrections are learned; give --learn too")
    if given["exit_code"]:
        for name in ("learn", "create", "status", "reload_seconds"):
            if given[name]:
                other = options.option_called(name)
                raise click.UsageError(
                    f"--exit-code is for one event, and {other} for many; give one"
                )
    if given["create"] and not learn and given["reload_seconds"] is None:
        raise click.UsageError(
            "--create begins with a model that knows nothing: give --learn, or --reload-seconds to "
            "wait for one that another process learns"
        )


def _answers(given: dict[str, Any]) -> Answers:
    from streamptron.command.answers import Answers

    try:
        return Answers(
            given["template"], given["form"], given["top"] or 0, given["min_probability"]
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _chores(given: dict[str, Any]) -> list[Chore]:
    chores: list[Chore] = []
    spool = None
    if given["corrections"] is not None:
        from streamptron.command.spool import Spool

        spool = Spool(given["corrections"])
        chores.append(spool)
    if given["status"] is not None:
        from streamptron.command.status import Status

        chores.append(Status(given["status"], spool))
    return chores


def _new(
    given: dict[str, Any], reading: dict[str, Any], files: tuple[str, ...]
) -> LineModel | None:
    """With --create, the new model to use if there is no file; else None."""
    if given["create"]:
        is_pipe = files in ((), ("-",))
        format = "plain" if is_pipe or "format" in reading else format_of(find_sources(list(files)))
        return options.new_model(given, {"format": format, **reading})
    for name in options.taken(options.OF_NEW_MODELS, given):
        raise click.UsageError(
            f"{options.option_called(name)} is for a new model; give --create too"
        )
    return None
