"""The commands and their options; the work of each is in a module beside this one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import click

from streamptron import __version__
from streamptron._core import BinaryModel
from streamptron.command.lines import BLOCKS, LineModel
from streamptron.command.process import say
from streamptron.files.sources import (
    FORMAT_NAMES,
    MAX_LINE,
    check_encoding,
    find_sources,
    format_of,
)
from streamptron.learners import LEARNERS, OWN
from streamptron.modelfile.lock import ModelLock
from streamptron.text import Tokenizer

DEFAULT = next(iter(LEARNERS))
LEARNER = f"By default {DEFAULT}, which errs least; perceptron is the fastest."

Command = Callable[..., Any]


class Commands(click.Group):
    """A group that lists its commands in the order in which they are used."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


class Ngrams(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    name = "low,high"

    def convert(self, value: Any, param: Any, context: Any) -> tuple[int, int]:
        try:
            low, _, high = value.partition(",")
            return int(low), int(high or low)
        except ValueError:
            self.fail(f"{value!r}: give two numbers, as 1,2", param, context)


class Length(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    name = "number"

    def convert(self, value: Any, param: Any, context: Any) -> int | None:
        try:
            return None if value == "none" else int(value)
        except ValueError:
            self.fail(f"{value!r}: give a number, or none", param, context)


class Learner(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """The name of a learner of labelled lines."""

    def convert(self, value: Any, *rest: Any) -> Any:
        if value == "ranking":
            self.fail(
                "'ranking' chooses among candidates, and a line is one event; use it from Python: "
                "RankingPerceptron().learn_many takes rows, grades and qid"
            )
        return super().convert(value, *rest)


class Pair(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """NAME=VALUE."""

    def __init__(self, name: str, kind: Callable[[str], Any] = str) -> None:
        self.name = name
        self.kind = kind

    def convert(self, value: Any, param: Any, context: Any) -> tuple[str, Any]:
        name, equals, text = value.rpartition("=")
        try:
            if not equals:
                raise ValueError
            return name, self.kind(text)
        except ValueError:
            self.fail(f"{value!r}: give {self.name}", param, context)


class Fields(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    name = "field,field"

    def convert(self, value: Any, param: Any, context: Any) -> tuple[str, str]:
        first, _, second = value.partition(",")
        if not first or not second or "," in second:
            self.fail(f"{value!r}: give two fields, as user,ad", param, context)
        return first, second


class Options:
    """Options that several commands have, or that belong together.

    Attributes
    ----------
    names
        What click calls their values, in the order of the options.
    """

    def __init__(self, *options: Callable[[Command], Command]) -> None:
        self._options = options
        self.names = [str(option.name) for option in click.command()(self(lambda: None)).params]

    def __call__(self, command: Command) -> Command:
        for option in reversed(self._options):
            command = option(command)
        return command


def _owners(parameter: str) -> list[str]:
    """The learners that have a parameter, as --learner names them."""
    return [name for name, kind in LEARNERS.items() if _has(kind, parameter)]


def _has(kind: Any, parameter: str) -> bool:
    return parameter in _parameters(kind)


def _parameters(kind: Any) -> frozenset[str]:
    """What a constructor takes; asked once for all options, since River looks it up anew."""
    if kind not in _asked:
        _asked[kind] = frozenset(kind()._get_params())
    return _asked[kind]


_asked: dict[Any, frozenset[str]] = {}


def _own_options() -> list[Callable[[Command], Command]]:
    """An option for each parameter that not every learner has."""
    options: list[Callable[[Command], Command]] = []
    for name, (kind, help) in OWN.items():
        help = f"{', '.join(_owners(name))}: {help}"
        option = f"--{'no-' if kind is True else ''}{name.replace('_', '-')}"
        if isinstance(kind, bool):  # a flag that says the opposite of the default
            options.append(click.option(option, name, flag_value=not kind, default=None, help=help))
        else:
            words = click.Choice(kind) if isinstance(kind, tuple) else kind
            options.append(click.option(option, name, type=words, help=help))
    return options


FORMS = {
    "json": '{{"label": {label}, "probability": {probability}}}',
    "rsyslog": '{{"$!": {{"label": {label}, "probability": {probability}}}}}',
}
ON_ERROR = "raise: a bad line ends it, with nothing more saved; skip: it is counted and left out."

json_option = click.option("--json", is_flag=True, help="Write JSON.")
model_option = click.option("--model", "-m", required=True, metavar="FILE", help="The model file.")

# Options that are not given keep the library's defaults.
LEARNER_OPTIONS = Options(
    *_own_options(),
    click.option(
        "--no-intercept", "intercept", flag_value=False, default=None, help="Learn no intercept."
    ),
    click.option(
        "--class-weight",
        multiple=True,
        type=Pair("LABEL=WEIGHT", float),
        help="Scale the steps for a label; may be repeated.",
    ),
    click.option(
        "--degree",
        type=int,
        help="2: pair all features of an event. voted: of the kernel (1 + x.z)^degree.",
    ),
    click.option(
        "--interactions",
        multiple=True,
        type=Fields(),
        help="Pair the features of two fields; may be repeated.",
    ),
    click.option("--max-pairs", type=int, help="An event that makes more pairs is a bad line."),
    click.option("--max-labels", type=int, help="One label more than this is an error."),
    click.option("--hash-bits", type=int, help="Use a table of 2^BITS slots, without names."),
    click.option("--hash-seed", type=int, help="The seed of the hash, for runs that repeat."),
)
TOKENIZER_OPTIONS = Options(
    click.option(
        "--analyzer", type=click.Choice(["word", "char"]), help="What tokens are made of."
    ),
    click.option("--ngrams", "ngram_range", type=Ngrams(), help="Tokens of this many in a row."),
    click.option(
        "--no-lowercase",
        "lowercase",
        flag_value=False,
        default=None,
        help="Distinguish upper and lower case.",
    ),
    click.option("--separators", metavar="CHARACTERS", help="What separates words."),
    click.option("--min-length", type=int, help="Leave out shorter words."),
    click.option("--max-length", type=Length(), help="Leave out longer words; none: no limit."),
    click.option(
        "--fold-numbers", is_flag=True, default=None, help="Make numbers <num>, <hex>, <ip>."
    ),
    click.option(
        "--value", type=click.Choice(["presence", "count", "log"]), help="The value of a token."
    ),
    click.option(
        "--l2", "normalize", flag_value="l2", default=None, help="Scale events to length 1."
    ),
)
READING_OPTIONS = Options(
    click.option(
        "--format",
        type=click.Choice(FORMAT_NAMES),
        help="Of the lines; by default from the suffix.",
    ),
    click.option("--label", metavar="FIELD", help="jsonl, csv: the field of the label."),
    click.option("--text", metavar="FIELD", help="jsonl, csv: the field of the text."),
    click.option("--features", metavar="A,B,...", help="jsonl, csv: the fields that are features."),
    click.option("--delimiter", metavar="CHARACTER", help="csv: what separates cells."),
    click.option(
        "--type",
        "types",
        multiple=True,
        type=Pair("COLUMN=TYPE"),
        help="csv: a column is a number, a category, or to ignore.",
    ),
    click.option(
        "--encoding", metavar="NAME", help="Of the lines, such as latin-1; by default utf-8."
    ),
)


def _taken(names: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Take options out of all of them; those that were given on the command line."""
    context = click.get_current_context()
    values = {name: given.pop(name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }


def _reading(given: dict[str, Any], files: tuple[str, ...] = ()) -> dict[str, Any]:
    """The options of reading that were given, as arguments of streamptron.files.read.

    If files are given, their suffixes tell the format that is not.
    """
    reading = _taken(["format", "label", "text", "features", "delimiter", "types"], given)
    if "features" in reading:
        reading["features"] = reading["features"].split(",")
    if "types" in reading:
        reading["types"] = dict(reading["types"])
    if reading.get("label") == "":
        reading["label"] = None
    if files and "format" not in reading:
        reading["format"] = _format(files, bare=not reading)
    if reading.get("format") in BLOCKS and len(reading) > 1:
        other = next(name for name in reading if name != "format")
        raise click.UsageError(f"the format {reading['format']} has no {_option(other)}")
    return reading


def _format(files: tuple[str, ...], bare: bool) -> str:
    """The format that the files' suffixes stand for. Pipes have none: plain, unless other options
    of reading were given.
    """
    sources = find_sources(list(files))
    try:
        return format_of(sources)
    except ValueError as error:
        if bare and not any(map(_is_plain, files)):
            if not click.get_current_context().params.get("quiet"):
                name = sources[0].name
                say(f"streamptron: {name} is read as lines label<TAB>text; else give --format")
            return "plain"
        raise click.UsageError(str(error).replace("format=", "--format")) from None


def _encoding(given: dict[str, Any]) -> str | None:
    try:
        return check_encoding(given.pop("encoding"))
    except ValueError as error:
        raise click.UsageError(str(error).replace("encoding=", "--encoding ")) from None


def _option(name: str) -> str:
    """An option of the command as it is written on the command line."""
    parameters = click.get_current_context().command.params
    return next(parameter.opts[0] for parameter in parameters if parameter.name == name)


def _made(kind: Any, parameters: dict[str, Any]) -> Any:
    """A learner or tokenizer; a wrong parameter or value is a usage error."""
    for name in parameters:
        if not _has(kind, name):
            raise click.UsageError(
                f"{kind.__name__} has no {_option(name)}; learners that have it: "
                f"{', '.join(_owners(name))}"
            )
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from None


def _new_model(given: dict[str, Any], reading: dict[str, Any]) -> LineModel:
    """An untrained model, as the options ask for it."""
    kind = LEARNERS[given.pop("learner") or DEFAULT]
    positive = given.pop("positive")
    parameters = _taken(LEARNER_OPTIONS.names, given)
    tokens = _taken(TOKENIZER_OPTIONS.names, given)
    if positive is not None and not issubclass(kind, BinaryModel):
        raise click.UsageError("--positive is for --learner perceptron; others take any labels")
    if (
        "half_life" in parameters
        and _has(kind, "half_life")
        and parameters.get("average") != "exponential"
    ):
        raise click.UsageError("--half-life is for --average exponential; give that too")
    tokenizer = _new_tokenizer(tokens, reading)
    if tokenizer is not None and "interactions" in parameters:
        raise click.UsageError(
            "--interactions pairs fields, and a line that is a text has none; give --degree 2, "
            "or events of features"
        )
    if weights := parameters.pop("class_weight", None):
        written = LineModel(_made(kind, parameters), tokenizer, reading, positive)
        try:
            parameters["class_weight"] = {written.label(name): w for name, w in weights}
        except ValueError as error:
            raise click.UsageError(f"--class-weight: {error}") from None
        if len(parameters["class_weight"]) < len(weights):
            raise click.UsageError("--class-weight is given twice for a label; give it once")
    model = LineModel(_made(kind, parameters), tokenizer, reading, positive)
    model.wanted = {name for name, _ in weights or ()}
    if positive is not None:
        model.wanted.add(positive)
    return model


def _new_tokenizer(tokens: dict[str, Any], reading: dict[str, Any]) -> Tokenizer | None:
    """A tokenizer, as the options ask for it; None if the lines hold features."""
    format = reading["format"]
    if format in ("jsonl", "csv") and not reading.get("label"):
        raise click.UsageError(f"the format {format} needs --label FIELD")
    if format == "jsonl" and ("text" in reading) == ("features" in reading):
        raise click.UsageError("the format jsonl needs --text FIELD or --features A,B")
    if format in BLOCKS or "text" in reading:
        made: Tokenizer = _made(Tokenizer, tokens)
        return made
    if tokens:
        raise click.UsageError("these events are features; the tokenizer's options are for texts")
    return None


def _check_place(path: str) -> None:
    """Find out before an hour of training that the model cannot be written there."""
    folder = os.path.dirname(os.path.realpath(path))
    odd = os.path.exists(path) and not os.path.isfile(path)
    if odd or not os.access(folder, os.W_OK):
        raise OSError(f"{path}: the model cannot be written there; give another --model")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def commands() -> None:
    """Learn online to label lines of text, and label them.

    \b
    Examples:
      printf 'spam\\twin a prize\\nham\\tsee you\\n' > mail.tsv
      streamptron train mail.tsv --model mail.model
      echo 'a prize' | streamptron predict --model mail.model
    """


@commands.command()
@click.argument("files", nargs=-1, required=True)
@model_option
@click.option("--learner", type=Learner(list(LEARNERS)), help=LEARNER)
@click.option("--positive", metavar="LABEL", help="perceptron: the label that is true.")
@LEARNER_OPTIONS
@TOKENIZER_OPTIONS
@READING_OPTIONS
@click.option("--on-error", type=click.Choice(["raise", "skip"]), default="raise", help=ON_ERROR)
@click.option("--epochs", type=click.IntRange(1), default=1, help="Read the files this many times.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 0.5, min_open=True),
    help="Hold out this share, every 1/F-th event, and score it at the end.",
)
@click.option("--resume", is_flag=True, help="Continue with the existing model.")
@click.option(
    "--save-every",
    type=click.IntRange(1),
    help="Save after this many events, and when a signal ends it.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    help="Threads: one learns, the others read and split texts ahead of it.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only warnings.")
def train(files: tuple[str, ...], model: str, **given: Any) -> int:
    """Learn from files, one labelled event per line; - is standard input.

    A line is label<TAB>text, or what --format says. The model file keeps tokenizer and format.
    Standard error shows how often an event was answered wrongly before it was learned: on average,
    since the last line, and at the end. The defaults are the library's.

    The model is saved at the end. With --save-every it is also saved on the way, and SIGTERM or
    SIGINT save it and end with exit code 143 or 130. No other training, and no predict --learn, may
    write the same file meanwhile.

    \b
    Examples:
      streamptron train mail.tsv --model mail.model
      streamptron train mail.tsv --model mail.model --ngrams 1,2 --fold-numbers --epochs 2
      streamptron train mail.tsv --model mail.model --learner perceptron --positive spam
      streamptron train mail.tsv --model mail.model --resume
      cat mail.tsv | streamptron train - --model mail.model --save-every 10000
    """
    resume, holdout, quiet = given.pop("resume"), given.pop("holdout"), given.pop("quiet")
    encoding = _encoding(given)
    if resume:
        of_model = ["learner", "positive", *LEARNER_OPTIONS.names, *TOKENIZER_OPTIONS.names]
        fixed = _taken(of_model, given)
        if fixed:
            option = _option(next(iter(fixed)))
            raise click.UsageError(f"--resume goes on with the model as it is, without {option}")
        reading = _reading(given)
    else:
        reading = _reading(given, files)
        learner = _new_model(given, reading)
    if (given["epochs"] > 1 or holdout) and not all(map(_is_plain, files)):
        raise click.UsageError(
            "--epochs and --holdout read the files again; give files, not a pipe"
        )
    _check_place(model)
    from streamptron.command.train import Training

    with ModelLock(model) as lock:
        if resume:
            learner = _resumed(model, reading)
        format = learner.reading["format"]
        if given["jobs"] > 1 and format not in BLOCKS:
            raise click.UsageError(
                f"--jobs is for texts, plain or fasttext, which threads can split ahead; {format} "
                "lines are read by one"
            )
        training = Training(
            learner,
            list(files),
            epochs=given["epochs"],
            every=round(1 / holdout) if holdout else 0,
            skip=given["on_error"] == "skip",
            quiet=quiet,
            encoding=encoding,
            save=partial(lock.save, learner) if given["save_every"] else None,
            save_every=given["save_every"] or 0,
            jobs=given["jobs"],
        )
        with training.signals.listening() if given["save_every"] else nullcontext():
            training.run()
            learner.save_at_last(lock)
    if not quiet:
        say(training.summary())
    if training.stopped_by:
        from signal import Signals

        file, line = training.place
        epoch = f" of epoch {training.epoch}" if given["epochs"] > 1 else ""
        say(
            f"streamptron: stopped by {Signals(training.stopped_by).name} after "
            f"{training.last.n_events} events{epoch}, at {file}:{line}; the model is saved"
        )
        return 128 + training.stopped_by
    if learner.wanted and training.progressive.n_events:
        there = f"there are {', '.join(map(repr, learner.others))}"
        if missing := " or ".join(map(repr, sorted(learner.wanted - {learner.positive}))):
            message = f"no event has the label {missing} of --class-weight; {there}"
            warnings.warn(message, stacklevel=1)
        if learner.positive in learner.wanted:  # a perceptron that has seen one label only
            raise ValueError(
                f"no event has the label {learner.positive!r} of --positive; {there}. The model is "
                "saved as it is"
            )
    return 0


def _resumed(path: str, reading: dict[str, Any]) -> LineModel:
    """The existing model, reading lines as it did, or as the options say."""
    known = LineModel.load(path)
    format = reading.setdefault("format", known.reading["format"])
    if format == known.reading["format"]:
        reading = {**known.reading, **reading}
    return LineModel(
        known.learner, known.tokenizer, reading, known.positive, known._names, known.kept
    )


def _is_plain(file: str) -> bool:
    """Whether a file can be read again, as those of a pattern or a directory can."""
    return file != "-" and (not os.path.exists(file) or os.path.isfile(file) or os.path.isdir(file))


@commands.command()
@click.argument("files", nargs=-1)
@model_option
@click.option(
    "--input",
    "kind",
    type=click.Choice(["text", "labelled"]),
    help="The line is the text (the default), or label<TAB>text (with --learn).",
)
@READING_OPTIONS
@click.option("--json", "form", flag_value="json", help='Write {"label": ..., "probability": ...}.')
@click.option("--rsyslog", "form", flag_value="rsyslog", help='The same within {"$!": ...}.')
@click.option("--template", help="Write this; {label}, {probability} and {text} are filled in.")
@click.option("--learn", is_flag=True, help="Learn a line that has a label, after its answer.")
@click.option(
    "--save-every", type=click.IntRange(1), help="Save after this many lines, and at the end."
)
@click.option(
    "--save-seconds",
    type=click.FloatRange(0, min_open=True),
    help="Save this often, and at the end.",
)
@click.option(
    "--max-line", type=click.IntRange(16), default=MAX_LINE, help="The most bytes in a line."
)
def predict(files: tuple[str, ...], model: str, **given: Any) -> int:
    """Label lines from standard input or files.

    Each line is answered at once with one line: label<TAB>probability, or what --json, --rsyslog or
    --template say. A blank or bad line gets an empty label and probability (null in JSON), and so
    does any line before the model knows a label.

    \b
    With --learn:
      SIGTERM, end of input    saves and ends with exit code 0 (1: it could not be saved)
      SIGINT                   saves and ends with exit code 130
      SIGHUP                   reloads the model file; what is not saved is dropped

    \b
    Examples:
      echo 'a prize' | streamptron predict --model mail.model
      echo 'a prize' | streamptron predict --model mail.model --json
      streamptron predict mail.tsv --input labelled --model mail.model --template '{label} {text}'
      streamptron predict mail.tsv --learn --save-every 1000 --model mail.model
    """
    from streamptron.command.filter import Answers, Filter

    reading = _reading(given)
    encoding = _encoding(given)
    form, template, learn = given["form"], given["template"], given["learn"]
    if form and template is not None:
        raise click.UsageError(f"--{form} and --template are two ways to write; give one")
    if given["kind"] and reading:
        raise click.UsageError("--input and the options of a format are two ways; give one")
    if given["kind"] == "text" and learn:
        raise click.UsageError("--learn needs labels; give --input labelled or a --format")
    if not learn and (given["save_every"] or given["save_seconds"]):
        raise click.UsageError("without --learn there is nothing to save")
    try:
        if form:
            answers = Answers(FORMS[form], nothing="null", quote=True)
        else:
            answers = Answers("{label}\t{probability}" if template is None else template)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return Filter(
        model,
        answers,
        max_line=given["max_line"],
        files=[] if files == ("-",) else files,
        kind=given["kind"],
        reading=reading,
        encoding=encoding,
        learn=learn,
        save_lines=given["save_every"],
        save_seconds=given["save_seconds"],
    ).run()


@commands.command("eval")
@click.argument("files", nargs=-1, required=True)
@model_option
@READING_OPTIONS
@json_option
def evaluate(files: tuple[str, ...], model: str, **given: Any) -> None:
    """Compare answers with the labels in files.

    Precision, recall, F1, accuracy, and how often each label got which answer.

    \b
    Examples:
      streamptron eval mail.tsv --model mail.model
      streamptron eval mail.tsv --model mail.model --json
    """
    from streamptron.command.report import evaluated, evaluation, measures

    encoding = _encoding(given)
    reading = _reading(given, files)
    found = measures(evaluated(LineModel.load(model), list(files), reading, encoding))
    _write(found, evaluation, given["json"])


@commands.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--learners",
    metavar="A,B,...",
    help=f"Of {', '.join(LEARNERS)}; by default all but voted, perceptron only with --positive.",
)
@click.option("--positive", metavar="LABEL", help="Whether an event has it is the question.")
@TOKENIZER_OPTIONS
@READING_OPTIONS
@json_option
def compare(
    files: tuple[str, ...], learners: str | None, positive: str | None, **given: Any
) -> None:
    """Which learner errs least on the events of files.

    All learn the same events, each answered before it is learned. The table has their errors in
    percent, how far these are from the best one's and the half-width of the 95 % interval of that
    difference (paired), CPU time an event, and memory. Weights of events are not used, and no model
    is saved.

    \b
    Examples:
      streamptron compare mail.tsv
      streamptron compare mail.tsv --learners adaptive,mira --ngrams 1,2
      streamptron compare mail.tsv --learners adaptive,perceptron --positive spam
    """
    from streamptron.command.report import compared, comparison

    encoding = _encoding(given)
    reading = _reading(given, files)
    names = _learners(learners, positive)
    tokenizer = _new_tokenizer(_taken(TOKENIZER_OPTIONS.names, given), reading)
    models = {
        name: LineModel(
            LEARNERS[name](), tokenizer, reading, positive if name == "perceptron" else None
        )
        for name in names
    }
    found = compared(models, list(files), reading, encoding)
    _write(comparison(found) if given["json"] else found, str, given["json"])


def _learners(listed: str | None, positive: str | None) -> list[str]:
    """The learners that --learners names."""
    if listed is None:
        left_out = {"voted"} if positive is not None else {"voted", "perceptron"}
        return [name for name in LEARNERS if name not in left_out]
    names = [name.strip() for name in listed.split(",")]
    for at, name in enumerate(names):
        Learner(list(LEARNERS)).convert(name, None, click.get_current_context())
        if name in names[:at]:
            raise click.UsageError(f"--learners has {name} twice; give it once")
    if positive is not None and "perceptron" not in names:
        raise click.UsageError("--positive is for perceptron; others take any labels")
    return names


@commands.command()
@model_option
@click.option("-n", "number", type=click.IntRange(1), default=20, help="How many of each sign.")
@click.option("--label", help="Of one label only.")
@json_option
def top(model: str, number: int, label: str | None, json: bool) -> None:
    """The features with the largest weights.

    \b
    Examples:
      streamptron top --model mail.model -n 5
      streamptron top --model mail.model --label spam
    """
    from streamptron.command.report import ranked, ranking

    _write(ranked(LineModel.load(model), number, label), ranking, json)


@commands.command()
@click.argument("text")
@model_option
def explain(text: str, model: str) -> None:
    """Which features of a text led to its answer.

    The contributions are towards the answer; of a perceptron, towards its true label. For a model
    that was trained on features, TEXT is a line of that format.

    \b
    Examples:
      streamptron explain 'a prize' --model mail.model
    """
    from streamptron.command.report import explained

    click.echo(explained(LineModel.load(model), text))


@commands.command()
@model_option
@json_option
def info(model: str, json: bool) -> None:
    """What a model is, what it has seen, and what it takes.

    \b
    Examples:
      streamptron info --model mail.model
    """
    from streamptron.command.report import described, description

    _write(described(LineModel.load(model)), description, json)


def _write(found: Any, shown: Callable[[Any], str], as_json: bool) -> None:
    if as_json:
        import json

        click.echo(json.dumps(found))
    else:
        click.echo(shown(found))
