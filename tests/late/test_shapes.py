"""A step that is taken back leaves curves and surfaces as the plain-Python twin has them."""

import contextlib
import copy
import pickle
import random

import pytest

from streamptron import AdaptiveClassifier, Journal, Step
from tests.late.test_undo import check_adaptive, forged, inside, learn_and_undo
from tests.support.marks import seeds
from tests.support.shards import pair_of
from tests.twin import undo as twin_undo

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

shapes = pytest.mark.parametrize("shape", ["curve", "auto"])

LABELS = {
    "two": lambda t, n, z, rng: "ab"[z > 0],
    "many": lambda t, n, z, rng: "abcdefghi"[min(int(abs(z) * 3), 8)],
    "two become three": lambda t, n, z, rng: "ab"[z > 0] if 2 * t < n else rng.choice("abc"),
    "lanes grow": lambda t, n, z, rng: "abcdefghijklmnop"[rng.randrange(2 + 14 * t // n)],
}


def events_of(rng, n, labels="two", columns=3):
    """(x, y, w): a column joins in the middle, another one ends there, and some are gaps."""
    for t in range(n):
        x = {f"c{i}": rng.gauss(i, 1) for i in range(columns) if rng.random() < 0.9}
        if rng.random() < 0.5:
            x["word"] = 1
        if (2 * t < n) == (rng.random() < 0.95):
            x["early"] = rng.gauss(0, 1)
        else:
            x["late"] = rng.gauss(0, 1)
        z = x.get("c0", 0.0) * (x.get("c1", 1.0) - 1.0)
        yield x, LABELS[labels](t, n, z, rng), rng.choice((1.0, 1.0, 0.1, 2.5))


@seeds(1, n_slow=2)
@pytest.mark.parametrize("labels", LABELS)
@shapes
def test_curves_and_surfaces_are_the_twins_without_the_step(shape, labels, seed, tmp_path):
    rng = random.Random(f"{labels} {seed}")
    forget = rng.choice(["auto", 0, 0.1])
    model, twin = pair_of("AdaptiveClassifier", shape=shape, forget=forget)
    events = events_of(rng, 40, labels)
    model = learn_and_undo(rng, model, twin, events, tmp_path / "model", check_adaptive)
    model._check()
    assert twin.shapes.curves.cells


@seeds(1, n_slow=2)
@pytest.mark.parametrize("most", [12, 350, 1000])
@pytest.mark.parametrize("labels", ["two", "many"])
def test_features_that_a_ceiling_has_dropped_since_are_left_alone(labels, most, seed, tmp_path):
    """And of few columns with surfaces, which are chosen anew, the pairs that are there."""
    rng = random.Random(f"{labels} {most} {seed}")
    model, twin = pair_of("AdaptiveClassifier", max_features=most)
    events = [
        ({**x, f"w{rng.randrange(9)}": 1}, y, 8 * w) for x, y, w in events_of(rng, 60, labels)
    ]
    model = learn_and_undo(rng, model, twin, events, tmp_path / "model", check_adaptive)
    model._check()
    assert twin.shapes.surfaces.n_choices or most != 1000


@seeds(1, n_slow=2)
@pytest.mark.parametrize("labels", LABELS)
def test_all_steps_of_a_stream_are_taken_back_in_any_order(labels, seed):
    rng = random.Random(f"{labels} {seed}")
    model, twin = pair_of("AdaptiveClassifier")
    events = list(events_of(rng, 30, labels))
    steps = []
    for x, y, w in events:
        steps.append((model.learn_one(x, y, w, undo=True), twin_undo.learn(twin, x, y, w)))
    rng.shuffle(steps)
    for (mine, its), (x, _, _) in zip(steps, events, strict=True):
        model.undo(pickle.loads(pickle.dumps(mine)))
        twin_undo.undo(twin, its)
        check_adaptive(model, twin, x)
        model._check()


def test_a_cell_whose_counts_the_step_halved_keeps_them():
    model, twin = pair_of("AdaptiveClassifier", shape="curve")
    rng = random.Random(1)
    for w in (1.0, 1.0, 1.0, 1.0, 2.0**19, 2.0**18, 2.0**20, 1.0, 2.0**19, 3.0):
        x, y = {"a": rng.gauss(0, 1), "word": 1}, rng.choice("ab")
        mine, its = model.learn_one(x, y, w, undo=True), twin_undo.learn(twin, x, y, w)
        model.undo(mine)
        twin_undo.undo(twin, its)
        check_adaptive(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        check_adaptive(model, twin, x)


def learned(model):
    """What it has learned, but not which steps it could take back."""
    state = model.__getstate__()
    state.pop("past", None)
    return pickle.dumps(state)


@pytest.mark.parametrize("params", [{}, {"hash_bits": 3}, {"hash_bits": 16}], ids=str)
@pytest.mark.parametrize("labels", ["two", "many"])
@shapes
def test_the_last_step_taken_back_leaves_no_bit(shape, labels, params):
    rng = random.Random(2)
    model = AdaptiveClassifier(shape=shape, hash_seed=1, **params)
    n_same = 0
    for t, (x, y, w) in enumerate(events_of(rng, 120, labels)):
        x = {name: value for name, value in x.items() if name not in ("early", "late")}
        if t % 3 == 0:
            other = copy.deepcopy(model)
            other.undo(bytes(other.learn_one(x, y, w, undo=True)))
            other._check()
            if other.labels == model.labels:
                assert other.predict_proba_one(x) == model.predict_proba_one(x), t
                n_same += inside(other) == inside(model)
        model.learn_one(x, y, w)
    assert n_same > 20


@pytest.mark.parametrize("hash_bits", [3, 5, 16])
@pytest.mark.parametrize("labels", LABELS)
def test_steps_of_a_hashed_model_are_taken_back_alike_wherever_it_has_been(
    labels, hash_bits, tmp_path
):
    rng = random.Random(f"{labels} {hash_bits}")
    model, steps = AdaptiveClassifier(hash_bits=hash_bits, hash_seed=1), []
    for x, y, w in events_of(rng, 80, labels):
        steps.append(bytes(model.learn_one(x, y, w, undo=True)))
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for step in rng.sample(steps, 30):
        model.undo(step)
        model._check()
        for other in others:
            other.undo(Step.from_bytes(step))
    for other in others:
        other._check()
        assert learned(other) == learned(model)


def test_a_journal_corrects_what_curves_and_surfaces_have_learned(tmp_path):
    rng = random.Random(3)
    journal, twin, steps = (
        Journal(AdaptiveClassifier(hash_seed=0)),
        AdaptiveClassifier(hash_seed=0),
        {},
    )
    for t, (x, y, w) in enumerate(events_of(rng, 80)):
        journal.learn_one(t, x, y, w)
        steps[t] = x, w, twin.learn_one(x, y, w, undo=True)
        if t % 7 == 6:
            x, w, step = steps.pop(t - 3)
            twin.undo(step)
            twin.learn_one(x, "a", w)
            journal.correct(t - 3, "a")
        if t % 30 == 29:
            journal.save(tmp_path / "model")
            journal = Journal.load(tmp_path / "model")
    assert learned(journal.model) == learned(twin)


@pytest.mark.parametrize("shape", ["curve", "auto", "line"])
def test_a_step_without_columns_holds_nothing_of_shapes(shape):
    """And one of a line holds what it always did."""
    rng = random.Random(4)
    model = AdaptiveClassifier(shape=shape)
    for x, y, _ in events_of(rng, 60):
        words = dict.fromkeys(rng.sample("defghi", 3), 1)
        line = AdaptiveClassifier(shape="line")
        assert (
            line.learn_one(words, y, undo=True)._opened.parts[3:]
            == (AdaptiveClassifier(shape=shape).learn_one(words, y, undo=True)._opened.parts[3:])
        )
        step = model.learn_one(x, y, undo=True)
    assert len(step._opened.parts) == (10 if shape == "line" else 11)


@seeds(1, n_slow=6)
@pytest.mark.parametrize("labels", ["two", "many"])
@shapes
def test_forged_shapes_of_a_step_are_refused_or_leave_a_model_that_works(
    shape, labels, seed, tmp_path
):
    """Bytes that are changed, with a checksum that fits."""
    rng = random.Random(f"{labels} {seed}")
    model = AdaptiveClassifier(shape=shape)
    for x, y, w in events_of(rng, 60, labels):
        step = model.learn_one(x, y, w, undo=True)
    assert len(step._opened.parts) == 11
    n_refused = 0
    for _ in range(150):
        other, parts = copy.deepcopy(model), list(step._opened.parts)
        part = bytearray(parts[10])
        for _ in range(rng.randint(1, 3)):
            i = rng.randrange(len(part) if rng.random() < 0.5 else min(400, len(part)))
            part[i] = rng.choice([0, 1, 127, 128, 255, part[i] ^ 1 << rng.randrange(8)])
        parts[10] = bytes(part[: rng.randrange(len(part)) if rng.random() < 0.1 else len(part)])
        before, why = learned(other), None
        try:
            other.undo(Step._of(None, step._opened._replace(parts=parts)))
        except ValueError as error:
            why = str(error)
        if why is not None:
            n_refused += 1
            assert why.startswith("step ")
            assert learned(other) == before
        other._check()
        other.learn_one(x, y)
        assert all(p == p for p in other.predict_proba_one(x).values())
    assert n_refused > 20
    for _ in range(30):
        with contextlib.suppress(ValueError):
            copy.deepcopy(model).undo(forged(bytes(step), rng))
    pickle.loads(pickle.dumps(other))._check()
