"""Most commands and their options; what each command does is in other modules of this folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import click

from streamptron.command import options
from streamptron.command.bar import watched
from streamptron.command.blocks import BLOCKS
from streamptron.common.process import say
from streamptron.common.version import version
from streamptron.files.lines import LineModel
from streamptron.keeping.layout import looks_like_one
from streamptron.learners.registry import BY_NAME, LEARNERS

ROOMS = {
    "train": "commands",
    "predict": "predict",
    "filter": "mail",
    "serve": "serve",
    "learn": "mail",
    "forget": "mail",
    "eval": "commands",
    "compare": "commands",
    "top": "commands",
    "explain": "commands",
    "info": "commands",
    "plot": "plot",
}
LEARNER = f"The default, {options.DEFAULT}, makes the fewest errors; perceptron is the fastest."
ON_ERROR = "raise: stop at a bad line, without saving; skip: count bad lines and leave them out."


def _check_place(path: str, files: tuple[str, ...]) -> None:
    """Raise an OSError before the training if the model cannot, or must not, be written there."""
    folder = os.path.dirname(os.path.realpath(path))
    why = ""
    if not os.path.isdir(folder):
        why = f"there is no folder {folder!r}"
    elif os.path.exists(path) and not os.path.isfile(path):
        why = "it is not a file"
    elif not os.access(folder, os.W_OK):
        why = "the folder is not yours to write to"
    elif os.path.exists(path):
        if any(os.path.exists(file) and os.path.samefile(file, path) for file in files):
            why = "it is one of the files to learn from"
        elif os.path.getsize(path) and not looks_like_one(path):
            why = "it does not hold a model"
    if why:
        raise OSError(f"{path}: the model cannot be written there, {why}; give another --model")


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(f"{context.find_root().info_name} {version()}")
        context.exit()


@click.group(
    cls=options.Commands, rooms=ROOMS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def commands() -> None:
    """Train text classifiers online, and label lines with them.

    \b
    Examples:
      printf 'spam\\twin a prize\\nham\\tsee you\\n' > mail.tsv
      streamptron train mail.tsv --model mail.model
      echo 'a prize' | streamptron predict --model mail.model
    """


@commands.command(sections=options.LEARNER_SECTION | options.TEXT_SECTION | options.READING_SECTION)
@options.mails_argument
@options.model_option
@options.config_option
@click.option("--learner", type=options.Learner(list(BY_NAME)), help=LEARNER)
@click.option("--positive", metavar="LABEL", help="perceptron: the label that is true.")
@options.LEARNER_OPTIONS
@options.TOKENIZER_OPTIONS
@options.READING_OPTIONS
@options.MAIL_OPTIONS
@click.option("--on-error", type=click.Choice(["raise", "skip"]), default="raise", help=ON_ERROR)
@options.count("--epochs", "Read the files this many times.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 0.5, min_open=True),
    help="Hold out this share, every 1/F-th event, and score it at the end: 0.5, 0.25, 0.1, ...",
)
@click.option("--resume", is_flag=True, help="Continue with the existing model.")
@click.option("--create", is_flag=True, help="With --resume: begin a new model if there is none.")
@options.count("--save-every", "Save after this many events, and at the end.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    help="Threads: one learns, the others read and split texts ahead of it.",
)
@options.learn_unsure_option
@options.known_labels_option
@options.new_label_option
@click.option("--quiet", "-q", is_flag=True, help="Print only warnings.")
def train(files: tuple[str, ...], model: str, **given: Any) -> int:
    """Learn from files of labelled lines; - is the standard input.

    A line is label<TAB>text, or what --format says. With --learner multilabel it may have any
    number of labels: label,label<TAB>text. The model file keeps the tokenizer and the format. An
    existing model is overwritten unless --resume is given. Standard error shows the errors so far,
    each event being predicted before it is learned. The defaults are the library's.

    The model is saved at the end, and with --save-every also on the way. SIGTERM and Ctrl-C save it
    and end with exit code 143 or 130; --resume, with the same files, then continues at the next
    line. No other train or predict --learn may write the same file meanwhile.

    \b
    Examples:
      streamptron train mail.tsv --model mail.model
      streamptron train mail.tsv --model mail.model --ngrams 1,2 --fold-numbers --epochs 2
      streamptron train mail.tsv --model mail.model --learner perceptron --positive spam
      streamptron train --spam Junk --ham INBOX --model spam.model
      streamptron train topics.tsv --model topics.model --learner multilabel --threshold f1
      streamptron train mail.tsv --model mail.model --resume
      streamptron train mail.tsv --model mail.model --resume --create --learner mira
      cat mail.tsv | streamptron train - --model mail.model --save-every 10000
    """
    files = options.with_mails(files, given)
    holdout, quiet, create = given.pop("holdout"), given.pop("quiet"), given.pop("create")
    resume, learn_unsure = given.pop("resume"), given.pop("learn_unsure")
    if create and not resume:
        raise click.UsageError("--create is for --resume; without it the model is always a new one")
    resume = resume and not (create and not os.path.exists(model))
    encoding = options.encoding_of(given)
    if resume:
        fixed = options.taken(options.OF_NEW_MODELS, given)
        if fixed and not create:
            option = options.option_called(next(iter(fixed)))
            raise click.UsageError(f"--resume keeps the model as it is; leave out {option}")
        reading = options.reading_of(given)
    else:
        reading = options.reading_of(given, files)
        learner = options.new_model(given, reading)
    if ((given["epochs"] or 1) > 1 or holdout) and not all(map(options.is_plain, files)):
        raise click.UsageError(
            "--epochs and --holdout read the files again; give files, not a pipe"
        )
    every = _every(holdout) if holdout else 0
    _check_place(model, files)
    from streamptron.command.model_on_disk import ModelOnDisk
    from streamptron.command.train import Stopped, Training, ended

    with ModelOnDisk(model, lines=given["save_every"]) as on_disk:
        start = None
        if resume:
            learner = _resumed(model, reading)
            start = Stopped.of(learner, list(files)) or ended(learner, list(files), given["epochs"])
            if start is not None and start.epoch > start.epochs:
                say(
                    "streamptron: these files were learned to their end and have not changed; "
                    f"nothing is learned. To learn them once more give --epochs {start.epoch}"
                )
                given["epochs"] = None
            elif start is not None and start.place.file and not quiet:
                say(f"streamptron: goes on {start.where()}")
            if start is not None and given["epochs"] and given["epochs"] < start.epoch:
                raise click.UsageError(
                    f"--epochs {given['epochs']}: the training stopped in epoch {start.epoch} of "
                    f"{start.epochs}; give at least {start.epoch}, or leave it out"
                )
        on_disk.model = learner
        learner.learn_unsure = learn_unsure
        _settle_labels(learner, given["known_labels"], given["new_label"], resume)
        format = learner.reading["format"]
        if given["jobs"] > 1 and learner.multilabel:
            raise click.UsageError(
                "--jobs is for lines of one label; those of several are read by one thread"
            )
        if given["jobs"] > 1 and format not in BLOCKS:
            raise click.UsageError(
                f"--jobs is for texts, plain or fasttext, which threads can split ahead; {format} "
                "lines are read by one"
            )
        if given["jobs"] > 1 and learn_unsure is not None:
            raise click.UsageError(
                "--learn-unsure judges each line before it is learned, in one thread; leave out "
                "--jobs"
            )
        training = Training(
            on_disk,
            list(files),
            epochs=given["epochs"] or (start.epochs if start else 1),
            every=every or (start.every if start else 0),
            start=start,
            skip=given["on_error"] == "skip",
            quiet=quiet,
            encoding=encoding,
            jobs=given["jobs"],
        )
        with training.signals.listening():
            training.run()
            if training.n_learned or (start and not training.stopped_by):
                learner.save_at_last(on_disk.lock)
            elif not training.stopped_by:
                kept = "left as it was" if os.path.exists(model) else "not written"
                bad = f" ({training.n_bad} bad lines, the first: {training.first_bad})"
                raise ValueError(
                    f"{', '.join(files)}: no labelled event{bad * bool(training.n_bad)}; the model "
                    f"is {kept}; give files that have some"
                )
    if not quiet:
        say(training.summary())
    if training.stopped_by:
        say(f"streamptron: stopped by {training.stop_said()}")
        return 128 + training.stopped_by
    if learner.wanted:
        there = f"there are {', '.join(map(repr, learner.others))}"
        for option, labels in options.without_events(learner):
            message = f"no event has the label {labels} of {option}; {there}"
            warnings.warn(message, stacklevel=1)
        if learner.positive in learner.wanted:  # a perceptron that has seen one label only
            raise ValueError(
                f"no event has the label {learner.positive!r} of --positive; {there}. The model is "
                "saved as it is"
            )
    return 0


def _settle_labels(model: LineModel, known: bool, new: bool, resume: bool) -> None:
    """Set which labels may be learned now, and by later commands."""
    if known and new:
        raise click.UsageError("--known-labels and --new-label exclude each other; give one")
    if resume:
        model.settle_labels(known, new, learns=False)
    if known:
        model.labels = {**(model.labels or {}), "known": True}


def _every(share: float) -> int:
    """The number n for which every n-th event is a given share of all."""
    every = round(1 / share)
    if abs(every * share - 1) > 0.025:  # 0.33 is a third
        less = int(1 / share)
        raise click.UsageError(
            f"--holdout {share:g}: it can be one event of 2, of 3, of 4 and so on; the nearest are "
            f"{1 / (less + 1):.4g} and {1 / less:.4g}"
        )
    return every


def _resumed(path: str, reading: dict[str, Any]) -> LineModel:
    """The existing model; it reads lines as before, except where the options say otherwise."""
    known = LineModel.load(path, multilabel=True)
    format = reading.setdefault("format", known.reading["format"])
    if format == known.reading["format"]:
        reading = {**known.reading, **reading}
    known.reading = reading
    return known


@commands.command("eval", sections=options.READING_SECTION)
@options.mails_argument
@options.model_option
@options.config_option
@options.READING_OPTIONS
@options.MAIL_OPTIONS
@click.option("--wrong", type=click.IntRange(1), metavar="N", help="List N wrong answers, too.")
@options.min_probability_option
@options.json_option
def evaluate(files: tuple[str, ...], model: str, wrong: int | None, **given: Any) -> None:
    """Compare answers with the labels in files.

    Prints precision, recall, F1, accuracy, and how often each label got which answer; of several
    labels micro- and macro-F1, exact sets, Hamming loss and LRAP. A rate that is undefined, such as
    the precision of an answer that was never given, is -, in JSON null. Below --min-probability an
    answer is `unsure`, and counts as wrong. For a filter of mails a table shows how many of each
    label would be answered wrongly, or be unsure, at several such probabilities.

    \b
    Examples:
      streamptron eval mail.tsv --model mail.model
      streamptron eval mail.tsv --model mail.model --json
      streamptron eval mail.tsv --model mail.model --wrong 20
    """
    from streamptron.command.evaluate import judged

    least = given.pop("min_probability")
    files = options.with_mails(files, given)
    encoding = options.encoding_of(given)
    reading = options.reading_of(given, files)
    lines = LineModel.load(model, multilabel=True)
    with watched(files) as sources:
        if lines.multilabel and least:
            raise click.UsageError("--min-probability is for one label; leave it out")
        found, said = judged(lines, sources, reading, encoding, least, wrong)
    _write(found, lambda _: said, given["json"])


@commands.command(sections=options.TEXT_SECTION | options.READING_SECTION)
@options.mails_argument
@options.COMPARED_OPTIONS
@options.TOKENIZER_OPTIONS
@options.READING_OPTIONS
@options.MAIL_OPTIONS
@options.json_option
def compare(
    files: tuple[str, ...], learners: str | None, positive: str | None, **given: Any
) -> None:
    """Find out which learner errs least on your events.

    All learn the same events, each predicted before it is learned. The table has each learner's
    errors in percent, the difference from the best one's and the half-width of its 95 % interval
    (paired), CPU time per event, and memory. Weights of events are not used, and no model is saved.

    \b
    Examples:
      streamptron compare mail.tsv
      streamptron compare mail.tsv --learners adaptive,mira --ngrams 1,2
      streamptron compare mail.tsv --learners adaptive,perceptron --positive spam
    """
    from streamptron.command.report import compared, comparison

    files = options.with_mails(files, given)
    encoding = options.encoding_of(given)
    reading = options.reading_of(given, files)
    models = untrained(learners, positive, reading, given)
    with watched(files) as sources:
        found = compared(models, sources, reading, encoding)
    _write(comparison(found) if given["json"] else found, str, given["json"])


def untrained(
    listed: str | None, positive: str | None, reading: dict[str, Any], given: dict[str, Any]
) -> dict[str, LineModel]:
    """An untrained model for each learner of --learners, for the same lines."""
    names = _learners(listed, positive)
    tokenizer = options.new_tokenizer(
        options.taken(options.TOKENIZER_OPTIONS.names, given), reading
    )
    return {
        name: LineModel(
            LEARNERS[name](), tokenizer, reading, positive if name == "perceptron" else None
        )
        for name in names
    }


def _learners(listed: str | None, positive: str | None) -> list[str]:
    """The learners of --learners; by default all but voted, perceptron only with --positive."""
    if listed is None:
        left_out = {"voted"} if positive is not None else {"voted", "perceptron"}
        return [name for name in LEARNERS if name not in left_out]
    names = [name.strip() for name in listed.split(",")]
    for at, name in enumerate(names):
        options.Learner(list(LEARNERS)).convert(name, None, click.get_current_context())
        if name in names[:at]:
            raise click.UsageError(f"--learners has {name} twice; give it once")
    if positive is not None and "perceptron" not in names:
        raise click.UsageError("--positive is for perceptron; others take any labels")
    return names


@commands.command()
@options.model_option
@options.config_option
@click.option("-n", "number", type=click.IntRange(1), default=20, help="How many of each sign.")
@click.option("--label", help="Only for this label.")
@options.json_option
def top(model: str, number: int, label: str | None, json: bool) -> None:
    """Show the features with the largest weights.

    \b
    Examples:
      streamptron top --model mail.model -n 5
      streamptron top --model mail.model --label spam
    """
    from streamptron.command.report import ranked, ranking

    _write(ranked(LineModel.load(model, multilabel=True), number, label), ranking, json)


@commands.command()
@click.argument("text")
@options.model_option
@options.config_option
@click.option("-n", "number", type=click.IntRange(1), help="How many features; by default all.")
def explain(text: str, model: str, number: int | None) -> None:
    """Show which features of a text led to its answer.

    Contributions are towards the answer, or for a perceptron towards its true label. If the model
    was trained on features, TEXT is a line in that format, with or without its label; if it was
    trained on mails, TEXT is the file of a mail, or -.

    \b
    Examples:
      streamptron explain 'a prize' --model mail.model
      streamptron explain 'win a prize' --model mail.model -n 2
    """
    from streamptron.command.explain import explained

    click.echo(explained(LineModel.load(model, multilabel=True), text, number))


@commands.command()
@click.argument("file", required=False, type=options.FILE)
@click.option("--model", "-m", type=options.FILE, metavar="FILE", help="The same as FILE.")
@options.config_option
@options.json_option
def info(file: str | None, model: str | None, json: bool) -> None:
    """Describe the model in a file.

    That is: what it is, what it has seen, and its memory.

    \b
    Examples:
      streamptron info mail.model
      streamptron info mail.model --json
    """
    from streamptron.command.report import described, description

    path = file or model
    if path is None:
        raise click.UsageError("give the model file")
    _write(described(path), description, json)


def _write(found: Any, shown: Callable[[Any], str], as_json: bool) -> None:
    if as_json:
        import json

        click.echo(json.dumps(found))
    else:
        click.echo(shown(found))
