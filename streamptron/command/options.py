"""Options that several commands share: their names, their values, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import click

from streamptron.command.blocks import BLOCKS
from streamptron.command.config import configured
from streamptron.command.worded import worded
from streamptron.common.errors import ParameterError
from streamptron.common.process import say
from streamptron.common.values import BY_LABEL
from streamptron.doors._core import BinaryModel
from streamptron.files.fields import texts_of, with_features
from streamptron.files.lines import LineModel
from streamptron.files.sources import (
    FORMAT_NAMES,
    LineError,
    check_encoding,
    find_sources,
    format_of,
)
from streamptron.learners.mail import Mail
from streamptron.learners.registry import (
    BY_NAME,
    LEARNERS,
    MULTILABEL,
    PARAMETERS,
    TOKENS,
    Parameter,
    parameters_of,
)
from streamptron.learners.text import Tokenizer

DEFAULT = next(iter(LEARNERS))
CONFIG = "streamptron.config"  # the key of the configuration file in a context's `meta`

Command = Callable[..., Any]
Option = Callable[[Command], Command]


class CommandOfOptions(click.Command):
    """A command whose help has sections, and whose errors name the options as they are typed.

    Parameters
    ----------
    sections
        The title of each section, with click's names of its options. All other options are in the
        first section, which has click's title.
    """

    def __init__(
        self, *arguments: Any, sections: dict[str, list[str]] | None = None, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self._sections = sections or {}

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        title_of = {name: title for title, names in self._sections.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in self.get_params(context):
            row = option.get_help_record(context)
            if row and isinstance(option, click.Option):
                rows.setdefault(title_of.get(str(option.name), "Options"), []).append(row)
        for title in ["Options", *self._sections]:
            with formatter.section(title):
                formatter.write_dl(rows[title])

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        args = self.with_config(context, args)
        try:
            return super().parse_args(context, args)
        except click.BadParameter as error:
            path = context.meta.get(CONFIG)
            if path is None or isinstance(error, click.MissingParameter):
                raise
            message = f"{error.message} (some options are those of {path})"
            raise click.BadParameter(message, error.ctx, error.param, error.param_hint) from None

    def with_config(self, context: click.Context, words: list[str]) -> list[str]:
        """The words of the command line, with those from its configuration file before them."""
        group = context.find_root().command
        if context.resilient_parsing or not isinstance(group, Commands):
            return words
        path, words = configured(self, group.every_command, words)
        if path is not None:
            context.meta[CONFIG] = path
        return words

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (ParameterError, LineError) as error:
            raise click.ClickException(worded(error)) from error


class Commands(click.Group):
    """A group that lists its commands in a given order.

    Parameters
    ----------
    rooms
        For each command, in the order of the help, the module of this folder that has it. A module
        is imported only when its command is used: making the options of all commands takes as long
        as reading a small file.
    """

    command_class = CommandOfOptions

    def __init__(
        self, *arguments: Any, rooms: dict[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self._rooms = rooms or {}

    def list_commands(self, context: click.Context | None = None) -> list[str]:
        return list(self._rooms or self.commands)

    def get_command(self, context: click.Context | None, name: str) -> click.Command | None:
        if name in self._rooms and name not in self.commands:
            room = import_module(f"streamptron.command.{self._rooms[name]}")
            for command in vars(room).values():
                if isinstance(command, click.Command) and command.name == name:
                    self.add_command(command)
        return self.commands.get(name)

    def every_command(self) -> dict[str, click.Command]:
        """All commands by their names."""
        for name in self._rooms:
            self.get_command(None, name)
        return {name: self.commands[name] for name in self.list_commands()}


class Learner(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """The name of a learner of labelled lines."""

    def convert(self, value: Any, *rest: Any) -> Any:
        if value == "ranking":
            self.fail(
                "'ranking' chooses among candidates, and a line is one event; use it from Python: "
                "RankingPerceptron().learn_many takes rows, grades and qid"
            )
        if value in MULTILABEL and value not in self.choices:
            self.fail(f"{value!r} answers several labels a line, and this is for one")
        return super().convert(value, *rest)


class Value(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """An option's value, which `read` makes of a text; `wanted` says what the text must be."""

    def __init__(self, name: str, read: Callable[[str], Any], wanted: str) -> None:
        self.name = name
        self._read = read
        self._wanted = wanted

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        try:
            return self._read(value)
        except ValueError:
            self.fail(f"{value!r}: give {self._wanted}", param, context)


def _low_high(text: str) -> tuple[int, int]:
    low, _, high = text.partition(",")
    return int(low), int(high or low)


