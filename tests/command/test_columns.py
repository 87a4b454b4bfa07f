"""Columns that say nothing, or are not read as meant: what is said of them."""

import json
import random

import pytest

from tests.support.commands import run

pytestmark = pytest.mark.once  # another Python would say the same


@pytest.fixture
def said(tmp_path):
    """What `train` says of a column of cells, in CSV or JSON lines."""

    def said(cells, *words, name="a.csv", column="c"):
        rows = [("yes" if i % 3 else "no", cell) for i, cell in enumerate(cells)]
        if name.endswith("csv"):
            text = f"y;{column}\n" + "".join(f"{y};{cell}\n" for y, cell in rows)
            words = ("--delimiter", ";", *words)
        else:
            text = "".join(json.dumps({"y": y, column: cell}) + "\n" for y, cell in rows)
            words = ("--features", column, *words)
        (tmp_path / name).write_text(text, "utf-8")
        return run("train", tmp_path / name, "--label", "y", "-m", tmp_path / "m", "-q", *words)[1]

    return said


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("u{:05}", "c is another one in nearly every line, as 'u00001', so its categories say"),
        ("2026-01-{:02}", "c has times, as '2026-01-01', and each is taken for one category"),
        ("2026-01-01 00:{:02}:07", "c has times"),
        ("{}.3.2026", "c has times"),
        ("03/{:02}/26", "c has times"),
        ("12:{:02}", "c has times"),
        ("{}/Mar/2026:10:00:01 +0000", "c has times"),
        ("{},5", "c has numbers that are not written as such, as "),
        ("1,{:03}", "c has numbers that are not written as such"),
        ("1.{:03},5", "c has numbers that are not written as such"),
        ("{} %", "c has numbers that are not written as such"),
        ("$ {}.50", "c has numbers that are not written as such"),
        ("1 {:03}", "c has numbers that are not written as such"),
    ],
)
def test_a_column_of_which_nearly_every_cell_is_another_one(cell, says, name, said):
    found = said([cell.format(i % 27 + 1) for i in range(28)], name=name)
    assert "warning: " in found
    assert says in found
    assert ("=ignore" in found) <= (name == "a.csv")
    assert found.count("warning") == 1


def test_what_is_done_about_such_a_column_ends_the_warning(said):
    times = [f"2026-01-{i:02} {i % 24:02}:00" for i in range(1, 29)]
    found = said(times)
    assert (
        "give --type c=date for month, weekday and hour, or leave it out by --type c=ignore"
        in found
    )
    for kind in ("date", "ignore", "category"):
        assert said(times, "--type", f"c={kind}") == ""
    ids = [f"a{i}" for i in range(30)]
    assert "leave it out by --type 'my id=ignore'" in said(ids, column="my id")


@pytest.mark.parametrize("column", ["", "id", "Unnamed: 0", "index"])
def test_the_numbers_of_rows_are_named(column, said):
    name = f"the column '{column}'" if column else "the column without a name"
    found = said(range(5, 30), column=column)
    assert f"{name} has the numbers of the rows, which say nothing; leave it out by --type" in found
    assert said([i * i for i in range(30)], column=column) == ""


def test_columns_that_say_something_are_not_doubted(said):
    for cells in (
        ["Paris", "Rome", "New York"] * 10,
        [f"10.0.0.{i % 5}" for i in range(30)],
        ["12", "a", "1,5"] * 9,
        [f"{i}" for i in range(30)],
        [f"x{i}" for i in range(12)],
    ):
        assert said(cells) == ""
    assert said([f"{10000 + i % 9}" for i in range(30)], name="a.jsonl") == ""


def test_a_header_in_the_middle_is_a_bad_line_and_may_be_left_out(said, tmp_path):
    cells = [i * 7 % 11 for i in range(20)]
    said(cells)
    data = (tmp_path / "a.csv").read_bytes()
    (tmp_path / "b.csv").write_bytes(data + data)
    words = ("train", tmp_path / "b.csv", "--label", "y", "--delimiter", ";", "-m", tmp_path / "n")
    assert "b.csv:22: the row repeats the header" in run(*words, code=1)[1]
    found = run(*words, "--on-error", "skip")[1]
    assert "labels  " not in found
    assert "bad lines              1\n" in found


