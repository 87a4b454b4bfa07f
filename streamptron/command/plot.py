"""``streamptron plot``: pictures of a model, or of how a learner learns files of events."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from streamptron.command import options
from streamptron.command.bar import watched
from streamptron.command.commands import untrained
from streamptron.common.disk import replace
from streamptron.common.names import short_repr
from streamptron.doors._core import BinaryModel
from streamptron.files.lines import LineModel
from streamptron.learners.adaptive import AdaptiveClassifier
from streamptron.learners.registry import LEARNERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 4.8  # inches, as matplotlib's
ROW = 0.24  # inches; the height of a bar, or of a row with a name


class Picture(click.Path):  # type: ignore[type-arg, unused-ignore]
    """A file to write, with a suffix that matplotlib knows."""

    def convert(self, value: Any, param: Any, context: Any) -> str:
        _needs_matplotlib()
        from matplotlib.figure import Figure

        known = sorted(Figure().canvas.get_supported_filetypes())
        if os.path.splitext(value)[1].lstrip(".").lower() not in known:
            self.fail(f"{value}: its suffix is the format, .{', .'.join(known)}", param, context)
        folder = os.path.dirname(os.path.realpath(value))
        if os.path.isdir(value) or not os.access(folder, os.W_OK):
            self.fail(f"{value}: it cannot be written there", param, context)
        return str(value)


class Style(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A style of matplotlib."""

    name = "name"

    def convert(self, value: Any, param: Any, context: Any) -> str:
        _needs_matplotlib()
        from matplotlib import style

        if value not in style.available:
            self.fail(f"{value}: matplotlib has {', '.join(style.available)}", param, context)
        return str(value)


