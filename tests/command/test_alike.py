"""Labels that look alike, and labels that are new to a model: what is said of them."""

import unicodedata

import pytest

from tests.support.commands import run

pytestmark = pytest.mark.once  # another Python would say the same


@pytest.fixture
def said(tmp_path):
    """What `train` says of lines label TAB text."""

    def said(labels, *words, name="a.tsv"):
        lines = "".join(f"{label}\tw{i} and some words\n" for i, label in enumerate(labels))
        (tmp_path / name).write_text(lines, "utf-8")
        return run("train", tmp_path / name, "-m", tmp_path / "m", *words)[1]

    return said


NFC, NFD = (unicodedata.normalize(form, "größe") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("spam", "\ufeffspam", "by a character that is not seen"),
        ("spam", "spam\u200b", "by a character that is not seen"),
        ("spam", "sp\u00adam", "by a character that is not seen"),
        (NFC, NFD, "by the form of their letters in Unicode"),
        ("\uff53\uff50\uff41\uff4d", "spam", "by the form of their letters in Unicode"),
        ("1", "1.0", "as two ways to write one number"),
        ("1e3", "1000", "as two ways to write one number"),
        ("spam", "Spam", "by upper and lower case"),
        ("b", "b,", "by how they begin or end"),
        ("b;", "b", "by how they begin or end"),
    ],
)
def test_labels_that_look_alike_are_named(first, second, why, said):
    for labels in ([first, "c", second] * 20, [first] * 20 + [second] + ["c"] * 20):
        found = said(labels, "-q")
        assert found.count("warning") == 1
        assert "look alike" in found
        assert f"differ {why}: they are two; write them in one way" in found
        for label in (first, second):
            assert label in found or ascii(label) in found


def test_a_label_with_a_character_that_is_not_seen_is_named_alone_too(said):
    found = said(["spam\u200d", "ham"] * 9, "-q")
    assert "the label 'spam\\u200d' has a character that is not seen; write it as 'spam'" in found


def test_labels_that_differ_are_not_doubted(said):
    assert (
        said(["c", "c++", "c#", "1", "1.5", "-1", "v1.2", "v1.3", "größe", "grosse"] * 5, "-q")
        == ""
    )


def test_labels_of_a_model_that_learns_on_are_compared_too(said):
    said(["spam", "ham"] * 9, "-q")
    found = said(["Spam", "ham"], "--resume", name="b.tsv")
    assert "look alike, and differ by upper and lower case" in found
    assert "new labels             1: Spam\n" in found


def test_a_slip_is_named_as_a_new_label(said):
    said(["protocol::http,x", "x", "v1.2,x"] * 3, "-q", "--learner", "multilabel")
    found = said(["protocl::http", "v1.3", "x"], "--resume", name="b.tsv")
    assert "the new label 'protocl::http' is much like 'protocol::http'" in found
    assert found.count("is it a slip?") == 1
    assert "new labels             2: protocl::http, v1.3\n" in found
    assert "new labels" not in said(["x"], "--resume", name="c.tsv")


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_labels_that_are_lists_are_named(separator, said):
    labels = [separator.join([f"a{i % 7}", f"b{i % 11}", "c"]) for i in range(300)]
    found = said(labels, "-q")
    option = "" if separator == "," else f" --label-separator '{separator}'"
    assert f"and are taken for one; give --learner multilabel{option}\n" in found
    assert said(labels, "-q", "--learner", "multilabel", "--label-separator", separator) == ""
    assert said([f"Smith{separator} {name}" for name in "ABCDEFG"] * 9, "-q") == ""
