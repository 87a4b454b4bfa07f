"""predict_one and then learn_one on dict events {word: 1}, beside River, on the real text streams.

Words are lower-cased and matched by \\w+, and are present (1) or not. The stream goes by in
chunks of about a thousand features: their dicts are made, and then every contender goes over the
same chunk, in an order drawn anew for each chunk, with the garbage collector off. So whatever
else the machine does happens to all of them, and the dicts are as warm as an event that has just
been made. In a program there is one learner, which the event before has left in the cache; here
the others have been busy since, so each first predicts the chunk before once more, untimed.

The floor is what no dict door can avoid: to iterate the dicts from C (PyDict_Next) and to read
the values. It is timed for one iteration, in one call for the whole chunk; predict_one and
learn_one have to iterate once each, so their own floor is two. The row "a call an event" is the
same loop called from Python once an event, as a learner is called: on short events the calls
weigh more than the features.

The second pass is the same stream again, with the model trained by the first. Its words are known
then, but for those that were in no update: these have no weights.

The third table is of events that are cold: nothing of them is in a cache, as where they were made
by somebody else or long ago. Each contender has dicts of its own, whose words and values are
objects of their own, too (str and float). Once they are made, twice as many bytes as the largest
cache holds, but at least 128 MB, are written elsewhere. Then the learner predicts the chunk before
once more, so that its own memory is warm, and is timed on the cold one. The floor is to touch each
word and each value once: list(x) and list(x.values()).
"""

import gc
import importlib.util
import random
import shutil
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter, perf_counter_ns

import numpy as np
from river import linear_model, multiclass

import streamptron
from benchmarks import common

FLOOR = "floor: one iteration"
FLOOR_CALLED = "floor: a call an event"
OURS = "streamptron"

HEADINGS = ["", "ns a feature: 25 %", "median", "75 %", "x floor (5-95 %)", "x 2 floors"]
HEADINGS += ["x perceptron (5-95 %)", "x adaptive", "error %"]

COLD_HEADINGS = [*HEADINGS[:4], "x floor (5-95 %)", "x perceptron (5-95 %)"]

SWEPT_CHUNKS = 10  # that are made before the caches are emptied

# River's OneVsRest is so slow that it gets the first events only.
ONE_VS_REST_EVENTS = 1500


class Contender:
    """A learner, its times a chunk and its mistakes."""

    def __init__(self, name, model, limit=None):
        self.name = f"{name} {type(model).__name__}"
        self.model = model
        self.limit = limit  # the number of events that it gets
        self.n_events = 0
        self.n_mistakes = 0
        self.times = []  # ns, chunk by chunk

    def warm(self, chunk):
        for x, _ in chunk:
            self.model.predict_one(x)

    def run(self, chunk):
        predict_one, learn_one = self.model.predict_one, self.model.learn_one
        predictions = []
        start = perf_counter_ns()
        for x, y in chunk:
            predictions.append(predict_one(x))
            learn_one(x, y)
        self.times.append(perf_counter_ns() - start)
        pairs = zip(predictions, chunk, strict=True)
        self.n_mistakes += sum(prediction != y for prediction, (_, y) in pairs)
        self.n_events += len(chunk)

    @property
    def done(self):
        return self.limit is not None and self.n_events >= self.limit

    @property
    def error(self):
        """Predictions that were wrong before learning, in percent."""
        return 100 * self.n_mistakes / self.n_events


class Lists:
    """The keys and the values of each event as lists: the floor of cold events."""

    name = "floor: two lists"
    done = False

    def __init__(self):
        self.times = []

    def warm(self, chunk):
        self.touch(chunk)

    def touch(self, chunk):
        for x, _ in chunk:
            list(x)
            list(x.values())

    def run(self, chunk):
        start = perf_counter_ns()
        self.touch(chunk)
        self.times.append(perf_counter_ns() - start)