def _two_fields(text: str) -> tuple[str, str]:
    first, second = text.split(",")
    if not first or not second:
        raise ValueError
    return first, second


def _pair(name: str, kind: Callable[[str], Any] = str) -> Value:
    """The type of an option whose value is NAME=VALUE."""

    def read(text: str) -> tuple[str, Any]:
        before, equals, value = text.rpartition("=")
        if not equals:
            raise ValueError
        return before, kind(value)

    return Value(name, read, name)


NGRAMS = Value("low,high", _low_high, "two numbers, as 1,2")
FIELDS = Value("field,field", _two_fields, "two fields, as user,ad")
LENGTH = Value("number", lambda text: None if text == "none" else int(text), "a number, or none")


class Options:
    """Several options, to be given to a command together.

    Attributes
    ----------
    names
        Click's names of the options, in their order.
    """

    def __init__(self, *options: Option) -> None:
        self._options = options
        self.names = [str(option.name) for option in click.command()(self(lambda: None)).params]

    def without(self, *names: str) -> Options:
        """The options except those with these names."""
        pairs = zip(self._options, self.names, strict=True)
        return Options(*[option for option, name in pairs if name not in names])

    def __iter__(self) -> Iterator[Option]:
        return iter(self._options)

    def __call__(self, command: Command) -> Command:
        for option in reversed(self._options):
            command = option(command)
        return command


# Parameters of Mail whose names are taken by other options, and their names here.
OTHERWISE = {"text": "parts"}


def _learner_options() -> list[Option]:
    """An option for each parameter of the learners in the table of parameters."""
    lines: dict[str, list[Parameter]] = {}
    for parameter in PARAMETERS:
        if parameter.name != "missing" and _called(parameter):  # a line has no None
            lines.setdefault(parameter.name, []).append(parameter)
    for found in lines.values():
        found.sort(key=lambda parameter: -len(_called(parameter)))
    return [_option(name, found) for name, found in lines.items()]


def _called(parameter: Parameter) -> list[str]:
    """The learners that have a parameter, by their names for --learner."""
    return [name for name, kind in BY_NAME.items() if kind.__name__ in parameter.learners]


def _option(name: str, lines: list[Parameter]) -> Option:
    """An option for a parameter; `lines`: its lines in the table, which differ by learner."""
    kind, default = lines[0].kind, lines[0].default
    option = f"--{'no-' if default is True else ''}{name.replace('_', '-')}"
    help = " ".join(map(_help, lines))
    if kind == "TRUTH":  # a flag that says the opposite of the default
        name = OTHERWISE.get(name, name)
        return click.option(option, name, flag_value=not default, default=None, help=help)
    if kind == "WORD_OR_NONE":
        (word,) = lines[0].words
        return click.option(f"--{word}", name, flag_value=word, default=None, help=help)
    if kind == "TEXT":
        return click.option(option, metavar="CHARACTERS", help=help)
    if kind == "RANGE":
        return click.option("--ngrams", name, type=NGRAMS, help=help)
    if kind in ("BY_LABEL", "FIELDS"):
        type = _pair("LABEL=NUMBER", float) if kind == "BY_LABEL" else FIELDS
        help = f"{help[:-1]}; may be repeated."
        return click.option(option, name, multiple=True, type=type, help=help)
    return click.option(option, name, type=_type_of(lines[0]), help=help)


def _help(parameter: Parameter) -> str:
    """What a parameter does, and for which learners, unless for all."""
    about, owners = parameter.about, _called(parameter)
    others = [name for name in BY_NAME if name not in owners]
    if parameter.default is True:
        about = f"Do not {about[0].lower()}{about[1:]}"
    if parameter in TOKENS:
        owners = ["mail"] if "Mail" in parameter.learners else []
        others = [*BY_NAME] * len(owners)
    if not others:
        return about
    names = ", ".join(owners if len(owners) <= len(others) else ["all but", *others])
    return f"{names.replace('but,', 'but')}: {about[0].lower()}{about[1:]}"


def _type_of(parameter: Parameter) -> Any:
    """The type of a parameter's option for click."""
    if parameter.kind == "WORD":
        return click.Choice(parameter.words)
    if parameter.kind == "NUMBER_OR_WORD":
        (word,) = parameter.words
        wanted = f"a number, or {word}"
        return Value(f"number|{word}", lambda text: text if text == word else float(text), wanted)
    if parameter.kind == "COUNT_OR_NONE" and parameter.default is not None:
        return LENGTH
    return float if parameter.kind in ("NUMBER", "SPAN") else int


