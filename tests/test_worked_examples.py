"""Worked examples of the sources, and theorems, for the twin and the library alike.

CS188: the Berkeley notes and slides on perceptrons. CIML: Daumé, A Course in Machine Learning,
chapter 4. Kowalczyk: Support Vector Machines Succinctly, chapter 3.
"""

import importlib
import random
from itertools import product
from math import hypot

import pytest

from tests.support.marks import seeds
from tests.support.streams import needs_data, random_events, text_stream
from tests.twin import learners

pytestmark = pytest.mark.once  # another Python would say the same

LEARNERS = ["Perceptron", "MulticlassPerceptron", "MIRA"]


@pytest.fixture(params=["tests.twin.learners", "streamptron"], ids=["twin", "streamptron"])
def lib(request):
    """The module whose learners are tested."""
    return importlib.import_module(request.param)


def labels_for(learner):
    return (False, True) if learner == "Perceptron" else ("ham", "spam", "eggs", "bacon")


def flat(weights, intercept):
    """A learner's weights as one vector {key: weight}, the intercept under None."""
    if isinstance(intercept, dict):
        return {
            (label, feature): weight
            for label in weights
            for feature, weight in flat(weights[label], intercept[label]).items()
        }
    return {**weights, None: intercept}


def clean_pass(learner, events):
    """Whether a pass over the events leaves the weights alone; it learns if not."""
    before = learner.n_updates
    for x, y in events:
        learner.learn_one(x, y)
    return learner.n_updates == before


@pytest.mark.parametrize("y", [False, True])
def test_score_of_zero_answers_false_and_is_learnt_from_with_either_label(lib, y):
    learner = lib.Perceptron(serve="current")
    assert not learner.predict_one({"f": 1})
    learner.learn_one({"f": 1}, y)
    assert learner.weights == {"f": 1 if y else -1}
    assert (learner.n_updates, learner.n_mistakes) == (1, int(y))


# CS188


def test_cs188_pass_goes_through_the_weights_of_the_notes(lib):
    learner = lib.Perceptron.from_weights({1: 0.0, 2: 0.0}, intercept=-1.0, serve="current")
    data = [((1, 1), False), ((3, 2), True), ((2, 4), True), ((3, 4), True), ((2, 3), False)]
    after_each = []
    for (f1, f2), y in data:
        learner.learn_one({1: f1, 2: f2}, y)
        w = learner.weights
        after_each.append([learner.intercept_, w.get(1, 0), w.get(2, 0)])
    assert after_each == [[-1, 0, 0], [0, 3, 2], [0, 3, 2], [0, 3, 2], [-1, 1, -1]]
    assert (learner.n_seen, learner.n_updates, learner.n_mistakes) == (5, 2, 2)


# the three classes and the event of 9.4.1
W = {0: {0: -2, 1: 2, 2: 1}, 1: {0: 0, 1: 3, 2: 4}, 2: {0: 1, 1: 4, 2: -2}}
F = {0: -2, 1: 3, 2: 1}


def test_cs188_multiclass_update_moves_the_truth_and_the_guess_only(lib):
    learner = lib.MulticlassPerceptron.from_weights(W, serve="current")
    assert learner.decision_function_one(F) == {0: 11, 1: 13, 2: 8}
    assert learner.predict_one(F) == 1
    learner.learn_one(F, 2)
    assert learner.weights == {
        0: {0: -2, 1: 2, 2: 1},
        1: {0: 2, 2: 3},
        2: {0: -1, 1: 7, 2: -1},
    }


# what Crammer & Singer's error set of this example, {0, 1}, loses: d = {0: 11 - 8, 1: 13 - 8}
SHARES = {
    "best": {1: 1.0},
    "uniform": {0: 0.5, 1: 0.5},
    "proportional": {0: 3 / 8, 1: 5 / 8},
}


@pytest.mark.parametrize("violators", SHARES)
def test_every_violator_loses_its_share_of_what_the_truth_gains(lib, violators):
    learner = lib.MulticlassPerceptron.from_weights(W, violators=violators, serve="current")
    learner.learn_one(F, 2)
    share = {0: 0.0, 1: 0.0, **SHARES[violators], 2: -1.0}
    expected = {k: {f: W[k][f] - s * F[f] for f in F} for k, s in share.items()}
    assert learner.weights == {
        k: {f: w for f, w in row.items() if w != 0} for k, row in expected.items()
    }
    assert learner.intercept_ == {k: -s for k, s in share.items()}


