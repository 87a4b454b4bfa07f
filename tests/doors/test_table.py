"""The table of parameters is what every constructor, option and page says."""

import copy
import inspect
import pickle
import re
import runpy

import pytest

import streamptron
from streamptron import Mail, ParameterError, Perceptron, Tokenizer
from streamptron.command.options import LEARNER_OPTIONS
from streamptron.common.errors import ParameterTypeError, plain
from streamptron.learners.registry import BY_CLASS_NAME, BY_NAME, PARAMETERS, TOKENS, parameters_of
from tests.support.project import ROOT

LEARNERS = sorted(BY_CLASS_NAME)
CLASSES = {**BY_CLASS_NAME, "Tokenizer": Tokenizer, "Mail": Mail}


def signature(kind):
    """The defaults of a constructor's parameters."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(kind).parameters.items()
        if name != "self"
    }


def documented(kind):
    """What the section Parameters of a class says, by names."""
    section = re.search(r"Parameters\n-+\n((?:.*\n)*?)\n\w+\n-+\n", inspect.getdoc(kind))
    items = re.split(r"^(?=\S)", section[1], flags=re.M)[1:]
    found = {}
    for item in items:
        head, _, text = re.sub(r",\n\s+", ", ", item).partition("\n")
        names, _, kind_of = head.partition(" : ")
        found |= dict.fromkeys(names.split(", "), (kind_of, text))
    return found


@pytest.mark.parametrize("name", CLASSES)
def test_constructor_has_the_parameters_and_defaults_of_the_table_in_its_order(name):
    table = [(each.name, each.default) for each in parameters_of(CLASSES[name]).values()]
    found = list(signature(CLASSES[name]).items())
    assert found == table
    assert [type(value) for _, value in found] == [type(value) for _, value in table]


@pytest.mark.parametrize("name", CLASSES)
def test_docstring_describes_the_parameters_of_the_signature_in_any_order(name):
    kind = CLASSES[name]
    assert set(documented(kind)) == set(signature(kind))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_can_be_read_and_has_a_value_of_its_default(learner):
    kind = BY_CLASS_NAME[learner]
    model = kind()
    assert {name: getattr(model, name) for name in signature(kind)} == signature(kind)
    others = {each.name for each in PARAMETERS} - set(signature(kind))
    assert not [name for name in others if hasattr(model, name)]


WRONG = {
    "NUMBER": [("x", TypeError), (True, TypeError), (float("nan"), ValueError)],
    "SPAN": [("x", TypeError), (True, TypeError), (0, ValueError)],
    "TRUTH": [(1, TypeError), (None, TypeError)],
    "WORD": [("x", ValueError), (None, ValueError)],
    "COUNT": [(1.0, TypeError), (0, ValueError), (2**32, ValueError)],
    "COUNT_OR_NONE": [(1.0, TypeError), (0, ValueError), (2**32, ValueError)],
    "SEED": [("x", TypeError), (-1, ValueError), (2**64, ValueError)],
    "BY_LABEL": [(1, TypeError)],
    "FIELDS": [("ab", TypeError), ([("a",)], ValueError)],
    "NUMBER_OR_WORD": [("x", ValueError), (2.0, ValueError)],
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_refused_names_parameter_value_and_what_is_wanted(learner):
    kind = BY_CLASS_NAME[learner]
    for name, parameter in parameters_of(kind).items():
        for value, error in WRONG[parameter.kind]:
            with pytest.raises(ParameterError) as caught:
                kind(**{name: value})
            assert caught.value.name == name
            assert caught.value.value is value or value != value
            if isinstance(value, str) and parameter.kind == "NUMBER_OR_WORD":
                continue
            assert isinstance(caught.value, TypeError) is (error is TypeError), (name, value)
            if parameter.kind not in ("BY_LABEL", "FIELDS", "NUMBER_OR_WORD"):
                assert caught.value.wanted == parameter.wanted
                assert str(caught.value).endswith(f"; it must be {parameter.wanted}")


def test_bounds_of_numbers_are_allowed_and_what_is_beyond_them_is_not():
    for parameter in PARAMETERS:
        if parameter.kind not in ("NUMBER", "SPAN", "COUNT", "COUNT_OR_NONE"):
            continue
        number = float if parameter.kind in ("NUMBER", "SPAN") else int
        for learner in parameter.learners:
            kind = BY_CLASS_NAME[learner]
            given = {"update": "perceptron"} if parameter.name == "margin" else {}
            given = {"update": "margin"} if parameter.name == "C" else given
            given = {name: value for name, value in given.items() if name in signature(kind)}
            for bound in (parameter.low, parameter.high):
                kind(**{parameter.name: number(bound)}, **given)
            for beyond in (parameter.low - 1, parameter.high * 2):
                with pytest.raises(ParameterError):
                    kind(**{parameter.name: number(beyond)}, **given)


CONTRADICTIONS = [
    (Perceptron, {"serve": "average", "average": "none"}, "serve"),
    (Perceptron, {"serve": "pocket"}, "serve"),
    (Perceptron, {"max_features": 9, "hash_bits": 4}, "max_features"),
    (Perceptron, {"degree": 2, "interactions": [("a", "b")]}, "degree"),
    (streamptron.RankingPerceptron, {"update": "perceptron", "C": 0.5}, "C"),
    (streamptron.RankingPerceptron, {"update": "margin", "margin": 0.5}, "margin"),
]


@pytest.mark.parametrize(("learner", "given", "name"), CONTRADICTIONS)
def test_a_contradiction_names_both_as_they_were_given(learner, given, name):
    with pytest.raises(ParameterError) as caught:
        learner(**given)
    assert caught.value.name == name
    assert caught.value.value == given[name]
    assert f"{name}={given[name]!r}" in str(caught.value)
    assert all(part in str(caught.value) for part in given)


def test_an_error_survives_copies_and_pickles_in_its_words():
    for params in (
        {"margin": -1},
        {"margin": "x"},
        {"class_weight": {True: -1}},
        CONTRADICTIONS[0][1],
    ):
        with pytest.raises(ParameterError) as caught:
            Perceptron(**params)
        for again in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
            assert type(again) is type(caught.value)
            assert (again.name, again.value) == (caught.value.name, caught.value.value)
            assert (again.wanted, str(again)) == (caught.value.wanted, str(caught.value))


def test_an_error_is_written_as_a_face_writes_parameters():
    error = ParameterTypeError("C", 2, "x", plain("{a} is not one, ") + "{C}, {r:1}, {C!s}")
    assert str(error) == "{a} is not one, C=2, r=1, C"

    def written(name, value, label):
        return f"--{name}" + (f" {value}" if value else "")

    assert error.words(written) == "{a} is not one, --C 2, --r 1, --C"
    assert str(error.worded(written)) == error.words(written)
    by_label = ParameterError("class_weight", -1, "above 0", label="spam")
    assert str(by_label) == "class_weight['spam']=-1; it must be above 0"


def test_the_command_line_has_an_option_for_each_parameter():
    on_lines = {each for kind in BY_NAME.values() for each in parameters_of(kind)}
    assert set(LEARNER_OPTIONS.names) == on_lines - {"missing"}


def test_a_sentence_ends_with_a_full_stop_and_begins_with_a_capital():
    for parameter in (*PARAMETERS, *TOKENS):
        assert re.fullmatch(r"(2: |[A-Z]).*[a-z)e>1]\.", parameter.about), parameter.about


def test_the_page_of_parameters_is_what_the_table_says():
    writer, page = ROOT / "docs" / "parameters.py", ROOT / "docs" / "parameters.md"
    said = runpy.run_path(str(writer))["page"]()
    assert said == page.read_text("utf-8"), "python docs/parameters.py > docs/parameters.md"


def test_a_parameter_is_named_in_few_files():
    named = [
        path
        for path in (ROOT / "streamptron").rglob("*")
        if path.suffix in (".py", ".pyi", ".pyx", ".pxd", ".c", ".h")
        and "half_life" in path.read_text("utf-8")
    ]
    assert len(named) <= 5, named


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_parameter_can_be_read_and_not_set(learner):
    model = BY_CLASS_NAME[learner]()
    for name, default in signature(type(model)).items():
        assert getattr(model, name) == default
        with pytest.raises(AttributeError, match=re.escape(f"{name} is fixed; clone({{'{name}'")):
            setattr(model, name, default)


@pytest.mark.slow
@pytest.mark.parametrize("set", ["MIRA().C = 2.0", "AROW().hash_bits = 8"])
def test_a_type_checker_refuses_to_set_a_parameter(set, tmp_path):
    from mypy import api

    lines = "from streamptron import AROW, MIRA", "rate: float = MIRA().C", set
    (tmp_path / "sets.py").write_text("\n".join(lines))
    said = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(tmp_path / "sets.py")])[0]
    assert re.findall(r"sets.py:(\d)", said) == ["3"], said


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_can_be_read_says_what_it_is(learner):
    kind = BY_CLASS_NAME[learner]
    for name in signature(kind):
        assert getattr(kind, name).__doc__, name
