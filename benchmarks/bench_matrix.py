"""One pass of learn_many over sparse matrices, beside scikit-learn and beside a plain C loop.

The data: a9a, MNIST scaled to 0..1, and 20 newsgroups hashed to 2^18 columns (present or not), as
CSR matrices of float64 with int32 indices. Everybody gets the same rows once. scikit-learn's
learners shuffle them first, for that is how they come; a second time they have shuffle=False and
get them in the order in which ours do. Both are set beside what was asked. Every repetition starts
from a fresh model, made before the clock starts, and takes the contenders in an order drawn anew,
with the garbage collector off. What a learner allocates and checks within its pass is timed. Errors
are on rows that were not learned: a9a.t, MNIST's t10k, the last fifth of 20 newsgroups.

The floor is floor_matrix.c, the averaged perceptron over two dense arrays: no checks, no table of
features, no choice of who answers. It is called once for the whole matrix. The script compares its
averaged weights with those of Perceptron(), which must be the same to the last bit: so both have
done the same work. What the average needs at the end, w - u / c, is not timed for either.

Everybody has one thread, as streamptron always has. scikit-learn's learners call BLAS, which may
start more: they make these passes hardly faster, but wait in loops, and on a machine that is busy
otherwise that can make scikit-learn several times slower. --threads changes it.

Times are CPU times of the process (time.process_time_ns), so other programs count only by what
they take of the caches; on a quiet machine the wall clock says the same.

A ratio is one of medians; in brackets, where 5 % and 95 % of the ratios within single repetitions
lie. The last table holds what was asked beside what was found.

Row by row: matrices of one row, cut out beforehand from the test set, learned or predicted one at
a time by models that have learned the training set. Times are of chunks of a few rows.

Memory: a process of its own learns batch after batch, all written into the same arrays, so that
it holds one batch and one model whatever comes. Baseline: what is resident with one batch and
nothing learned. Peak: the most that ever was resident (VmHWM), by the kernel's count. What the
peak has beyond the baseline and the model's own count is what learning a batch takes meanwhile:
copies of the batch or of the model, scratch, and what the allocator wastes.
"""

import ctypes
import gc
import importlib.util
import multiprocessing
import os
import random
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import get_clock_info, perf_counter_ns, process_time_ns

import numpy as np

import streamptron
from benchmarks import common
from benchmarks.bench_memory import trim
from tests.support import streams

HASHED_COLUMNS = 1 << 18

FLOOR = "floor: plain C"
OURS = "Perceptron()"
OURS_AVERAGE = 'Perceptron(serve="average")'
OURS_MANY = "MulticlassPerceptron()"
SGD = "sklearn SGDClassifier(average=True)"
IN_ORDER = ", shuffle=False"
SKLEARN = (SGD, "sklearn Perceptron", "sklearn PassiveAggressive")

# What is asked. Ratios of times, but for the memory.
LEAST_SGD = 2.0  # SGDClassifier(average=True) / Perceptron(), two labels
LEAST_PERCEPTRON = 1.0  # sklearn's Perceptron in the order of the rows / Perceptron(), two labels
MOST_FLOOR = 1.7  # Perceptron() / floor
LEAST_MANY = 5.0  # one against all / MulticlassPerceptron()
LEAST_ROW = 50.0  # partial_fit / learn_many, one row
MOST_MEMORY = 1.0  # what learning takes beyond batch and model, in batches

ROWS_CHUNK = 20
BATCH_NONZEROS = 100  # a row
DENSE_ROWS = 20_000


# The CPU's clock where it is fine enough.
CPU_CLOCK = get_clock_info("process_time").resolution <= 1e-6
clock_ns = process_time_ns if CPU_CLOCK else perf_counter_ns


# --- The data


@dataclass
class Task:
    """Rows to learn, and rows to answer only."""

    name: str
    X: object
    y: np.ndarray
    test: object
    truth: np.ndarray

    def with_labels(self, name, label):
        """The same rows with other labels."""
        return Task(name, self.X, label(self.y), self.test, label(self.truth))

    def __str__(self):
        rows, columns = self.X.shape
        return (
            f"{self.name}: {rows:,} rows to learn, {columns:,} columns, {self.X.nnz:,} non-zeros "
            f"({self.X.nnz / rows:.0f} a row); {self.test.shape[0]:,} rows to test"
        )


