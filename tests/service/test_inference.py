"""The Open Inference Protocol: the same answers as /predict, in columns."""

import json

import pytest

from streamptron import AdaptiveClassifier, MultiLabelClassifier, Tokenizer, load
from tests.service.test_service import TEXTS
from tests.support.served import serving

pytest.importorskip("starlette")

pytestmark = pytest.mark.once  # another Python would say the same


def column(name, data, datatype="BYTES", shape=None):
    return {"name": name, "datatype": datatype, "shape": shape or [len(data)], "data": data}


def taught(model, path):
    for text, label in TEXTS:
        model.learn_one(text, label)
    model.save(path)
    return path


@pytest.mark.parametrize("words", [(), ("--learn",)], ids=str)
def test_texts_are_answered_as_by_predict(words, tmp_path):
    path = taught(Tokenizer() | AdaptiveClassifier(), tmp_path / "news.model")
    pipeline = load(path)
    texts = ["a late goal", "the court", "match"]
    with serving(path, *words) as (link, _):
        assert link.get("/v2")["name"] == "streamptron"
        assert link.get("/v2/health/live") == "healthy\n"
        assert link.get("/v2/health/ready") == "ready\n"
        assert link.get("/v2/models/news/ready") == {"ready": True}
        about = link.get("/v2/models/news")
        assert about["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]
        asked = {"id": "7", "inputs": [column("text", texts)]}
        found = link.post("/v2/models/news/infer", asked)
        wide = column("text", [[text] for text in texts], shape=[3, 1])
        assert link.post("/v2/models/news/infer", {"id": "7", "inputs": [wide]}) == found
        assert link.get("/model")["remembered"] == {"answers": 0, "lessons": 0}
    answers = [pipeline.predict_proba_one(text) for text in texts]
    labels = [pipeline.predict_one(text) for text in texts]
    assert found == {
        "model_name": "news",
        "id": "7",
        "outputs": [
            column("label", labels),
            column("probability", [p[k] for p, k in zip(answers, labels, strict=True)], "FP64"),
        ],
    }


def test_columns_make_events_and_null_is_none(tmp_path):
    model = AdaptiveClassifier()
    rows = [{"size": 3.0, "city": "Paris"}, {"size": 1.0}, {"size": 4.0, "city": "Rome"}]
    for x, label in zip(rows, [True, False, True], strict=True):
        model.learn_one(x, label)
    model.save(tmp_path / "sizes.model")
    columns = [
        column("size", [3.0, 1.0, 4.0], "FP64"),
        column("city", ["Paris", None, "Rome"]),
    ]
    with serving(tmp_path / "sizes.model") as (link, _):
        label, probability = link.post("/v2/models/sizes/infer", {"inputs": columns})["outputs"]
        assert link.get("/v2/models/sizes")["inputs"] == []
    assert label["data"] == [json.dumps(model.predict_one(x)) for x in rows]
    answered = [model.predict_proba_one(x)[model.predict_one(x)] for x in rows]
    assert probability["data"] == answered


def test_several_labels_are_lists_of_json(tmp_path):
    model = Tokenizer() | MultiLabelClassifier()
    for _ in range(9):
        for text, label in TEXTS:
            model.learn_one(text, {k: k == label for k in ("sport", "politics")})
    model.save(tmp_path / "topics.model")
    with serving(tmp_path / "topics.model") as (link, _):
        asked = {"inputs": [column("text", ["late goal", "court ruling"])]}
        (labels,) = link.post("/v2/models/topics/infer", asked)["outputs"]
    assert labels == column("labels", ['["sport"]', '["politics"]'])


def test_what_is_wrong_is_said_in_a_sentence(tmp_path):
    path = taught(Tokenizer() | AdaptiveClassifier(), tmp_path / "news.model")
    bad = {
        'give "inputs", a list': {},
        "give each input a name": {"inputs": [1]},
        "text: shape=[2], but data has 1": {"inputs": [column("text", ["a"], shape=[2])]},
        "text: 1 is not of datatype BYTES": {"inputs": [column("text", [1])]},
        "text: datatype='STRING'; give BYTES or one of": {"inputs": [column("text", [], "STRING")]},
        "the model takes one input, text": {"inputs": [column("words", ["a"])]},
        "give each input once": {"inputs": [column("text", ["a"]), column("text", ["a"])]},
        "event 1: text=None: give a string": {"inputs": [column("text", ["a", None])]},
    }
    with serving(path) as (link, _):
        for sentence, asked in bad.items():
            assert link.post("/v2/models/news/infer", asked, 400)["error"].startswith(sentence)
        said = link.post("/v2/models/mails/infer", {}, 404)["error"]
        assert said == "there is no model mails; this is news"
