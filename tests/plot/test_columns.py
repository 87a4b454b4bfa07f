"""Pictures of columns of numbers: lines, curves, surfaces and their gates are the model's own."""

import re
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from streamptron import AdaptiveClassifier, Pair, Perceptron, plot
from tests.support.pictures import crossed, mail, measured

pytestmark = pytest.mark.once  # another Python would say the same


def lines(ax):
    """{label: line} of those that have many points, and are not straight ones beside a curve."""
    return {
        line.get_label(): line
        for line in ax.lines
        if len(line.get_xdata()) > 2 and line.get_label() != "_"
    }


def test_a_column_is_drawn_as_the_model_answers_where_the_others_are_at_their_means(ax):
    model = measured()
    plot.column(model, "b", ax=ax)
    (line,) = lines(ax).values()
    usual = {name: mean for name, (mean, *_) in model._columns().items()}
    for x, y in list(zip(*line.get_data(), strict=True))[::20]:
        assert dict(model.explain_one({**usual, "b": x}))["b"] == y
    low, high = line.get_ydata()[[0, -1]]
    assert low < 0 < high
    assert ax.get_ylabel() == "part of the score for True"
    assert ax.get_xlabel() == "b"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_column_is_not_drawn_where_it_never_was(sign, ax):
    rng = np.random.default_rng(2)
    model = AdaptiveClassifier()
    for amount in (sign * np.exp(rng.normal(3.5, 1.2, 900))).tolist():
        model.learn_one({"amount": amount}, amount > 40 * sign)
    plot.column(model, "amount", ax=ax)
    (line,) = lines(ax).values()
    ends = sorted(line.get_xdata()[[0, -1]])
    assert (ends[0] if sign > 0 else ends[1]) == pytest.approx(0, abs=1e-6)
    assert (line.get_xdata() * sign).min() >= 0


@pytest.mark.parametrize("labels", [(False, True), ("low", "high", "less", "more")])
def test_beside_a_curve_is_the_straight_line_that_the_column_has_without_it(labels, ax):
    model = measured(labels)
    plot.column(model, "b", ax=ax)
    thin = [line for line in ax.lines if line.get_label() == "_"]
    assert len(thin) == len(lines(ax)) == (1 if labels == (False, True) else 4)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[-1] == "straight line alone"
    # Near its mean a straight line is one: beyond an event's length grows with it.
    xs, ys = thin[0].get_data()
    mean, deviation, _ = model._columns()["b"]
    near = abs(xs - mean) < 0.1 * deviation
    slope = np.polyfit(xs[near], ys[near], 1)
    assert ys[near] == pytest.approx(np.polyval(slope, xs[near]), abs=0.01 * np.ptp(ys))
    assert any((line.get_ydata() != ys).any() for line in lines(ax).values())


def test_a_column_without_a_curve_has_one_line(ax):
    model = measured(shape="line")
    plot.column(model, "b", ax=ax)
    assert len([line for line in ax.lines if len(line.get_xdata()) > 2]) == 1
    assert ax.get_legend() is None


def test_a_line_and_its_curve_differ_by_what_the_curve_says_alone(ax):
    """Without gates' steps both models learn the same line, from its own error."""
    bent, straight = measured(shape="curve"), measured(shape="line")
    plot.column(straight, "b", ax=ax)
    (alone,) = lines(ax).values()
    ax.clear()
    plot.column(bent, "b", ax=ax)
    (thin,) = [line for line in ax.lines if line.get_label() == "_"]
    assert thin.get_xdata().tolist() == alone.get_xdata().tolist()
    assert thin.get_ydata().tolist() == alone.get_ydata().tolist()


def test_where_a_columns_values_lie_is_a_band(ax):
    rng = np.random.default_rng(1)
    values = rng.normal(7, 3, 900)
    model = AdaptiveClassifier()
    for value in values.tolist():
        model.learn_one({"size": value}, value > 7)
    plot.column(model, "size", ax=ax)
    (band,) = ax.patches
    corners = band.get_extents().transformed(ax.transData.inverted())
    assert corners.x0 == pytest.approx(values.mean() - values.std(), rel=0.1)
    assert corners.x1 == pytest.approx(values.mean() + values.std(), rel=0.1)


