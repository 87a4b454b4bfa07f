"""A classifier is saved with its learner, and goes on where it was."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import streamptron
from streamptron.common.errors import ModelFileError
from streamptron.keeping.read import read
from streamptron.keeping.write import write
from streamptron.sklearn import MultiLabelClassifier, PerceptronClassifier
from tests.sklearn.test_names import columns
from tests.support.classifiers import every_classifier, names, problem

LABELS = {
    "strs": names,
    "objects": lambda y: names(y).astype(object),
    "ints": lambda y: y * 7 - 3,
    "floats": lambda y: y + 0.0,
    "truth values": lambda y: y > 0,
}


@every_classifier
@pytest.mark.parametrize("kind", LABELS)
def test_a_loaded_classifier_answers_and_learns_on_to_the_last_bit(classifier, kind, tmp_path):
    X, y = problem(0, 3)
    y = LABELS[kind](y)
    first = y.tolist()[0]
    model = classifier(random_state=np.int64(3), class_weight={first: 2.0}).fit(X, y)
    model.save(tmp_path / "a.model", {"made": "today"})
    loaded = streamptron.load(tmp_path / "a.model")
    assert type(loaded) is classifier
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.n_iter_ == model.n_iter_
    assert streamptron.read_metadata(tmp_path / "a.model") == {"made": "today"}
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    again = [pickle.dumps(each.partial_fit(X, y).model_) for each in (model, loaded)]
    assert again[0] == again[1]


def test_names_and_several_labels_are_kept(tmp_path):
    table, y = columns()
    frame = pd.DataFrame(table)
    model = PerceptronClassifier(random_state=0).fit(frame, y)
    streamptron.save(model, tmp_path / "a.model")
    loaded = streamptron.load(tmp_path / "a.model", mmap=True)
    assert loaded.feature_names_in_.tolist() == ["size", "city"]
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()
    Y = np.column_stack([y == names(1), y == names(0)]).astype(int)
    several = MultiLabelClassifier(random_state=0).fit(frame, Y)
    several.save(tmp_path / "b.model")
    loaded = streamptron.load(tmp_path / "b.model")
    np.testing.assert_array_equal(loaded.predict(frame), several.predict(frame))
    loaded.partial_fit(frame, Y)


def test_what_a_file_cannot_hold_is_named(tmp_path):
    X, y = problem(0, 2)
    with pytest.raises(NotFittedError):
        PerceptronClassifier().save(tmp_path / "a.model")
    state = PerceptronClassifier(random_state=np.random.RandomState(0)).fit(X, y)
    with pytest.raises(TypeError, match="RandomState"):
        state.save(tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"class": "Pipeline"},
        {"class": ["AdaptiveClassifier"]},
        {"given": {"degrees": 2}},
        {"kept": {"__class__": 3}},
        {"kept": {}},
        {"kept": {"classes_": ("ndarray", "O8x", [1]), "n_features_in_": 2}},
    ],
    ids=str,
)
def test_a_file_that_is_no_classifiers_is_refused(change, tmp_path):
    X, y = problem(0, 2)
    path = tmp_path / "a.model"
    PerceptronClassifier(random_state=0).fit(X, y).save(path)
    contents = read(path)
    write(path, contents._replace(wrapper=contents.wrapper | change))
    with pytest.raises(ModelFileError, match="damaged"):
        streamptron.load(path)