class Size(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Width and height in inches."""

    name = "WxH"

    def convert(self, value: Any, param: Any, context: Any) -> tuple[float, float]:
        try:
            width, height = map(float, value.lower().split("x"))
        except ValueError:
            self.fail(f"{value}: give width and height in inches, as 8x5", param, context)
        if not (1 <= width <= 100 and 1 <= height <= 100):
            self.fail(f"{value}: give from 1 to 100 inches each", param, context)
        return width, height


class Drawing(NamedTuple):
    """Where a picture goes, and how it looks."""

    output: str
    style: str | None
    title: str | None
    size: tuple[float, float] | None
    dpi: int | None


def _needs_matplotlib() -> None:
    from streamptron.plot.drawing import check_axes  # slow to import, and only pictures need it

    check_axes(None)


DRAWING_OPTIONS = options.Options(
    click.option(
        "--output",
        "-o",
        type=Picture(dir_okay=False),
        required=True,
        help="The picture; its suffix is the format: .png, .svg, .pdf...",
    ),
    click.option("--style", type=Style(), help="A style of matplotlib, such as dark_background."),
    click.option("--title", metavar="TEXT", help="A line above the picture."),
    click.option("--size", type=Size(), help="Its size in inches; by default as large as needed."),
    click.option("--dpi", type=click.IntRange(10, 2400), help="Dots per inch, for .png and .jpg."),
)


def drawn(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a picture to a command, which gets them as a Drawing."""

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        drawing = Drawing(**{name: given.pop(name) for name in DRAWING_OPTIONS.names})
        return command(drawing=drawing, **given)

    return DRAWING_OPTIONS(run)


NEW_MODEL_OPTIONS = options.Options(
    click.option(
        "--learner",
        type=options.Learner(list(LEARNERS)),
        help=f"An untrained one; by default {options.DEFAULT}.",
    ),
    click.option("--positive", metavar="LABEL", help="perceptron: the label that is true."),
    options.LEARNER_OPTIONS,
    options.TOKENIZER_OPTIONS,
    options.READING_OPTIONS,
)


@click.group(cls=options.Commands, no_args_is_help=False)
def plot() -> None:
    """Draw a picture of a model, or of what events do to a learner.

    Needs matplotlib, the extra plot.

    \b
    Examples:
      streamptron plot weights --model mail.model -o weights.png
      streamptron plot explanation 'a prize' --model mail.model -o why.svg --style dark_background
      streamptron plot progressive mail.tsv --learner multiclass --pocket -o error.png
    """


@plot.command()
@options.model_option
@click.option("-n", "number", type=click.IntRange(1), default=10, help="How many of each sign.")
@click.option("--label", help="Which label's weights; needed if each label has its own.")
@drawn
def weights(model: str, number: int, label: str | None, drawing: Drawing) -> None:
    """The largest positive and negative weights.

    \b
    Examples:
      streamptron plot weights --model mail.model -o weights.png
    """
    from streamptron.plot import top_weights
    from streamptron.plot.drawing import label_text

    lines = LineModel.load(model, multilabel=True)
    if label is None and lines.names and lines.learner._scores_by_label:
        raise click.UsageError(
            "each label has weights of its own; give --label, one of "
            f"{short_repr(lines.names, 200)}"
        )
    wanted = None if label is None else lines.label(label)

    def draw(ax: Axes) -> None:
        top_weights(lines.learner, number, wanted, ax=ax)
        if isinstance(lines.learner, BinaryModel):
            ax.set_xlabel(f"weight towards {label_text(lines.name(wanted is None or wanted))}")

    _save(draw, drawing)


@plot.command()
@click.argument("text")
@options.model_option
@click.option("-n", "number", type=click.IntRange(1), default=10, help="How many features.")
@drawn
def explanation(text: str, model: str, number: int, drawing: Drawing) -> None:
    """What each feature of a text adds to its score.

    A waterfall from 0 to the score of the answer; of a perceptron, of its true label. For a model
    that was trained on features, TEXT is a line of that format, with or without its label.

    \b
    Examples:
      streamptron plot explanation 'a prize' --model mail.model -o why.svg
    """
    from streamptron.command.explain import event_of
    from streamptron.plot import explanation
    from streamptron.plot.drawing import label_text

    lines = LineModel.load(model, multilabel=True)
    event = event_of(lines, text)

    binary = isinstance(lines.learner, BinaryModel)
    answer = None if binary or lines.multilabel else lines.learner.predict_one(event)
    if lines.multilabel and lines.names:  # the likeliest, answered or not
        known, found = lines.learner._probabilities(event)
        answer = known[max(range(len(known)), key=found.__getitem__)]

    def draw(ax: Axes) -> None:
        explanation(lines.learner, event, answer, number, ax=ax)
        if binary:
            score = lines.learner.decision_function_one(event)
            ax.set_xlabel(f"score for {label_text(lines.name(True))}: {score:.4g}")

    _save(draw, drawing)


@plot.command()
@click.argument("name", metavar="COLUMN")
@options.model_option
@click.option("-n", "number", type=click.IntRange(1), default=6, help="How many labels.")
@drawn
def column(name: str, model: str, number: int, drawing: Drawing) -> None:
    """What a column of numbers adds to the score, from low values to high ones.

    All other columns are at their means. The band is where the column's values lie: one standard
    deviation to each side of the mean. Needs a model of the learner adaptive.

    \b
    Examples:
      streamptron plot column age --model people.model -o age.png
    """
    from streamptron.plot import column

    lines = LineModel.load(model)
    _save(lambda ax: column(lines.learner, _column_of(lines, name), number, ax=ax), drawing)


@plot.command()
@click.argument("first", metavar="COLUMN")
@click.argument("second", metavar="COLUMN")
@options.model_option
@click.option("--label", help="For which label; by default the one for which they do most.")
@drawn
def surface(first: str, second: str, model: str, label: str | None, drawing: Drawing) -> None:
    """What two columns of numbers add to the score together.

    A map of the values of the first, from left to right, and of the second, from below. All other
    columns are at their means. The bars above and beside are how many events lay there. Needs a
    model of the learner adaptive.

    \b
    Examples:
      streamptron plot surface age pay --model people.model -o together.png
    """
    from streamptron.plot import surface

    lines = LineModel.load(model)
    names = _column_of(lines, first), _column_of(lines, second)
    wanted = None if label is None else lines.label(label)
    _save(lambda ax: surface(lines.learner, *names, wanted, ax=ax), drawing)


@plot.command()
@options.model_option
@click.option("-n", "number", type=click.IntRange(1), default=20, help="How many of the largest.")
@drawn
def gates(model: str, number: int, drawing: Drawing) -> None:
    """Which curves of columns, and surfaces of two columns, matter.

    A bar is how much one counts: 0 if it says nothing. Needs a model of the learner adaptive.

    \b
    Examples:
      streamptron plot gates --model people.model -o gates.png
    """
    from streamptron.plot import gates

    learner = LineModel.load(model).learner
    _save(lambda ax: gates(learner, number, ax=ax), drawing)


def _column_of(lines: LineModel, name: str) -> Any:
    """The column that is shown by this name, or the name itself if there is none."""
    learner = lines.learner
    if not isinstance(learner, AdaptiveClassifier) or learner.hash_bits is not None:
        return name
    return {str(known): known for known in learner._columns()}.get(name, name)


@plot.command(sections=options.READING_SECTION)
@options.files_argument
@options.model_option
@options.READING_OPTIONS
@drawn
def confusion(files: tuple[str, ...], model: str, drawing: Drawing, **given: Any) -> None:
    """How many events of each label in files got which answer.

    \b
    Examples:
      streamptron plot confusion mail.tsv --model mail.model -o confusion.png
    """
    from streamptron.command.evaluate import NOTHING, evaluated
    from streamptron.plot import confusion_matrix
    from streamptron.plot.answers import matrix_inches

    encoding, reading = options.encoding_of(given), options.reading_of(given, files)
    lines = LineModel.load(model)
    with watched(files) as sources:
        pairs = evaluated(lines, sources, reading, encoding)
    labels = [label for (label, _), n in pairs.items() for _ in range(n)]
    answers: list[str | None] = [answer for (_, answer), n in pairs.items() for _ in range(n)]
    if NOTHING not in lines.names:
        answers = [None if answer == NOTHING else answer for answer in answers]
    inches = matrix_inches(len({*labels, *answers}))
    _save(lambda ax: confusion_matrix(labels, answers, ax=ax), drawing, inches)


@plot.command(sections=options.READING_SECTION)
@options.files_argument
@options.model_option
@click.option("--of", "wanted", metavar="LABEL", help="For this label; by default for the answers.")
@click.option("--bins", type=click.IntRange(1), default=10, help="How many bins from 0 to 1.")
@options.READING_OPTIONS
@drawn
def calibration(
    files: tuple[str, ...],
    model: str,
    wanted: str | None,
    bins: int,
    drawing: Drawing,
    **given: Any,
) -> None:
    """How often predicted probabilities come true.

    Where the probability of the answer is .8, it should be right 8 times of 10.

    \b
    Examples:
      streamptron plot calibration mail.tsv --model mail.model -o calibration.pdf
    """
    from streamptron.plot import calibration_curve

    encoding, reading = options.encoding_of(given), options.reading_of(given, files)
    lines = LineModel.load(model, multilabel=True)
    if wanted is not None:
        _known(lines, wanted)
    labels, probabilities = _probabilities(model, lines, files, reading, encoding, wanted)
    if lines.multilabel and wanted is None:  # all labels of all events together
        wanted = THERE
    _save(lambda ax: calibration_curve(labels, probabilities, wanted, bins, ax=ax), drawing)


THRESHOLD_OPTIONS = options.Options(
    click.argument("files", nargs=-1, required=True),
    click.option(
        "--model",
        "-m",
        "models",
        multiple=True,
        required=True,
        metavar="FILE",
        help="A model file; may be repeated, for a curve of each.",
    ),
    click.option(
        "--of",
        "wanted",
        metavar="LABEL",
        help="The label to look for; with two, by default, the one whose score is positive.",
    ),
    options.READING_OPTIONS,
    drawn,
)


@plot.command()
@THRESHOLD_OPTIONS
def roc(drawing: Drawing, **given: Any) -> None:
    """How many events of a label are found for how many false positives.

    A point of the curve is a threshold of its probability.

    \b
    Examples:
      streamptron plot roc mail.tsv --model mail.model --of spam -o roc.png
    """
    from streamptron.plot import roc_curve

    _save(_by_threshold(roc_curve, **given), drawing)


@plot.command()
@THRESHOLD_OPTIONS
def precision_recall(drawing: Drawing, **given: Any) -> None:
    """How many events predicted as a label have it, by how many are found.

    It says more than roc where the label is rare.

    \b
    Examples:
      streamptron plot precision-recall mail.tsv --model mail.model --of spam -o precision.png
    """
    from streamptron.plot import precision_recall_curve

    _save(_by_threshold(precision_recall_curve, **given), drawing)


@plot.command()
@THRESHOLD_OPTIONS
def false_positives(drawing: Drawing, **given: Any) -> None:
    """What each threshold of a probability costs: false positives, and misses.

    It shows where to draw the line between a label and all others.

    \b
    Examples:
      streamptron plot false-positives mail.tsv --model mail.model --of spam -o spam.png
    """
    from streamptron.plot import false_positives

    _save(_by_threshold(false_positives, **given), drawing)


@plot.command()
@click.argument("files", nargs=-1, required=True)
@options.COMPARED_OPTIONS
@click.option(
    "--by",
    type=click.Choice(["window", "so far"]),
    default="so far",
    help="Draw the error of each window of events, or of all so far (the default).",
)
@options.TOKENIZER_OPTIONS
@options.READING_OPTIONS
@drawn
def errors(
    files: tuple[str, ...],
    learners: str | None,
    positive: str | None,
    by: str,
    drawing: Drawing,
    **given: Any,
) -> None:
    """How often several learners err along the stream, as compare does.

    All learn the same events, each answered before it is learned.

    \b
    Examples:
      streamptron plot errors mail.tsv --learners adaptive,arow,mira -o errors.png
    """
    from streamptron.command.report import compared

    encoding, reading = options.encoding_of(given), options.reading_of(given, files)
    models = untrained(learners, positive, reading, given)
    with watched(files) as sources:
        found = compared(models, sources, reading, encoding)
    _save(lambda ax: found.plot(by, ax=ax), drawing)


@plot.command(sections=options.LEARNER_SECTION | options.TEXT_SECTION | options.READING_SECTION)
@options.files_argument
@click.option(
    "--window", type=click.IntRange(1), help="Count this many last events; by default all so far."
)
@NEW_MODEL_OPTIONS
@drawn
def progressive(files: tuple[str, ...], window: int | None, drawing: Drawing, **given: Any) -> None:
    """How often each kept vector errs, and which one answers.

    An untrained learner learns the files, as train does; each event is answered first. Several
    vectors are kept by perceptron, multiclass and mira; of the others there is one line.

    \b
    Examples:
      streamptron plot progressive mail.tsv --learner multiclass --pocket -o error.png
    """
    from streamptron.plot import progressive_error

    lines, stream = _learned(files, given)
    _save(lambda ax: progressive_error(lines.learner, stream, window, ax=ax), drawing)


@plot.command(sections=options.LEARNER_SECTION | options.TEXT_SECTION | options.READING_SECTION)
@options.files_argument
@NEW_MODEL_OPTIONS
@drawn
def memory(files: tuple[str, ...], drawing: Drawing, **given: Any) -> None:
    """Memory while files are learned, and evictions.

    Features are evicted under --max-features. An untrained learner learns the files, as train does.

    \b
    Examples:
      streamptron plot memory mail.tsv --max-features 1000 -o memory.png
    """
    from streamptron.plot import memory

    lines, stream = _learned(files, given)
    _save(lambda ax: memory(lines.learner, stream, ax=ax), drawing)


# --- What several commands use


def _learned(
    files: tuple[str, ...], given: dict[str, Any]
) -> tuple[LineModel, Iterator[tuple[Any, Any]]]:
    """An untrained model, and the events of some files for it."""
    from streamptron.command.report import labelled

    encoding, reading = options.encoding_of(given), options.reading_of(given, files)
    lines = options.new_model(given, reading)

    def stream() -> Iterator[tuple[Any, Any]]:
        with watched(files) as sources:
            yield from labelled(lines, sources, reading, encoding)
        if lines.positive in lines.wanted:
            raise ValueError(f"no event has the label {lines.positive!r} of --positive")

    return lines, stream()


def _probabilities(
    model: str,
    lines: LineModel,
    files: tuple[str, ...],
    reading: dict[str, Any],
    encoding: str | None,
    wanted: str | None = None,
) -> tuple[list[str], list[dict[str, float]]]:
    """The labels of the events in some files, and the probabilities that a model gives each label.

    If events have several labels, `wanted` is taken for the positive one of two. Without it, each
    label of each event counts as an event of its own, with the labels THERE and "not there".
    """
    from streamptron.command.report import labelled

    labels, probabilities = [], []
    name = wanted or THERE
    with watched(files) as sources:
        for x, given in labelled(lines, sources, reading, encoding):
            if lines.multilabel:
                for label, there, p in _sets(lines, x, given):
                    if wanted in (None, label):
                        labels.append(name if there else f"not {name}")
                        probabilities.append({name: p, f"not {name}": 1.0 - p})
                continue
            found = lines.learner.predict_proba_one(x)
            if not found:
                raise ValueError(f"{model}: the model has seen no label yet")
            labels.append(lines.name(given))
            probabilities.append({lines.name(each): p for each, p in found.items()})
    if not labels:
        raise ValueError(f"{model}: no event says anything of a label that the model knows")
    return labels, probabilities


THERE = "there"  # stands for any label of an event


def _sets(lines: LineModel, x: Any, given: Any) -> Iterator[tuple[str, bool, float]]:
    """Each label of a model: its name, whether an event has it, and its probability."""
    there = given if isinstance(given, dict) else dict.fromkeys(given, True)
    for label, p in zip(*lines.learner._probabilities(x), strict=True):
        if label in there or not isinstance(given, dict):  # a dict says nothing of other labels
            yield lines.name(label), bool(there.get(label)), p


def _by_threshold(
    picture: Callable[..., object],
    files: tuple[str, ...],
    models: tuple[str, ...],
    wanted: str | None,
    **given: Any,
) -> Callable[[Axes], object]:
    """A function that draws one label against all others, for one or several models."""
    encoding, reading = options.encoding_of(given), options.reading_of(given, files)
    labels: list[str] = []
    by_model = {}
    for model in models:
        lines = LineModel.load(model, multilabel=True)
        wanted = _positive_of(lines) if wanted is None else wanted
        _known(lines, wanted)
        labels, probabilities = _probabilities(model, lines, files, reading, encoding, wanted)
        by_model[model] = [each.get(wanted, 0.0) for each in probabilities]
    y_proba = by_model if len(models) > 1 else by_model[models[0]]
    return lambda ax: picture(labels, y_proba, wanted, ax=ax)


def _known(lines: LineModel, label: str) -> None:
    if label not in lines.names:
        raise ValueError(
            f"--of {short_repr(label)} has not been seen; the model knows "
            f"{short_repr(lines.names, 200)}"
        )


def _positive_of(lines: LineModel) -> str:
    """The label for which a positive score stands, if there are two labels."""
    if len(lines.names) != 2:
        raise click.UsageError(f"give --of, one of the labels {short_repr(lines.names, 200)}")
    if isinstance(lines.learner, BinaryModel):
        return lines.name(True)
    return lines.name(getattr(lines.learner, "_towards", lines.learner.labels[1]))


def _save(draw: Callable[[Axes], object], drawing: Drawing, inches: float = 0.0) -> None:
    """Draw a figure, and then write it to its file.

    Without --size, the figure is at least `inches` wide and high, and grows with the rows that have
    names.
    """
    from matplotlib.figure import Figure
    from matplotlib.style import context

    with context(drawing.style or "default"):
        figure = Figure(drawing.size, layout="constrained")
        if drawing.size is None and inches > HEIGHT:
            figure.set_size_inches(max(figure.get_figwidth(), inches), inches)
        ax = figure.subplots()
        draw(ax)
        if drawing.title is not None:
            ax.set_title(drawing.title, parse_math=False, wrap=True)
        if drawing.size is None and not ax.images:
            figure.set_figheight(max(HEIGHT, ROW * len(ax.get_yticklabels()) + 1.0))
        picture = io.BytesIO()
        kind = os.path.splitext(drawing.output)[1].lstrip(".").lower()
        figure.savefig(picture, format=kind, dpi=drawing.dpi or "figure")
    replace(drawing.output, [picture.getvalue()], mode=0o666)
