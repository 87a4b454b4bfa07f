"""Several models on one stream: what is counted, timed and measured, and what is refused."""

import io
import math
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from river import dummy, linear_model, metrics, naive_bayes, preprocessing

from streamptron import MIRA, AdaptiveClassifier, MulticlassPerceptron, Perceptron, Tokenizer
from streamptron.files import read
from streamptron.study import compare, fit
from tests.support.marks import seeds
from tests.support.processes import environment
from tests.support.studies import blobs, pairs_of


def noisy(seed, n=700):
    return pairs_of(*blobs(seed, n=n, noise=0.15))


def one_by_one(model, stream):
    """The progressive count as it is defined: for each event whether the answer was wrong."""
    found = []
    for x, y in stream:
        answer = model.predict_one(x)
        found.append(None if answer is None else answer != y)
        model.learn_one(x, y)
    return found


@seeds(2)
def test_every_model_answers_each_event_before_it_learns_it(seed):
    stream = noisy(seed)  # more than two blocks
    models = {
        "ours": AdaptiveClassifier(),
        "mira": MIRA(),
        "River's": linear_model.LogisticRegression(),
        "a pipeline": preprocessing.StandardScaler() | Perceptron(),
    }
    twins = {name: model.clone() for name, model in models.items()}
    found = compare(models, iter(stream))
    assert found.n_events == len(stream)
    assert [result.error for result in found] == sorted(result.error for result in found)
    for result in found:
        wrong = one_by_one(twins[result.name], stream)
        answered = [each for each in wrong if each is not None]
        assert result.n_answered == len(answered)
        assert result.error == sum(answered) / len(answered)
    # they have learned
    assert models["ours"].weights == twins["ours"].weights
    assert models["River's"].weights == twins["River's"].weights


@seeds(3)
def test_the_interval_is_that_of_the_paired_differences(seed):
    stream = noisy(seed)
    found = compare([AdaptiveClassifier(), MIRA(), Perceptron()], stream)
    kinds = {kind.__name__: kind for kind in (AdaptiveClassifier, MIRA, Perceptron)}
    wrong = {name: one_by_one(kind(), stream) for name, kind in kinds.items()}
    best = wrong[found[0].name]
    assert (found[0].difference, found[0].half_width) == (0.0, 0.0)
    for result in found[1:]:
        both = [
            (a, b)
            for a, b in zip(wrong[result.name], best, strict=True)
            if a is not None and b is not None
        ]
        differences = np.array([int(a) - int(b) for a, b in both])
        assert result.difference == pytest.approx(differences.mean(), abs=1e-15)
        expected = 1.959964 * differences.std() / math.sqrt(len(both))
        assert result.half_width == pytest.approx(expected, rel=1e-9)


def test_no_answer_is_no_error_and_a_model_without_answers_comes_last():
    class Silent:
        def predict_one(self, x):
            return None

        def learn_one(self, x, y):
            pass

    found = compare({"silent": Silent(), "ours": MIRA()}, [({"a": 1}, "x"), ({"a": 1}, "y")])
    assert [result.name for result in found] == ["ours", "silent"]
    assert (found[0].error, found[0].n_answered) == (1.0, 1)
    assert math.isnan(found[1].error)
    assert math.isnan(found[1].half_width)
    assert found[1].n_answered == 0


def test_memory_is_what_the_library_says_or_the_size_of_a_pickle_or_unknown():
    class Locked:
        def __init__(self):
            self.lock = threading.Lock()

        def predict_one(self, x):
            return True

        def learn_one(self, x, y):
            pass

    ours, mail, theirs = Perceptron(), Tokenizer() | Perceptron(), dummy.NoChangeClassifier()
    models = {"ours": ours, "mail": mail, "theirs": theirs, "locked": Locked()}
    texts = [("a prize", True), ("see you", False)]
    by_name = {result.name: result for result in compare({"mail": mail}, texts)}
    assert by_name["mail"].memory == mail[-1].memory_usage
    del models["mail"]
    found = compare(models, [({"a": 1}, True)] * 5)
    by_name = {result.name: result for result in found}
    assert (by_name["ours"].memory, by_name["ours"].memory_is) == (
        ours.memory_usage,
        "memory_usage",
    )
    assert by_name["theirs"].memory_is == "pickle"
    assert by_name["theirs"].memory == len(pickle.dumps(theirs))
    assert (by_name["locked"].memory, by_name["locked"].memory_is) == (None, None)
    assert "n/a" in repr(found)
    assert "* the size of its pickle" in repr(found)


def test_river_metrics_are_kept_for_each_model_alone():
    stream = noisy(5, n=300)
    f1, loss = metrics.F1(), metrics.LogLoss()
    found = compare([AdaptiveClassifier(), Perceptron()], stream, metrics=[f1, loss])
    for result in found:
        model = {"AdaptiveClassifier": AdaptiveClassifier, "Perceptron": Perceptron}[result.name]()
        ours, theirs = metrics.F1(), metrics.LogLoss()
        for x, y in stream:
            p, answer = model.predict_proba_one(x), model.predict_one(x)
            if answer is not None:
                ours.update(y, answer)
            if p:
                theirs.update(y, p)
            model.learn_one(x, y)
        assert [metric.get() for metric in result.metrics] == [ours.get(), theirs.get()]
    assert (f1.get(), f1.cm.n_samples) == (0.0, 0)  # those that were given stay as they were
    table = found.to_frame()
    assert list(table.columns)[-2:] == ["F1", "LogLoss"]
    assert "LogLoss" in repr(found).splitlines()[0]


