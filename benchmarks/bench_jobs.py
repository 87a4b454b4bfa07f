"""What more threads bring: `n_jobs` of predict_many and of study.fit, `streamptron train --jobs`.

Wall time, as the share of one thread's time, on a machine whose cores are idle. Each is run in turn
with one thread and with several; the answers and the model files are compared. A fit by several
threads gives another model, so of that the test errors are shown; with --fit only that is run. Its
"free" times are CPU times: those of the thread that merges, and an even share of the others'.
"""

import filecmp
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from subprocess import run
from time import perf_counter, process_time, thread_time

import numpy as np
import scipy.sparse as sp

import streamptron
from benchmarks import common
from benchmarks.bench_matrix import a9a, mnist
from benchmarks.bench_merge import error
from benchmarks.bench_text import log_lines, write_files
from streamptron.study import fit
from tests.support import streams

JOBS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def csr(name):
    rows, ys = zip(*common.svmlight_events(name), strict=True)
    columns = [list(row) for row in rows]
    starts = np.cumsum([0, *map(len, columns)])
    values = np.concatenate([list(row.values()) for row in rows])
    return sp.csr_array((values, np.concatenate(columns), starts)), np.array(ys)


def texts_of(name):
    return zip(*streams.labelled_texts(name), strict=True)


def predictions(limit):
    """name -> (model, rows)"""
    X, y = csr("a9a")
    linear = streamptron.AdaptiveClassifier()
    linear.learn_many(X, y)
    yield "a9a, CSR, AdaptiveClassifier", linear, X[:limit]
    for name in ("trec07p_first12000", "20news_train"):
        texts, labels = texts_of(name)
        model = streamptron.Tokenizer() | streamptron.AdaptiveClassifier()
        model.learn_many(list(texts), list(labels))
        yield f"{name}, texts, AdaptiveClassifier", model, list(texts)[:limit]


def alternately(n_runs, *calls):
    """The seconds of each call in each run, and what each returned at last."""
    seconds, results = [[] for _ in calls], [None] * len(calls)
    for _ in range(n_runs):
        for i, call in enumerate(calls):
            start = perf_counter()
            results[i] = call()
            seconds[i].append(perf_counter() - start)
    return seconds, results


def predict_rows(n_runs, limit):
    for name, model, X in predictions(limit):
        (one, several), (alone, shared) = alternately(
            n_runs,
            lambda model=model, X=X: model.predict_many(X),
            lambda model=model, X=X: model.predict_many(X, n_jobs=JOBS),
        )
        same = np.array_equal(alone, shared)
        yield name, len(alone), common.spread(one, 3), common.spread(several, 3), one, several, same


PASSES = (1, 5)
MIXES = (3, 10)


def studied(limit):
    """(name, learners, data for learning and for testing, what stands before the learner)"""
    for name, task, learners in (
        ("a9a", a9a(limit), ("Perceptron", "AdaptiveClassifier")),
        ("MNIST", mnist(limit), ("MulticlassPerceptron", "AdaptiveClassifier")),
    ):
        yield name, learners, (task.X, task.y), (task.test, task.truth), None
    for name, learners in (
        ("trec07p_first12000", ("Perceptron", "AdaptiveClassifier")),
        ("20news_train", ("MulticlassPerceptron", "AdaptiveClassifier")),
    ):
        texts, labels = map(list, texts_of(name))
        labels = np.array([label == "spam" for label in labels] if "trec" in name else labels)
        n, tokenizer = 3 * len(texts) // 4, streamptron.Tokenizer()
        data, held = (texts[:n][:limit], labels[:n][:limit]), (texts[n:], labels[n:])
        yield f"{name}, texts", learners, data, held, tokenizer


def taught(learner, tokenizer, data, n_passes, n_jobs, mixes):
    """A fitted model, the CPU seconds that it took, and those of them that one waits for.

    These are the main thread's, which merges, and the others' share.
    """
    model = getattr(streamptron, learner)()
    model = model if tokenizer is None else tokenizer | model
    began, alone = process_time(), thread_time()
    fit(model, data, epochs=n_passes, seed=1, n_jobs=n_jobs, mixes=mixes)
    took, alone = process_time() - began, thread_time() - alone
    return model, took, alone + (took - alone) / n_jobs


def fit_rows(n_runs, limit):
    """stream, learner, threads, mixes; by passes three times, the least ones, and the error"""
    ways = [(1, 1), *((JOBS, mixes) for mixes in MIXES)]
    for name, learners, data, held, tokenizer in studied(limit):
        for learner in learners:
            cells = {way: [] for way in ways}
            for n in PASSES:
                calls = [partial(taught, learner, tokenizer, data, n, *way) for way in ways]
                runs = [alternately(1, *calls) for _ in range(n_runs)]
                for k, way in enumerate(ways):
                    took = [min(run[0][k][0] for run in runs)]
                    took += [min(run[1][k][i] for run in runs) for i in (1, 2)]
                    cells[way] += [f"{1000 * s:.0f}" for s in took]
                    cells[way] += [f"{error(runs[0][1][k][0], *held):.2f}"]
            for (jobs, mixes), found in cells.items():
                yield name, learner, jobs, mixes if jobs > 1 else "", *found


def train_rows(n_runs, n_lines, folder):
    files = {"log": (log_lines(n_lines), n_lines)}
    if n_lines >= 1_000_000:
        texts, labels = texts_of("trec07p_first12000")
        mails = [(text, label == "spam") for text, label in zip(texts, labels, strict=True)]
        files["trec"] = (mails, len(mails))
    for name, (events, n) in files.items():
        write_files(folder, name, events)
        command = [sys.executable, "-m", "streamptron", "train", str(folder / f"{name}.tsv")]
        command += ["--quiet", "--hash-seed", "1", "--model"]
        (one, several), _ = alternately(
            n_runs,
            lambda command=command: run([*command, folder / "1"], check=True),
            lambda command=command: run([*command, folder / "n", "--jobs", str(JOBS)], check=True),
        )
        same = filecmp.cmp(folder / "1", folder / "n", shallow=False)
        yield name, n, common.spread(one, 3), common.spread(several, 3), one, several, same


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--fit", action="store_true", help="only study.fit")
    args = parser.parse_args()
    common.need_data()
    common.header(args, "a9a, MNIST, trec07p_first12000, 20news_train; lines of logs, made up")
    n_runs, limit, n_lines = (1, 500, 5_000) if args.quick else (7, None, 1_000_000)
    common.section(
        "study.fit(..., n_jobs=...): by passes least ms; of CPU; with free cores; error %"
    )
    columns = [f"{n}: {what}" for n in PASSES for what in ("ms", "CPU", "free", "error")]
    rows = list(fit_rows(1 if args.quick else 3, limit))
    common.table(("", "learner", "threads", "mixes", *columns), rows)
    if args.fit:
        return
    headings = ("", "rows", "1 thread, s", f"{JOBS} threads, s", "times as fast", "same bits")
    with tempfile.TemporaryDirectory() as folder:
        for section, rows in (
            ("predict_many(X, n_jobs=...)", predict_rows(n_runs, limit)),
            (
                "streamptron train --jobs ...: the whole process",
                train_rows(n_runs, n_lines, Path(folder)),
            ),
        ):
            common.section(section)
            common.table(
                headings,
                [
                    (name, n, one, several, f"{min(a) / min(b):.2f}", "yes" if same else "NO")
                    for name, n, one, several, a, b, same in rows
                ],
            )


if __name__ == "__main__":
    main()
