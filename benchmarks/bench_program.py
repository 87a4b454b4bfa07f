"""spt, the program without Python: a process for each mail, and lines; `make program` first.

A model of mails learns a corpus. Then each of some mails is given to a process of its own, which
opens the model where it lies, judges the mail and writes it: CPU from start to end by wait4, the
least of five runs; the median of the mails, and the least. "own memory" is what of it no other
process can share (RssAnon), while it writes a long mail to a pipe that is full. bogofilter has
learned the same mails, and is left out where it is not installed (apt-get install bogofilter).

Lines: texts of two streams, answered by whole processes, one after the other; CPU, the least of
five. The models have learned the same texts.
"""

import fcntl
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import common
from streamptron import AdaptiveClassifier, Mail, Tokenizer
from tests.support import mails, streams

PROGRAMS = common.ROOT / "build" / "program"
PYTHON = (sys.executable, "-m", "streamptron")


def cpu(words, stdin, stdout=os.devnull):
    """CPU seconds of a process, which reads and writes files."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY, 0),
    ]
    words = list(map(str, words))
    process = os.posix_spawn(shutil.which(words[0]), words, os.environ, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 1, 2), words
    return used.ru_utime + used.ru_stime


def own_memory(words, mail):
    """kB that a process has for itself, while it waits for someone to read what it writes."""
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        process.stdin.write(mail)
        process.stdin.close()
        before, status = -1, ""
        for _ in range(500):  # until it has written what the pipe takes, and stands still
            time.sleep(0.02)
            now = Path(f"/proc/{process.pid}/stat").read_text().split()
            status = Path(f"/proc/{process.pid}/status").read_text()
            if now[2] == "S" and before == now[13:15]:
                break
            before = now[13:15]
        return int(re.search(r"^RssAnon:\s+(\d+)", status, re.M)[1])
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def filters(folder, quick):
    corpus = mails.corpus("spamassassin_raw")
    corpus = corpus[: 300 if quick else None]
    model = Mail() | AdaptiveClassifier(hash_seed=1)
    for mail, label in corpus:
        model.learn_one(mail, label)
    path = folder / "mail.model"
    model.save(path)
    programs = {
        name: (PROGRAMS / name, "filter", "--pass", "--model", path)
        for name in ("spt", "spt-static")
        if (PROGRAMS / name).exists()
    }
    programs["streamptron"] = (*PYTHON, "filter", "--pass", "--model", path)
    if shutil.which("bogofilter"):
        for label, option in (("spam", "-s"), ("ham", "-n")):
            box = b"".join(
                b"From a Mon Jan  1 12:30:00 2024\n"
                + re.sub(rb"^From ", b">From ", mail, flags=re.M)
                for mail, its in corpus
                if its == label
            )
            learn = ["bogofilter", "-d", folder, "-M", option]
            subprocess.run(learn, input=box, check=True)
        programs["bogofilter"] = ("bogofilter", "-p", "-d", folder)
    sizes = {name: Path(shutil.which(words[0])).stat().st_size for name, words in programs.items()}
    print(f"\nA process a mail, with a model of {path.stat().st_size / 1e6:.0f} MB:\n")
    print("| program | ms, median | least | own memory, kB | its file, kB |\n|---|---|---|---|---|")
    seconds = {name: [] for name in programs}
    for number, (mail, _) in enumerate(corpus[:: max(1, len(corpus) // (5 if quick else 200))]):
        (folder / "mail").write_bytes(mail)
        for name, words in programs.items():
            if name != "streamptron" or number < 10:
                found = [cpu(words, folder / "mail") for _ in range(1 if quick else 5)]
                seconds[name].append(min(found))
    long = corpus[0][0].rstrip(b"\n") + b"\n" + b"see you at the meeting tomorrow\n" * 600
    for name, words in programs.items():
        median, least = 1e3 * statistics.median(seconds[name]), 1e3 * min(seconds[name])
        own, size = own_memory(words, long), sizes[name] / 1000
        size = "Python" if name == "streamptron" else f"{size:.0f}"
        print(f"| {name} | {median:.1f} | {least:.1f} | {own} | {size} |")
    if "bogofilter" not in programs:
        print("bogofilter: skipped, it is not installed")


def lines(folder, name, quick):
    stream = [(" ".join(text.split()), label) for text, label in streams.labelled_texts(name, 5500)]
    stream = stream[: 200 if quick else None]
    texts = folder / "texts"
    texts.write_text("".join(f"{text}\n" for text, _ in stream), "utf-8")
    model = Tokenizer() | AdaptiveClassifier(hash_seed=1)
    for text, label in stream:
        model.learn_one(text, label)
    model.save(folder / "lines.model")
    print(f"\n| {len(stream):,} lines of {name}, answered | CPU, ms | us a line |\n|---|---|---|")
    programs = {n: (PROGRAMS / n,) for n in ("spt", "spt-static") if (PROGRAMS / n).exists()}
    programs["streamptron"] = PYTHON
    seconds = {name: [] for name in programs}
    for _ in range(1 if quick else 5):
        for program, words in programs.items():
            words = (*words, "predict", "--model", folder / "lines.model")
            seconds[program].append(cpu(words, texts))
    for program, found in seconds.items():
        print(f"| {program} | {1e3 * min(found):.0f} | {1e6 * min(found) / len(stream):.1f} |")


def main():
    args = common.parser(__doc__).parse_args()
    common.header(args, "spamassassin_raw, sms_spam, 20news_train of ../shared/data")
    if sys.platform != "linux" or not (PROGRAMS / "spt").exists():
        print("skipped: it needs Linux, and build/program/spt, of make program")
        return
    common.need_data()
    with tempfile.TemporaryDirectory() as made:
        filters(Path(made), args.quick)
        for name in ("sms_spam", "20news_train"):
            lines(Path(made), name, args.quick)


if __name__ == "__main__":
    main()