def test_violator_at_the_margin_shares_a_uniform_step_and_no_proportional_one(lib):
    scores = {"right": {"f": 1.0}, "at the margin": {"f": 0.5}, "above": {"f": 2.0}, "below": {}}
    moved = {}
    for violators in ("uniform", "proportional"):
        learner = lib.MulticlassPerceptron.from_weights(scores, margin=0.5, violators=violators)
        learner.learn_one({"f": 1}, "right")
        moved[violators] = learner.intercept_
    assert moved["uniform"] == {"right": 1, "at the margin": -0.5, "above": -0.5, "below": 0}
    assert moved["proportional"] == {"right": 1, "at the margin": 0, "above": -1, "below": 0}


def test_violators_that_tie_with_the_truth_share_a_proportional_step_alike(lib):
    learner = lib.MulticlassPerceptron.from_weights({0: {}, 1: {}, 2: {}}, violators="proportional")
    learner.learn_one({"f": 4}, 2)
    assert learner.weights == {0: {"f": -2}, 1: {"f": -2}, 2: {"f": 4}}


# of d + 1 = {0: 4, 1: 6}; one label, at -20, is not a violator
MIRA_SHARES = SHARES | {"proportional": {0: 4 / 10, 1: 6 / 10}}


@pytest.mark.parametrize("violators", MIRA_SHARES)
def test_mira_step_makes_the_mean_lead_over_the_violators_exactly_one(lib, violators):
    W_4 = {**W, 3: {0: 10}}
    learner = lib.MIRA.from_weights(W_4, violators=violators, serve="current")
    learner.learn_one(F, 2)
    share = MIRA_SHARES[violators]
    scores = learner.decision_function_one(F)
    assert sum(s * (scores[2] - scores[k]) for k, s in share.items()) == pytest.approx(1)
    # the step is along the direction of the shares: it is the shortest that does this
    tau = learner.intercept_[2]
    assert 0 < tau < 1
    assert learner.intercept_ == pytest.approx(
        {2: tau, **{k: -share.get(k, 0.0) * tau for k in (0, 1, 3)}}
    )


@pytest.mark.parametrize("violators", MIRA_SHARES)
def test_mira_step_of_all_violators_is_at_most_c(lib, violators):
    learner = lib.MIRA.from_weights(W, C=0.125, violators=violators, serve="current")
    learner.learn_one(F, 2)
    share = {0: 0.0, 1: 0.0, **MIRA_SHARES[violators], 2: -1.0}
    assert learner.intercept_ == pytest.approx({k: -0.125 * s for k, s in share.items()})


@pytest.mark.parametrize(("update", "moved"), [("margin", {"near", "far"}), ("mistake", {"far"})])
def test_mira_on_mistakes_lets_only_labels_that_are_not_behind_share(lib, update, moved):
    w = {"right": {"f": 1.0}, "near": {"f": 0.5}, "far": {"f": 2.0}}
    learner = lib.MIRA.from_weights(w, violators="uniform", update=update)
    learner.learn_one({"f": 1}, "right")
    assert {label for label, weight in learner.intercept_.items() if weight < 0} == moved


@pytest.mark.parametrize("violators", SHARES)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
@seeds(3)
def test_weights_of_a_feature_sum_to_zero_over_the_labels(lib, learner, violators, seed):
    learner = getattr(lib, learner)(violators=violators, average="none")
    for x, y, _ in random_events(random.Random(seed), labels=labels_for("MIRA"), values="real"):
        learner.learn_one(x, y)
    weights = flat(learner.weights, learner.intercept_)
    total = {}
    for (_, feature), weight in weights.items():
        total[feature] = total.get(feature, 0.0) + weight
    expected = dict.fromkeys(total, 0.0)
    if type(learner).__name__ == "MIRA":  # each label's begins at -1
        expected[None] = -1.0 * len(learner.labels)
    assert total == pytest.approx(expected, abs=1e-9)
    assert max(weights.values()) > 0.1


@pytest.mark.parametrize("violators", ["uniform", "proportional"])
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_with_two_labels_the_best_violator_is_the_only_one(lib, learner, violators):
    events = list(random_events(random.Random(3), labels=("ham", "spam"), values="real"))
    models = [getattr(lib, learner)(violators=which) for which in ("best", violators)]
    for x, y, w in events:
        for model in models:
            model.learn_one(x, y, w)
    assert models[0].weights == models[1].weights
    assert models[0].n_updates == models[1].n_updates > 0


def test_mira_step_puts_the_truth_ahead_of_the_guess_by_exactly_one(lib):
    learner = lib.MIRA.from_weights(W, serve="current")
    learner.learn_one(F, 2)
    tau = (13 - 8 + 1) / (2 * (14 + 1))  # f·f = 14, and 1 of the intercept
    scores = learner.decision_function_one(F)
    assert scores == pytest.approx({0: 11, 1: 13 - 15 * tau, 2: 8 + 15 * tau})
    assert scores[2] == pytest.approx(scores[1] + 1)
    assert learner.intercept_ == pytest.approx({0: 0, 1: -tau, 2: tau})


