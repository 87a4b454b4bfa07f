"""streamptron plot: the pictures of the library, of model files and files of events."""

import io
import re
import shlex
import sys

import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from streamptron import Perceptron, Tokenizer, plot
from streamptron.command.cli import main
from streamptron.command.plot import plot as group
from streamptron.files import read
from streamptron.learners.registry import LEARNERS
from tests.support.commands import process, random_mail, run, written
from tests.support.marks import on_posix
from tests.support.variants import loaded

pytestmark = pytest.mark.once  # another Python would say the same


@pytest.fixture
def here(mail, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{'old' if age > 40 else 'young'},{age},{age % 7}\n" for age in range(20, 70))
    (tmp_path / "people.csv").write_text("label,age,pay\n" + rows)
    main(["train", "people.csv", "--label", "label", "-m", "people.model", "-q"])
    return tmp_path


def same(draw, **size):
    """The bytes of a picture as the command saves it."""
    figure = Figure(layout="constrained", **size)
    draw(figure.subplots())
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


KINDS = {
    "weights": "weights -m mail.model",
    "explanation": "explanation 'a prize' -m mail.model",
    "column": "column age -m people.model",
    "surface": "surface age pay -m people.model",
    "gates": "gates -m people.model",
    "confusion": "confusion mail.tsv -m mail.model",
    "calibration": "calibration mail.tsv -m mail.model",
    "progressive": "progressive mail.tsv --learner multiclass --pocket",
    "memory": "memory mail.tsv --max-features 3",
    "errors": "errors mail.tsv --learners adaptive,mira",
    "roc": "roc mail.tsv -m mail.model",
    "precision-recall": "precision-recall mail.tsv -m mail.model --of ham",
    "false-positives": "false-positives mail.tsv -m mail.model",
}


def test_there_is_a_test_of_every_kind():
    assert set(KINDS) == set(group.commands)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_written_and_nothing_said(kind, here, told):
    assert told("plot", *shlex.split(KINDS[kind]), "-o", "picture.png") == (0, "", "")
    height, width, _ = imread("picture.png").shape
    assert height >= 480
    assert width >= 640


@pytest.mark.parametrize("kind", ["", *KINDS])
def test_the_examples_of_the_help_run(kind, here, told):
    code, out, _ = told("plot", *[kind] * bool(kind), "--help")
    assert code == 0
    found = re.findall(r"^ +streamptron (plot .*)$", out.partition("Examples:")[2], re.M)
    assert found
    for example in found:
        assert told(*shlex.split(example)) == (0, "", "")


def test_weights_are_those_of_the_library(here, told):
    assert told("plot", "weights", "-m", "mail.model", "-n", 2, "-o", "w.png")[0] == 0
    model = loaded("mail.model")
    assert (here / "w.png").read_bytes() == same(lambda ax: plot.top_weights(model, 2, ax=ax))


def test_the_progressive_error_is_that_of_the_library(here, told):
    (here / "many.tsv").write_bytes(written(random_mail(3, 200)))
    words = "--learner mira --pocket --hash-seed 1 --window 50 --ngrams 1,2"
    assert told("plot", "progressive", "many.tsv", *words.split(), "-o", "e.png")[0] == 0
    model = Tokenizer(ngram_range=(1, 2)) | LEARNERS["mira"](pocket=True, hash_seed=1)
    wanted = same(lambda ax: plot.progressive_error(model, read("many.tsv"), 50, ax=ax))
    assert (here / "e.png").read_bytes() == wanted


def texts(name):
    """What an SVG says: its texts are comments there."""
    with open(name, encoding="utf-8") as file:
        return re.findall(r"<!-- (.*?) -->", file.read())


@pytest.mark.slow
@on_posix
def test_a_full_disk_leaves_the_picture_that_was_there(here):
    import resource

    def full():  # as far as this process can write
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    words = ["plot", *shlex.split(KINDS["weights"]), "-o", "weights.png"]
    run(*words)
    before = (here / "weights.png").read_bytes()
    there = sorted(here.iterdir())
    with process(*words, preexec_fn=full) as running:
        said = running.communicate(timeout=60)[1].decode()
    assert running.returncode != 0
    assert "weights.png" in said
    assert "Traceback" not in said
    assert (here / "weights.png").read_bytes() == before
    assert sorted(here.iterdir()) == there


@on_posix
def test_a_new_picture_has_the_permissions_of_any_new_file(here, told):
    (here / "any").touch()
    told("plot", *shlex.split(KINDS["weights"]), "-o", "weights.png")
    assert (here / "weights.png").stat().st_mode == (here / "any").stat().st_mode


def test_a_perceptrons_labels_are_written_as_in_the_file(here, told):
    words = ["--learner", "perceptron", "--positive", "spam", "-q"]
    assert main(["train", "mail.tsv", "-m", "p.model", *words]) == 0
    told("plot", "weights", "-m", "p.model", "-o", "w.svg")
    assert "weight towards spam" in texts("w.svg")
    told("plot", "weights", "-m", "p.model", "--label", "ham", "-o", "w.svg")
    assert "weight towards not spam" in texts("w.svg")
    told("plot", "explanation", "a prize", "-m", "p.model", "-o", "w.svg")
    model = loaded("p.model")
    score = model.decision_function_one(Tokenizer().transform_one("a prize"))
    assert f"score for spam: {score:.4g}" in texts("w.svg")
    told("plot", "confusion", "mail.tsv", "-m", "p.model", "-o", "w.svg")
    assert {"spam", "not spam"} <= set(texts("w.svg"))
    told("plot", "calibration", "mail.tsv", "-m", "p.model", "--of", "spam", "-o", "w.svg")
    assert "probability of spam" in texts("w.svg")


def test_a_style_is_taken(here, told):
    words = ["plot", *shlex.split(KINDS["weights"]), "-o", "w.png", "--style", "dark_background"]
    assert told(*words)[0] == 0
    assert imread("w.png")[0, 0, :3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_title_size_and_dots_are_those_asked_for(kind, here, told):
    words = ["plot", *shlex.split(KINDS[kind]), "--title", "A $title$ of mine", "--size", "9x7.5"]
    assert told(*words, "-o", "picture.png") == (0, "", "")
    assert imread("picture.png").shape[:2] == (750, 900)
    assert told(*words, "-o", "picture.png", "--dpi", "50") == (0, "", "")
    assert imread("picture.png").shape[:2] == (375, 450)
    assert told(*words, "-o", "picture.svg") == (0, "", "")
    assert "<!-- A $title$ of mine -->" in (here / "picture.svg").read_text("utf-8")


def test_a_matrix_of_many_labels_is_as_large_as_it_needs(here, told):
    events = [(f"label {k}", f"word{k}") for k in range(40)] * 3
    (here / "many.tsv").write_bytes(written(events))
    assert told("train", "many.tsv", "-m", "many.model", "-q")[0] == 0
    assert told("plot", "confusion", "many.tsv", "-m", "many.model", "-o", "p.png")[0] == 0
    height, width, _ = imread("p.png").shape
    assert height == width == 1380


def test_several_models_are_curves_of_one_picture(here, told):
    (here / "more.tsv").write_bytes(written(random_mail(1, labels=("ham", "spam"))))
    for learner in ("adaptive", "arow"):
        told("train", "more.tsv", "-m", f"{learner}.model", "--learner", learner, "-q")
    for kind in ("roc", "precision-recall", "false-positives"):
        words = ["plot", kind, "more.tsv", "-m", "adaptive.model", "-m", "arow.model"]
        assert told(*words, "-o", "p.svg") == (0, "", "")
        picture = (here / "p.svg").read_text("utf-8")
        assert "adaptive.model: " in picture
        assert "arow.model: " in picture


def test_features_are_events_too(here, told):
    (here / "points.svm").write_text("+1 1:1\n-1 2:1\n+1 1:2 3:1\n-1 2:2\n")
    assert told("plot", "memory", "points.svm", "-o", "m.pdf") == (0, "", "")
    main(["train", "points.svm", "-m", "points.model", "-q"])
    assert told("plot", "explanation", "+1 1:1", "-m", "points.model", "-o", "x.png") == (0, "", "")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("", 2, "Missing command; see streamptron plot --help"),
        ("nix", 2, "No such command 'nix'"),
        ("weights -m mail.model", 2, "Missing option '--output' / '-o'"),
        ("weights -m mail.model -o w", 2, "w: its suffix is the format, ."),
        ("weights -m mail.model -o nix/w.png", 2, "nix/w.png: it cannot be written there"),
        ("weights -m mail.model -o w.png --style nix", 2, "nix: matplotlib has"),
        ("weights -m mail.model -o w.png --label nix", 1, "--label 'nix' has not been seen"),
        ("weights -m three.model -o w.png", 2, "give --label, one of ['spam', 'ham', 'a list']"),
        ("weights -m nix.model -o w.png", 1, "nix.model"),
        ("confusion nix.tsv -m mail.model -o w.png", 1, "nix.tsv: No such file"),
        ("confusion empty.tsv -m mail.model -o w.png", 1, "empty.tsv: no labelled event"),
        ("calibration empty.tsv -m mail.model -o w.png", 1, "no labelled event"),
        (
            "calibration mail.tsv -m mail.model --of nix -o w.png",
            1,
            "--of 'nix' has not been seen; the model knows ['",
        ),
        ("memory empty.tsv -o w.png", 1, "no labelled event"),
        ("weights -m mail.model -o w.png --size 8", 2, "8: give width and height in inches, as"),
        ("weights -m mail.model -o w.png --size 0x5", 2, "0x5: give from 1 to 100 inches each"),
        ("weights -m mail.model -o w.png --size nanx5", 2, "nanx5: give from 1 to 100 inches each"),
        ("weights -m mail.model -o w.png --dpi 5", 2, "Invalid value for '--dpi'"),
        ("roc mail.tsv -o w.png", 2, "Missing option '--model' / '-m'"),
        ("roc empty.tsv -m mail.model -o w.png", 1, "empty.tsv: no labelled event"),
        ("roc mail.tsv -m mail.model --of nix -o w.png", 1, "--of 'nix' has not been seen"),
        ("roc mail.tsv -m three.model -o w.png", 2, "give --of, one of the labels ['spam', 'ham'"),
        ("errors mail.tsv --learners nix -o w.png", 2, "nix"),
        ("surface age -m people.model -o w.png", 2, "Missing argument 'COLUMN'"),
        ("surface age age -m people.model -o w.png", 1, "'age' and 'age' are the same column"),
        ("surface age nix -m people.model -o w.png", 1, "'nix' is not a column of numbers: the"),
        ("surface age pay -m line.model -o w.png", 1, "shape='line' has no surfaces"),
        ("surface a b -m mail.model -o w.png", 1, "the model has none"),
        ("surface age pay -m people.model --label nix -o w.png", 1, "--label 'nix' has not been"),
        ("gates -m line.model -o w.png", 1, "shape='line' has neither curves nor surfaces"),
        ("gates -m three.model -o w.png", 1, "keeps no columns of numbers"),
        ("memory mail.tsv --average none -o w.png", 2, "AdaptiveClassifier has no --average"),
        ("memory mail.tsv --learner perceptron -o w.png", 1, "mail.tsv:1: the label 'spam'"),
        (
            "memory mail.tsv --learner perceptron --positive nix -o w.png",
            1,
            "no event has the label 'nix' of --positive",
        ),
    ],
)
def test_an_error_says_what_to_do_and_writes_no_picture(words, code, message, here, told):
    (here / "empty.tsv").write_bytes(b"")
    (here / "three.tsv").write_bytes(written(random_mail(7, 30)))
    main(["train", "three.tsv", "-m", "three.model", "-q", "--learner", "multiclass"])
    if "line.model" in words:
        line = ["--label", "label", "-m", "line.model", "-q", "--shape", "line"]
        main(["train", "people.csv", *line])
    ended, out, err = told("plot", *words.split())
    assert (ended, out) == (code, "")
    assert message in err
    assert not (here / "w.png").exists()


