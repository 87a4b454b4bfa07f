"""What holds for every picture."""

import inspect
import io
import os
import pickle
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from streamptron import MulticlassPerceptron, plot
from tests.support.pictures import PICTURES, drawn, written
from tests.support.project import ROOT

pytestmark = pytest.mark.once  # another Python would say the same

NAMES = sorted(PICTURES)
FUNCTIONS = sorted(plot.__all__)


def test_there_is_a_picture_of_every_function():
    assert {name.partition(" ")[0] for name in NAMES} == set(FUNCTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_on_the_axes_given_which_are_returned(name, ax):
    settings, figures = dict(matplotlib.rcParams), plt.get_fignums()
    assert drawn(name, ax) is ax
    assert ax.has_data()
    assert ax.get_xlabel()
    assert ax.get_ylabel() or ax.get_yticklabels()
    assert dict(matplotlib.rcParams) == settings
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("name", NAMES)
def test_a_model_stays_as_it_is(name, ax):
    makers, draw = PICTURES[name]
    models = [make() for make in makers]
    before = [pickle.dumps(model) for model in models]
    draw(*models, ax)
    assert [pickle.dumps(model) for model in models] == before


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_cut(name, ax):
    drawn(name, ax)
    whole = ax.figure.bbox
    texts = written(ax)
    assert len(texts) > 3
    for text in texts:
        place = text.get_window_extent()
        assert whole.x0 - 1 <= place.x0, text.get_text()
        assert place.x1 <= whole.x1 + 1, text.get_text()
        assert whole.y0 - 1 <= place.y0, text.get_text()
        assert place.y1 <= whole.y1 + 1, text.get_text()


def lightness(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return np.dot((0.2126, 0.7152, 0.0722), linear) ** (1 / 3)


@pytest.mark.parametrize("name", NAMES)
def test_on_a_dark_ground_text_is_light(name):
    with plt.style.context("dark_background"):
        ax = Figure(layout="constrained").subplots()
        drawn(name, ax)
        cells = {"confusion_matrix"}  # whose numbers stand on colours
        for text in written(ax):
            if name not in cells or text not in ax.texts:
                assert lightness(text.get_color()) > 0.8, text.get_text()


def test_lines_differ_in_their_dashes_and_areas_in_lightness(ax):
    drawn("progressive_error", ax)
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    assert len({line.get_linestyle() for line in lines}) == len(lines) == 4
    areas = [lightness(colour) for colour in plot.drawing.COLOURS]
    assert min(abs(a - b) for a in areas for b in areas if a != b) > 0.07


def test_without_ax_the_current_axes_of_pyplot_are_taken():
    fig, ax = plt.subplots()
    try:
        assert drawn("mistakes_per_pass", None) is ax
    finally:
        plt.close(fig)


def given_nothing(name, **more):
    """A call of a picture with None for all that it needs."""
    function = getattr(plot, name)
    needed = inspect.signature(function).parameters.values()
    n = sum(each.default is each.empty and each.kind is not each.VAR_KEYWORD for each in needed)
    return function(*[None] * n, **more)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_that_are_none_are_an_error_before_any_work(name):
    with pytest.raises(TypeError, match="ax is a Figure; give one Axes"):
        given_nothing(name, ax=Figure())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_matplotlib_the_error_names_the_extra(name, monkeypatch):
    for module in ("matplotlib", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "streamptron\[plot\]"'):
        given_nothing(name)


def test_matplotlib_is_imported_by_the_first_picture_only():
    code = (
        "import sys, streamptron.plot, streamptron.command.cli; print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]


ODD = ["a lone \ud800", "\0\x1b[31mred", "$\\frac{1}$", "_hidden", "a\nb", "\ufffe"]


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_names_of_any_characters_are_drawn(format, ax):
    model = MulticlassPerceptron()
    for name in ODD:
        model.learn_one({name: 1}, name)
    x = dict.fromkeys(ODD, 1)
    for draw in (
        lambda: plot.top_weights(model, 9, ODD[0], ax=ax),
        lambda: plot.explanation(model, x, ODD[0], ax=ax),
        lambda: plot.confusion_matrix(ODD, ODD[::-1], ax=ax),
        lambda: plot.decision_boundary(model, features=ODD[:2], ax=ax),
    ):
        ax.clear()
        draw()
        picture = io.BytesIO()
        ax.figure.savefig(picture, format=format)
        if format == "svg":
            ElementTree.fromstring(picture.getvalue())


def test_a_backend_that_is_none_is_named_with_where_it_comes_from():
    code = "from streamptron import plot; plot.confusion_matrix([1], [1])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "nonsense"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == (
        "ValueError: MPLBACKEND='nonsense' in the environment is not a backend of matplotlib; "
        "unset it, or set it to agg"
    )
