"""The C library: what processes that share a model cost, what opening costs, and whole filters.

A model of four labels is opened where it lies, again and again, and by many processes at once, each
of which answers a thousand events. "of its own" is what only that process has; "with its share" is
Linux's PSS, in which each page counts by how many processes have it. The filters read texts and
write a label each, as whole processes, medians of five: examples/embed/filter.c, the command line,
fastText's (skipped where it is not installed), each with a model of its own that was trained on the
same texts.
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


def built(folder):
    """The library's programs, compiled."""
    subprocess.run([common.ROOT / ".ci" / "library", sys.executable, folder], check=True)
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


def timed(command, texts):
    """The median of whole runs, in seconds."""
    found = []
    for _ in range(5):
        with open(texts, "rb") as file:
            start = time.perf_counter()
            subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True)
            found.append(time.perf_counter() - start)
    return statistics.median(found)


def filters(folder, name, quick):
    stream = [(" ".join(text.split()), label) for text, label in streams.labelled_texts(name, 5500)]
    stream = stream[: 200 if quick else None]
    (folder / "texts").write_text("".join(f"{text}\n" for text, _ in stream), "utf-8")
    model = streamptron.Tokenizer() | streamptron.AdaptiveClassifier(hash_seed=1)
    for text, label in stream:
        model.learn_one(text, label)
    model.save(folder / "lines.model")
    commands = {
        "C: examples/embed/filter.c": [folder / "filter", folder / "lines.model"],
        "streamptron predict": [
            *(sys.executable, "-m", "streamptron", "predict", "--model", folder / "lines.model")
        ],
    }
    if shutil.which("fasttext"):
        lines = "".join(f"__label__{label} {text}\n" for text, label in stream)
        (folder / "train").write_text(lines, "utf-8")
        train = ["fasttext", "supervised", "-input", folder / "train", "-output", folder / "fast"]
        subprocess.run([*train, "-thread", "1"], check=True, capture_output=True)
        commands["fasttext predict"] = ["fasttext", "predict", folder / "fast.bin", "-"]
    print(f"\n| {len(stream):,} lines of {name} | ms | us a line |\n|---|---|---|")
    for what, command in commands.items():
        seconds = timed(command, folder / "texts")
        print(f"| {what} | {1e3 * seconds:.0f} | {1e6 * seconds / len(stream):.1f} |")
    if not shutil.which("fasttext"):
        print("fastText: skipped, it is not installed")


def main():
    args = common.parser(__doc__).parse_args()
    common.header(args, "names w0, w1, ...; sms_spam, 20news_train of ../shared/data")
    if shutil.which("cc") is None or sys.platform != "linux":
        print("skipped: it needs Linux and a C compiler")
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        built(folder)
        costs(folder, args.quick)
        for name in ("sms_spam", "20news_train"):
            if (streams.DATA / f"{name}.tsv.xz").is_file():
                filters(folder, name, args.quick)


if __name__ == "__main__":
    main()
