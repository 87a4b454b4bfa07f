"""Texts: in a River pipeline, from a file to a model, and through the line filter.

River: `Tokenizer() | Perceptron()` beside River's `BagOfWords() | Perceptron()`, predict_one and
learn_one on a str, the two interleaved chunk by chunk; each predicts the chunk before once more,
untimed, so that it is as warm as it would be alone. CPU time. Asked: 20 times.

Files: the whole process `streamptron train`, from a file of label TAB text to a model file. Once
with the default learner as it comes, which keeps all names; once with a perceptron, averaged, with
hashed features where there are two labels. Beside them Vowpal Wabbit (logistic loss; for many
labels --oaa, with squared loss, as it comes, too; the same bits) and fastText (one thread, one
epoch, as it comes otherwise) on files of the same words, lower-cased and split beforehand, in the
form that each of them reads. All pinned to one core, in turn; the last columns are our smallest CPU
time by theirs. The log lines are drawn at random from the real ones, half of the systems are True.
"trec07p six times" is the file six times over, about as long as the corpus of 75,000 mails. Asked
of the default learner: at most 2/3 of Vowpal Wabbit's CPU and 1/5 of fastText's; of the perceptron
half of Vowpal Wabbit's.

Columns: the texts as a list of bytes beside the same in a column of pyarrow, polars and pandas,
`learn_many` of a new pipeline on all texts of a stream, in turn. CPU time. Asked: at most 1.01
times what the list costs.

Filter: `streamptron predict` between two pipes: short log lines in bulk, and one line at a time,
from writing it to having read the answer. Asked: 300,000 lines a second, and less than 100 us.

Error: mistakes in percent, each event predicted before it is learned, in file order, beside Vowpal
Wabbit's on the same words (`--loss_function logistic --binary`; for many labels `--oaa`). Nothing
is asked.

Needs the extra [cli]; Vowpal Wabbit (`vw`, or the Python package vowpalwabbit) and `fasttext` take
part where they are there.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import chain, islice
from pathlib import Path
from time import perf_counter, process_time

import pandas
import polars
import pyarrow
from river import feature_extraction, linear_model

import streamptron
from benchmarks import common
from tests.support import streams

TARGETS = {"river": 20, "arrow": 1.01, "lines": 300_000, "trip": 100}
BITS = 22
# As a user starts it; where it is not installed beside this Python, as a module.
INSTALLED = shutil.which("streamptron", path=str(Path(sys.executable).parent))
COMMAND = (INSTALLED,) if INSTALLED else (sys.executable, "-m", "streamptron")


def words(text):
    return re.findall(r"\w+", text.lower())


# --- In a pipeline


def pipelines(names, limit):
    rows = []
    for name in names:
        events = [
            (text, common.text_label(name, label))
            for text, label in streams.labelled_texts(name, limit)
        ]
        ours = streamptron.Tokenizer() | streamptron.Perceptron()
        theirs = feature_extraction.BagOfWords() | linear_model.Perceptron()
        times, mistakes = ([], []), [0, 0]
        before = []
        for chunk in common.batches(events, 50):
            for k, model in enumerate((ours, theirs)):
                for text, _ in before:
                    model.predict_one(text)
                start = process_time()
                for text, label in chunk:
                    mistakes[k] += bool(model.predict_one(text)) != label
                    model.learn_one(text, label)
                times[k].append((process_time() - start) / len(chunk))
            before = chunk
        rows.append(
            (
                name,
                len(events),
                common.spread([1e6 * t for t in times[0]]),
                common.spread([1e6 * t for t in times[1]]),
                common.spread(common.group_ratios(times[1], times[0])),
                f"{100 * mistakes[0] / len(events):.2f}",
                f"{100 * mistakes[1] / len(events):.2f}",
            )
        )
    common.table(
        ("stream", "texts", "ours us", "River us", "times (asked 20)", "our error %", "River's %"),
        rows,
    )


# --- From a column


COLUMNS = {
    "list of bytes": list,
    "pyarrow": lambda texts: pyarrow.array(texts, pyarrow.binary()),
    "pyarrow views": lambda texts: pyarrow.array(texts, pyarrow.binary_view()),
    "polars": lambda texts: polars.Series(texts, dtype=polars.Binary),
    "pandas": lambda texts: pandas.Series(texts, dtype=pandas.ArrowDtype(pyarrow.binary())),
}


def columns(names, limit, n_runs):
    rows = []
    for name in names:
        events = list(streams.labelled_texts(name, limit))
        texts = [text.encode("utf-8", "surrogatepass") for text, _ in events]
        labels = [label for _, label in events]
        made = {who: make(texts) for who, make in COLUMNS.items()}
        times = {who: [] for who in COLUMNS}
        order = list(COLUMNS)
        for _ in range(n_runs):
            order.append(order.pop(0))  # each comes first, and behind another, now and then
            for who in order:
                model = streamptron.Tokenizer() | streamptron.MulticlassPerceptron()
                start = process_time()
                model.learn_many(made[who], labels)
                times[who].append((process_time() - start) / len(events))
        listed, *others = times.values()
        ratios = [[a / b for a, b in zip(other, listed, strict=True)] for other in others]
        rows.append(
            (
                name,
                len(events),
                f"{1e6 * common.median(listed):.2f}",
                *(common.spread(ratio, 3) for ratio in ratios),
            )
        )
    _, *others = COLUMNS
    common.table(("stream", "texts", "list of bytes us", *others), rows)


# --- From a file to a model


def mails(limit):
    """The mails of trec07p with truth values."""
    for text, label in streams.labelled_texts("trec07p_first12000", limit):
        yield text, common.text_label("trec07p_first12000", label)


def log_lines(n):
    """n short log lines with truth values."""
    rng = random.Random(1)
    events = [(text, label) for text, label in streams.labelled_texts("loghub_system")]
    true = sorted({label for _, label in events})[::2]
    for text, label in rng.choices(events, k=n):
        yield text, label in true


def write_files(folder, name, events):
    """The same texts for each contender; how many there are, how many words, and labels."""
    n_texts = n_words = 0
    numbers = {}  # of labels: those of Vowpal Wabbit begin with 1, or are -1 and 1
    with (
        open(folder / f"{name}.tsv", "w", encoding="utf-8") as ours,
        open(folder / f"{name}.vw", "w", encoding="utf-8") as vw,
        open(folder / f"{name}.ft", "w", encoding="utf-8") as fasttext,
    ):
        for text, label in events:
            found = words(text)
            n_texts, n_words = n_texts + 1, n_words + len(found)
            number = numbers.setdefault(label, len(numbers) + 1)
            if isinstance(label, bool):
                number, label = 1 if label else -1, int(label)
            ours.write(f"{label}\t{text}\n")
            vw.write(f"{number} | {' '.join(found)}\n")
            fasttext.write(f"__label__{label} {' '.join(found)}\n")
    return n_texts, n_words, len(numbers)


def whole_process(command):
    """Wall and CPU seconds of a command."""
    # what pip installs has its bytecode; here the first run writes it
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed: {said.decode(errors='replace')}")
    return perf_counter() - start, used.ru_utime + used.ru_stime


def contenders(folder, name, n_labels):
    """{who: command}, ours first: the default learner, then a perceptron."""
    train = [*COMMAND, "train", str(folder / f"{name}.tsv"), "--quiet"]
    train += ["--model", str(folder / f"{name}.model")]  # in the end the perceptron's
    perceptron = ["--learner", "perceptron", "--hash-bits", str(BITS)]
    commands = {
        "adaptive": train,
        "perceptron": [*train, *(perceptron if n_labels == 2 else ["--learner", "multiclass"])],
    }
    if vw := common.vowpal_wabbit():
        options = ["-b", str(BITS), "--quiet", "-f", str(folder / "vw.model")]
        options += ["-d", str(folder / f"{name}.vw")]
        if n_labels > 2:
            options += ["--oaa", str(n_labels)]
            commands["vw squared"] = [*vw, *options]
        commands["vw logistic"] = [*vw, *options, "--loss_function", "logistic"]
    if fasttext := shutil.which("fasttext"):
        paths = ["-input", str(folder / f"{name}.ft"), "-output", str(folder / "ft")]
        commands["fasttext"] = [fasttext, "supervised", *paths, "-thread", "1", "-epoch", "1"]
    return commands


def files(folder, sizes, n_runs):
    rows = []
    for name, events in sizes.items():
        n_texts, n_words, n_labels = write_files(folder, name, events())
        commands = contenders(folder, name, n_labels)
        times = {who: [] for who in commands}
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cores)})  # and with it the processes that it starts
        for _ in range(n_runs):
            for who, command in commands.items():
                times[who].append(whole_process(command))
        os.sched_setaffinity(0, cores)
        least = {who: min(cpu for _, cpu in measured) for who, measured in times.items()}
        for who, measured in times.items():
            wall, cpu = ([run[k] for run in measured] for k in (0, 1))
            rows.append(
                (
                    f"{name}, {n_texts} texts, {n_words} words",
                    who,
                    common.spread(wall, 2),
                    common.spread(cpu, 3),
                    f"{least[who]:.3f}",
                    f"{1e9 * least[who] / n_words:.0f}",
                    *(f"{least[ours] / least[who]:.2f}" for ours in ("adaptive", "perceptron")),
                )
            )
    headings = (
        "file",
        "who",
        "wall s",
        "CPU s",
        "least",
        "ns a word",
        "adaptive's",
        "perceptron's",
    )
    common.table(headings, rows)


# --- Through the filter


def line_filter(folder, n_lines, n_trips):
    model = folder / "logs.model"
    lines = [f"{text}\n".encode() for text, _ in log_lines(n_lines)]
    with tempfile.TemporaryFile(dir=folder) as source:
        source.writelines(lines)
        rates = []
        for _ in range(3):
            source.seek(0)
            process = subprocess.Popen(
                [*COMMAND, "predict", "--model", model],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            ask(process, b"warm\n")
            feeder = subprocess.Popen(["cat"], stdin=source, stdout=process.stdin)
            process.stdin.close()
            start = perf_counter()
            answers = sum(block.count(b"\n") for block in iter(process.stdout.read1, b""))
            rates.append(answers / (perf_counter() - start))
            feeder.wait()
            assert process.wait() == 0
            assert answers == len(lines)
    process = subprocess.Popen(
        [*COMMAND, "predict", "--model", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    trips = []
    for line in islice(lines, n_trips):
        start = perf_counter()
        ask(process, line)
        trips.append(1e6 * (perf_counter() - start))
    process.stdin.close()
    assert process.wait() == 0
    rows = [
        ("lines a second, in bulk", common.spread(rates, 0), f">= {TARGETS['lines']:,}"),
        ("us from a line to its answer", common.spread(trips), f"median < {TARGETS['trip']}"),
    ]
    common.table(("what", "measured", "asked"), rows)


def ask(process, line):
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


# --- Who is right how often


def errors(folder, names, limit):
    rows = []
    for name in names:
        events = list(streams.labelled_texts(name, limit))
        labels = [common.text_label(name, label) for _, label in events]
        texts = streamptron.Tokenizer().transform_many([text for text, _ in events])
        two = name in common.TRUE_LABELS
        learners = [
            streamptron.Perceptron() if two else streamptron.MulticlassPerceptron(),
            streamptron.MIRA(),
        ]
        ours = []
        for learner in learners:
            given = learner.test_then_train_many(texts, labels)
            wrong = sum(a != b for a, b in zip(given.tolist(), labels, strict=True))
            ours.append(f"{100 * wrong / len(labels):.2f}")
        rows.append((name, len(events), *ours, vw_error(folder, events, labels, two)))
    common.table(("stream", "texts", "Perceptron %", "MIRA %", "Vowpal Wabbit %"), rows)


def vw_error(folder, events, labels, two):
    vw = common.vowpal_wabbit()
    if vw is None:
        return "not there"
    number = {label: k + 1 for k, label in enumerate(dict.fromkeys(labels))}
    with open(folder / "error.vw", "w", encoding="utf-8") as file:
        for (text, _), label in zip(events, labels, strict=True):
            answer = (1 if label else -1) if two else number[label]
            file.write(f"{answer} | {' '.join(words(text))}\n")
    kind = ["--loss_function", "logistic"] + (["--binary"] if two else ["--oaa", str(len(number))])
    command = [*vw, *kind, "-b", str(BITS), "-d", str(folder / "error.vw")]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    loss = re.search(r"average loss = ([\d.]+)", run.stdout + run.stderr)
    return f"{100 * float(loss[1]):.2f}"


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of each whole process")
    parser.add_argument(
        "--parts", nargs="+", default=["river", "arrow", "files", "filter", "error"]
    )
    args = parser.parse_args()
    common.header(args, "text streams of shared/data, labels and texts in file order")
    common.need_data()
    limit = 300 if args.quick else None
    quick = args.quick
    logs = 2_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "river" in args.parts:
            common.section("predict_one + learn_one on a str, in a River pipeline")
            pipelines(common.BINARY_TEXTS, limit)
        if "arrow" in args.parts:
            common.section(
                f"learn_many on a column of texts, by that on a list (asked {TARGETS['arrow']})"
            )
            columns((*common.BINARY_TEXTS, *common.MULTICLASS_TEXTS), limit, 2 if quick else 15)
        if "files" in args.parts or "filter" in args.parts:
            common.section("whole process: from a file to a model")
            sizes = {
                "trec07p": lambda: mails(limit),
                "trec07p six times": lambda: chain.from_iterable(mails(limit) for _ in range(6)),
                "20news": lambda: streams.labelled_texts("20news_train", limit),
                "logs": lambda: log_lines(logs),
            }
            files(folder, sizes, 1 if quick else args.runs)
        if "filter" in args.parts:
            common.section("through the line filter, short log lines")
            line_filter(folder, logs // 2, 200 if quick else 5_000)
        if "error" in args.parts:
            common.section("mistakes, each event predicted before it is learned")
            errors(folder, (*common.BINARY_TEXTS, *common.MULTICLASS_TEXTS), limit)


if __name__ == "__main__":
    main()