def test_a_delimiter_that_is_another_one_and_a_missing_header_are_named(tmp_path):
    def said(text, *words, code=0):
        (tmp_path / "a.csv").write_text(text)
        file, model = tmp_path / "a.csv", tmp_path / "m"
        return run("train", file, "--label", "kind", "-m", model, *words, code=code)[1]

    assert "Give --delimiter ';'" in said("kind;size\nspam;1\n", code=1)
    tabs = "kind\tsize\nspam\t1\nham\t2\n"
    assert "Give --delimiter '\\t'" in said(tabs, code=1)
    assert "events                 2" in said(tabs, "--delimiter", "\\t")
    assert "if the file has no header, name its columns by --columns" in said(
        "spam,1\nham,2\n", code=1
    )
    assert "events                 2" in said("spam,1\nham,2\n", "--columns", "kind,size")


def test_ids_of_nineteen_digits_name_the_option_that_leaves_them_out(tmp_path):
    rows = "".join(f"{1234567890123456789 + i},{'ab'[i % 2]},{i % 3}\n" for i in range(20))
    (tmp_path / "a.csv").write_text("id,kind,n\n" + rows)
    words = ("train", tmp_path / "a.csv", "--label", "kind", "-m", tmp_path / "m")
    found = run(*words, code=1)[1]
    assert "leave the column out by --type 'id'='ignore'" in found
    run(*words, "--type", "id=ignore")


@pytest.mark.slow
def test_texts_without_a_word_are_named(tmp_path):
    def said(texts, *words):
        lines = "".join(f"{'ab'[i % 2]}\t{text}\n" for i, text in enumerate(texts))
        (tmp_path / "a.tsv").write_text(lines, "utf-8")
        return run("train", tmp_path / "a.tsv", "-m", tmp_path / "m", "-q", *words)[1]

    found = said(["👍", "👎", "", "👍"])
    assert "3 of 3 texts have no word, as '👍', and are all the same to the model" in found
    assert "give --separators ' ', or --analyzer char --ngrams 1,2" in found
    assert said(["👍", "👎"], "--separators", " ") == ""
    assert said(["👍", "👎"], "--analyzer", "char") == ""
    assert "2 of 10 texts have no word" in said(["see you"] * 8 + ["👍"] * 2)
    assert said(["see you"] * 99 + ["👍"] * 3) == ""
    found = said(["abc" * 40, "xyz" * 40])
    assert "give --max-length none" in found
    assert said(["abc" * 40, "xyz" * 40], "--max-length", "none") == ""
    thai = "ฉันจะไปตลาดวันนี้"
    for text in ("恭喜您中奖了请立即点击链接领取大奖", "東京に行きました", thai):
        found = said([text, "ok " + text] * 3)
        assert (
            "a script without spaces, of which a sentence is one word; give --analyzer char"
            in found
        )
        assert said([text, "ok " + text] * 3, "--analyzer", "char", "--ngrams", "1,2") == ""
    assert said(["см. 東京 в тексте", "Größe"] * 9) == ""


def test_explain_says_of_an_empty_cell_that_it_is_a_gap(tmp_path):
    rng = random.Random(1)
    rows = ["age,city,y"]
    for _ in range(400):
        age = rng.gauss(40, 4)
        y = "old" if age > 42 else "young"
        rows.append(f"{'' if rng.random() < 0.2 else round(age)},{rng.choice('ab')},{y}")
    (tmp_path / "a.csv").write_text("\n".join(rows))
    run("train", tmp_path / "a.csv", "--label", "y", "-m", tmp_path / "m", "-q")
    out = run("explain", ",a,", "-m", tmp_path / "m")[0].decode()
    (row,) = [line.split() for line in out.splitlines() if line.startswith("age")]
    assert row[1] == "(gap)"
    assert float(row[2]) != 0
    out = run("explain", "45,a,", "-m", tmp_path / "m")[0].decode()
    (row,) = [line.split() for line in out.splitlines() if line.startswith("age")]
    assert row[1] == "45.00000"


def test_explain_shows_the_largest_parts_and_what_the_others_come_to(tmp_path):
    (tmp_path / "a.tsv").write_text("spam\twin a free prize\nham\tsee you at noon\n" * 3)
    run("train", tmp_path / "a.tsv", "-m", tmp_path / "m", "-q")
    words = ("explain", "win a prize at noon", "-m", tmp_path / "m")
    whole = run(*words)[0].decode().split("\n\n")[0].splitlines()
    some = run(*words, "-n", "2")[0].decode().split("\n\n")[0].splitlines()
    assert [row.split() for row in some[:3]] == [row.split() for row in whole[:3]]
    assert some[3].startswith(f"({len(whole) - 3} others)")
    rest = sum(float(row.split()[-1]) for row in whole[3:])
    assert float(some[3].split()[-1]) == pytest.approx(rest, abs=1e-4)
