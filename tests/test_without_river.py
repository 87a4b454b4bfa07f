"""Where River is not installed all that is ours works, and the rest says how to get it.

What is done without it is done in a process that finds none (tests/support/without_river.py).
`make without` runs all tests so, but those that need River.
"""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import streamptron
from streamptron import AdaptiveClassifier, Mail, Perceptron, Tokenizer, load
from streamptron.common.river import INSTALLED
from streamptron.files.fields import with_features

pytestmark = pytest.mark.skipif(not INSTALLED, reason="needs River, beside a process without")

MAIL = [("win a free prize", "spam"), ("see you at the meeting", "ham"), ("a prize", "spam")]


def without(code, *arguments):
    """What Python code prints in a process that finds no River."""
    begin = "import sys, tests.support.without_river\nfrom streamptron import *\n"
    run = subprocess.run(
        [sys.executable, "-c", begin + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def learned(model):
    for text, label in MAIL:
        model.learn_one(text, label)
    return model


@pytest.mark.slow
def test_every_module_is_imported_without_it():
    code = """
import importlib, pkgutil, streamptron
for found in pkgutil.walk_packages(streamptron.__path__, "streamptron."):
    if not found.name.startswith(("streamptron.spark", "streamptron.__main__")):
        importlib.import_module(found.name)
print("river" in sys.modules)
"""
    assert without(code) == "False\n"


def test_nothing_that_is_slow_to_import_is_imported_without_it():
    code = """
import sys
sys.modules["river"] = None
known = set(sys.modules)
import streamptron
print({"inspect", "logging", "numpy"} & (set(sys.modules) - known))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_a_model_file_is_the_same_with_it_and_without(tmp_path):
    learned(Tokenizer() | AdaptiveClassifier(hash_seed=1)).save(tmp_path / "with")
    code = """
model = Tokenizer() | AdaptiveClassifier(hash_seed=1)
for text, label in eval(sys.argv[2]):
    model.learn_one(text, label)
model.save(sys.argv[1])
"""
    without(code, tmp_path / "without", MAIL)
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()


def test_a_model_is_shown_and_cloned_as_with_it():
    code = """
for model in (Tokenizer() | MIRA(C=1e-5), LearnUnsure(Mail() | Perceptron(), 3), Tokenizer()):
    print(repr(model), repr(model.clone()), str(model), model._supervised, sorted(model._tags))
print((Tokenizer() | MIRA()).clone({"MIRA": {"C": 0.5}})[-1].C, (Tokenizer() | MIRA())._multiclass)
print(LearnUnsure(Mail() | MIRA(), 3).clone({"margin": 2.0}).margin)
"""
    here = subprocess.run(
        [sys.executable, "-c", "from streamptron import *\n" + code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert without(code) == here.stdout


def test_a_pickled_pipeline_goes_both_ways():
    model = Tokenizer() | AdaptiveClassifier(hash_seed=1)
    learned(model).predict_one("a prize")  # River has made its plan
    code = """
import pickle
model = pickle.loads(bytes.fromhex(sys.argv[1]))
model.learn_one("a prize for you", "spam")
print(pickle.dumps(model).hex())
"""
    back = pickle.loads(bytes.fromhex(without(code, pickle.dumps(model).hex())))
    model.learn_one("a prize for you", "spam")
    assert pickle.dumps(back[-1]) == pickle.dumps(model[-1])
    assert back.debug_one("a prize")  # which River's pipeline alone has
    assert back.predict_one("a prize") == "spam"


def test_texts_beside_features_are_read_and_written_without_it(tmp_path):
    lines = [{"label": "ok", "req": "get a", "ua": "x y", "ms": 3}]
    lines += [{"label": "bad", "req": "put b", "ua": "z", "ms": 900}]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines * 5))
    words = ["train", str(tmp_path / "log.jsonl"), "--text", "req", "--text", "ua"]
    words += ["--features", "ms", "--label", "label", "--hash-seed", "1", "-q"]
    code = "from streamptron.command.cli import main; main(eval(sys.argv[1]))"
    without(code, [*words, "-m", str(tmp_path / "without")])
    assert streamptron.command.cli.main([*words, "-m", str(tmp_path / "with")]) == 0
    model, other = load(tmp_path / "with"), load(tmp_path / "without")
    assert repr(model) == repr(other)
    assert pickle.dumps(model[-1]) == pickle.dumps(other[-1])
    code = """
from streamptron.common.river import compose
model = load(sys.argv[1])
print(type(model) is compose.Pipeline, repr(model))
save(model, sys.argv[2])
"""
    assert without(code, tmp_path / "with", tmp_path / "again") == f"True {model!r}\n"
    assert repr(load(tmp_path / "again")) == repr(model)


def test_the_union_of_texts_and_features_is_that_of_river():
    code = """
from streamptron.files.fields import with_features
union = with_features(Tokenizer(fields=("a", "b")))
print(union.transform_one({"a": "x y", "b": "x", "n": 2}), union, repr(union))
"""
    union = with_features(Tokenizer(fields=("a", "b")))
    x = {"a": "x y", "b": "x", "n": 2}
    assert without(code) == f"{union.transform_one(x)} {union} {union!r}\n"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("Tokenizer() | object()", "a pipeline of Tokenizer and object"),
        ("len | Perceptron()", "a pipeline of builtin_function_or_method and Perceptron"),
        ("from streamptron.study import Recorder; Recorder(Perceptron())", 'drift="adwin"'),
        ("from streamptron.study import compare; compare([Perceptron()], [], 3)", "a metric"),
    ],
    ids=["tokenizer", "function", "drift", "metrics"],
)
def test_what_is_rivers_alone_says_how_to_get_it(code, what):
    lines = [
        "try:",
        f"    {code}",
        "except ImportError as error:",
        "    print(error)",
    ]
    said = without("\n".join(lines))
    assert said == f"{what} needs River, which is not installed: pip install river\n"


def test_a_file_with_steps_of_rivers_says_that_it_needs_it(tmp_path):
    from river import preprocessing

    model = preprocessing.StandardScaler() | Perceptron()
    model.learn_one({"a": 1.0}, True)
    streamptron.save(model, tmp_path / "m")
    code = """
try:
    load(sys.argv[1])
except ImportError as error:
    print(error)
from streamptron.command.cli import main
print(main(["info", sys.argv[1]]))
"""
    said = "the step StandardScaler needs River, which is not installed: pip install river\n"
    found = without(code, tmp_path / "m")
    assert found.startswith(said)
    assert found.endswith("1\n")


def test_a_folder_that_is_called_river_is_not_river(tmp_path):
    (tmp_path / "river").mkdir()
    code = "import streamptron.common.river as r; print(r.INSTALLED)"
    paths = [str(Path(streamptron.__file__).parent.parent), str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path = {paths} + sys.path\n{code}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert run.stdout == "False\n"


def test_mails_are_learned_without_it():
    code = """
model = Mail() | AdaptiveClassifier(hash_seed=1)
model.learn_one(b"Subject: win\\n\\na free prize", "spam")
model.learn_one(b"Subject: tomorrow\\n\\nsee you", "ham")
print(model.predict_proba_one(b"Subject: prize\\n\\nfree"))
"""
    mail = b"Subject: prize\n\nfree"
    model = Mail() | AdaptiveClassifier(hash_seed=1)
    model.learn_one(b"Subject: win\n\na free prize", "spam")
    model.learn_one(b"Subject: tomorrow\n\nsee you", "ham")
    assert without(code) == f"{model.predict_proba_one(mail)}\n"