class Floor:
    """The iterations of floor.pyx, timed like a contender."""

    done = False

    def __init__(self, name, floor):
        self.name = name
        self.floor = floor
        self.times = []

    def warm(self, chunk):
        for x, _ in chunk:
            self.floor.iterate_one(x)

    def run(self, chunk):
        if self.name == FLOOR:
            iterate_chunk = self.floor.iterate_chunk
            start = perf_counter_ns()
            iterate_chunk(chunk)
        else:
            iterate_one = self.floor.iterate_one
            start = perf_counter_ns()
            for x, _ in chunk:
                iterate_one(x)
        self.times.append(perf_counter_ns() - start)


def compile_floor(folder):
    """Compile and import floor.pyx, all in a folder."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    source = shutil.copy(Path(__file__).with_name("floor.pyx"), folder)
    extension = Extension("floor", [str(source)])
    options = {"build_lib": str(folder), "build_temp": str(folder)}
    extensions = cythonize([extension], language_level=3, build_dir=str(folder), quiet=True)
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    for name, value in options.items():
        setattr(command, name, value)
    command.ensure_finalized()
    command.run()
    path = command.get_ext_fullpath("floor")
    spec = importlib.util.spec_from_file_location("floor", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contenders(name, quick):
    """Fresh learners for a stream, ours first."""
    if name in common.BINARY_TEXTS:
        return [
            Contender(OURS, streamptron.Perceptron()),
            Contender(OURS, streamptron.AdaptiveClassifier()),
            Contender("River", linear_model.Perceptron()),
            Contender("River", linear_model.PAClassifier()),
        ]
    one_vs_rest = multiclass.OneVsRestClassifier(linear_model.Perceptron())
    return [
        Contender(OURS, streamptron.MulticlassPerceptron()),
        Contender(OURS, streamptron.AdaptiveClassifier()),
        Contender("River", one_vs_rest, limit=100 if quick else ONE_VS_REST_EVENTS),
    ]


def run_pass(events, runners, seconds):
    """Every runner over every chunk, until the time is over. Returns the features of each chunk."""
    rng = random.Random(0)
    sizes = []
    deadline = perf_counter() + seconds
    before = []
    for chunk in common.chunks(events, 1000):
        sizes.append(sum(len(x) for x, _ in chunk))
        order = [runner for runner in runners if not runner.done]
        rng.shuffle(order)
        for runner in order:
            runner.warm(before)
            runner.run(chunk)
        before = chunk
        if perf_counter() > deadline:
            break
    return sizes


def largest_cache():
    """Its bytes, where the system says so (Linux); else 0."""
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        number = path.read_text(encoding="ascii").strip()
        sizes.append(int(number[:-1]) * {"K": 2**10, "M": 2**20}[number[-1]])
    return max(sizes)


def made_anew(chunk):
    """The same events, of which no two share a dict, a word or a value."""
    return [({word.encode().decode(): float(n) for word, n in x.items()}, y) for x, y in chunk]


def run_cold(events, runners, seconds, swept):
    """As run_pass; each runner gets events not touched since `swept` was written."""
    rng = random.Random(0)
    sizes = []
    before = {runner.name: [] for runner in runners}
    deadline = perf_counter() + seconds
    for chunks in common.batches(common.chunks(events, 1000), SWEPT_CHUNKS):
        made = [{runner.name: made_anew(chunk) for runner in runners} for chunk in chunks]
        swept += 1
        for own in made:
            sizes.append(sum(len(x) for x, _ in own[runners[0].name]))
            for runner in rng.sample(runners, len(runners)):
                if not runner.done:
                    runner.warm(before[runner.name])
                    runner.run(own[runner.name])
            before = own
        if perf_counter() > deadline:
            break
    return sizes


def report_cold(sizes, runners):
    """The table of cold events."""
    times = {
        runner.name: [time / size for time, size in zip(runner.times, sizes, strict=False)]
        for runner in runners
    }
    floor, ours = (times[runner.name] for runner in runners[:2])
    rows = []
    for name, own in times.items():
        rows.append([name, *(f"{common.quantile(own, q):.1f}" for q in (0.25, 0.5, 0.75))])
        for below in (floor, ours):
            ratios = common.group_ratios(own, below[: len(own)])
            rows[-1].append("" if own is below else common.spread(ratios))
    common.table(COLD_HEADINGS, rows)


def report(sizes, runners):
    """The table of a pass."""
    times = {  # ns a feature, chunk by chunk; a contender that was stopped has fewer
        runner.name: [time / size for time, size in zip(runner.times, sizes, strict=False)]
        for runner in runners
    }
    ours = [runner for runner in runners if runner.name.startswith(OURS)]
    rows = []
    for runner in runners:
        own = times[runner.name]
        quartiles = [common.quantile(own, q) for q in (0.25, 0.5, 0.75)]
        row = [runner.name, *(f"{value:.1f}" for value in quartiles)]
        learns = isinstance(runner, Contender)
        if FLOOR in times and runner.name != FLOOR:
            ratios = common.group_ratios(own, times[FLOOR][: len(own)])
            row += [common.spread(ratios), f"{common.median(ratios) / 2:.1f}" if learns else ""]
        else:
            row += ["", ""]
        for one in (*ours, None, None)[:2]:  # in the second pass there may be but one
            if not learns or one is None or runner is one:
                row.append("")
                continue
            row.append(common.spread(common.group_ratios(own, times[one.name][: len(own)])))
        row.append(f"{runner.error:.2f}" if learns else "")
        rows.append(row)
    common.table(HEADINGS, rows)


def bench_stream(name, floor, seconds, quick):
    floors = [Floor(FLOOR, floor), Floor(FLOOR_CALLED, floor)] if floor else []
    learners = contenders(name, quick)
    ours = learners[0]
    early_mistakes = None
    limited = [learner for learner in learners if learner.limit]

    def counted():
        """The events, noting our mistakes when a limited contender leaves."""
        nonlocal early_mistakes
        for event in common.text_events(name):
            if early_mistakes is None and any(learner.done for learner in limited):
                early_mistakes = ours.n_mistakes, ours.n_events
            yield event

    gc.collect()
    gc.disable()
    sizes = run_pass(counted(), floors + learners, seconds)
    n_events, n_words = ours.n_events, sum(sizes)
    print(
        f"{name}: {n_events:,} events, {n_words:,} features ({n_words / n_events:.0f} an event); "
        f"{ours.model.n_features:,} words have weights at the end"
    )
    print("first pass, in turn with River; quartiles over chunks, ratios over groups of chunks")
    report(sizes, floors + learners)
    for learner in limited:
        print(f"  {learner.name} got the first {learner.n_events:,} events only;", end=" ")
        mistakes, n = early_mistakes or (ours.n_mistakes, ours.n_events)
        print(f"on the first {n:,} {ours.name} had an error of {100 * mistakes / n:.2f} %")

    again = Contender(OURS, ours.model)
    floors = [Floor(FLOOR, floor), Floor(FLOOR_CALLED, floor)] if floor else []
    events = islice(common.text_events(name), n_events)
    sizes = run_pass(events, [*floors, again], seconds)
    print("second pass, warm vocabulary; no other learner in between")
    report(sizes, [*floors, again])

    cold = [Lists(), *contenders(name, quick)]
    swept = np.zeros(max(2 * largest_cache(), 2**27), np.uint8)
    sizes = run_cold(common.text_events(name), cold, seconds, swept)
    gc.enable()
    print(f"cold events; {swept.nbytes / 2**20:.0f} MB were written since they were made")
    report_cold(sizes, cold)


def main():
    parser = common.parser(__doc__)
    names = common.BINARY_TEXTS + common.MULTICLASS_TEXTS
    parser.add_argument("--streams", nargs="+", choices=names, default=names, metavar="STREAM")
    parser.add_argument("--seconds", type=float, help="at most, for each pass (default 30)")
    args = parser.parse_args()
    if args.seconds is None:
        args.seconds = 0.1 if args.quick else 30.0
    common.header(args, ", ".join(args.streams))
    common.need_data()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            floor = compile_floor(folder)
        except Exception as error:  # no compiler, no Cython: then there is no floor
            print(f"no floor, for it could not be compiled: {error!r}", file=sys.stderr)
            floor = None
        for name in args.streams:
            common.section(name)
            bench_stream(name, floor, args.seconds, args.quick)


if __name__ == "__main__":
    main()