def test_without_matplotlib_the_error_names_the_extra_and_the_help_is_there(
    here, told, monkeypatch
):
    for module in ("matplotlib", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, module, None)
    code, _, err = told("plot", "weights", "-m", "mail.model", "-o", "w.png")
    assert (code, err) == (
        1,
        'streamptron: error: pictures need matplotlib: pip install "streamptron[plot]"\n',
    )
    assert told("plot", "--help")[0] == 0
    assert told("info", "-m", "mail.model")[0] == 0


def test_a_model_saved_in_python_is_drawn(here, told):
    model = Tokenizer() | Perceptron()
    model.learn_one("a prize", True)
    model.save("own.model")
    assert told("plot", "weights", "-m", "own.model", "-o", "w.png") == (0, "", "")


def test_a_column_of_any_name_is_found_and_one_that_is_not_there_is_said(here, told):
    (here / "points.svm").write_text("".join(f"{k % 2} 7:{k}.5 9:1\n" for k in range(30)))
    main(["train", "points.svm", "-m", "points.model", "-q"])
    assert told("plot", "column", "7", "-m", "points.model", "-o", "c.svg") == (0, "", "")
    assert "7" in texts("c.svg")
    code, _, error = told("plot", "column", "9", "-m", "points.model", "-o", "d.svg")
    assert code
    assert "'9' is not a column of numbers: the model has [7]" in error
    assert not (here / "d.svg").exists()
    code, _, error = told("plot", "column", "free", "-m", "mail.model", "-o", "d.svg")
    assert code
    assert "the model has none" in error