def test_each_of_several_labels_has_a_line_the_most_of_which_are_drawn(ax):
    model = measured(("low", "high", "less", "more"))
    plot.column(model, "b", ax=ax)
    legend = {text.get_text() for text in ax.get_legend().get_texts()}
    assert legend == {"low", "high", "less", "more", "straight line alone"}
    all_four = [np.ptp(line.get_ydata()) for line in lines(ax).values()]
    ax.clear()
    plot.column(model, "b", n=2, ax=ax)
    assert [np.ptp(line.get_ydata()) for line in lines(ax).values()] == sorted(all_four)[:1:-1]


@pytest.mark.parametrize(
    ("make", "name", "error", "message"),
    [
        (measured, "d", ValueError, "'d' is not a column of numbers: the model has ['a'"),
        (AdaptiveClassifier, "b", ValueError, "A column is a feature of half"),
        (Perceptron, "b", TypeError, "keeps no columns of numbers; give an AdaptiveClassifier"),
        (mail, "b", TypeError, "keeps no columns of numbers"),
        (
            lambda: AdaptiveClassifier(hash_bits=8),
            "b",
            ValueError,
            "a model with hash_bits keeps no names",
        ),
        (lambda: AdaptiveClassifier(degree=2), "b", ValueError, "a column does not act alone"),
    ],
)
def test_a_column_that_cannot_be_drawn_is_an_error_that_draws_nothing(
    make, name, error, message, ax
):
    with pytest.raises(error, match=re.escape(message)):
        plot.column(make(), name, ax=ax)
    assert not ax.has_data()


# --- surface and gates


