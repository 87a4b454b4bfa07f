"""A damaged file is refused with its name, or loads as a model that works."""

import copy
import itertools
import json
import os
import pickle
import random
import socket
import threading

import numpy as np
import pytest

from streamptron import (
    MIRA,
    ModelFileError,
    Perceptron,
    Tokenizer,
    load,
    merge,
    read_metadata,
)
from streamptron.files.lines import LineModel
from streamptron.keeping import read as reading
from tests.support import flipped, mutations
from tests.support.marks import on_posix, seeds, slow
from tests.support.model_files import refused
from tests.support.variants import every_placed_learner, labels_for, make

pytestmark = pytest.mark.once  # another Python would say the same


@pytest.fixture(scope="module")
def bases():
    return {name: mutations.base(name) for name in mutations.BASES}


@pytest.mark.parametrize("name", mutations.BASES)
def test_file_cut_off_anywhere_is_refused(name, bases, path):
    data = bases[name]
    for n in [*range(0, 200), *range(200, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:n])
        why = refused(path)
        assert "not a model file" in why or "cut off" in why


@pytest.mark.parametrize("name", mutations.BASES)
def test_any_flipped_bit_is_found(name, bases, path):
    rng = random.Random(name)
    data = bases[name]
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load(path)


def test_damaged_file_is_refused_with_its_name_the_reason_and_what_to_do(bases, path):
    data = bytearray(bases["names"])
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert str(error.value) == (
        f"{str(path)!r} is damaged: the arrays do not match their checksum; take another copy of "
        "the file, or an older checkpoint"
    )


def test_file_of_a_newer_format_is_refused_with_the_version_that_wrote_it(bases, path):
    data = bases["names"].replace(b'"version":"1"', b'"version":"10"')
    path.write_bytes(
        mutations.sealed(data.replace(b'"streamptron":"0.1.0"', b'"streamptron":"9.9.9"'))
    )
    why = refused(path)
    assert "has the format '10', written by streamptron '9.9.9'" in why
    assert "a newer one" in why


def test_foreign_files_are_refused(path):
    for data in (
        b"",
        b"x",
        b"free\ttrue\n" * 100,
        pickle.dumps({"a": 1}),
        b"\0" * 1000,
        b"\xff" * 64,
    ):
        path.write_bytes(data)
        assert "is not a model file" in refused(path)
    safetensors = pytest.importorskip("safetensors.numpy")
    for metadata in (None, {"format": "pt"}):
        safetensors.save_file({"weights": np.zeros((3, 2))}, path, metadata)
        assert "is not a model file of streamptron" in refused(path)


@on_posix
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_is_no_regular_file_is_an_error_at_once(kind, tmp_path):
    where = tmp_path / "model"
    if kind == "pipe":
        os.mkfifo(where)
    elif kind == "device":
        where.symlink_to("/dev/zero")
    else:
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(where))
        server.close()
    for read in (load, read_metadata, lambda path: load(path, mmap=True)):
        with pytest.raises(OSError, match="not a regular file to read") as raised:
            read(where)
        assert raised.value.filename == os.fspath(where)


def test_file_replaced_while_it_is_loaded_gives_one_of_the_two_never_half_of_each(path):
    """One writer, two readers; n-grams, name of a label and metadata tell which file it was."""
    models = [Tokenizer(ngram_range=(n, n)) | MIRA() for n in (1, 2)]
    for n, model in enumerate(models, 1):
        model.learn_one("a b c", f"label {n}")
    models[0].save(path, {"n": 1})
    enough = threading.Event()

    def write():
        for n in itertools.cycle((2, 1)):
            if enough.is_set():
                break
            models[n - 1].save(path, {"n": n})

    thread = threading.Thread(target=write)
    thread.start()
    met = set()
    try:
        for turn in range(3000):
            found = reading.read(path, mmap=turn % 2 == 0)
            n = found.metadata["n"]
            met.add(n)
            assert (found.tokenizer.ngram_range, found.learner.labels) == ((n, n), [f"label {n}"])
            lines = LineModel.load(path)
            n = lines.kept[0]["n"]
            assert (lines.tokenizer.ngram_range, lines.learner.labels) == ((n, n), [f"label {n}"])
            if turn >= 200 and met == {1, 2}:
                break
    finally:
        enough.set()
        thread.join()
    assert met == {1, 2}


def test_file_that_is_not_there_or_no_file_is_an_error_of_the_systems(tmp_path):
    for where, error in ((tmp_path / "none", FileNotFoundError), (tmp_path, IsADirectoryError)):
        for read in (load, read_metadata, lambda path: load(path, mmap=True)):
            with pytest.raises(error) as raised:
                read(where)
            assert raised.value.filename == os.fspath(where)