def test_a_surface_is_that_of_the_library_for_the_label_asked_for(here, told):
    words = ["plot", "surface", "pay", "age", "-m", "people.model"]
    assert told(*words, "--label", "young", "-o", "s.png")[0] == 0
    model = loaded("people.model")
    wanted = same(lambda ax: plot.surface(model, "pay", "age", "young", ax=ax))
    assert (here / "s.png").read_bytes() == wanted


@pytest.mark.slow
def test_models_of_several_labels_have_pictures(tmp_path):
    (tmp_path / "a.tsv").write_text("a,b\tx y\nb\ty z\na\tx z\n\tw\n" * 4)
    (tmp_path / "a.jsonl").write_text('{"y": {"a": true, "b": false}, "t": "x y"}\n' * 4)
    run("train", tmp_path / "a.tsv", "-m", tmp_path / "m", "--learner", "multilabel", "-q")
    for words in (
        ("weights", "--label", "a"),
        ("explanation", "x y"),
        ("calibration", tmp_path / "a.tsv"),
        ("calibration", tmp_path / "a.tsv", "--of", "a"),
        ("roc", tmp_path / "a.tsv", "--of", "a"),
        ("precision-recall", tmp_path / "a.tsv", "--of", "b"),
        ("false-positives", tmp_path / "a.tsv", "--of", "b"),
        ("calibration", tmp_path / "a.jsonl", "--label", "y", "--text", "t"),
    ):
        picture = tmp_path / "picture.png"
        run("plot", words[0], *words[1:], "-m", tmp_path / "m", "-o", picture)
        assert picture.stat().st_size > 1000
        picture.unlink()
    said = run(
        "plot", "roc", tmp_path / "a.tsv", "-m", tmp_path / "m", "-o", picture, "--of", "c", code=1
    )
    assert "--of 'c' has not been seen" in said[1]