def test_a_surface_is_what_the_model_says_of_the_pair_where_the_others_are_at_their_means(ax):
    model = crossed()
    plot.surface(model, "pay", "age", ax=ax)
    part = ax.images[0].get_array()
    left, right, low, high = ax.images[0].get_extent()
    height = model._columns()["height"][0]
    for column, row in ((0, 0), (0, 36), (36, 0), (10, 20), (36, 36)):
        pay, age = left + column / 36 * (right - left), low + row / 36 * (high - low)
        told = dict(model.explain_one({"age": age, "pay": pay, "height": height}))
        assert part[row, column] == pytest.approx(told[Pair("age", "pay")])
    assert part[0, 0] < 0 < part[0, -1]
    assert part[-1, -1] < 0 < part[-1, 0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("pay", "age")


def test_the_other_order_of_columns_is_the_same_picture_turned(ax):
    model = crossed()
    plot.surface(model, "age", "pay", ax=ax)
    one, margins = ax.images[0].get_array(), heights(ax)
    ax.clear()
    plot.surface(model, "pay", "age", ax=ax)
    assert (ax.images[0].get_array() == one.T).all()
    assert heights(ax) == margins[::-1]


def heights(ax):
    """Of the bars above, and of those beside."""
    above, beside = ax.child_axes
    return [
        [bar.get_height() for bar in above.patches],
        [bar.get_width() for bar in beside.patches],
    ]


def test_bars_count_the_events_by_where_they_lay(ax):
    model = crossed(n=600)
    plot.surface(model, "age", "pay", ax=ax)
    above, beside = heights(ax)
    assert len(above) == len(beside) == 9
    assert sum(above) == pytest.approx(600, abs=5)  # but those before they were columns
    assert sum(beside) == pytest.approx(sum(above))
    assert max(above) in above[3:6]
    (first, *_) = ax.child_axes
    mean, deviation, _ = model._columns()["age"]
    middle = first.patches[4]
    assert middle.get_x() + middle.get_width() / 2 == pytest.approx(mean)
    assert middle.get_width() == pytest.approx(deviation / 2)


def test_0_has_the_colour_of_the_ground_and_both_signs_the_same_reach(ax):
    plot.surface(crossed(), "age", "pay", ax=ax)
    (image,) = ax.images
    assert image.norm.vmin == -image.norm.vmax
    ground = to_rgb(ax.get_facecolor())
    assert image.cmap(image.norm(0.0))[:3] == pytest.approx(ground, abs=0.01)


def test_a_surface_is_drawn_for_the_label_asked_for_or_the_one_for_which_it_does_most(ax):
    model = crossed(("a", "b", "c"))

    def said_of(label=None):
        ax.clear()
        plot.surface(model, "age", "pay", label, ax=ax)
        said = ax.images[0].colorbar.ax.get_ylabel()
        return said.removeprefix("part of the score for "), np.ptp(ax.images[0].get_array())

    ranges = dict(map(said_of, "abc"))
    assert set(ranges) == set("abc")
    assert said_of() == max(ranges.items(), key=lambda item: item[1])
    two = crossed()
    of_true, of_false = (
        plot.surface(two, "age", "pay", label, ax=ax).images[-1].get_array()
        for label in (True, False)
    )
    assert (of_true == -of_false).all()


def test_gates_are_bars_of_how_much_counts_the_largest_first(ax):
    model = crossed()
    parts, taus = model._shapes()
    wanted = {
        one if one == other else str(Pair(one, other)): gate * taus[1 + (one != other)]
        for one, other, gate, _ in parts
    }
    plot.gates(model, ax=ax)
    names = [text.get_text() for text in ax.get_yticklabels()]
    found = dict(zip(names, [bar.get_width() for bar in ax.patches], strict=True))
    assert found == wanted
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert names[0] == "age * pay"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["curves", "surfaces"]
    ax.clear()
    plot.gates(model, n=2, ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == names[:2]


def of_words():
    model = AdaptiveClassifier()
    for word, label in [("win", True), ("lunch", False)] * 20:
        model.learn_one({word: 1}, label)
    return model


def of_many():
    """More columns than have surfaces."""
    rng = np.random.default_rng(1)
    model = AdaptiveClassifier()
    model.learn_many(rng.normal(size=(40, 18)), np.arange(40) % 2)
    return model


@pytest.mark.parametrize(
    ("make", "names", "error", "message"),
    [
        (crossed, ("age", "size"), ValueError, "'size' is not a column of numbers: the model"),
        (crossed, ("age", "age"), ValueError, "are the same column; give two"),
        (lambda: crossed(shape="line"), ("age", "pay"), ValueError, "a model with shape='auto'"),
        (lambda: crossed(shape="curve"), ("age", "pay"), ValueError, "shape='curve' has no surf"),
        (lambda: crossed(max_features=99), ("age", "pay"), ValueError, "max_features=99 leaves"),
        (of_many, None, ValueError, "only the most informative have surfaces"),
        (of_words, ("win", "lunch"), ValueError, "A column is a feature of half"),
        (mail, ("win", "prize"), TypeError, "keeps no columns of numbers"),
        (lambda: crossed(hash_bits=8), ("age", "pay"), ValueError, "with hash_bits keeps no names"),
        (lambda: crossed(degree=2), ("age", "pay"), ValueError, "a column does not act alone"),
        (lambda: (crossed(), "nix"), ("age", "pay"), ValueError, "label='nix' has not been seen"),
    ],
)
def test_a_surface_that_cannot_be_drawn_is_an_error_that_draws_nothing(
    make, names, error, message, ax
):
    model, label = made if isinstance(made := make(), tuple) else (made, None)
    if names is None:
        have = {(one, other) for one, other, *_ in model._shapes()[0]}
        names = next(pair for pair in combinations(model._columns(), 2) if pair not in have)
    with pytest.raises(error, match=re.escape(message)):
        plot.surface(model, *names, label, ax=ax)
    assert not ax.has_data()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: crossed(shape="line"), ValueError, "has neither curves nor surfaces, and so"),
        (AdaptiveClassifier, ValueError, "A column is a feature of half"),
        (of_words, ValueError, "the model has learned no curve yet"),
        (mail, TypeError, "keeps no columns of numbers"),
        (lambda: crossed(hash_bits=8), ValueError, "with hash_bits keeps no names"),
    ],
)
def test_gates_that_are_not_there_are_an_error_that_draws_nothing(make, error, message, ax):
    with pytest.raises(error, match=re.escape(message)):
        plot.gates(make(), ax=ax)
    assert not ax.has_data()