@pytest.mark.parametrize(
    ("place", "mmap"),
    [((0, 0), False), ((0, 0), True), ((-1, -1), False)],
    ids=["null slot", "null slot, in place", "label to come"],
)
def test_file_with_a_weight_where_none_can_be_is_refused(place, mmap, path):
    """It would count for features that were never seen, or for a label that is yet to join."""
    model = make("MIRA")
    for i, label in enumerate(labels_for("MIRA", 5)):
        model.learn_one({f"word{i}": 1}, label)
    model.save(path)
    header, arrays = mutations.parts(path.read_bytes())
    said = json.loads(header)["weights"]
    first, last = said["data_offsets"]
    arrays = bytearray(arrays)
    weights = np.frombuffer(arrays, "<f8", (last - first) // 8, first).reshape(said["shape"])
    assert weights[place] == 0.0
    weights[place] = 1.0
    path.write_bytes(mutations.sealed(mutations.joined(header, bytes(arrays))))
    with pytest.raises(ModelFileError, match="weights belong to no feature or no label"):
        load(path, mmap=mmap)


def in_place(model, path, change):
    """The model opened in place, its file damaged by `change`, which gets the arrays by name."""
    model.save(path)
    header, arrays = mutations.parts(path.read_bytes())
    body = bytearray(arrays)
    views = {}
    for name, said in json.loads(header).items():
        if name != "__metadata__":
            first, last = said["data_offsets"]
            dtype = {"F64": "<f8", "U64": "<u8", "U32": "<u4", "U8": "u1"}[said["dtype"]]
            views[name] = np.frombuffer(memoryview(body)[first:last], dtype).reshape(said["shape"])
    change(views)
    path.write_bytes(mutations.joined(header, bytes(body)))
    with pytest.raises(ModelFileError):
        load(path)
    return load(path, mmap=True)


def bad_text(arrays):
    arrays["texts"][:] = 0xFF


def bad_word(arrays):
    arrays["keys"][2:, 0] = 2**64 - 1


def long_length(arrays):
    arrays["keys"][2:, 1] |= np.uint64(2**63)


def far_away(arrays):
    arrays["keys"][2:, 0] = 2**63


def no_object(arrays):
    arrays["keys"][2:] = (99, 6 * 16 + 8)


def no_kind(arrays):
    arrays["keys"][2:, 1] &= np.uint64(2**64 - 256)


def bad_tuple(arrays):
    arrays["texts"][::3] = 0x80


def no_number(arrays):
    arrays["weights"][2:, 0] = np.nan


def too_large(arrays):
    arrays["weights"][2:, 0] = 1.7e308


SHORT = {"one": 1.0, "two": 2.0, "three": -4.0}
LONG = {f"a name of more than fifteen bytes {i}": i + 1.0 for i in range(3)}
TUPLES = {("new", "york", i, 2**70): i + 1.0 for i in range(3)}


@pytest.mark.parametrize(
    ("weights", "change"),
    [
        (LONG, bad_text),
        (SHORT, bad_word),
        (LONG, long_length),
        (LONG, far_away),
        (SHORT, no_object),
        (SHORT, no_kind),
        (TUPLES, bad_tuple),
        (TUPLES, long_length),
        (SHORT, no_number),
    ],
    ids=lambda value: getattr(value, "__name__", None) or next(iter(value)),
)
def test_damage_that_is_met_in_a_model_opened_in_place_is_a_model_file_error(weights, change, path):
    model = Perceptron.from_weights(weights)
    mapped = in_place(model, path, change)
    for use in (
        lambda: mapped.weights,
        lambda: mapped.averaged_weights,
        lambda: mapped.top_features(),
        lambda: copy.deepcopy(mapped),
        lambda: pickle.dumps(mapped),
        lambda: mapped.clone(include_attributes=True),
        lambda: mapped.save(path.with_name("copy")),
    ):
        with pytest.raises(ModelFileError, match=r"damaged: .*take another copy of the file"):
            use()
    assert not path.with_name("copy").exists()


def test_weights_that_cannot_be_are_found_by_all_that_answers(path):
    mapped = in_place(Perceptron.from_weights(SHORT), path, no_number)
    x, X, names = {"one": 1, "two": 1}, np.ones((3, 2)), ["one", "two"]
    for use in (
        mapped.predict_one,
        mapped.predict_proba_one,
        mapped.decision_function_one,
        mapped.explain_one,
        mapped.debug_one,
    ):
        with pytest.raises(ModelFileError, match="a weight is not finite"):
            use(x)
        use({"unknown": 1})
    with pytest.raises(ModelFileError, match="a weight is not finite"):
        mapped.decision_function_many(X, names)
    assert mapped.predict_many(X, names).dtype == bool  # wrong, but an answer
    assert mapped.predict_proba_many(X, names).sum(axis=1).tolist() == [1.0] * 3


def test_weights_too_large_to_be_explained_are_a_model_file_error(path):
    mapped = in_place(Perceptron.from_weights(SHORT), path, too_large)
    for x in ({"one": 1, "two": 1}, {"one": 1, "two": 1, "three": -1}):
        with pytest.raises(ModelFileError):
            mapped.explain_one(x)


ROWS = {f"word{i}": 1.0 for i in range(5)}


def first_slots(arrays):
    """Slots of block 0, as words of 32 bits; of features."""
    return arrays["weights"].view("<u4")[2 : len(arrays["keys"])]


def far_row(arrays):
    first_slots(arrays)[:, 4] = 2**31


def long_row(arrays):
    first_slots(arrays)[:, 5] = 2**26 - 1


def row_of_none(arrays):
    first_slots(arrays)[:, 4] = 0


def no_label(arrays):
    arrays["marks"][1:, 0] = 4


def no_weight(arrays):
    arrays["marks"][1:, 2] = 0x7FC00000


def negative_squares(arrays):
    arrays["marks"][1:, 3] |= 1 << 31


def twice_a_label(arrays):
    arrays["marks"][1:, 0] = 0


def rows_in_place(path, change):
    """An AdaptiveClassifier with four labels, and its file opened in place and damaged."""
    model = make("AdaptiveClassifier")
    for i in range(60):
        model.learn_one({f"word{i % 5}": 1, f"word{i % 3}": 1}, labels_for("MIRA", 4)[i % 4])
    return model, in_place(model, path, change)


@pytest.mark.parametrize(
    "change", [far_row, long_row, row_of_none, no_label, no_weight], ids=lambda it: it.__name__
)
def test_damaged_row_is_met_when_it_is_read(change, path):
    _, mapped = rows_in_place(path, change)
    X, names = np.ones((3, 2)), list(ROWS)[:2]
    for use in (
        mapped.predict_one,
        mapped.predict_proba_one,
        mapped.decision_function_one,
        mapped.explain_one,
        mapped.debug_one,
    ):
        with pytest.raises(ModelFileError, match="a weight is not finite"):
            use(ROWS)
        use({"unknown": 1})
    for use in (mapped.decision_function_many, mapped.predict_proba_many):
        with pytest.raises(ModelFileError, match="a weight is not finite"):
            use(X, names)


@pytest.mark.parametrize(
    "change",
    [far_row, long_row, row_of_none, no_label, no_weight, negative_squares, twice_a_label],
    ids=lambda it: it.__name__,
)
def test_damaged_row_gets_into_no_other_model(change, path):
    model, mapped = rows_in_place(path, change)
    more = copy.deepcopy(model)
    more.learn_one(ROWS, "label 1")
    for use in (
        lambda: copy.deepcopy(mapped),
        lambda: pickle.dumps(mapped),
        lambda: mapped.clone(include_attributes=True),
        lambda: mapped.save(path.with_name("copy")),
        lambda: merge([mapped, more]),
        lambda: merge([more, mapped]),
    ):
        with pytest.raises(ModelFileError, match=r"damaged: .*take another copy of the file"):
            use()


@pytest.mark.parametrize(
    "label", ['["list","a"]', '["date","2026"]', '["tuple",["dict"]]', '{"a":1}']
)
def test_label_that_cannot_be_is_refused(label, path):
    model = make("MIRA")
    model.learn_one({"a": 1}, "first")
    model.save(path)
    header, arrays = mutations.parts(path.read_bytes())
    said = json.loads(header)
    said["__metadata__"]["labels"] = f"[{label}]"
    text = json.dumps(said, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(mutations.sealed(mutations.joined(text, arrays)))
    assert "is damaged" in refused(path)


@pytest.mark.slow
@every_placed_learner
@seeds(1)
def test_no_bit_of_a_file_opened_in_place_leads_outside_it(learner, seed):
    assert flipped.outlived(learner, seed, n=16) is None


@pytest.mark.slow
@every_placed_learner
@seeds(1)
def test_none_of_many_of_its_bits_does(learner, seed):
    assert flipped.outlived(learner, seed, n=60) is None


@pytest.mark.parametrize(
    "seed", slow(range(1000, 6000), range(0, 6000, 1000)), ids="seed={}".format
)
def test_damaged_file_loads_as_a_model_that_works_or_is_refused(seed, bases, path):
    loaded = sum(mutations.try_one(seed + i, list(bases.values()), path) for i in range(500))
    assert 50 < loaded < 450
