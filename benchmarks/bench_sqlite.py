"""The SQLite extension: texts learned in one transaction, and labels asked, beside Python's.

CPU seconds of whole processes, the least of some runs that alternate. 100,000 texts, a stream as
often as it takes, are learned by `streamptron train --jobs 1` from a file, and by one INSERT into a
virtual table from a table of them, with keep=1000 and keep=0. Then a million are answered: by
`predict_many` from a list (the seconds of the call), by `streamptron_label` from a file and by
MATCH, from that table, with the time that it takes to read it. At the end: a commit of one text,
and what a model costs the next connection. The shell is `sqlite3`; without it, it prints skipped.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import streamptron
from benchmarks import common
from tests.support import streams

LEARN = "INSERT INTO spam(text, label) SELECT text, label FROM mails;"
MANY = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {times})"
READ = MANY + " SELECT sum(length(text)) FROM c CROSS JOIN mails;"
LABEL = MANY + " SELECT count(streamptron_label('{model}', text)) FROM c CROSS JOIN mails;"
MATCH = (
    MANY + " SELECT count(s.label) FROM c CROSS JOIN mails AS m CROSS JOIN spam AS s"
    " WHERE s.text MATCH m.text;"
)


def cpu(command, script=""):
    """The CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_python(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def least(n_runs, calls):
    """The least seconds of each call, of runs that alternate."""
    seconds = {name: [] for name in calls}
    for _ in range(n_runs):
        for name, call in calls.items():
            seconds[name].append(call())
    return {name: min(found) for name, found in seconds.items()}


def printed(title, seconds, first, n):
    common.section(title)
    rows = [
        [name, f"{found:.2f}", f"{1e6 * found / n:.2f}", f"{first / found:.2f}"]
        for name, found in seconds.items()
    ]
    common.table(["", "seconds of CPU", "us a text", "as fast as the first"], rows)


def stream(folder, shell, name, n_texts):
    """A file of texts and a database of them; the texts."""
    texts = [(" ".join(text.split()), label) for text, label in streams.labelled_texts(name)]
    texts = list(islice(cycle(texts), n_texts))
    lines = folder / f"{name}.tsv"
    lines.write_text("".join(f"{label}\t{text}\n" for text, label in texts), "utf-8")
    (folder / f"{name}.db").unlink(missing_ok=True)
    quoted = "".join(
        f"INSERT INTO mails VALUES ('{label}', '{text.replace(chr(39), chr(39) * 2)}');\n"
        for text, label in texts
    )
    cpu([shell, folder / f"{name}.db"], f"BEGIN; CREATE TABLE mails(label, text);\n{quoted}COMMIT;")
    return texts


def compared(folder, shell, name, args):
    n_texts, times = (1000, 2) if args.quick else (100_000, 10)
    texts = [text for text, _ in stream(folder, shell, name, n_texts)]
    model, database = folder / f"{name}.model", folder / f"{name}.db"
    load = f".load {folder / 'streamptron'}\n"
    train = [sys.executable, "-m", "streamptron", "train", "--jobs", "1", "--quiet"]

    def taught(keep):
        table = f"CREATE VIRTUAL TABLE spam USING streamptron(keep={keep});"
        script = f"DROP TABLE IF EXISTS spam; {table} BEGIN; {LEARN} COMMIT;"
        return cpu([shell, database], load + script)

    calls = {
        "streamptron train": lambda: cpu([*train, folder / f"{name}.tsv", "--model", model]),
        "INSERT, keep=0": lambda: taught(0),
        "INSERT, keep=1000": lambda: taught(1000),
    }
    seconds = least(args.runs, calls)
    printed(f"{n_texts:,} texts of {name}, learned", seconds, seconds["streamptron train"], n_texts)

    loaded = streamptron.load(model)
    asked = texts * times

    def answered(script):
        return cpu([shell, database], load + script.format(times=times, model=model))

    calls = {
        "predict_many": lambda: in_python(lambda: loaded.predict_many(asked)),
        "streamptron_label": lambda: answered(LABEL),
        "MATCH": lambda: answered(MATCH),
        "the table read": lambda: answered(READ),
    }
    seconds = least(args.runs, calls)
    printed(f"{len(asked):,} labels of {name}", seconds, seconds["predict_many"], len(asked))

    n_commits = 10 if args.quick else 1000
    one = "INSERT INTO spam(text, label) SELECT text, label FROM mails LIMIT 1;\n"
    for mode in ("DELETE", "WAL"):
        script = f"{load}PRAGMA journal_mode = {mode};\n"
        spent = cpu([shell, database], script + one * n_commits) - cpu([shell, database], script)
        print(f"{n_commits:,} commits of a text, {mode}: {1e3 * spent / n_commits:.2f} ms each")
    opening = load + "SELECT label FROM spam WHERE text MATCH 'a';"
    spent = cpu([shell, database], opening) - cpu([shell, database], load)
    print(
        f"a model of {model.stat().st_size / 1e6:.1f} MB read by a connection: {1e3 * spent:.1f} ms"
    )


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of which the least is shown")
    args = parser.parse_args()
    if args.quick:
        args.runs = 1
    common.header(args, "sms_spam, bgl_alert of ../shared/data")
    shell = shutil.which("sqlite3")
    if shell is None or shutil.which("cc") is None:
        print("skipped: it needs SQLite's shell and a C compiler (apt-get install sqlite3)")
        return
    common.need_data()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        flags = ["-O0"] if args.quick else []
        build = [common.ROOT / ".ci" / "sqlite", sys.executable, folder, *flags]
        if subprocess.run(build, capture_output=True).returncode:
            print("skipped: it needs SQLite's headers (apt-get install libsqlite3-dev)")
            return
        for name in ("sms_spam", "bgl_alert"):
            compared(folder, shell, name, args)


if __name__ == "__main__":
    main()
