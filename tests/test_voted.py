"""VotedPerceptron: every vector votes, exactly, and nothing of it costs what the textbook says."""

import copy
import pickle
import random
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import streamptron
from streamptron import ModelFileError, Perceptron, Tokenizer, VotedPerceptron
from tests.support.counts import counts_text
from tests.support.marks import seeds
from tests.support.streams import needs_data, random_events, svmlight, text_stream
from tests.support.variants import learned
from tests.twin import voted

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

LABELS = ("ham", "spam", "eggs", 7, ("baked", "beans"), True)
TWO = ((False, True), (True, False), ("ham", "spam"))
labels_of_all_kinds = pytest.mark.parametrize("labels", [*TWO, LABELS[:3], LABELS], ids=repr)

PARAMETERS = {
    "plain": {},
    "degree 2": {"degree": 2},
    "degree 3": {"degree": 3},
    "no intercept": {"intercept": False},
    "no intercept, degree 2": {"intercept": False, "degree": 2},
    "budget 1": {"budget": 1},
    "budget 7": {"budget": 7},
    "budget 70": {"budget": 70},
    "budget 12, degree 2": {"budget": 12, "degree": 2},
    "class weights": {"class_weight": {True: 2.0, "ham": 0.5, "spam": 0.0, 7: 4.0}},
}
every_kind = pytest.mark.parametrize("params", PARAMETERS.values(), ids=PARAMETERS)


def pair(**params):
    return VotedPerceptron(hash_seed=0, **params), voted.VotedPerceptron(**params)


def check_counts(model, twin):
    assert (model.n_seen, model.n_updates, model.n_mistakes, model.n_kept) == (
        *(twin.n_seen, twin.n_updates, twin.n_mistakes),
        len(twin.kept),
    )
    assert model.labels == twin.labels


# --- The vote


@seeds(1, n_slow=1)
@labels_of_all_kinds
@every_kind
def test_every_answer_is_that_of_all_stored_vectors(params, labels, seed):
    """Whole numbers: every sum is exact, and so is every answer."""
    rng = random.Random(seed)
    model, twin = pair(**params)
    for x, y, _ in random_events(rng, 200, labels=labels):
        assert model.decision_function_one(x) == twin.decision_function_one(x)
        assert model.predict_one(x) == twin.predict_one(x)
        assert model.predict_proba_one(x) == pytest.approx(twin.predict_proba_one(x), rel=1e-9)
        w = rng.choice((0.0, 0.5, 1.0, 1.0, 2.0))
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        check_counts(model, twin)
    model._check()


@seeds(3)
@labels_of_all_kinds
@pytest.mark.parametrize("params", [{}, {"intercept": False}, {"budget": 9}], ids=str)
def test_real_values_agree_but_for_vectors_whose_score_is_0_in_all_but_rounding(
    params, labels, seed
):
    model, twin = pair(**params)
    for x, y, w in random_events(
        random.Random(seed), 200, labels=labels, values="real", weighted=True
    ):
        votes, doubt = twin.votes(x)
        found = model.decision_function_one(x)
        found = found if isinstance(found, dict) else {True: found}
        assert found == pytest.approx(votes, abs=2 * doubt + 1e-12)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        check_counts(model, twin)


STREAMS = {
    "sms_spam": lambda: text_stream("sms_spam", 800),
    "20 newsgroups": lambda: text_stream("20news_train", 120),
    "a9a": lambda: svmlight("a9a", 400),
}


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("params", [{}, {"budget": 60}, {"degree": 2}], ids=str)
@pytest.mark.parametrize("name", STREAMS)
def test_every_answer_on_a_real_stream_is_that_of_all_stored_vectors(name, params):
    """Words are there or not, and a9a's values are 1: nothing is in doubt."""
    model, twin = pair(**params)
    for i, (x, y) in enumerate(STREAMS[name]()):
        if i % 5 == 0 or i < 50:
            assert model.decision_function_one(x) == twin.decision_function_one(x)
            assert model.predict_one(x) == twin.predict_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
        check_counts(model, twin)


