"""The C library: shared models, opening, whole filters, and learning from a file.

A model of four labels is opened where it lies, again and again, and by many processes at once, each
of which answers a thousand events. "of its own" is what only that process has; "with its share" is
Linux's PSS, in which each page counts by how many processes have it. The filters read texts and
write a label each, as whole processes, medians of five: examples/embed/filter.c, the command line,
fastText's and Vowpal Wabbit's (skipped where they are not installed; the latter gets the words, for
it splits no texts), each with a model of its own that was trained on the same texts. Then the texts
are learned from a file, and the model is saved: in C (library.c) and by `streamptron train`.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import streamptron
from benchmarks import common
from tests.support import streams

NAMES = 2_250_000  # 200 MB
LABELS = [f"label {i}" for i in range(4)]


def built(folder, quick):
    """The library's programs, compiled: quickly for a quick run, whose figures say nothing."""
    flags = ["-O0"] if quick else []
    subprocess.run([common.ROOT / ".ci" / "library", sys.executable, folder, *flags], check=True)
    for source in (
        common.ROOT / "benchmarks" / "library.c",
        common.ROOT / "examples/embed/filter.c",
    ):
        command = ["cc", "-O2", f"-I{folder}", source, folder / "libstreamptron.a", "-lm"]
        subprocess.run([*command, "-o", folder / source.stem], check=True)


def rollup(process):
    """kB of a process: of its own, and with its share of what is shared."""
    text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    kb = {name: int(n) for name, n in re.findall(r"^(\w+): +(\d+) kB", text, re.M)}
    return kb["Private_Clean"] + kb["Private_Dirty"], kb["Pss"]


def shared(folder, path, n):
    """Medians of what n processes cost that hold the model."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    held = [subprocess.Popen([folder / "library", "hold", path], **pipes) for _ in range(n)]
    try:
        for process in held:
            process.stdout.readline()
        return [statistics.median(kb) for kb in zip(*map(rollup, held), strict=True)]
    finally:
        for process in held:
            process.stdin.close()
            process.stdout.close()
            process.wait()


def costs(folder, quick):
    weights = dict.fromkeys((f"w{i}" for i in range(10_000 if quick else NAMES)), 1.0)
    model = streamptron.MulticlassPerceptron.from_weights(dict.fromkeys(LABELS, weights))
    path = folder / "shared.model"
    model.save(path)
    del model, weights
    print(f"\n| a model of {path.stat().st_size / 1e6:.0f} MB, opened where it lies | |\n|---|---|")
    times = 100 if quick else 10_000
    line = subprocess.check_output([folder / "library", "open", path, str(times)], encoding="utf-8")
    median, most, before, after = line.split()
    print(f"| to open it, median of {times:,}, and the longest | {median} us, {most} us |")
    print(f"| memory after ten times, and after {times:,} | {before} kB, {after} kB |")
    n = 5 if quick else 100
    own, pss = shared(folder, path, n)
    print(f"| each of {n} processes: of its own, and with its share | {own:.0f} kB, {pss:.0f} kB |")
    path.unlink()


def timed(commands, n):
    """A table of programs and what they read: medians of whole runs, one after the other."""
    seconds = {what: [] for what in commands}
    for _ in range(5):
        for what, (command, path) in commands.items():
            with open(path, "rb") as file:
                start = time.perf_counter()
                subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
                seconds[what].append(time.perf_counter() - start)
    for what, found in seconds.items():
        median = statistics.median(found)
        print(f"| {what} | {1e3 * median:.0f} | {1e6 * median / n:.1f} |")


def lines_of(name, quick):
    stream = [(" ".join(text.split()), label) for text, label in streams.labelled_texts(name, 5500)]
    return stream[: 200 if quick else None]


def vowpal_wabbit(vw, folder, stream):
    """Train a model, and how its answers are asked for."""
    labels = sorted({label for _, label in stream})
    words = [" ".join(streamptron.Tokenizer().transform_one(text)) for text, _ in stream]
    numbers = [labels.index(label) + 1 for _, label in stream]
    lines = (f"{i} | {found}\n" for i, found in zip(numbers, words, strict=True))
    (folder / "words").write_text("".join(f"| {found}\n" for found in words), "utf-8")
    (folder / "train").write_text("".join(lines), "utf-8")
    model = [folder / "vw.model", "--quiet"]
    train = [*vw, "--oaa", str(len(labels)), "-d", folder / "train", "-f", *model]
    subprocess.run(train, check=True)
    return [*vw, "-t", "-d", folder / "words", "-p", "/dev/stdout", "-i", *model], folder / "words"


def filters(folder, name, quick):
    stream = lines_of(name, quick)
    texts = folder / "texts"
    texts.write_text("".join(f"{text}\n" for text, _ in stream), "utf-8")
    model = streamptron.Tokenizer() | streamptron.AdaptiveClassifier(hash_seed=1)
    for text, label in stream:
        model.learn_one(text, label)
    model.save(folder / "lines.model")
    commands = {
        "C: examples/embed/filter.c": ([folder / "filter", folder / "lines.model"], texts),
        "streamptron predict": (
            [*(sys.executable, "-m", "streamptron", "predict", "--model", folder / "lines.model")],
            texts,
        ),
    }
    if shutil.which("fasttext"):
        lines = "".join(f"__label__{label} {text}\n" for text, label in stream)
        (folder / "train").write_text(lines, "utf-8")
        train = ["fasttext", "supervised", "-input", folder / "train", "-output", folder / "fast"]
        subprocess.run([*train, "-thread", "1"], check=True, capture_output=True)
        commands["fasttext predict"] = (["fasttext", "predict", folder / "fast.bin", "-"], texts)
    if vw := common.vowpal_wabbit():
        commands["vw -t"] = vowpal_wabbit(vw, folder, stream)
    print(f"\n| {len(stream):,} lines of {name}, answered | ms | us a line |\n|---|---|---|")
    timed(commands, len(stream))
    if not shutil.which("fasttext"):
        print("fastText: skipped, it is not installed")
    if not vw:
        print("Vowpal Wabbit: skipped, it is not installed")


def learning(folder, name, quick):
    stream = lines_of(name, quick)
    lines = folder / "lines.tsv"
    lines.write_text("".join(f"{label}\t{text}\n" for text, label in stream), "utf-8")
    train = [sys.executable, "-m", "streamptron", "train", "--jobs", "1"]
    commands = {
        "C: benchmarks/library.c": (
            [folder / "library", "learn", lines, folder / "c.model"],
            lines,
        ),
        "streamptron train": ([*train, lines, "--model", folder / "train.model"], lines),
    }
    print(f"\n| {len(stream):,} lines of {name}, learned | ms | us a line |\n|---|---|---|")
    timed(commands, len(stream))


def main():
    args = common.parser(__doc__).parse_args()
    common.header(args, "names w0, w1, ...; sms_spam, 20news_train of ../shared/data")
    if shutil.which("cc") is None or sys.platform != "linux":
        print("skipped: it needs Linux and a C compiler")
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        built(folder, args.quick)
        costs(folder, args.quick)
        for name in ("sms_spam", "20news_train"):
            if (streams.DATA / f"{name}.tsv.xz").is_file():
                filters(folder, name, args.quick)
                learning(folder, name, args.quick)


if __name__ == "__main__":
    main()
