"""train --jobs: who reads and splits texts ahead of the learner, and that nothing else changes."""

import itertools
import threading

import pytest

from streamptron.command.ahead import made_ahead
from tests.support.commands import SEEDED, random_mail, written


def trained(told, folder, *options):
    """What train says, and the bytes of the model that it writes."""
    code, out, err = told("train", folder / "m.tsv", "-m", folder / "m", *SEEDED, *options)
    words = [line for line in err.splitlines() if not line.startswith("seconds")]
    return code, out, words, (folder / "m").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--ngrams", "1,2", "--value", "log", "--l2", "--fold-numbers"),
        ("--learner", "perceptron", "--positive", "spam", "--hash-bits", "12"),
        ("--epochs", "2", "--holdout", "0.25", "--save-every", "100"),
        ("--degree", "2", "--max-pairs", "300", "--on-error", "skip"),
        ("--learner", "voted", "--no-intercept"),
        (
            "--encoding",
            "latin-1",
        ),
    ],
    ids=" ".join,
)
def test_all_that_is_said_and_written_is_as_with_one_thread(options, tmp_path, told):
    events = list(random_mail(4, 4000, ("ham", "spam")))
    long = f"ham\t{'long' * 40} {' '.join(f'w{i}' for i in range(60))}\n".encode()
    data = written(events)
    half = data.index(b"\n", len(data) // 2) + 1
    # so many words that a block's table grows, all of which come again once some have weights
    words = [f"{'long' * (i % 3 * 4)}{i}" for i in range(1500)]
    lines = [
        f"{('spam', 'eggs', 'ham')[i % 7 % 3]}\t{' '.join(words[i : i + 15])}\n"
        for i in [*range(0, 1500, 15)] * 2
    ]
    (tmp_path / "m.tsv").write_bytes(
        data[:half] + "ham\tжизнь über ᚠ\n".encode() + long + "".join(lines).encode() + data[half:]
    )
    alone = trained(told, tmp_path, *options)
    assert trained(told, tmp_path, *options, "--jobs", "2") == alone
    assert trained(told, tmp_path, *options, "--jobs", "4") == alone


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_bad_line_is_named_and_what_was_before_it_is_not_saved(jobs, tmp_path, told):
    (tmp_path / "m.tsv").write_bytes(
        b"ham\thello\n" * 9000 + b"no label\n" + b"ham\thello\n" * 9000
    )
    code, _, err = told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", "--jobs", jobs)
    assert code == 1
    assert "m.tsv:9001" in err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_lines_that_are_left_out_are_counted_to_the_last_one(jobs, tmp_path, told):
    lines = b"ham\thello\n" * 9000 + b"ham\t" + b"x" * (1 << 24) + b"\n" + b"ham\tyes\n" + b"bad\n"
    (tmp_path / "m.tsv").write_bytes(lines + b"ham\t" + b"y" * (1 << 24))
    options = ["--on-error", "skip", "--jobs", jobs]
    code, _, err = told("train", tmp_path / "m.tsv", "-m", tmp_path / "m", *options)
    assert code == 0
    assert "bad lines              3" in err
    assert "m.tsv:9001: longer than" in err


def test_a_format_whose_lines_are_no_texts_is_refused(tmp_path, told):
    (tmp_path / "m.svm").write_text("1 3:1\n")
    code, _, err = told("train", tmp_path / "m.svm", "-m", tmp_path / "m", "--jobs", "2")
    assert code == 2
    assert "--jobs is for texts" in err


def test_items_come_in_order_and_an_error_in_its_turn():
    def work(item):
        if item == 30:
            raise ValueError("thirty")
        return -item

    seen = []
    with pytest.raises(ValueError, match="thirty"):
        seen.extend(made_ahead(work, itertools.count(), 4))
    assert list(made_ahead(work, range(5), 2)) == [0, -1, -2, -3, -4]
    made = made_ahead(work, itertools.chain(range(3), iter(lambda: 1 / 0, None)), 1)
    assert [next(made) for _ in range(3)] == [0, -1, -2]
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_who_stops_early_leaves_no_thread_behind():
    before = threading.active_count()
    made = made_ahead(lambda item: item, itertools.count(), 3)
    assert next(made) == 0
    made.close()
    for thread in threading.enumerate()[before:]:
        thread.join(10)
    assert threading.active_count() == before
