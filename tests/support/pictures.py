"""One picture of each kind, and what is asked of all of them."""

import numpy as np
from matplotlib.text import Text

from streamptron import AdaptiveClassifier, MulticlassPerceptron, Perceptron, Tokenizer, plot
from streamptron.study import Recorder, fit

TEXTS = [("win a free prize", True), ("see you at nine", False), ("a prize you win", True)]


def points(seed=3, n=60):
    """Pairs of a point and on which side of a line it lies, with a margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(2)
    return [({"a": a, "b": b}, bool(a + 2 * b > 0)) for a, b in X.tolist() if abs(a + 2 * b) > 0.5]


def words(n=400, seed=1):
    """A stream of words that come again and of others that do not."""
    rng = np.random.default_rng(seed)
    for k in range(n):
        often = [f"often {j}" for j in rng.integers(0, 20, 3)]
        yield dict.fromkeys([*often, f"once {k}"], 1), "often 3" in often


def learned():
    """A model of two features that separates `points`."""
    model = Perceptron(average="none")
    fit(model, points(), epochs=100, seed=1)
    return model


def mail():
    model = Tokenizer() | Perceptron()
    for text, label in TEXTS:
        model.learn_one(text, label)
    return model


def histories():
    data = points()
    return {
        "permuted": fit(Perceptron(), data, epochs=30, seed=1),
        "fixed": fit(Perceptron(), data, epochs=30, shuffle=False),
    }


def history():
    data = points(n=80)
    return fit(Perceptron(), data[::2], epochs=6, seed=1, validation=data[1::2])


def topics():
    model = MulticlassPerceptron()
    for word in ("goal", "vote", "atom"):
        model.learn_one({word: 1, "x": 0.1}, f"about {word}")
    return model


def measured(labels=(False, True), n=300, seed=2, **params):
    """A model of three columns, of which one says most about the label."""
    rng = np.random.default_rng(seed)
    model = AdaptiveClassifier(**params)
    X = rng.normal(size=(n, 3)) * [1, 20, 300] + [0, 5, 4000]
    for x in X.round(2).tolist():
        label = labels[int(x[1] > 5) + 2 * int(x[2] > 4200) * (len(labels) > 2)]
        model.learn_one(dict(zip("abc", x, strict=True)), label)
    return model


def crossed(labels=(False, True), n=500, seed=1, **params):
    """A model of three columns, of which two say something only together."""
    rng = np.random.default_rng(seed)
    model = AdaptiveClassifier(**params)
    for a, b, c in rng.normal(size=(n, 3)).tolist():
        label = labels[int((a > 0) != (b > 0)) + int(len(labels) > 2 and abs(a) > 1)]
        x = {"age": 45 + 12 * a, "pay": 3000 + 800 * b, "height": 170 + 7 * c}
        model.learn_one(x, label)
    return model


def recorded(model, n=1500, seed=1):
    """A recorder of a model on a stream whose labels turn round after two thirds."""
    recorder = Recorder(model, window=50, name="a model")
    for k, (x, y) in enumerate(words(n, seed)):
        label = y != (k > n * 2 / 3)
        recorder.update(label, model.predict_one(x))
        model.learn_one(x, label)
    return recorder


def judged(n=300, seed=1):
    """Labels, and what two models say of them."""
    rng = np.random.default_rng(seed)
    spam = rng.random(n) < 0.3
    p = {
        name: 1 / (1 + np.exp(-(sure * (spam - 0.5) + rng.normal(size=n))))
        for name, sure in (("good", 5), ("poor", 2))
    }
    return np.where(spam, "spam", "ham"), p


# name: (the models that it takes, how it is drawn with them on an Axes)
PICTURES = {
    "decision_boundary": (
        [learned],
        lambda model, ax: plot.decision_boundary(model, points(), ax=ax),
    ),
    "decision_boundary of three labels": (
        [topics],
        lambda model, ax: plot.decision_boundary(model, features=("goal", "vote"), ax=ax),
    ),
    "update": ([learned], lambda model, ax: plot.update(model, {"a": 3, "b": -1}, False, ax=ax)),
    "projections": ([learned], lambda model, ax: plot.projections(model, points(), ax=ax)),
    "mistakes_per_pass": ([], lambda ax: plot.mistakes_per_pass(histories(), ax=ax)),
    "training_curve": ([], lambda ax: plot.training_curve(history(), ax=ax)),
    "top_weights": ([mail], lambda model, ax: plot.top_weights(model, ax=ax)),
    "explanation": ([mail], lambda model, ax: plot.explanation(model, "win a prize", ax=ax)),
    "column": ([measured], lambda model, ax: plot.column(model, "b", ax=ax)),
    "column of four labels": (
        [lambda: measured(("low", "high", "less", "more"))],
        lambda model, ax: plot.column(model, "b", ax=ax),
    ),
    "surface": ([crossed], lambda model, ax: plot.surface(model, "age", "pay", ax=ax)),
    "surface of three labels": (
        [lambda: crossed(("low", "high", "middle"))],
        lambda model, ax: plot.surface(model, "age", "pay", ax=ax),
    ),
    "gates": ([crossed], lambda model, ax: plot.gates(model, ax=ax)),
    "progressive_error": (
        [lambda: Perceptron(pocket=True)],
        lambda model, ax: plot.progressive_error(model, words(), ax=ax),
    ),
    "memory": (
        [lambda: AdaptiveClassifier(max_features=60)],
        lambda model, ax: plot.memory(model, words(), ax=ax),
    ),
    "memory of a recorder": (
        [],
        lambda ax: plot.memory(recorded(AdaptiveClassifier(max_features=60)), ax=ax),
    ),
    "errors": ([], lambda ax: plot.errors(recorded(MulticlassPerceptron()), ax=ax)),
    "errors of several models": (
        [],
        lambda ax: plot.errors(
            {f"model {k}": recorded(MulticlassPerceptron(), seed=k) for k in range(5)}, ax=ax
        ),
    ),
    "errors_by_label": (
        [],
        lambda ax: plot.errors_by_label(recorded(MulticlassPerceptron()), ax=ax),
    ),
    "roc_curve": ([], lambda ax: plot.roc_curve(*judged(), "spam", ax=ax)),
    "precision_recall_curve": (
        [],
        lambda ax: plot.precision_recall_curve(*judged(), "spam", ax=ax),
    ),
    "false_positives": ([], lambda ax: plot.false_positives(*judged(), "spam", ax=ax)),
    "calibration_curve": (
        [],
        lambda ax: plot.calibration_curve([True, False] * 20, [0.9, 0.3] * 20, ax=ax),
    ),
    "confusion_matrix": (
        [],
        lambda ax: plot.confusion_matrix(["sport", "music"] * 4, ["sport", "sport"] * 4, ax=ax),
    ),
}


def drawn(name, ax):
    models, draw = PICTURES[name]
    return draw(*(make() for make in models), ax)


def written(axes):
    """All texts of a figure that are seen."""
    figure = axes.figure
    figure.draw_without_rendering()
    unseen = set()  # labels of ticks outside the limits, which are never drawn
    for each in figure.axes:
        for axis in (each.xaxis, each.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    unseen |= {tick.label1, tick.label2}
    texts = [text for text in figure.findobj(Text) if text not in unseen]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]
