"""``streamptron plot``: pictures of a model file, or of what files of events do to a learner."""

from __future__ import annotations

import io
import os
import typing
from collections.abc import Callable, Iterator
from typing import Any

import click

from streamptron._core import BinaryModel
from streamptron.command.lines import LineModel
from streamptron.command.options import (
    DEFAULT,
    LEARNER_OPTIONS,
    READING_OPTIONS,
    TOKENIZER_OPTIONS,
    Commands,
    Learner,
    Options,
    encoding_of,
    model_option,
    new_model,
    reading_of,
)
from streamptron.estimator.names import shown
from streamptron.learners import LEARNERS

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 4.8  # inches, as matplotlib's
ROW = 0.24  # inches of a bar or a row with its name


class Picture(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A file to be written, whose suffix matplotlib knows."""

    name = "file"

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


def _needs_matplotlib() -> None:
    from streamptron.plot.drawing import check_axes  # with all that pictures import

    check_axes(None)


DRAWING_OPTIONS = Options(
    click.option(
        "--output",
        "-o",
        type=Picture(),
        required=True,
        help="The picture; its suffix is the format: .png, .svg, .pdf...",
    ),
    click.option("--style", type=Style(), help="A style of matplotlib, such as dark_background."),
)
NEW_MODEL_OPTIONS = Options(
    click.option(
        "--learner", type=Learner(list(LEARNERS)), help=f"An untrained one; by default {DEFAULT}."
    ),
    click.option("--positive", metavar="LABEL", help="perceptron: the label that is true."),
    LEARNER_OPTIONS,
    TOKENIZER_OPTIONS,
    READING_OPTIONS,
)


@click.group(cls=Commands, no_args_is_help=False)
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
@model_option
@click.option("-n", "number", type=click.IntRange(1), default=10, help="How many of each sign.")
@click.option("--label", help="Which label's weights; needed if each label has its own.")
@DRAWING_OPTIONS
def weights(model: str, number: int, label: str | None, output: str, style: str | None) -> None:
    """The largest positive and negative weights.

    \b
    Examples:
      streamptron plot weights --model mail.model -o weights.png
    """
    from streamptron.plot import top_weights

    lines = LineModel.load(model)
    if label is None and lines.names and lines.learner._scores_by_label:
        raise click.UsageError(
            f"each label has weights of its own; give --label, one of {shown(lines.names, 200)}"
        )
    wanted = None if label is None else lines.label(label)

    def draw(ax: Axes) -> None:
        top_weights(lines.learner, number, wanted, ax=ax)
        if isinstance(lines.learner, BinaryModel):
            ax.set_xlabel(f"weight towards {lines.name(wanted is None or wanted)}")

    _save(draw, output, style)


@plot.command()
@click.argument("text")
@model_option
@click.option("-n", "number", type=click.IntRange(1), default=10, help="How many features.")
@DRAWING_OPTIONS
def explanation(text: str, model: str, number: int, output: str, style: str | None) -> None:
    """What each feature of a text adds to its score.

    A waterfall from 0 to the score of the answer; of a perceptron, of its true label. For a model
    that was trained on features, TEXT is a line of that format.

    \b
    Examples:
      streamptron plot explanation 'a prize' --model mail.model -o why.svg
    """
    from streamptron.command.report import event_of
    from streamptron.plot import explanation

    lines = LineModel.load(model)
    event = event_of(lines, text)

    binary = isinstance(lines.learner, BinaryModel)
    answer = None if binary else lines.learner.predict_one(event)

    def draw(ax: Axes) -> None:
        explanation(lines.learner, event, answer, number, ax=ax)
        if binary:
            score = lines.learner.decision_function_one(event)
            ax.set_xlabel(f"score for {lines.name(True)}: {score:.4g}")

    _save(draw, output, style)


@plot.command()
@click.argument("files", nargs=-1, required=True)
@model_option
@READING_OPTIONS
@DRAWING_OPTIONS
def confusion(
    files: tuple[str, ...], model: str, output: str, style: str | None, **given: Any
) -> None:
    """How many events of each label in files got which answer.

    \b
    Examples:
      streamptron plot confusion mail.tsv --model mail.model -o confusion.png
    """
    from streamptron.command.report import NOTHING, evaluated
    from streamptron.plot import confusion_matrix

    encoding, reading = encoding_of(given), reading_of(given, files)
    lines = LineModel.load(model)
    pairs = evaluated(lines, list(files), reading, encoding)
    labels = [label for (label, _), n in pairs.items() for _ in range(n)]
    answers: list[str | None] = [answer for (_, answer), n in pairs.items() for _ in range(n)]
    if NOTHING not in lines.names:
        answers = [None if answer == NOTHING else answer for answer in answers]
    _save(lambda ax: confusion_matrix(labels, answers, ax=ax), output, style)


@plot.command()
@click.argument("files", nargs=-1, required=True)
@model_option
@click.option("--of", "wanted", metavar="LABEL", help="Of this label; by default of the answers.")
@click.option("--bins", type=click.IntRange(1), default=10, help="How many bins from 0 to 1.")
@READING_OPTIONS
@DRAWING_OPTIONS
def calibration(
    files: tuple[str, ...],
    model: str,
    wanted: str | None,
    bins: int,
    output: str,
    style: str | None,
    **given: Any,
) -> None:
    """How often predicted probabilities come true.

    Where the probability of the answer is .8, it should be right 8 times of 10.

    \b
    Examples:
      streamptron plot calibration mail.tsv --model mail.model -o calibration.pdf
    """
    from streamptron.command.report import labelled
    from streamptron.plot import calibration_curve

    encoding, reading = encoding_of(given), reading_of(given, files)
    lines = LineModel.load(model)
    labels, probabilities = [], []
    for x, label in labelled(lines, list(files), reading, encoding):
        found = lines.learner.predict_proba_one(x)
        if not found:
            raise ValueError(f"{model}: the model has seen no label yet")
        labels.append(lines.name(label))
        probabilities.append({lines.name(each): p for each, p in found.items()})
    if wanted is not None and wanted not in lines.names:
        raise ValueError(
            f"--of {shown(wanted)} has not been seen; the model knows {shown(lines.names, 200)}"
        )
    _save(lambda ax: calibration_curve(labels, probabilities, wanted, bins, ax=ax), output, style)


@plot.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--window", type=click.IntRange(1), help="Of so many last events; by default of all so far."
)
@NEW_MODEL_OPTIONS
@DRAWING_OPTIONS
def progressive(
    files: tuple[str, ...], window: int | None, output: str, style: str | None, **given: Any
) -> None:
    """How often each kept vector errs, and which one serves.

    An untrained learner learns the files, as train does; each event is answered first. Several
    vectors are kept by perceptron, multiclass and mira; of the others there is one line.

    \b
    Examples:
      streamptron plot progressive mail.tsv --learner multiclass --pocket -o error.png
    """
    from streamptron.plot import progressive_error

    lines, stream = _learned(files, given)
    _save(lambda ax: progressive_error(lines.learner, stream, window, ax=ax), output, style)


@plot.command()
@click.argument("files", nargs=-1, required=True)
@NEW_MODEL_OPTIONS
@DRAWING_OPTIONS
def memory(files: tuple[str, ...], output: str, style: str | None, **given: Any) -> None:
    """Memory while files are learned, and evictions.

    Features are evicted under --max-features. An untrained learner learns the files, as train does.

    \b
    Examples:
      streamptron plot memory mail.tsv --max-features 1000 -o memory.png
    """
    from streamptron.plot import memory

    lines, stream = _learned(files, given)
    _save(lambda ax: memory(lines.learner, stream, ax=ax), output, style)


# --- What they share


def _learned(
    files: tuple[str, ...], given: dict[str, Any]
) -> tuple[LineModel, Iterator[tuple[Any, Any]]]:
    """An untrained model, and the events for it."""
    from streamptron.command.report import labelled

    encoding, reading = encoding_of(given), reading_of(given, files)
    lines = new_model(given, reading)

    def stream() -> Iterator[tuple[Any, Any]]:
        yield from labelled(lines, list(files), reading, encoding)
        if lines.positive in lines.wanted:
            raise ValueError(f"no event has the label {lines.positive!r} of --positive")

    return lines, stream()


def _save(draw: Callable[[Axes], object], output: str, style: str | None) -> None:
    """Draw on a figure of its own, and write it when all of it is there."""
    from matplotlib.figure import Figure
    from matplotlib.style import context

    with context(style or "default"):
        figure = Figure(layout="constrained")
        ax = figure.subplots()
        draw(ax)
        height = max(HEIGHT, ROW * len(ax.get_yticklabels()) + 1.0)
        width = figure.get_figwidth()
        if ax.images:  # a matrix is as wide as it is high
            width = max(width, height + 1.0)
        figure.set_size_inches(width, height)
        picture = io.BytesIO()
        figure.savefig(picture, format=os.path.splitext(output)[1].lstrip(".").lower())
    with open(output, "wb") as file:
        file.write(picture.getvalue())