@cache
def a9a(limit):
    from scipy.sparse import csr_matrix

    def read(name):
        events = list(streams.svmlight(name, limit))
        starts = np.cumsum([0, *(len(x) for x, _ in events)])
        columns = np.array([feature - 1 for x, _ in events for feature in x], np.int32)
        values = np.array([value for x, _ in events for value in x.values()])
        X = csr_matrix((values, columns, starts.astype(np.int32)), shape=(len(events), 123))
        return X, np.array([y > 0 for _, y in events])

    return Task("a9a", *read("a9a"), *read("a9a.t"))


@cache
def mnist(limit):
    from scipy.sparse import csr_matrix

    def read(split):
        images, digits = streams.mnist(split)
        return csr_matrix(images[:limit] / 255), digits[:limit].astype(np.int64)

    return Task("MNIST, 10 digits", *read("train"), *read("t10k"))


@cache
def news(limit):
    """Labels are the numbers of the groups in sorted order. Needs scikit-learn, which hashes."""
    from sklearn.feature_extraction.text import HashingVectorizer

    texts, groups = zip(*streams.labelled_texts("20news_train", limit), strict=True)
    hashing = HashingVectorizer(
        n_features=HASHED_COLUMNS, alternate_sign=False, norm=None, binary=True
    )
    X = hashing.transform(texts)
    y = np.unique(groups, return_inverse=True)[1]
    n = len(texts) * 4 // 5
    return Task("20news, 20 groups", X[:n], y[:n], X[n:], y[n:])


def binary_tasks(limit):
    yield a9a(limit)
    yield mnist(limit).with_labels("MNIST, 5 to 9", lambda digits: digits >= 5)
    if have("sklearn"):
        yield news(limit).with_labels("20news, first ten groups", lambda groups: groups < 10)


def have(module):
    return importlib.util.find_spec(module) is not None


# --- The contenders


class Contender:
    """A learner of one kind, and the times that its passes took."""

    def __init__(self, name, make, task):
        self.name = name
        self.make = make
        self.task = task
        self.classes = np.unique(task.y)
        self.model = None
        self.times = []  # ns

    def run(self):
        """A pass by a fresh model. The one before is given up first, outside the time."""
        self.model = None
        model = self.make()
        if hasattr(model, "learn_many"):
            learn = partial(model.learn_many, self.task.X, self.task.y)
        else:
            learn = partial(model.partial_fit, self.task.X, self.task.y, self.classes)
        start = clock_ns()
        learn()
        self.times.append(clock_ns() - start)
        self.model = model

    @property
    def error(self):
        """In percent, on the rows to test."""
        model = self.model
        predict = model.predict_many if hasattr(model, "predict_many") else model.predict
        return 100 * float(np.mean(predict(self.task.test) != self.task.truth))

    @property
    def updates(self):
        """Of a pass; scikit-learn does not count them."""
        return f"{self.model.n_updates:,}" if hasattr(self.model, "n_updates") else ""


class Floor:
    """floor_matrix.c as a learner."""

    def __init__(self, library):
        self.library = library

    def learn_many(self, X, y):
        """Learn CSR rows of float64 and int32, with truth values for labels."""
        self.w, self.u = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        self.b_beta_c = np.zeros(3)
        arrays = X.indptr, X.indices, X.data, y, self.w, self.u, self.b_beta_c
        self.n_updates = self.library.floor_pass(X.shape[0], *(a.ctypes.data for a in arrays))

    @property
    def averaged(self):
        """The averaged weights and intercept."""
        b, beta, c = self.b_beta_c
        return self.w - self.u / c, b - beta / c

    def predict_many(self, X):
        w, b = self.averaged
        return X @ w + b > 0


