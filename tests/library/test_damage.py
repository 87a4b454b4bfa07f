"""Whatever a file says, the library opens it as Python does, or refuses it in Python's words."""

import random
import subprocess

import pytest

from streamptron import AdaptiveClassifier, ModelFileError, load, save
from tests.model_file.test_damage import (
    ROWS,
    far_row,
    long_row,
    no_label,
    no_weight,
    row_of_none,
    rows_in_place,
)
from tests.support import deeds, mutations, odd_numbers
from tests.support.library import SANITIZED, event_line, needs_compiler, program
from tests.support.marks import slow
from tests.support.model_files import GOLDEN

# the library knows no Python, and is compiled under sanitizers here
pytestmark = [needs_compiler, pytest.mark.slow]

# Words that are Python's own: of its decoder, its constructors, or of a part that is missing.
OTHERS = 0.5


@pytest.fixture(scope="module")
def bases():
    return [mutations.base(name) for name in mutations.BASES]


def opened(paths):
    """(code in memory, code where it lies, words) of each file, by one process."""
    for whole, mapped, _, words in mixed(paths):
        yield whole, mapped, words


def mixed(paths):
    """The same, and the code of merges and deltas with the first file that is whole."""
    done = subprocess.run(
        [program("doubted", *SANITIZED)],
        input="".join(f"{path}\n" for path in paths),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{paths[done.stdout.count(chr(10))]}\n{done.stderr[-3000:]}"
    for line in done.stdout.splitlines():
        whole, mapped, mix, *words = line.split(" ", 3)
        yield int(whole), int(mapped), int(mix), "".join(words)


def of_python(path):
    """None, or the words with which Python refuses a file."""
    try:
        load(path)
    except ModelFileError as error:
        return str(error)
    return None


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_files_open(path):
    ((whole, mapped, words),) = opened([path])
    assert whole == 0, words
    assert mapped == (3 if "Voted" in path.name else 0)


@pytest.mark.parametrize("change", [far_row, long_row, row_of_none, no_label, no_weight])
@pytest.mark.once
def test_a_damaged_row_is_met_when_it_is_read(change, tmp_path):
    rows_in_place(tmp_path / "model", change)
    (tmp_path / "lines").write_text(event_line(ROWS, None))
    command = [program("conformance"), tmp_path / "model", tmp_path / "lines", "mapped"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout[:8]) == (1, "error 4:")
    assert "a weight is not finite" in done.stdout
    assert next(opened([tmp_path / "model"]))[:2] == (4, 0)  # no sanitizer finds anything


def test_a_pipeline_of_other_steps_is_refused_by_the_name_of_the_first(tmp_path):
    from river import preprocessing

    model = preprocessing.StandardScaler() | AdaptiveClassifier()
    model.learn_one({"size": 1.0}, "a")
    save(model, tmp_path / "steps")
    ((whole, mapped, words),) = opened([tmp_path / "steps"])
    assert (whole, mapped) == (3, 3)
    assert "the step 'StandardScaler' before the learner, which only Python can use" in words


@pytest.mark.parametrize("name", mutations.BASES | mutations.SETS)
def test_a_file_cut_off_or_with_a_flipped_bit_is_refused_in_pythons_words(name, tmp_path):
    data = mutations.base(name)
    rng = random.Random(name)
    paths = []
    for i in range(60):
        damaged = bytearray(data)
        if i % 2:
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        else:
            del damaged[rng.randrange(len(data)) :]
        paths.append(tmp_path / str(i))
        paths[-1].write_bytes(damaged)
    for path, (whole, _, words) in zip(paths, opened(paths), strict=True):
        assert whole in (3, 4)
        assert words == of_python(path)


MAPPED = [
    name
    for name, (learner, _) in (mutations.BASES | mutations.SETS).items()
    if learner != "VotedPerceptron"
]


@pytest.mark.parametrize("turn", slow(range(1, 8), [0]))
@pytest.mark.parametrize("name", MAPPED)
def test_whatever_byte_of_a_mapped_file_is_damaged_no_call_believes_it(name, turn, tmp_path):
    data = mutations.base(name, 14)
    start = 8 + int.from_bytes(data[:8], "little")
    paths = [tmp_path / "good"]
    paths[0].write_bytes(data)
    for at in range(start + turn, len(data), 8 * (1 + len(data) // 6000)):
        damaged = bytearray(data)
        damaged[at] ^= random.Random(at).randrange(1, 256)
        paths.append(tmp_path / str(at))
        paths[-1].write_bytes(damaged)
    (whole, mapped, mix, words), *rest = mixed(paths)
    assert (whole, mapped) == (0, 0), words
    assert mix in (0, 5)  # nothing has changed since itself
    for path, (whole, mapped, mix, _) in zip(paths[1:], rest, strict=True):
        assert whole == 4, path
        assert (mapped, mix) in ((0, 4), (4, 4)), path


@pytest.mark.parametrize(
    "seed", slow(range(1000, 9000), range(0, 9000, 1000)), ids="seed={}".format
)
def test_a_forged_file_opens_in_both_or_in_neither(seed, bases, tmp_path):
    check_forged(seed, bases, tmp_path)


@pytest.mark.parametrize("seed", slow([1000, 2000, 3000], [0]), ids="seed={}".format)
def test_a_forged_file_of_sets_opens_in_both_or_in_neither(seed, tmp_path):
    check_forged(seed, [mutations.base(name) for name in mutations.SETS], tmp_path)


def check_forged(seed, bases, tmp_path):
    paths = []
    for i in range(300):
        rng = random.Random(seed + i)
        data, _ = mutations.mutated(rng, rng.choice(bases))
        paths.append(tmp_path / str(seed + i))
        paths[-1].write_bytes(data)
    same = refused = 0
    for path, (whole, _, words) in zip(paths, opened(paths), strict=True):
        expected = of_python(path)
        assert (whole == 0) == (expected is None), f"{path.name}: {words!r}, {expected!r}"
        refused += expected is not None
        same += expected is not None and words == expected
    assert refused > 60
    assert same > OTHERS * refused


@pytest.mark.parametrize(("kind", "named"), deeds.FORMS)
def test_a_file_with_an_odd_number_opens_in_both_or_in_neither(kind, named, tmp_path):
    deeds.Case(kind, named, seed=2).model.save(good := tmp_path / "good")
    paths = []
    wrong = []
    for what, data in odd_numbers.files(good.read_bytes(), random.Random(2), share=0.04):
        paths.append(tmp_path / str(len(paths)))
        paths[-1].write_bytes(data)
        wrong.append(what)
    for what, path, (whole, _, words) in zip(wrong, paths, opened(paths), strict=True):
        expected = of_python(path)
        assert (whole == 0) == (expected is None), f"{what}: {words!r}, {expected!r}"
