"""Pictures of a model: what is drawn is what the model has and answers."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Arc, FancyArrowPatch

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    VotedPerceptron,
    plot,
)
from streamptron.plot import drawing
from streamptron.study import fit, margin
from tests.support.pictures import learned, mail, points

LEARNERS = [
    *(Perceptron, MulticlassPerceptron, MIRA, AROW, AdaptiveClassifier, VotedPerceptron),
    lambda: Perceptron(degree=2),
    lambda: VotedPerceptron(degree=2),
    lambda: Perceptron(hash_bits=10, hash_seed=1),
]


def taught(make, data):
    model = make()
    for x, y in data * 3:
        model.learn_one(x, y)
    return model


def boundary(ax):
    (line,) = [line for line in ax.lines if line.get_label() == "boundary"]
    return line.get_xydata()


def labelled(ax, begins):
    return [text.get_text() for text in ax.texts if text.get_text().startswith(begins)]


# --- decision_boundary


@pytest.mark.parametrize("kind", [Perceptron, MulticlassPerceptron, MIRA, AROW])
@pytest.mark.parametrize("labels", [(False, True), ("no", "yes")])
def test_the_score_is_0_on_the_boundary(kind, labels, ax):
    if kind is Perceptron and labels != (False, True):
        labels = (0, 1)
    data = [(x, labels[y]) for x, y in points()]
    model = taught(lambda: kind() if kind is AROW else kind(serve="current"), data)
    plot.decision_boundary(model, data, ax=ax)
    for a, b in boundary(ax):
        score = model.decision_function_one({"a": a, "b": b})
        if isinstance(score, dict):
            first, second = score.values()
            score = second - first
        assert score == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("at", range(len(LEARNERS)))
def test_regions_are_what_the_model_answers_there(at, ax):
    data = points()
    model = taught(LEARNERS[at], data)
    if "serve" in model._get_params():  # what answers in the picture answers everywhere
        model = model.clone({"serve": model.serving}, include_attributes=True)
    plot.decision_boundary(model, data, features=("a", "b"), ax=ax)
    (image,) = ax.images
    assert image.origin == "lower"
    regions = np.asarray(image.get_array())
    left, right, low, high = image.get_extent()
    n = len(regions)
    labels = model._known_labels
    for row, column in [(0, 0), (0, n - 1), (n - 1, 0), (n // 2, n // 3), (n - 1, n - 1)]:
        a = left + (column + 0.5) * (right - left) / n
        b = low + (row + 0.5) * (high - low) / n
        assert labels[regions[row, column]] == model.predict_one({"a": a, "b": b})
    assert set(np.unique(regions)) == {0, 1}


def test_every_event_is_a_point_of_its_labels_marker(ax):
    data = points()
    plot.decision_boundary(learned(), data, ax=ax)
    places = {points.get_label(): np.asarray(points.get_offsets()) for points in ax.collections}
    for label in (False, True):
        wanted = [[x["a"], x["b"]] for x, y in data if y == label]
        assert places[str(label)].tolist() == wanted
    first, second = (points.get_paths()[0].vertices for points in ax.collections)
    assert first.shape != second.shape  # the markers


def test_the_margin_lines_go_through_the_nearest_event(ax):
    model, data = learned(), points()
    plot.decision_boundary(model, data, ax=ax)
    w, b = model.weights, model.intercept_
    length = math.hypot(w["a"], w["b"])
    wanted = margin(model, data) / length
    first, second = [line.get_xydata() for line in ax.lines if line.get_linestyle() == "--"]
    for line, side in ((first, wanted), (second, -wanted)):
        for x, y in line:
            assert (w["a"] * x + w["b"] * y + b) / length == pytest.approx(side)
    assert f"margin {wanted:.3g}" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_arrow_w_is_normal_to_the_boundary_and_points_to_the_second_label(ax):
    model = learned()
    plot.decision_boundary(model, points(), ax=ax)
    (arrow,) = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    start, end = (np.array(place) for place in arrow._posA_posB)
    w = np.array([model.weights["a"], model.weights["b"]])
    assert (end - start) / np.linalg.norm(end - start) == pytest.approx(w / np.linalg.norm(w))
    assert labelled(ax, "w") == ["w"]


def test_data_that_the_boundary_does_not_separate_have_no_margin(ax):
    plot.decision_boundary(learned(), [*points(), ({"a": 9, "b": 9}, False)], ax=ax)
    assert [line.get_label() for line in ax.lines] == ["boundary"]


def test_serve_names_the_vector_that_is_shown(ax):
    model = taught(Perceptron, points())
    plot.decision_boundary(model, serve="average", ax=ax)
    w, b = model.averaged_weights, model.averaged_intercept
    for x, y in boundary(ax):
        assert w["a"] * x + w["b"] * y + b == pytest.approx(0, abs=1e-9)


def test_other_features_are_0_in_the_plane(ax):
    model = Perceptron.from_weights({"a": 1.0, "b": 2.0, "c": 50.0}, intercept=-1.0)
    data = [({"c": 2, "b": 1}, True), ({"a": 1, "b": -1}, False)]
    plot.decision_boundary(model, data, features=("c", "b"), ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "b")
    for c, b in boundary(ax):
        assert 50 * c + 2 * b - 1 == pytest.approx(0)
    assert [points.get_offsets().tolist() for points in ax.collections] == [[[0, -1]], [[2, 1]]]


def test_matrices_and_frames_are_data_too(ax):
    X = np.array([[x["a"], x["b"]] for x, _ in points()])
    y = [y for _, y in points()]
    for data in ((X, y), (pd.DataFrame(X, columns=["a", "b"]), y)):
        model = Perceptron()
        fit(model, data, epochs=20, seed=1)
        ax.clear()
        plot.decision_boundary(model, data, ax=ax)
        found = np.concatenate([points.get_offsets() for points in ax.collections])
        assert sorted(found.tolist()) == sorted(X.tolist())


def test_three_labels_have_three_regions_and_their_edges(ax):
    model = MulticlassPerceptron.from_weights(
        {"up": {"b": 1.0}, "left": {"a": -1.0}, "right": {"a": 1.0}}, serve="current"
    )
    plot.decision_boundary(model, ax=ax)
    assert set(np.unique(ax.images[0].get_array())) == {0, 1, 2}
    assert len(ax.collections) == 3
    for edges in ax.collections:
        for path in edges.get_paths():
            for a, b in path.vertices:
                first, second, _ = sorted([b, -a, a], reverse=True)
                assert first == pytest.approx(second, abs=0.02)


NOT_TWO = r"the picture shows two features, and {}.*name two, features=\({}\)\. All others are 0"


@pytest.mark.parametrize(
    ("model", "arguments", "error", "message"),
    [
        (
            Perceptron.from_weights({"a": 1.0, "b": 2.0, "c": 3.0}),
            {},
            ValueError,
            NOT_TWO.format(r"3 are known by name: \['a', 'b', 'c'\]", "'a', 'b'"),
        ),
        (
            Perceptron.from_weights({"a": 1.0}),
            {},
            ValueError,
            NOT_TWO.format(r"1 is known by name: \['a'\]", "'a', 'b'"),
        ),
        (Perceptron(), {}, ValueError, NOT_TWO.format("none is known", "'a', 'b'")),
        (learned(), {"features": "ab"}, TypeError, "features='ab'; name two"),
        (learned(), {"features": ("a", "a")}, ValueError, "name two"),
        (learned(), {"features": ("q", "r")}, ValueError, "neither has a weight or is in"),
        (MIRA(), {}, ValueError, "model has met 0 labels; a boundary needs at least two"),
        (learned(), {"serve": "best"}, ValueError, "serve='best' chooses again for each"),
        (learned(), {"serve": "average"}, ValueError, "serve='average' needs an average"),
        (taught(AROW, points()), {"serve": "average"}, ValueError, "AROW keeps only one vector"),
        (RankingPerceptron(), {}, TypeError, "has no boundary between labels"),
        (Perceptron, {}, TypeError, r"model is the class Perceptron; give an object"),
        (learned(), {"data": [({"a": 1}, "x")]}, ValueError, r"y=.x."),
        (learned(), {"data": []}, ValueError, "data is empty"),
        (
            learned(),
            {"data": [({"a": math.inf, "b": 1}, True)]},
            ValueError,
            "data has a value that is missing or not finite",
        ),
    ],
)
def test_a_boundary_that_cannot_be_drawn_is_an_error_and_nothing_is(
    model, arguments, error, message, ax
):
    with pytest.raises(error, match=message):
        plot.decision_boundary(model, ax=ax, **arguments)
    assert not ax.has_data()
    assert not ax.texts


# --- update


@pytest.mark.parametrize("kind", [Perceptron, MIRA, AROW])
def test_the_angle_of_an_update_is_that_between_the_weights(kind, ax):
    model = taught(kind, points()[:6])
    x, y = {"a": 2.0, "b": -3.0}, True
    again = model.clone(include_attributes=True)
    again.learn_one(x, y)

    def vector(model):
        found = model.weights
        if kind is MIRA:
            found = {f: found[True].get(f, 0) - found[False].get(f, 0) for f in ("a", "b")}
        return np.array([found.get("a", 0), found.get("b", 0)])

    before, after = vector(model), vector(again)
    cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
    plot.update(model, x, y, ax=ax)
    degrees = math.degrees(math.acos(cosine))
    assert degrees > 1
    assert labelled(ax, f"{degrees:.3g}°")
    (arc,) = [patch for patch in ax.patches if isinstance(patch, Arc)]
    assert arc.theta2 - arc.theta1 == pytest.approx(degrees)
    ends = [arrow._posA_posB[1] for arrow in ax.patches if isinstance(arrow, FancyArrowPatch)]
    wanted = [before, after, after, np.array([2.0, -3.0])]
    assert np.array(ends) == pytest.approx(np.array(wanted))


def test_without_an_update_there_is_no_angle(ax):
    model = Perceptron.from_weights({"x": 1.0, "y": 2.0})
    plot.update(model, {"x": 3, "y": 1}, True, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["w (no update)", "event True"]
    assert not [patch for patch in ax.patches if isinstance(patch, Arc)]


def test_arrows_that_end_at_one_point_share_a_name(ax):
    plot.update(Perceptron(), {"x": 3, "y": 1}, True, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["w after = event True"]


@pytest.mark.parametrize(
    ("model", "x", "y", "error", "message"),
    [
        (Perceptron(), {"a": 1, "b": 2, "c": 3}, True, ValueError, "3 are known by name"),
        (Perceptron(), "a text", True, TypeError, "x is a str; give a mapping"),
        (Perceptron(), {"a": 1, "b": "7"}, True, TypeError, r"x\['b'\] is the text"),
        (learned(), {"a": 1}, "spam", ValueError, "y='spam'"),
        (MIRA(), {"a": 1, "b": 1}, "spam", ValueError, "met 0 labels"),
        (taught(MIRA, points()), {"a": 1, "b": 1}, "spam", ValueError, "is a third label"),
        (AdaptiveClassifier(), {"a": 1, "b": 1}, True, TypeError, "not a sum of weights"),
        (Perceptron(degree=2), {"a": 1, "b": 1}, True, TypeError, "not a sum of weights"),
    ],
)
def test_an_update_that_cannot_be_drawn_is_an_error(model, x, y, error, message, ax):
    with pytest.raises(error, match=message):
        plot.update(model, x, y, ax=ax)
    assert not ax.has_data()


# --- projections


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", [Perceptron, MulticlassPerceptron, MIRA, AROW])
def test_projections_are_on_w_and_the_answers_change_at_the_threshold(kind, first, ax):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = X @ [1, -1, 2, 0] + rng.normal(size=80) > 0.5
    y ^= y[0] != first  # the label that is met first
    model = kind() if kind is AROW else kind(serve="current")
    model.learn_many(X, y)
    plot.projections(model, (X, y), bins=200, ax=ax)
    (line,) = ax.lines
    threshold = line.get_xdata()[0]
    counts = {}
    for patch in ax.patches:
        corners = patch.get_path().vertices
        counts[patch.get_label()] = corners
    answers = np.asarray(model.predict_many(X))
    rows = model._weights(model.serving)[1]
    w = [rows[-1].get(j, 0) - (rows[0].get(j, 0) if len(rows) == 2 else 0) for j in range(4)]
    if kind is AROW and model._positive == 0:
        w = [-each for each in w]
    second = model._known_labels[1]
    places = X @ w / np.linalg.norm(w)
    assert ((places > threshold) == (answers == second)).all()
    for label in (False, True):
        mine = places[y == label]
        assert counts[str(label)][:, 0].min() <= mine.min()
        assert counts[str(label)][:, 0].max() >= mine.max()
        assert counts[str(label)][:, 1].max() >= 1


def test_texts_are_projected_too(ax):
    plot.projections(mail(), (["a prize", "see you", "win"], [True, False, True]), ax=ax)
    assert len(ax.patches) == 2
    assert sum(patch.get_path().vertices[:, 1].max() for patch in ax.patches) >= 2


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Perceptron(), ValueError, "all weights of the model are 0"),
        (taught(AdaptiveClassifier, points()), TypeError, "not a sum of weights"),
        (MIRA(), ValueError, "met 0 labels"),
    ],
)
def test_projections_that_cannot_be_drawn_are_an_error(model, error, message, ax):
    with pytest.raises(error, match=message):
        plot.projections(model, points(), ax=ax)
    assert not ax.has_data()


# --- top_weights and explanation


def bars(ax):
    names = [text.get_text() for text in ax.get_yticklabels()]
    return {name: bar.get_width() for name, bar in zip(names, ax.patches, strict=True)}


def test_bars_are_the_top_features(ax):
    model = taught(MIRA, [({"goal": 1, "x": 1}, "sport"), ({"law": 1, "x": 1}, "politics")])
    plot.top_weights(model, n=1, label="politics", ax=ax)
    top = model.top_features(1, "politics")
    assert bars(ax) == dict([*top.positive, *top.negative])
    assert ax.get_xlabel() == "weight towards politics"


def test_bars_for_and_against_differ_in_colour_and_hatch(ax):
    plot.top_weights(Perceptron.from_weights({"a": 1.0, "b": -1.0}), ax=ax)
    first, second = ax.patches
    assert first.get_facecolor() != second.get_facecolor()
    assert first.get_hatch() != second.get_hatch()


def test_names_are_shown_as_they_are_in_one_line(ax):
    names = ["$x$", "_y", "two\nlines", ("a", 1), "long" * 20]
    model = Perceptron.from_weights({name: 5.0 - at for at, name in enumerate(names)})
    plot.top_weights(model, ax=ax)
    ax.figure.draw_without_rendering()
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        *(r"\$x\$", " _y", "two lines", "('a', 1)", "longlonglonglonglonglonglongl…"),
    ]


def test_a_hashed_model_has_slots(ax):
    plot.top_weights(taught(lambda: Perceptron(hash_bits=8, hash_seed=1), points()), ax=ax)
    assert all(name.startswith("slot ") for name in bars(ax))


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        (Perceptron(), {}, "all weights of the model are 0"),
        (MIRA(), {}, "has seen no label yet"),
        (taught(MIRA, points()), {}, "each label has its own weights; name one, label=False"),
        (taught(MIRA, points()), {"label": "nix"}, "label='nix' has not been seen"),
        (RankingPerceptron(), {"label": "nix"}, "has no labels"),
        (learned(), {"n": 0}, "n=0; it must be at least 1"),
    ],
)
def test_weights_that_cannot_be_drawn_are_an_error(model, more, message, ax):
    with pytest.raises(ValueError, match=message):
        plot.top_weights(model, ax=ax, **more)
    assert not ax.has_data()


@pytest.mark.parametrize("kind", [Perceptron, MIRA, AROW, AdaptiveClassifier])
def test_a_waterfall_ends_at_the_score(kind, ax):
    model = taught(kind, points())
    x = {"a": 1.5, "b": -0.5}
    plot.explanation(model, x, label=True, ax=ax)
    score = model.decision_function_one(x)
    score = score[True] if isinstance(score, dict) else score
    *_, last = ax.patches
    assert last.get_x() + last.get_width() == pytest.approx(score)
    for before, after in zip(ax.patches, ax.patches[1:], strict=False):
        assert after.get_x() == pytest.approx(before.get_x() + before.get_width())
    assert bars(ax) == {
        "(intercept)" if name is None else str(name): part
        for name, part in model.explain_one(x, True)
    }
    assert ax.get_xlabel() == f"score for True: {score:.4g}"


def test_the_features_beyond_n_share_a_bar(ax):
    weights = {f"f{k}": float(k) for k in range(1, 8)}
    model = Perceptron.from_weights(weights, intercept=False)
    plot.explanation(model, dict.fromkeys(weights, 1), n=2, ax=ax)
    assert bars(ax) == {"f7": 7.0, "f6": 6.0, "5 others": 15.0}


def test_the_answer_is_explained_by_default(ax):
    model = taught(MulticlassPerceptron, [({"goal": 1}, "sport"), ({"law": 1}, "politics")])
    plot.explanation(model, {"law": 1}, ax=ax)
    assert ax.get_xlabel().startswith("score for politics: ")


def test_a_text_and_candidates_are_explained(ax):
    plot.explanation(mail(), "a prize", ax=ax)
    assert set(bars(ax)) <= {"a", "prize", "(intercept)"}
    ax.clear()
    ranker = RankingPerceptron.from_weights({"near": 2.0, "price": -0.5})
    plot.explanation(ranker, {"a": {"near": 1, "price": 3}, "b": {"price": 1}}, ax=ax)
    assert bars(ax) == {"near": 2.0, "price": -1.0}
    ax.clear()
    plot.explanation(
        Tokenizer(lowercase=True) | RankingPerceptron.from_weights({"see": 1.0}),
        ["see you", "no"],
        ax=ax,
    )
    assert bars(ax) == {"see": 1.0}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Perceptron(intercept=False), "no feature of the event has a weight"),
        (MIRA(), "the model has seen no label yet"),
    ],
)
def test_an_explanation_of_nothing_is_an_error(model, message, ax):
    with pytest.raises(ValueError, match=message):
        plot.explanation(model, {"a": 1}, ax=ax)
    assert not ax.has_data()


def test_a_label_that_is_called_like_a_colour_has_it():
    assert drawing.colours_of(["red", "Green", "x", "blue"]) == [
        drawing.COLOURS[at] for at in (2, 3, 1, 0)
    ]
    assert drawing.colours_of(["a", "b", "c", "d", "e"]) == [*drawing.COLOURS, drawing.COLOURS[0]]


def test_the_legend_of_a_plane_stands_above_it(ax):
    data = [({"a": float(k % 5), "b": float(k % 3)}, k % 5 > k % 3) for k in range(15)]
    model = Perceptron()
    fit(model, data, seed=0)
    plot.decision_boundary(model, data, ax=ax)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1 - 1