def test_mira_step_is_at_most_c(lib):
    learner = lib.MIRA.from_weights(W, C=0.125, serve="current")
    learner.learn_one(F, 2)
    assert learner.weights == {
        0: W[0],
        1: {f: w - 0.125 * F[f] for f, w in W[1].items()},
        2: {f: w + 0.125 * F[f] for f, w in W[2].items()},
    }


@pytest.mark.parametrize(("update", "n_updates"), [("margin", 1), ("mistake", 0)])
def test_mira_learns_from_a_narrow_right_answer_only_when_it_updates_on_the_margin(
    lib, update, n_updates
):
    learner = lib.MIRA.from_weights({"yes": {"f": 0.5}, "no": {"f": 0.0}}, update=update)
    learner.learn_one({"f": 1}, "yes")
    assert (learner.n_updates, learner.n_mistakes) == (n_updates, 0)
    learner.learn_one({"f": 10}, "yes")  # ahead by far
    assert (learner.n_updates, learner.n_mistakes) == (n_updates, 0)


@seeds(5)
def test_mira_that_waits_for_mistakes_and_steps_little_is_the_multiclass_perceptron(lib, seed):
    # All steps are C, a power of two, for 1 / (2 f·f) is larger. Integer features make every sum
    # exact, so no tie is broken by rounding.
    C = 2.0**-10
    perceptron = lib.MulticlassPerceptron(serve="current")
    mira = lib.MIRA(C=C, update="mistake", serve="current")
    for x, y, _ in random_events(random.Random(seed), labels=labels_for("MIRA")):
        assert mira.predict_one(x) == perceptron.predict_one(x)
        perceptron.learn_one(x, y)
        mira.learn_one(x, y)
    assert (mira.n_mistakes, mira.n_updates) == (perceptron.n_mistakes, perceptron.n_updates)
    steps = flat(perceptron.weights, perceptron.intercept_)
    assert flat(mira.weights, mira.intercept_) == {key: C * steps[key] for key in steps}
    assert mira.n_mistakes > 0


# Kowalczyk


@pytest.mark.parametrize(
    ("w", "x", "scores"),
    [((4, 5, 3), (1, 2, 7), [35, -19]), ((5, 3), (1, 3), [14, 4, -6])],
    ids=["one update", "two updates"],
)
def test_kowalczyk_updates_turn_the_sign(lib, w, x, scores):
    # his vectors are augmented: the leading 1 of x is the intercept's
    learner = lib.Perceptron.from_weights(
        dict(enumerate(w[1:])), intercept=float(w[0]), serve="current"
    )
    event = dict(enumerate(x[1:]))
    assert learner.decision_function_one(event) == scores[0]
    for score in scores[1:]:
        assert learner.predict_one(event)
        learner.learn_one(event, False)
        assert learner.decision_function_one(event) == score
    assert not learner.predict_one(event)
    assert learner.n_updates == len(scores) - 1


XOR = [({"x1": x1, "x2": x2}, bool(x1 ^ x2)) for x1, x2 in product((0, 1), repeat=2)]
XOR_AND = [({**x, "x3": x["x1"] * x["x2"]}, y) for x, y in XOR]


@pytest.mark.parametrize("learner", ["Perceptron", "MulticlassPerceptron"])
def test_xor_never_has_a_clean_pass(lib, learner):
    learner = getattr(lib, learner)()
    assert not any(clean_pass(learner, XOR) for _ in range(1000))


@pytest.mark.parametrize("learner", ["Perceptron", "MulticlassPerceptron"])
def test_xor_with_the_product_feature_converges(lib, learner):
    learner = getattr(lib, learner)(serve="current")
    assert any(clean_pass(learner, XOR_AND) for _ in range(100))
    assert [learner.predict_one(x) for x, _ in XOR_AND] == [y for _, y in XOR_AND]


# CIML

REVIEWS = [
    (("excellent",), True),
    (("terrible",), False),
    (("excellent", "not"), False),
    (("terrible", "not"), True),
]
WORDS = [(dict.fromkeys(words, 1), y) for words, y in REVIEWS]
WORDS_AND_PAIRS = [
    (dict.fromkeys((*words, words) if len(words) > 1 else words, 1), y) for words, y in REVIEWS
]
SENTIMENT = {
    "excellent": 1,
    "terrible": -1,
    "not": 0,
    ("excellent", "not"): -2,
    ("terrible", "not"): 2,
}