def test_a_comparison_is_a_frame_and_a_table():
    found = compare({"a": MIRA(), "b": Perceptron(), "c": naive_bayes.GaussianNB()}, noisy(6))
    table = found.to_frame()
    assert list(table.index) == [result.name for result in found]
    assert table.error.tolist() == [result.error for result in found]
    assert table.loc["a", "memory_is"] == "memory_usage"
    lines = repr(found).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == [result.name for result in found]
    assert f"{100 * found[0].error:.2f}" in lines[1]
    assert "700 events" in lines


def test_streams_may_be_generators_and_files():
    lines = b"".join(b"%d\tword%d\n" % (n % 2, n % 2) for n in range(600))
    models = [Tokenizer() | MIRA(), Tokenizer() | MulticlassPerceptron()]
    found = compare(models, read(io.BytesIO(lines), "plain"))
    assert found.n_events == 600
    assert {result.name for result in found} == {"MIRA", "MulticlassPerceptron"}


def test_events_are_held_some_at_a_time():
    alive = [0, 0]

    class Event(dict):
        def __init__(self, *given):
            super().__init__(*given)
            alive[0] += 1
            alive[1] = max(alive)

        def __del__(self):
            alive[0] -= 1

    compare([Perceptron()], ((Event({"a": 1}), n % 2 == 0) for n in range(5000)))
    assert alive[1] < 1000


def twice():
    model = MIRA()
    return {"one": model, "two": model}


STREAM = [({"a": 1}, True)]
REFUSED = {
    "no models": (lambda: ([], STREAM), "models is empty"),
    "no models by name": (lambda: ({}, STREAM), "models is empty"),
    "one model": (lambda: (MIRA(), STREAM), "models is a MIRA"),
    "None": (lambda: (None, STREAM), "models is a NoneType"),
    "two of one name": (lambda: ([MIRA(), MIRA(C=0.1)], STREAM), "two of the name 'MIRA'"),
    "one object twice": (lambda: (twice(), STREAM), "'one' and 'two' are the same object"),
    "a number for a name": (lambda: ({7: MIRA()}, STREAM), "the name 7"),
    "a class": (lambda: ([MIRA], STREAM), r"give an object: MIRA\(\)"),
    "no learner": (lambda: ({"odd": "MIRA"}, STREAM), "'odd' is a str without learn_one"),
    "a stream of nothing": (lambda: ([MIRA()], []), "stream is empty"),
    "a dict for a stream": (lambda: ([MIRA()], {"a": 1}), "stream is a dict"),
    "a number for a stream": (lambda: ([MIRA()], 7), "stream is an int"),
    "no pair": (lambda: ([MIRA()], [*STREAM, 7]), "event 1 of the stream is 7"),
    "a metric's class": (lambda: ([MIRA()], STREAM, metrics.F1), "metrics"),
    "a metric of numbers": (lambda: ([MIRA()], STREAM, [metrics.MAE()]), "metrics has"),
    "a text for metrics": (lambda: ([MIRA()], STREAM, "F1"), "metrics='F1'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_named_and_nothing_is_learned(what):
    given, message = REFUSED[what]
    arguments = given()
    with pytest.raises((TypeError, ValueError), match=message):
        compare(*arguments)
    models = arguments[0]
    if isinstance(models, MIRA) or not models:
        return
    for model in models.values() if isinstance(models, dict) else models:
        if isinstance(model, MIRA):
            assert model.n_seen == 0


def test_a_bad_event_is_named_with_its_number_and_the_model():
    stream = [*[({"a": 1}, True)] * 400, ({"a": "7"}, True)]
    with pytest.raises(TypeError, match=r"event 400 of the stream, model 'MIRA': x\['a'\]"):
        compare([MIRA()], stream)
    with pytest.raises(ValueError, match=r"event 1 of the stream, model 'Perceptron': y='spam'"):
        compare([Perceptron()], [({"a": 1}, True), ({"a": 1}, "spam")])


def test_without_pandas_a_frame_is_an_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for found in (compare([MIRA()], STREAM), fit(Perceptron(), STREAM)):
        with pytest.raises(ImportError, match=r"streamptron\[study\]"):
            found.to_frame()
        assert repr(found)


@pytest.mark.slow
def test_the_extras_are_imported_only_where_they_are_used():
    code = (
        "import sys\n"
        "from streamptron import MIRA, Perceptron\n"
        "from streamptron.study import compare, fit, margin\n"
        "data = [({'a': 1}, True), ({'a': -1}, False)]\n"
        "model = Perceptron()\n"
        "repr(fit(model, data)), margin(model, data), repr(compare([MIRA()], data))\n"
        "print({'sklearn', 'scipy', 'tqdm', 'pandas'} & set(sys.modules) - before)\n"
    )
    # River brings some of them itself
    start = "import sys\nimport river.base, river.metrics\nbefore = set(sys.modules)\n"
    done = subprocess.run(
        [sys.executable, "-c", start + code], env=environment(), capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")