def count(name: str, help: str, default: int | None = None, least: int = 1) -> Option:
    """An option that is a whole number."""
    shown = default is not None
    kind = click.IntRange(least)
    return click.option(name, type=kind, default=default, show_default=shown, help=help)


def seconds(name: str, help: str, default: float | None = None) -> Option:
    """An option that is a number of seconds."""
    shown = default is not None
    kind = click.FloatRange(0, min_open=True)
    return click.option(name, type=kind, default=default, show_default=shown, help=help)


# Shells complete it as a file. A file that cannot be read is an error only when it is opened.
FILE = click.Path(readable=False)

json_option = click.option("--json", is_flag=True, help="Write JSON.")
files_argument = click.argument("files", nargs=-1, required=True, type=FILE)
mails_argument = click.argument("files", nargs=-1, type=FILE)  # or --spam and --ham
model_option = click.option(
    "--model", "-m", type=FILE, required=True, metavar="FILE", help="The model file."
)
min_probability_option = click.option(
    "--min-probability",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Below this probability the answer is `unsure`; with several labels, a label is left out.",
)
reload_seconds_option = seconds(
    "--reload-seconds", "Check this often whether the model file was replaced, and load it."
)
learn_unsure_option = click.option(
    "--learn-unsure",
    type=click.FloatRange(0),
    metavar="MARGIN",
    help="Learn only what is answered wrongly, or by less than this margin (docs/mail.md).",
)
new_label_option = click.option(
    "--new-label",
    is_flag=True,
    help="Also learn labels that the model does not have yet.",
)
known_labels_option = click.option(
    "--known-labels",
    is_flag=True,
    help="Learn only labels that the model already has.",
)
config_option = click.option(
    "--config",
    type=FILE,
    metavar="FILE",
    expose_value=False,
    help="Also take options from this TOML file; the command line overrides it.",
)

# Options that are not given keep the library's defaults.
LEARNER_OPTIONS = Options(*_learner_options())
TOKENIZER_OPTIONS = Options(
    *[_option(each.name, [each]) for each in TOKENS if each.kind != "NAMES"]
)
COMPARED_OPTIONS = Options(
    click.option(
        "--learners",
        metavar="A,B,...",
        help=f"Of {', '.join(LEARNERS)}; by default all but voted, perceptron only with "
        "--positive.",
    ),
    click.option(
        "--positive", metavar="LABEL", help="Take this label for true, all others for false."
    ),
)
READING_OPTIONS = Options(
    click.option(
        "--format",
        type=click.Choice(FORMAT_NAMES),
        help="The format of the lines; by default from the suffix.",
    ),
    click.option("--label", metavar="FIELD", help="jsonl, csv: the field of the label."),
    click.option(
        "--text",
        metavar="FIELD",
        multiple=True,
        help="jsonl, csv: the field of the text; may be repeated, and combined with --features.",
    ),
    click.option("--features", metavar="A,B,...", help="jsonl, csv: the fields that are features."),
    click.option(
        "--label-separator",
        "separator",
        metavar="TEXT",
        help="multilabel, plain and csv: what separates the labels of a line; by default a comma.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        callback=lambda context, option, value: "\t" if value == "\\t" else value,
        help="csv: what separates cells; '\\t' for a TAB.",
    ),
    click.option(
        "--columns", metavar="A,B,...", help="csv: the names of columns, if there is no header."
    ),
    click.option(
        "--type",
        "types",
        multiple=True,
        type=_pair("COLUMN=TYPE"),
        help="csv: a column's type: number, category, date or ignore.",
    ),
    click.option(
        "--label-by",
        type=click.Choice(["folder", "index"]),
        help="mail, document: labels are the names of folders; or FILES list labels and paths.",
    ),
    click.option(
        "--encoding", metavar="NAME", help="The lines' encoding, such as latin-1; by default utf-8."
    ),
)

MAIL_OPTIONS = Options(
    click.option("--spam", multiple=True, type=FILE, help="mail: a folder or mbox of spam."),
    click.option("--ham", multiple=True, type=FILE, help="mail: a folder or mbox of ham."),
)

# What only a new model takes.
OF_NEW_MODELS = ["learner", "positive", *LEARNER_OPTIONS.names, *TOKENIZER_OPTIONS.names]

# Sections of --help.
LEARNER_SECTION = {"The learner": ["learner", "positive", *LEARNER_OPTIONS.names]}
TEXT_SECTION = {"Words of texts": TOKENIZER_OPTIONS.names}
READING_SECTION = {"Lines of files": [*READING_OPTIONS.names, *MAIL_OPTIONS.names]}