def compile_floor(folder):
    """Compile floor_matrix.c with the flags that the core is compiled with, and load it."""
    library = Path(folder) / "floor_matrix.so"
    source = Path(__file__).with_name("floor_matrix.c")
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    flags = (sysconfig.get_config_var("OPT") or "").split() + (common._setup_flags() or ["-O3"])
    command = [*shlex.split(compiler), *flags, "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    loaded = ctypes.CDLL(str(library))
    loaded.floor_pass.argtypes = [ctypes.c_int64] + [ctypes.c_void_p] * 7
    loaded.floor_pass.restype = ctypes.c_int64
    return loaded


def floor_library():
    """The compiled floor, or None and a word why."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            return compile_floor(folder)
        except (OSError, subprocess.CalledProcessError) as error:  # no compiler
            print(f"no floor, for it could not be compiled: {error!r}", file=sys.stderr)
            return None


def sklearn_makers(shuffle=True):
    """{name: a function that makes a fresh learner}; nothing without scikit-learn."""
    if not have("sklearn"):
        return {}
    from sklearn.base import clone
    from sklearn.linear_model import PassiveAggressiveClassifier, Perceptron, SGDClassifier

    def maker(learner, **params):
        def make():
            with warnings.catch_warnings():
                # PassiveAggressiveClassifier is deprecated
                warnings.simplefilter("ignore", FutureWarning)
                return clone(learner(shuffle=shuffle, random_state=0, **params))

        return make

    learners = maker(SGDClassifier, average=True), maker(Perceptron)
    return dict(zip(SKLEARN, (*learners, maker(PassiveAggressiveClassifier)), strict=True))


def sklearn_contenders(task):
    """Each of scikit-learn's learners as it comes, and in the order of the rows."""
    in_order = sklearn_makers(shuffle=False)
    return [
        Contender(name + how, make, task)
        for name in in_order
        for how, make in (("", sklearn_makers()[name]), (IN_ORDER, in_order[name]))
    ]


def limited_threads(n):
    """A context in which scikit-learn's libraries have n threads."""
    if not have("sklearn"):
        return nullcontext()
    import sklearn.linear_model  # noqa: F401  # what is loaded later would not be limited
    from threadpoolctl import threadpool_limits

    return threadpool_limits(n)


# --- Passes


def race(contenders, n_repetitions):
    """Times of every contender, repetition by repetition in a random order."""
    rng = random.Random(0)
    for repetition in range(n_repetitions + 1):
        for contender in rng.sample(contenders, len(contenders)):
            contender.run()
            if repetition == 0:
                contender.times.clear()  # the first one loads code
        gc.collect()


def ratio(above, below):
    """The ratio of the medians of two contenders' times."""
    return common.median(above.times) / common.median(below.times)


def ratio_text(above, below):
    """The same with the spread of the ratios within repetitions or chunks."""
    ratios = [a / b for a, b in zip(above.times, below.times, strict=True)]
    low, high = common.quantile(ratios, 0.05), common.quantile(ratios, 0.95)
    return f"{ratio(above, below):.2f} ({low:.2f}-{high:.2f})"


def report(contenders, ours, floor=None):
    rows, n_nonzeros = [], ours.task.X.nnz
    for contender in contenders:
        ms = [time / 1e6 for time in contender.times]
        row = [contender.name, common.spread(ms, 2), f"{common.median(ms) * 1e6 / n_nonzeros:.2f}"]
        row.append("" if contender is ours else ratio_text(contender, ours))
        if floor:
            row.append("" if contender is floor else ratio_text(contender, floor))
        rows.append([*row, f"{contender.error:.2f}", contender.updates])
    headings = ["", "ms (5-95 %)", "ns a non-zero", f"x {ours.name} (5-95 %)"]
    headings += ["x floor (5-95 %)"] * bool(floor) + ["test error %", "updates"]
    common.table(headings, rows)


def same_weights(model, floor):
    """Whether the floor's averaged weights are the model's, to the last bit."""
    w, b = floor.averaged
    found = {j: value for j, value in enumerate(w.tolist()) if value}
    return model.averaged_weights == found and model.averaged_intercept == b


def bench_two(args, library, verdicts):
    common.section(f"two labels: one pass, {args.repetitions} repetitions")
    for task in binary_tasks(args.rows):
        ours = Contender(OURS, streamptron.Perceptron, task)
        average = Contender(OURS_AVERAGE, partial(streamptron.Perceptron, serve="average"), task)
        contenders = [ours, average]
        floor = Contender(FLOOR, partial(Floor, library), task) if library else None
        if floor:
            contenders.append(floor)
        theirs = sklearn_contenders(task)
        contenders += theirs
        race(contenders, args.repetitions)
        print(task)
        report(contenders, ours, floor)
        if floor:
            same = "the same" if same_weights(ours.model, floor.model) else "DIFFERENT"
            print(f"averaged weights of {ours.name} and the floor: {same}")
        print()
        for model in (ours, average):
            for other in theirs[:2]:  # the averaged SGDClassifier
                name = f"{task.name}: {other.name} / {model.name}"
                verdicts.least(name, LEAST_SGD, ratio(other, model))
            for other in theirs[3:4]:  # Perceptron, shuffle=False
                name = f"{task.name}: {other.name} / {model.name}"
                verdicts.least(name, LEAST_PERCEPTRON, ratio(other, model))
            if floor:
                verdicts.most(f"{task.name}: {model.name} / floor", MOST_FLOOR, ratio(model, floor))


def bench_many(args, verdicts):
    common.section(f"many labels: one pass, {args.repetitions} repetitions")
    for task in (mnist(args.rows), *([news(args.rows)] if have("sklearn") else [])):
        ours = Contender(OURS_MANY, streamptron.MulticlassPerceptron, task)
        theirs = sklearn_contenders(task)
        race([ours, *theirs], args.repetitions)
        print(task)
        report([ours, *theirs], ours)
        print()
        for other in theirs:
            name = f"{task.name}: {other.name} / {ours.name}"
            verdicts.least(name, LEAST_MANY, ratio(other, ours))
            name = f"{task.name}: test error % of {ours.name}, not above that of {other.name}"
            verdicts.most(name, other.error, ours.error)


# --- Row by row


class RowRunner:
    """Something done to one row at a time, and the time it took, chunk by chunk."""

    def __init__(self, name, call, rows, ours=None):
        self.name = name
        self.call = call
        self.rows = rows  # lists of arguments
        self.ours = ours  # what it is compared with
        self.times = []  # ns a row

    def run(self, chunk):
        call = self.call
        rows = self.rows[chunk]
        start = clock_ns()
        for row in rows:
            call(*row)
        self.times.append((clock_ns() - start) / len(rows))


def trained(make, task):
    contender = Contender("", make, task)
    contender.run()
    return contender.model


def row_runners(task, n):
    """Every contender, each with a model of its own that has learned the training set."""
    n = min(n, task.test.shape[0])
    matrices = [task.test[i : i + 1] for i in range(n)]
    labels = [task.truth[i : i + 1] for i in range(n)]
    dicts = [
        dict(zip(matrix.indices.tolist(), matrix.data.tolist(), strict=True)) for matrix in matrices
    ]
    learned = list(zip(matrices, labels, strict=True))
    learned_dicts = list(zip(dicts, task.truth[:n].tolist(), strict=True))
    predicted, predicted_dicts = [(matrix,) for matrix in matrices], [(x,) for x in dicts]

    def ours():
        return trained(streamptron.Perceptron, task)

    learn = RowRunner(f"{OURS}.learn_many", ours().learn_many, learned)
    predict = RowRunner(f"{OURS}.predict_many", ours().predict_many, predicted)
    runners = [learn, RowRunner("  learn_one of a dict", ours().learn_one, learned_dicts, learn)]
    makers = sklearn_makers()
    for name, make in makers.items():
        model = trained(make, task)
        runners.append(RowRunner(f"{name}.partial_fit", model.partial_fit, learned, learn))
    runners.append(predict)
    runners.append(
        RowRunner("  predict_one of a dict", ours().predict_one, predicted_dicts, predict)
    )
    for name, make in makers.items():
        model = trained(make, task)
        runners.append(RowRunner(f"{name}.predict", model.predict, predicted, predict))
    return runners, n


def bench_rows(args, verdicts):
    common.section(f"row by row: matrices of one row, chunks of {ROWS_CHUNK}")
    for task in binary_tasks(args.rows):
        runners, n = row_runners(task, args.single_rows)
        rng = random.Random(0)
        gc.collect()
        for first in range(0, n, ROWS_CHUNK):
            for runner in rng.sample(runners, len(runners)):
                runner.run(slice(first, first + ROWS_CHUNK))
        print(f"{task.name}: {n:,} rows, {task.X.shape[1]:,} columns")
        rows = []
        for runner in runners:
            us = [time / 1e3 for time in runner.times]
            ratios = ratio_text(runner, runner.ours) if runner.ours else ""
            rows.append([runner.name, common.spread(us, 2), ratios])
        common.table(["", "us a row (5-95 %)", "x ours (5-95 %)"], rows)
        print()
        for runner in runners:
            if runner.name.endswith("partial_fit"):
                name = f"{task.name}, a row: {runner.name} / learn_many"
                verdicts.least(name, LEAST_ROW, ratio(runner, runner.ours))


# --- Memory


def status(field):
    """Bytes of VmRSS (resident now) or VmHWM (the most ever), or None where it is not known."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kib = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    return int(kib[0]) * 1024 if kib else None


class Batches:
    """Random rows, the same in every process, each batch written over the one before.

    Columns are drawn one from each of as many equal ranges as a row has non-zeros, so they rise
    and none comes twice. The label is the sign of a hidden score.
    """

    def __init__(self, n_rows, values="float64", indices="int32"):
        from scipy.sparse import csr_matrix

        self.rng = np.random.default_rng(0)
        self.hidden = self.rng.standard_normal(HASHED_COLUMNS)
        self.columns = np.zeros((n_rows, BATCH_NONZEROS), indices)
        self.values = np.zeros((n_rows, BATCH_NONZEROS), values)
        starts = np.arange(0, self.columns.size + 1, BATCH_NONZEROS, dtype=indices)
        shape = n_rows, HASHED_COLUMNS
        self.X = csr_matrix(shape, dtype=values)
        # set by hand: the constructor would choose the smaller type of index, and copy
        self.X.data, self.X.indices = self.values.ravel(), self.columns.ravel()
        self.X.indptr = starts

    def draw(self):
        """The next batch: the matrix, which is always the same object, and its labels."""
        width = HASHED_COLUMNS // BATCH_NONZEROS
        ranges = np.arange(BATCH_NONZEROS) * width
        y = np.zeros(len(self.columns), bool)
        for first in range(0, len(self.columns), 500):  # little at a time: that leaves no trace
            rows = slice(first, first + 500)
            columns, values = self.columns[rows], self.values[rows]
            columns[:] = self.rng.integers(0, width, columns.shape) + ranges
            self.rng.random(out=values, dtype=values.dtype)
            y[rows] = (self.hidden[columns] * values).sum(axis=1) > 0
        return self.X, y

    @property
    def n_bytes(self):
        return self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes


def learn_batches(case):
    """What a process of its own has to say after it has learned batch after batch."""
    make, kinds, n_batches, n_rows = case
    batches = Batches(n_rows, *kinds)
    X, y = batches.draw()
    make().learn_many(X[:10], y[:10])  # loads the code
    model = make()
    trim()
    found = {"batch": batches.n_bytes, "baseline": status("VmRSS"), "peak before": status("VmHWM")}
    ns = 0
    for number in range(n_batches):
        if number:
            X, y = batches.draw()
        start = clock_ns()
        model.learn_many(X, y)
        ns += clock_ns() - start
    found |= {"peak": status("VmHWM"), "model": model.memory_usage, "ns": ns}
    found["error"] = 100 * model.n_mistakes / model.n_seen
    return found


def bench_memory(args, verdicts):
    n_batches, n_rows = args.batches, args.batch_rows
    common.section(
        f"memory: {n_batches} batches of {n_rows:,} rows x {BATCH_NONZEROS} non-zeros of "
        f"{HASHED_COLUMNS:,} columns, {n_batches * n_rows:,} rows"
    )
    if status("VmHWM") is None:
        print("skipped: this system has no /proc/self/status")
        return
    rows = []
    for model, make in (
        (OURS, streamptron.Perceptron),
        ("Perceptron(hash_bits=18)", partial(streamptron.Perceptron, hash_bits=18, hash_seed=1)),
    ):
        for kinds in (("float64", "int32"), ("float32", "int64")):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(learn_batches, ((make, kinds, n_batches, n_rows),))
            name = f"{model}, {', '.join(kinds)}"
            beyond = found["peak"] - found["baseline"] - found["model"]
            numbers = [found[key] for key in ("batch", "baseline", "peak before", "peak", "model")]
            cells = [f"{number / 2**20:.1f}" for number in (*numbers, beyond)]
            nonzeros = n_batches * n_rows * BATCH_NONZEROS
            rows.append([name, *cells, f"{found['ns'] / nonzeros:.2f}", f"{found['error']:.1f}"])
            verdicts.most(f"memory, in batches: {name}", MOST_MEMORY, beyond / found["batch"])
    headings = ["MiB", "one batch", "baseline", "peak before", "peak", "memory_usage", "beyond"]
    common.table([*headings, "ns a non-zero", "mistakes %"], rows)
    print("beyond = peak - baseline - memory_usage; the baseline holds one batch and no model")


# --- Dense


def dense_kinds(images):
    """(name, X), one after the other: together they would be large."""
    scaled = images / 255
    yield "numpy float64", scaled
    yield "numpy float64, Fortran order", np.asfortranarray(scaled)
    yield "numpy float32", scaled.astype(np.float32)
    yield "numpy uint8", images
    if have("pandas"):
        import pandas as pd

        names = [f"pixel {i}" for i in range(images.shape[1])]
        yield "pandas float64", pd.DataFrame(scaled, columns=names)
        yield "pandas uint8", pd.DataFrame(images, columns=names)
    else:
        print("skipped: the frames, for pandas is not installed")
    from scipy.sparse import csr_matrix

    yield "CSR float64, for comparison", csr_matrix(scaled)


def bench_dense(args):
    images, digits = streams.mnist("train")
    n = min(args.rows or DENSE_ROWS, DENSE_ROWS)
    images, y = images[:n], digits[:n] >= 5
    common.section(
        f"dense: MNIST, 5 to 9, {n:,} rows of {images.shape[1]} values, "
        f"{100 * np.count_nonzero(images) / images.size:.0f} % of them not 0; "
        f"{args.repetitions} repetitions; ns a value, zeros included"
    )
    rows = []
    for name, X in dense_kinds(images):
        task = Task(name, X, y, X, y)
        ours = Contender(OURS, streamptron.Perceptron, task)
        theirs = [Contender(SGD, make, task) for make in list(sklearn_makers().values())[:1]]
        race([ours, *theirs], args.repetitions)
        predict = Predictions(ours.model, X)
        race([predict], args.repetitions)
        cells = [
            common.spread([time / images.size for time in contender.times], 2)
            for contender in (ours, predict, *theirs)
        ]
        rows.append([name, *cells, *(ratio_text(other, ours) for other in theirs)])
    headings = ["", "learn_many (5-95 %)", "predict_many"]
    if have("sklearn"):
        headings += [SGD, "x learn_many"]
    common.table(headings, rows)


class Predictions:
    """predict_many by one model again and again, timed like a contender."""

    def __init__(self, model, X):
        self.model = model
        self.X = X
        self.times = []

    def run(self):
        start = clock_ns()
        self.model.predict_many(self.X)
        self.times.append(clock_ns() - start)


# --- Asked and found


class Verdicts:
    """What was asked, what was found, and whether it is met."""

    def __init__(self):
        self.rows = []

    def least(self, name, asked, found):
        self._add(name, f">= {asked:.2f}", found, found >= asked)

    def most(self, name, asked, found):
        self._add(name, f"<= {asked:.2f}", found, found <= asked)

    def _add(self, name, asked, found, met):
        self.rows.append([name, asked, f"{found:.2f}", "met" if met else "MISSED"])


PARTS = ("two", "many", "rows", "memory", "dense")


def main():
    parser = common.parser(__doc__)
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--repetitions", type=int, help="of a pass (default 21)")
    parser.add_argument("--threads", type=int, default=1, help="for BLAS and OpenMP (default 1)")
    parser.add_argument("--rows", type=int, help="at most, of each set (default all)")
    parser.add_argument("--single-rows", type=int, help="one by one (default 500)")
    parser.add_argument("--batches", type=int, help="for the memory (default 20)")
    parser.add_argument("--batch-rows", type=int, help="for the memory (default 50000)")
    args = parser.parse_args()
    args.repetitions = args.repetitions or (1 if args.quick else 21)
    args.rows = args.rows or (500 if args.quick else None)
    args.single_rows = args.single_rows or (40 if args.quick else 500)
    args.batches = args.batches or (2 if args.quick else 20)
    args.batch_rows = args.batch_rows or (1000 if args.quick else 50_000)
    common.header(args, "a9a, MNIST, 20news_train; for the memory made up")
    beside = ("scikit-learn", "scipy", "pandas")
    print(f"beside    {', '.join(f'{name} {common._version(name)}' for name in beside)}")
    print(f"clock     {'CPU time of the process' if CPU_CLOCK else 'wall'}")
    common.need_data()
    if not have("scipy"):
        print("skipped: scipy is not installed, and without it there is no sparse matrix")
        return
    if not have("sklearn"):
        print("skipped: its learners and 20 newsgroups, for scikit-learn is not installed")
    verdicts = Verdicts()
    gc.disable()
    with limited_threads(args.threads):
        if "two" in args.parts:
            bench_two(args, floor_library(), verdicts)
        if "many" in args.parts:
            bench_many(args, verdicts)
        if "rows" in args.parts:
            bench_rows(args, verdicts)
        if "memory" in args.parts:
            bench_memory(args, verdicts)
        if "dense" in args.parts:
            bench_dense(args)
    if verdicts.rows:
        common.section("asked and found" + "; --quick: this means nothing" * args.quick)
        common.table(["", "asked", "found", ""], verdicts.rows)
        met = sum(row[-1] == "met" for row in verdicts.rows)
        print(f"\nmet: {met} of {len(verdicts.rows)}")


if __name__ == "__main__":
    main()
