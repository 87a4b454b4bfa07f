"""Model files: seconds to save, load and open in place, and bytes beside the bare arrays.

The bare arrays are 16 bytes a name, the weights' slots, and the bytes of long names. "pickle" is
pickle.dump and pickle.load of the same model, beside which save also waits until the disk has
everything. "x plain" is save beside as many bytes of one buffer, written and synced. Opened in
place, a prediction is timed on events of a hundred known names, chosen at random, that lie in
memory already, beside the same model loaded.
"""

import os
import pickle
import random
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import streamptron
from benchmarks import common

EVENT = 100  # features
PREDICTED = 200  # events
LABELS = [f"label {i}" for i in range(4)]


def names(kind, n):
    text = "w{}" if kind == "short" else "a name of more than fifteen bytes {}"
    return [text.format(i) for i in range(n)]


def two_labels(weights, **params):
    return streamptron.Perceptron.from_weights(weights, **params)


def four_labels(weights):
    return streamptron.MulticlassPerceptron.from_weights(dict.fromkeys(LABELS, weights))


def bare_bytes(model, known):
    """Of keys, slots and long names of an exact model."""
    outputs = 1 if isinstance(model, streamptron.Perceptron) else 4
    fields = 1 + (model.average != "none") + 2 * model.pocket
    text = sum(len(name) for name in known if len(name) > 15)
    return len(known) * (16 + 8 * outputs * fields) + text


class Times:
    """Seconds of what was done under each name."""

    def __init__(self):
        self.of = defaultdict(list)

    def take(self, name, run, *args):
        start = time.perf_counter()
        result = run(*args)
        self.of[name].append(time.perf_counter() - start)
        return result


def write_plain(path, data):
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.unlink(path)


def predict(model, events):
    for x in events:
        model.predict_one(x)


def measured(model, known, repeats, folder):
    path, pickled = Path(folder, "model"), Path(folder, "pickle")
    chosen = random.Random(1).choices(known, k=PREDICTED * EVENT)
    events = [dict.fromkeys(chosen[i : i + EVENT], 1) for i in range(0, len(chosen), EVENT)]
    times = Times()
    model.save(path)
    plain = bytes(path.stat().st_size)
    for _ in range(repeats):
        times.take("save", model.save, path)
        times.take("plain", write_plain, Path(folder, "plain"), plain)
        loaded = times.take("load", streamptron.load, path)
        mapped = times.take("open", streamptron.load, path, True)
        for kind, each in (("in place", mapped), ("loaded", loaded)):
            predict(each, events)  # the first time brings the pages
            times.take(kind, predict, each, events)
        with open(pickled, "wb") as file:
            times.take("pickle", pickle.dump, model, file)
        with open(pickled, "rb") as file:
            times.take("unpickle", pickle.load, file)
    size = path.stat().st_size
    a_feature = {
        kind: 1e9 * common.median(times.of[kind]) / len(chosen) for kind in ("in place", "loaded")
    }
    save = common.spread([1000 * t for t in times.of["save"]], 0)
    return [
        save,
        f"{common.median(times.of['save']) / common.median(times.of['plain']):.2f}",
        common.spread([1000 * t for t in times.of["load"]], 0),
        common.spread([1000 * t for t in times.of["open"]], 2),
        *(f"{1000 * common.median(times.of[name]):.0f}" for name in ("pickle", "unpickle")),
        f"{size / 1e6:.2f}",
        "" if model.hash_bits else f"{size / bare_bytes(model, known):.3f}",
        *(f"{a_feature[kind]:.0f}" for kind in a_feature),
    ]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--features", type=int, help="of each model (default 1000000)")
    parser.add_argument("--repeats", type=int, help="of each time (default 7)")
    parser.add_argument("--folder", help="where the files are written (default: a temporary one)")
    args = parser.parse_args()
    n = args.features or (20_000 if args.quick else 1_000_000)
    repeats = args.repeats or (2 if args.quick else 7)
    common.header(args, f"made up: {n:,} names, of up to 8 characters or of 35 to 40")
    cases = [
        ("Perceptron()", "short", n, two_labels, {}),
        ("Perceptron(average='none')", "short", n, two_labels, {"average": "none"}),
        ("Perceptron(), long names", "long", n, two_labels, {}),
        ("Perceptron(pocket=True)", "short", n, two_labels, {"pocket": True}),
        ("MulticlassPerceptron(), 4 labels", "short", n, four_labels, {}),
        ("Perceptron(hash_bits=22)", "short", n, two_labels, {"hash_bits": 22}),
        ("the same, 1,000 names", "short", 1000, two_labels, {"hash_bits": 22}),
    ]
    common.section(f"{n:,} names: ms (median, 5 and 95 %), size, ns a feature to predict")
    rows = []
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for title, kind, size, make, params in cases:
            known = names(kind, size)
            model = make(dict.fromkeys(known, 1.0), **params)
            rows.append([title, *measured(model, known, repeats, folder)])
    times = ["save", "x plain", "load", "open in place", "pickle", "unpickle"]
    common.table(["model", *times, "MB", "x bare", "in place", "loaded"], rows)


if __name__ == "__main__":
    main()