def test_worked_example():
    """c_1 = 1 for {win} and c_2 = 2 for {win, -lunch}, whose intercept is 0."""
    model = VotedPerceptron()
    model.learn_one({"win": 1}, True)  # w_0 = 0 is a tie, so an error: w_1 = {win: 1}, b = 1
    model.learn_one({"lunch": 1}, False)  # says True: w_2 = {win: 1, lunch: -1}, b = 0
    model.learn_one({"win": 1}, True)  # w_2 is right, and stands
    assert model.decision_function_one({"win": 1}) == 1.0
    assert model.decision_function_one({"lunch": 1}) == (1 - 2) / 3
    assert model.decision_function_one({"noon": 1}) == (1 - 2) / 3  # w_2 says 0: False
    assert (model.n_updates, model.n_mistakes) == (2, 1)  # before the first label nothing is wrong


def test_a_label_that_comes_late_was_not_voted_for_before():
    """Its zero vector stood all the time, and said that it was not this one."""
    model = VotedPerceptron()
    for i in range(98):
        model.learn_one({f"w{i % 2}": 1}, "ab"[i % 2])
    model.learn_one({"w2": 1}, "c")
    model.learn_one({"w2": 1}, "c")
    decision = model.decision_function_one({"w2": 1})
    assert decision["c"] == (2 - 98) / 100
    assert model.predict_one({"w0": 1}) == "a"


@pytest.mark.slow
@seeds(1)
@pytest.mark.parametrize("degree", [1, 2])
def test_long_runs_without_a_shared_feature_are_passed_exactly(degree, seed):
    """Thousands of updates, of which an event meets few: blocks of both sizes are passed."""
    rng = random.Random(seed)
    model, twin = pair(degree=degree)
    for i in range(9000):
        # each event is new, and errs as often as the intercept is on the wrong side
        x, y = {f"w{i}": 1, f"v{i // 300}": 1}, rng.random() < 0.5
        model.learn_one(x, y)
        if degree == 1:
            twin.learn_one(x, y)
        if i % 1000 == 999 and degree == 1:
            for j in (0, i // 2, i, i + 1):
                x = {f"w{j}": 3, f"v{j // 300}": 1}
                assert model.decision_function_one(x) == twin.decision_function_one(x)
    assert model.n_updates > 4500
    # whichever blocks it is cut into, before and after the queues have moved, it is the same vote
    again = pickle.loads(pickle.dumps(model))
    for i in range(0, 9000, 500):
        x = {f"w{i}": 3, f"v{i // 300}": 1}
        assert again.decision_function_one(x) == model.decision_function_one(x)


def test_the_zero_vector_stays_zero_when_real_values_are_dropped():
    """Current score less kept updates is 1e-17 here, and must not become a vote."""
    model = VotedPerceptron(budget=3)
    rng = random.Random(1)
    for i in range(40):
        model.learn_one({f"w{i}": rng.gauss(0, 1)}, i % 2 == 0)
    unknown = model.decision_function_one({"never": 1})
    assert model.decision_function_one({f"w{i}": 1e-9}) == pytest.approx(unknown, abs=1.0)
    assert model.n_kept == 3


# --- The same at every door


def batch(seed, n=160, n_columns=30, n_labels=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, n_columns)) * (rng.random((n, n_columns)) < 0.3) * 1.0
    y = (X @ rng.normal(size=(n_columns, n_labels))).argmax(axis=1)
    return X, y


@seeds(2)
@pytest.mark.parametrize("n_labels", [2, 4])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, "frame"])
@every_kind
def test_rows_are_learned_as_their_dicts_bit_for_bit(params, kind, n_labels, seed):
    X, y = batch(seed, n_labels=n_labels)
    rows = [{j: value for j, value in enumerate(row) if value} for row in X.tolist()]
    given = X
    if kind == "frame":
        pandas = pytest.importorskip("pandas")
        rows = [{f"c{j}": value for j, value in row.items()} for row in rows]
        given = pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    else:
        given = kind(X)
    one, many = (VotedPerceptron(hash_seed=0, **params) for _ in range(2))
    predicted = []
    for x, label in zip(rows, y.tolist(), strict=True):
        predicted.append(one.test_then_train_one(x, label))
    assert many.test_then_train_many(given, y.tolist()).tolist() == predicted
    assert learned(one) == learned(many)
    assert many.predict_many(given).tolist() == [one.predict_one(x) for x in rows]