def test_ciml_sentiment_weights_leave_nothing_to_learn(lib):
    learner = lib.Perceptron.from_weights(SENTIMENT, serve="current")
    assert [learner.decision_function_one(x) for x, _ in WORDS_AND_PAIRS] == [1, -1, -1, 1]
    assert clean_pass(learner, WORDS_AND_PAIRS)
    assert learner.weights == {f: weight for f, weight in SENTIMENT.items() if weight != 0}


def test_ciml_sentiment_is_learnt_with_pairs_of_words_and_never_without(lib):
    with_pairs, without = lib.Perceptron(), lib.Perceptron()
    assert any(clean_pass(with_pairs, WORDS_AND_PAIRS) for _ in range(100))
    assert not any(clean_pass(without, WORDS) for _ in range(1000))


def separable_events(rng, n=200, dimension=6, gap=0.1):
    """Events, their radius R, and the margin gamma with which a unit vector separates them."""
    unit = [rng.gauss(0, 1) for _ in range(dimension)]
    length = hypot(*unit)
    events, R, gamma = [], 0.0, float("inf")
    while len(events) < n:
        x = [rng.gauss(0, 1) for _ in range(dimension)]
        a = sum(u * value for u, value in zip(unit, x, strict=True)) / length
        if abs(a) >= gap:
            events.append((dict(enumerate(x)), a > 0))
            R, gamma = max(R, hypot(*x)), min(gamma, abs(a))
    return events, R, gamma


@seeds(5)
@pytest.mark.parametrize("intercept", [False, True])
def test_updates_on_separable_data_are_at_most_the_squared_radius_by_margin(lib, intercept, seed):
    events, R, gamma = separable_events(random.Random(seed))
    # CIML, theorem 2. An intercept adds a coordinate of 1 to x; the separator weighs it 0.
    bound = (R**2 + intercept) / gamma**2
    learner = lib.Perceptron(intercept=intercept)
    # each pass before the clean one spends an update of the bound
    assert any(clean_pass(learner, events) for _ in range(int(bound) + 1))
    assert 0 < learner.n_updates <= bound
    assert learner.n_mistakes <= learner.n_updates


def check_average_is_the_mean(learner, events):
    history = [flat(learner.weights, learner.intercept_)]
    for x, y, w in events:
        learner.learn_one(x, y, w)
        history.append(flat(learner.weights, learner.intercept_))
    average = flat(learner.averaged_weights, learner.averaged_intercept)
    mean = learners.brute_force_average(history)
    assert average.keys() <= mean.keys()
    assert {key: average.get(key, 0.0) for key in mean} == pytest.approx(mean, rel=1e-12, abs=1e-12)
    assert any(average.values())


@seeds(5)
@pytest.mark.parametrize("values", ["small", "real"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_uniform_average_is_the_mean_of_all_weights_the_zeros_before_learning_included(
    lib, learner, values, seed
):
    events = random_events(
        random.Random(seed), labels=labels_for(learner), values=values, keys="mixed", weighted=True
    )
    check_average_is_the_mean(getattr(lib, learner)(), events)


@needs_data
def test_uniform_average_is_the_mean_on_text(lib):
    events = ((x, label == "spam", 1.0) for x, label in text_stream("sms_spam", limit=200))
    check_average_is_the_mean(lib.Perceptron(), events)


@seeds(5)
@pytest.mark.parametrize("learner", LEARNERS)
def test_two_streams_in_sequence_add_their_averaging_terms(learner, seed):
    """u = u_A + u_B + n_A (w_end - w_A), when B goes on from A's weights with its own counter.

    Of the twin only: u is not shown by the library.
    """
    cls = getattr(learners, learner)
    events = list(random_events(random.Random(seed), labels=labels_for(learner)))
    first, second = events[:180], events[180:]

    def taught(learner, events):
        for x, y, w in events:
            learner.learn_one(x, y, w)
        return learner

    whole = taught(cls(), events)
    A = taught(cls(), first)
    B = taught(cls.from_weights(A.weights, A.intercept_), second)

    assert flat(B.weights, B.intercept_) == flat(whole.weights, whole.intercept_)
    for output, u in whole.u.items():
        for feature, u_f in u.items():
            w_A, w_end = A.w[output].get(feature, 0.0), whole.w[output].get(feature, 0.0)
            u_A, u_B = A.u[output].get(feature, 0.0), B.u[output].get(feature, 0.0)
            assert u_f == pytest.approx(u_A + u_B + A.n_seen * (w_end - w_A), rel=1e-12, abs=1e-9)
