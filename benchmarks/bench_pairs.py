"""Pairs of features: beside River's PolynomialExtender, and beside Vowpal Wabbit's `-q ::`.

River: predict_one and learn_one of dicts by `Perceptron(degree=2)`, and by River's
`PolynomialExtender(degree=2, interaction_only=True) | Perceptron()`, chunk by chunk in turn. CPU
time. Asked: 20 times on events of 20 features.

Files: the whole process `streamptron train --degree 2`, from a file of label TAB words to a model,
beside Vowpal Wabbit with `-q :: --loss_function logistic` on the same words; CPU time of all
threads, in turn. Vowpal Wabbit hashes into 2^18 places; ours keeps each pair apart and by name,
and, with `--hash-bits 18`, hashes too. It pairs each feature also with itself: 210 pairs of 20
features, ours 190. Asked: as fast as Vowpal Wabbit.

Events: 20 words of 31 each, drawn at random, 217,620 pairs that there may be; and a9a, whose rows
have 14 features of 123.
"""

import random
import sys
import tempfile
from pathlib import Path
from time import process_time

from river import feature_extraction, linear_model

from benchmarks import common
from benchmarks.bench_text import COMMAND, whole_process
from streamptron import AdaptiveClassifier, Perceptron
from tests.support import streams

TARGETS = {"river": 20, "vw": 1}
CHUNK = 100


def drawn(n):
    """n events of 20 words, whose label depends on two of them together."""
    rng = random.Random(1)
    for _ in range(n):
        v = [min(int(rng.expovariate(0.2)), 30) for _ in range(20)]
        y = bool(v[0] % 2 ^ v[1] % 2) if rng.random() < 0.95 else rng.random() < 0.5
        yield {f"f{i}v{k}": 1 for i, k in enumerate(v)}, y


def a9a(n):
    for x, y in streams.svmlight("a9a", n):
        yield {f"f{i}": 1 for i in x}, y > 0


STREAMS = {"drawn": drawn, "a9a": a9a}


def learned(model, events):
    start = process_time()
    for x, y in events:
        model.predict_one(x)
        model.learn_one(x, y)
    return process_time() - start


def river(n):
    rows = []
    for name, stream in STREAMS.items():
        events = list(stream(n))
        size = sum(len(x) for x, _ in events) / len(events)
        theirs = (
            feature_extraction.PolynomialExtender(degree=2, interaction_only=True)
            | linear_model.Perceptron()
        )
        models = {"Perceptron": Perceptron(degree=2), "Adaptive": AdaptiveClassifier(degree=2)}
        times = {who: [] for who in ("river", *models)}
        for chunk in common.batches(events, CHUNK):
            for who, model in (("river", theirs), *models.items()):
                times[who].append(learned(model, chunk) / len(chunk))
        for who in models:
            ratios = [a / b for a, b in zip(times["river"], times[who], strict=True)]
            rows.append(
                (
                    f"{name}, {size:.0f} features",
                    who,
                    f"{1e6 * common.median(times[who]):.2f}",
                    f"{1e6 * common.median(times['river']):.0f}",
                    f"{common.median(ratios):.0f} (asked {TARGETS['river']})",
                )
            )
    common.table(("events", "learner", "ours, us", "River, us", "times as fast"), rows)


def written(folder, name, events):
    with open(folder / f"{name}.tsv", "w") as ours, open(folder / f"{name}.vw", "w") as vw:
        for x, y in events:
            ours.write(f"{int(y)}\t{' '.join(x)}\n")
            vw.write(f"{1 if y else -1} | {' '.join(x)}\n")


def files(folder, n, n_runs):
    rows = []
    vw = common.vowpal_wabbit()
    for name, stream in STREAMS.items():
        written(folder, name, stream(n))
        ours = [*COMMAND, "train", str(folder / f"{name}.tsv"), "--quiet", "--degree", "2"]
        ours += ["--model", str(folder / "ours.model"), "--learner"]
        commands = {
            "perceptron": [*ours, "perceptron"],
            "perceptron, hashed": [*ours, "perceptron", "--hash-bits", "18"],
            "adaptive": [*ours, "adaptive"],
            "adaptive, hashed": [*ours, "adaptive", "--hash-bits", "18"],
        }
        if vw:
            options = ["-q", "::", "--loss_function", "logistic", "--quiet"]
            paths = ["-d", str(folder / f"{name}.vw"), "-f", str(folder / "vw.model")]
            commands["Vowpal Wabbit"] = [*vw, *options, *paths]
        times = {who: [] for who in commands}
        for _ in range(n_runs):
            for who, command in commands.items():
                times[who].append(whole_process(command)[1])
        for who, measured in times.items():
            ratio = "not there"
            if vw:
                ratios = [a / b for a, b in zip(times["Vowpal Wabbit"], measured, strict=True)]
                ratio = common.spread(ratios, 2)
                if who.startswith("perceptron"):
                    ratio += f" (asked {TARGETS['vw']})"
            rows.append((name, who, common.spread(measured, 2), ratio))
    common.table(("events", "who", "CPU s", "x as fast as Vowpal Wabbit"), rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of each whole process")
    args = parser.parse_args()
    common.header(args, "drawn events and a9a of shared/data")
    common.need_data()
    common.section("predict_one + learn_one, us an event")
    river(200 if args.quick else 3000)
    common.section("whole process: from a file to a model")
    with tempfile.TemporaryDirectory() as folder:
        files(Path(folder), 500 if args.quick else 100_000, 1 if args.quick else args.runs)


if __name__ == "__main__":
    sys.exit(main())