def test_texts_are_learned_as_their_words():
    texts = [("win a prize now", True), ("lunch at noon", False), ("a prize at noon", True)] * 20
    tokenizer = Tokenizer()
    text = tokenizer | VotedPerceptron(hash_seed=0)
    words = VotedPerceptron(hash_seed=0)
    for message, y in texts:
        text.learn_one(message, y)
        words.learn_one(tokenizer.transform_one(message), y)
    assert learned(text[-1]) == learned(words)


@seeds(2)
@pytest.mark.parametrize("bits", [1, 3, 20])
@pytest.mark.parametrize("params", [{}, {"budget": 9}, {"degree": 2, "budget": 9}], ids=str)
def test_features_that_share_a_slot_are_one_feature(params, bits, seed):
    """Each name in an event adds to the slot, also when an update is dropped."""
    model = VotedPerceptron(hash_bits=bits, hash_seed=3, **params)
    twin = voted.VotedPerceptron(**params)
    slots = {}
    for i in range(40):
        alone = Perceptron(hash_bits=bits, hash_seed=3, average="none", serve="current")
        alone.learn_one({f"word{i}": 1}, True)
        slots[f"word{i}"] = next(iter(alone.weights))
    for x, y, _ in random_events(random.Random(seed), 200):
        merged = {}
        for name, value in x.items():
            merged[slots[name]] = merged.get(slots[name], 0) + value
        assert model.decision_function_one(x) == twin.decision_function_one(merged)
        model.learn_one(x, y)
        twin.learn_one(merged, y)
        model._check()


# --- Memory, copies and files


@seeds(2)
@labels_of_all_kinds
@pytest.mark.parametrize("params", [{"degree": 2, "budget": 9}, {"budget": 1}], ids=str)
def test_names_that_no_kept_vector_has_any_more_leave_as_the_twins_do(params, labels, seed):
    rng = random.Random(seed)
    model, twin = pair(**params)
    names = [name * (1 + 8 * (i % 3)) for i, name in enumerate("abcdefghijklmnopqrstuvwxyz")]
    for i in range(400):
        x = {f"{rng.choice(names)} {rng.randrange(i, i + 9) // 9}": rng.choice((1, -1, 2))}
        x[rng.choice(names)] = 1
        y, w = rng.choice(labels), rng.choice((0.5, 1.0))
        assert model.decision_function_one(x) == twin.decision_function_one(x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        assert model.n_features == len(twin.names)
        if i % 50 == 0:
            model = pickle.loads(pickle.dumps(model))
        model._check()
    if params["budget"] > 1:
        assert model.n_features < 64


@pytest.mark.parametrize("door", ["one", "matrix", "text"])
def test_memory_of_a_kernel_under_a_budget_does_not_grow_with_new_names(door):
    """A stream in which every event brings names that never come again."""
    model = VotedPerceptron(degree=2, budget=50)
    usage = []
    for i in range(0, 20_000, 100):
        y = [(i + j) % 7 < 3 for j in range(100)]
        if door == "matrix":
            rows = np.arange(i, i + 100)
            model.learn_many(sp.csr_array((np.ones(100), (np.arange(100), rows))), y)
        elif door == "text":
            texts = [f"never seen before {i + j}" for j in range(100)]
            (Tokenizer() | model).learn_many(texts, y)
        else:
            for j in range(100):
                model.learn_one({f"a name as long as names are {i + j}": 1}, y[j])
        usage.append(model.memory_usage)
    assert model.n_kept == 50
    assert model.n_features <= 256
    # where names lie is drawn anew for each model, and with it a few hundred bytes; ten thousand
    # names kept would be many times that
    assert max(usage[100:]) < 1.05 * max(usage[:100])


def test_memory_under_a_budget_and_a_hash_does_not_grow():
    model = VotedPerceptron(budget=50, hash_bits=12, hash_seed=0)
    rng = random.Random(1)
    usage = []
    for i in range(30_000):
        x = {f"w{rng.randrange(10**6)}": 1 for _ in range(10)}
        model.learn_one(x, rng.random() < 0.5)
        if i in (15_000, 29_999):
            usage.append(model.memory_usage)
    assert usage[1] < 1.02 * usage[0]
    assert model.n_kept == 50


AGAIN = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "file": lambda model, path: (model.save(path), streamptron.load(path))[1],
}