def taken(names: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Remove options from `given`; returns those that were given on the command line."""
    context = click.get_current_context()
    values = {name: given.pop(name, None) for name in names}
    return {
        name: value
        for name, value in values.items()
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }


def reading_of(given: dict[str, Any], files: tuple[str, ...] = ()) -> dict[str, Any]:
    """The reading options that were given, as arguments of streamptron.files.read.

    Without --format, the format is that of the files' suffixes.
    """
    labels_of = given.pop("labels_of", None)
    names = ["format", "label", "text", "features", "delimiter", "columns", "types", "label_by"]
    reading = taken([*names, "separator"], given)
    if labels_of:
        reading.update(format="mail", labels_of=labels_of)
    for option in {"features", "columns"} & reading.keys():
        names = reading[option].split(",")
        if "" in names:
            raise click.UsageError(
                f"--{option} {reading[option]!r} has an empty name; give names with a comma "
                "between them, as size,color"
            )
        reading[option] = names
    if "text" in reading:
        texts = list(reading["text"])
        reading["text"] = texts[0] if len(texts) == 1 else texts
    if "types" in reading:
        reading["types"] = dict(reading["types"])
    if reading.get("label") == "":
        reading["label"] = None
    if files and "format" not in reading:
        format = _format(files, bare=reading.keys() <= {"separator"})
        reading["format"] = "document" if format == "plain" and "label_by" in reading else format
    others = reading.keys() - {"format", "separator"}
    if reading.get("format") in BLOCKS and others:
        other = next(name for name in reading if name in others)
        raise click.UsageError(f"the format {reading['format']} has no {option_called(other)}")
    return reading


def with_mails(files: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """The files to read; those of --spam and --ham, or texts by folder, are mixed evenly."""
    folders = {label: given.pop(label) for label in MAIL_OPTIONS.names}
    given["labels_of"] = {path: label for label, paths in folders.items() for path in paths}
    if not files and not given["labels_of"]:
        raise click.UsageError("Missing argument 'FILES...'.")
    if files and given["labels_of"]:
        raise click.UsageError("--spam and --ham name all mails; leave out the other files")
    if given["labels_of"] and (given["format"] not in (None, "mail") or given["label_by"]):
        raise click.UsageError(
            "--spam and --ham are for mails, and say their labels; leave out --format and "
            "--label-by"
        )
    if files and given["label_by"] == "folder" and _are_documents(files, given):
        folders = {}
        for source in find_sources(list(files)):
            folders.setdefault(os.path.dirname(source.name), []).append(source.name)
    elif files:
        return files
    from streamptron.files.mail import in_turns  # with its regular expressions slow to import

    return in_turns(list(folders.values()))


def _are_documents(files: tuple[str, ...], given: dict[str, Any]) -> bool:
    """Whether files that are labelled by folder are texts, by --format or the suffix .txt."""
    if given["format"] is not None:
        return bool(given["format"] == "document")
    try:
        return format_of(find_sources(list(files))) == "plain"
    except ValueError:
        return False


def _format(files: tuple[str, ...], bare: bool) -> str:
    """The format by the files' suffixes.

    Without a suffix it is plain, unless a file is a pipe or, with `bare` False, other reading
    options were given.
    """
    sources = find_sources(list(files))
    try:
        return format_of(sources)
    except ValueError as error:
        if bare and not any(map(is_plain, files)):
            if not click.get_current_context().params.get("quiet"):
                name = sources[0].name
                say(f"streamptron: {name} is read as lines label<TAB>text; else give --format")
            return "plain"
        raise click.UsageError(worded(error)) from None


def encoding_of(given: dict[str, Any]) -> str | None:
    try:
        return check_encoding(given.pop("encoding"))
    except ValueError as error:
        raise click.UsageError(worded(error)) from None


def option_called(name: str) -> str:
    """An option of the current command as it is typed."""
    parameters = click.get_current_context().command.params
    return next(parameter.opts[0] for parameter in parameters if parameter.name == name)


def _made(kind: Any, parameters: dict[str, Any]) -> Any:
    """A new learner or tokenizer; a wrong parameter or value is a usage error."""
    for name in parameters:
        if kind in BY_NAME.values() and name not in parameters_of(kind):
            owners = [each for each, other in BY_NAME.items() if name in parameters_of(other)]
            raise click.UsageError(
                f"{kind.__name__} has no {option_called(name)}; learners that have it: "
                f"{', '.join(owners)}"
            )
    try:
        return kind(**parameters)
    except ParameterError as error:
        raise click.UsageError(worded(error)) from None


def new_model(given: dict[str, Any], reading: dict[str, Any]) -> LineModel:
    """An untrained model with the options that were given."""
    learner = given.pop("learner") or DEFAULT
    kind = BY_NAME[learner]
    if "separator" in reading and learner not in MULTILABEL:
        raise click.UsageError("--label-separator is for --learner multilabel; leave it out")
    positive = given.pop("positive")
    parameters = taken(LEARNER_OPTIONS.names, given)
    tokens = taken(TOKENIZER_OPTIONS.names, given)
    if positive is not None and not issubclass(kind, BinaryModel):
        raise click.UsageError("--positive is for --learner perceptron; others take any labels")
    for name, parameter in parameters_of(kind).items():
        if name in parameters and parameter.needs:
            other, value = parameter.needs
            if parameters.get(other) != value:
                raise click.UsageError(
                    f"{option_called(name)} is for {option_called(other)} {value}; give that too"
                )
    tokenizer = new_tokenizer(tokens, reading)
    if tokenizer is not None and "interactions" in parameters:
        raise click.UsageError(
            "--interactions pairs fields, and a line that is a text has none; give --degree 2, "
            "or events of features"
        )
    numbers = {name: parameters.pop(name) for name in BY_LABEL if name in parameters}
    written = LineModel(_made(kind, parameters), tokenizer, reading, positive)
    for name, pairs in numbers.items():
        try:
            parameters[name] = {written.label(label): number for label, number in pairs}
        except ValueError as error:
            raise click.UsageError(f"{option_called(name)}: {error}") from None
        if len(parameters[name]) < len(pairs):
            option = option_called(name)
            raise click.UsageError(f"{option} is given twice for a label; give it once")
    model = LineModel(_made(kind, parameters), tokenizer, reading, positive)
    for label in parameters.get("class_weight", ()):
        try:
            model.learner._checked_step(label, 1.0)
        except ValueError as error:
            raise click.UsageError(f"--class-weight: {error}") from None
    model.wanted = {label for pairs in numbers.values() for label, _ in pairs}
    if positive is not None:
        model.wanted.add(positive)
    return model


def without_events(model: LineModel) -> Iterator[tuple[str, str]]:
    """The options that name labels which no event had, with these labels."""
    missing = model.wanted - {model.positive}
    left = set(missing)
    for name in BY_LABEL:
        asked = getattr(model.learner, name, None) or ()
        found = missing.intersection(map(model.name, asked))
        left -= found
        if found:
            yield option_called(name), _either(found)
    if left:  # of a perceptron, which knows two truth values
        yield option_called("class_weight"), _either(left)


def _either(labels: Iterable[str]) -> str:
    return " or ".join(map(repr, sorted(labels)))


def new_tokenizer(tokens: dict[str, Any], reading: dict[str, Any]) -> Any:
    """A tokenizer with the options that were given; None if the lines hold features."""
    format = reading["format"]
    if format in ("jsonl", "csv") and not reading.get("label"):
        raise click.UsageError(f"the format {format} needs --label FIELD")
    if format == "jsonl" and not reading.keys() & {"text", "features"}:
        raise click.UsageError("the format jsonl needs --text FIELD, --features A,B or both")
    if format == "mail":
        if not reading.get("label_by") and not reading.get("labels_of"):
            raise click.UsageError(
                "nothing says which mails are spam; give --spam FOLDER and --ham FOLDER, or "
                "--label-by folder or index"
            )
        return _tokenizer(Mail, tokens)
    if format == "document" and not reading.get("label_by"):
        raise click.UsageError("nothing says the labels; give --label-by folder, or index")
    if fields := texts_of(reading):
        made: Any = _tokenizer(Tokenizer, {**tokens, "fields": fields})
        return with_features(made) if "features" in reading else made
    if format in (*BLOCKS, "document") or "text" in reading:
        return _tokenizer(Tokenizer, tokens)
    if tokens:
        raise click.UsageError("these events are features; the tokenizer's options are for texts")
    return None


def _tokenizer(kind: Any, tokens: dict[str, Any]) -> Tokenizer | Mail:
    """A Tokenizer or a Mail; an option of the other one is an error."""
    known = parameters_of(kind)
    own = {there: here for here, there in OTHERWISE.items()}
    given = {own.get(name, name): value for name, value in tokens.items()}
    for name, parameter in zip(tokens, given, strict=True):
        if parameter not in known:
            raise click.UsageError(
                f"{option_called(name)} is not for "
                f"{'mails' if kind is Mail else 'lines that are texts'}; leave it out"
            )
    made: Tokenizer | Mail = _made(kind, given)
    return made


def is_plain(file: str) -> bool:
    """Whether a file, or the files of a pattern or directory, can be read more than once."""
    return file != "-" and (not os.path.exists(file) or os.path.isfile(file) or os.path.isdir(file))