@labels_of_all_kinds
@every_kind
@pytest.mark.parametrize("again", AGAIN)
def test_a_model_learns_on_as_if_nothing_had_happened(again, params, labels, tmp_path):
    model = VotedPerceptron(hash_seed=0, **params)
    other = model
    events = random_events(random.Random(5), 300, labels=labels, values="real", weighted=True)
    for i, (x, y, w) in enumerate(events):
        if i % 60 == 20:
            other = AGAIN[again](other, tmp_path / "model")
            assert learned(other) == learned(model)
        assert other.decision_function_one(x) == model.decision_function_one(x)
        assert other.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y, w)
        other.learn_one(x, y, w)
    assert learned(other) == learned(model)


def test_a_file_is_not_opened_in_place(tmp_path):
    model = VotedPerceptron()
    model.learn_one({"a": 1}, True)
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="cannot be used in place: load it without mmap"):
        streamptron.load(tmp_path / "model", mmap=True)


def changed(array, at, value):
    shape, data = array
    item = len(data) // max(int(np.prod(shape)), 1)
    numbers = np.frombuffer(data, "f8" if item == 8 else "u4").copy()
    numbers[at] = value
    return shape, numbers.tobytes()


FORGED = {
    "a slot that is not there": ("voted_slots", 0, 999),
    "the intercept as a feature": ("voted_slots", 0, 1),
    "a value of 0": ("voted_values", 0, 0.0),
    "a value that is too large": ("voted_values", 0, 1e51),
    "a value that is NaN": ("voted_values", 0, np.nan),
    "more features than there are": ("voted_sizes", 0, 50),
    "fewer features than there are": ("voted_sizes", 1, 0),
    "a time that falls": ("voted_times", 1, 1e6),
    "a time that is NaN": ("voted_times", 1, np.nan),
    "a step of 0": ("voted_steps", 0, 0.0),
    "a step that is infinite": ("voted_steps", 0, np.inf),
    "a step that is too large": ("voted_steps", 0, 1e101),
    "an update that is not there": ("voted_updates", -1, 10**6),
    "an update that comes twice": ("voted_updates", 1, 0),
    "more turns than there are": ("voted_turns", 0, 10**6),
    "an odd flag": ("voted_turns", 1, 2),
    "a start without a dropped update": ("voted_starts", 0, 1.0),
    "a start that is NaN": ("voted_starts", 0, np.nan),
}


def taught(**params):
    model = VotedPerceptron(hash_seed=0, **params)
    for x, y, _ in random_events(random.Random(2), 100):
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_state_is_refused_and_nothing_has_changed(name):
    array, at, value = FORGED[name]
    state = taught().__getstate__()
    state["arrays"] = {**state["arrays"], array: changed(state["arrays"][array], at, value)}
    model = taught()
    before = learned(model)
    with pytest.raises(ValueError, match="updates contradict themselves"):
        model.__setstate__(state)
    assert learned(model) == before


@pytest.mark.parametrize(
    "clock", [(5.0, 9.0), (np.nan, 0.0), (np.inf, 0.0), (9.0, -1.0), (99.0, 1.0)]
)
def test_a_forged_clock_is_refused(clock):
    state = taught().__getstate__()
    state["voted"] = counts_text(clock)
    with pytest.raises(
        ValueError, match=r"the votes' clock is invalid|what is kept once does not fit"
    ):
        taught().__setstate__(state)


def test_more_updates_than_the_budget_are_refused():
    state = taught().__getstate__()
    state["params"] = {**state["params"], "budget": 5}
    with pytest.raises(ValueError, match="updates contradict themselves"):
        taught().__setstate__(state)


# --- Explanations


@seeds(3)
@labels_of_all_kinds
@pytest.mark.parametrize("params", [{}, {"intercept": False}, {"budget": 9}], ids=str)
def test_the_shares_of_features_are_those_of_all_stored_vectors(params, labels, seed):
    model, twin = pair(**params)
    for x, y, _ in random_events(random.Random(seed), 120, labels=labels):
        model.learn_one(x, y)
        twin.learn_one(x, y)
    for x, _, _ in islice(random_events(random.Random(seed + 1), labels=labels), 40):
        label = twin.predict_one(x)
        output = True if twin.two else label
        sign = -1.0 if twin.two and label != twin.labels[twin.positive] else 1.0
        expected = {}
        perceptron, event = twin.outputs[output], twin.event(x)
        ends = [start for start, _ in perceptron.vectors[1:]] + [twin.now]
        for (start, vector), end in zip(perceptron.vectors, ends, strict=True):
            c = (end - max(start, twin.since)) / (twin.now - twin.since)
            parts = {name: vector.get(name, 0.0) * value for name, value in event.items()}
            Y = 1.0 if sum(parts.values()) > 0 else -1.0
            pull = {name: part * Y for name, part in parts.items() if part * Y > 0}
            pull = pull or {voted.INTERCEPT: 1.0}
            for name, part in pull.items():
                name = None if name is voted.INTERCEPT else name
                expected[name] = expected.get(name, 0.0) + sign * Y * c * part / sum(pull.values())
        found = dict(model.explain_one(x, label))
        names = {*found, *expected}
        assert {name: found.get(name, 0.0) for name in names} == pytest.approx(
            {name: expected.get(name, 0.0) for name in names}, abs=1e-12
        )


def test_a_kernel_has_no_parts_and_says_so():
    model = VotedPerceptron(degree=2)
    model.learn_one({"a": 1}, True)
    model.learn_one({"b": 1}, False)
    for ask in (
        lambda: model.explain_one({"a": 1}),
        lambda: model.weights,
        lambda: model.intercept_,
        lambda: model.top_features(),
    ):
        with pytest.raises(ValueError, match=r"degree=2: .*a kernel.*degree=1"):
            ask()
    assert model.debug_one({"a": 1}) == "True by the vote of a kernel of degree 2"


# --- What is refused


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("degree", 0, ValueError),
        ("degree", 17, ValueError),
        ("degree", 1.5, TypeError),
        ("degree", None, TypeError),
        ("degree", True, TypeError),
        ("budget", 0, ValueError),
        ("budget", -1, ValueError),
        ("budget", 10.0, TypeError),
        ("intercept", 2, TypeError),
        ("max_features", 100, TypeError),
        ("average", "uniform", TypeError),
        ("pocket", True, TypeError),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused_by_name(name, value, error):
    model = taught()
    before = learned(model)
    for make in (VotedPerceptron, model.__init__):
        with pytest.raises(error, match=name):
            make(**{name: value})
    assert learned(model) == before


def test_values_of_all_sizes_leave_the_votes_finite():
    model = VotedPerceptron(degree=16, class_weight={True: 1e50})
    rng = random.Random(3)
    for i in range(200):
        x = {f"w{j}": rng.choice((1e50, -1e50, 1e-50, 1.0)) for j in rng.sample(range(9), 4)}
        model.learn_one(x, i % 3 == 0, rng.choice((1e50, 1e-50, 1.0)))
        assert -1.0 <= model.decision_function_one(x) <= 1.0
        assert 0.0 <= model.predict_proba_one(x)[True] <= 1.0


@needs_data
def test_the_vote_errs_less_than_the_vectors_it_is_made_of():
    model = VotedPerceptron()
    mistakes = 0
    for x, y in text_stream("sms_spam"):
        mistakes += model.predict_one(x) not in (None, y)
        model.learn_one(x, y)
    assert mistakes < 0.9 * model.n_mistakes
