"""Learning on Spark: what a round costs beside Spark's own, and error and seconds by shards.

    python -m benchmarks.bench_spark [--learners adaptive,mira] [--memory] [--sizes]

A cluster of two executors is started on this machine. `--memory` is what the driver takes while it
mixes a large model, beside the model itself. `--sizes` is instead what one pass costs by the number
of mails, beside one process that reads the same files: the shuffle that deals the rows out is in
it. CPU seconds are those of all processes, of Java and of Python, and do not depend on what else
the machine does.
"""

import os
import statistics
import sys
import tempfile
import time

from benchmarks.common import header, need_data, parser, section, table
from tests.support.streams import labelled_texts

STREAMS = {"trec07p_first12000": 9000, "loghub_system": None}  # how many are learned; None: 3/4
SHARDS = (1, 2, 4, 8)
MIXES = (1, 3, 10)
EMPTY = 15  # times


def session():
    """A cluster of two executors in processes of their own."""
    import pyspark
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="bench-spark-")
    os.environ.update(
        SPARK_HOME=os.path.dirname(pyspark.__file__),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=f"{folder}/local",
        SPARK_WORKER_DIR=f"{folder}/work",
        PYSPARK_PYTHON=sys.executable,
    )
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def seconds(call, *args):
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


def empty_rounds(spark):
    """A round without rows, and Spark's own job on the same frame, in turn; medians."""
    from streamptron import MulticlassPerceptron, Tokenizer
    from streamptron.spark import StreamptronClassifier, rounds

    model = Tokenizer() | MulticlassPerceptron()
    rows = []
    for shuffle in (False, True):
        shards = {"numShards": 2} if shuffle else {}
        learner = StreamptronClassifier(textCol="text", mixes=1, shuffle=shuffle, **shards)
        frame = spark.createDataFrame([("a", "b")] * 2, "text string, label string").where(
            "text = 'none'"
        )
        _, found = learner._rows(frame)
        share = rounds.shares(rounds.dealt(found, learner._plan()), learner._plan())(0, 0)
        times = {"Spark's own": [], "a round": []}
        for _ in range(EMPTY):
            times["Spark's own"].append(
                seconds(share.select("id").mapInArrow(same, "id long").toArrow)
            )
            times["a round"].append(seconds(rounds.mix, share, model))
        own, ours = (statistics.median(found[3:]) for found in times.values())
        rows.append(
            [
                "shuffled" if shuffle else "as it lies",
                f"{own:.3f}",
                f"{ours:.3f}",
                f"{ours / own:.2f}",
            ]
        )
    table(["rows", "Spark's own empty job, s", "an empty round, s", "ratio"], rows)


def sent_models(spark):
    """A round without rows by the size of the model and how it is sent, in turn; medians."""
    import pickle

    from streamptron import Perceptron
    from streamptron.spark import StreamptronClassifier, rounds

    learner = StreamptronClassifier(textCol="text", mixes=1, shuffle=False)
    frame = spark.createDataFrame([("a", "b")] * 2, "text string, label string")
    share = learner._rows(frame.where("text = 'none'"))[1]
    rows, kept = [], rounds.INLINE
    for n in (100, 10_000, 28_000, 200_000):
        model = Perceptron.from_weights({f"feature {i}": 0.5 for i in range(n)})
        times = {"own": [], 1 << 40: [], 0: []}
        for _ in range(EMPTY):
            own = share.select("id").mapInArrow(same, "id long")
            times["own"].append(seconds(own.toArrow))
            for limit in (1 << 40, 0):
                rounds.INLINE = limit
                times[limit].append(seconds(rounds.mix, share, model))
        found = [statistics.median(some[3:]) for some in times.values()]
        size = len(pickle.dumps(model, protocol=5)) / 1000
        rows.append([f"{size:.0f}", *(f"{s:.3f}" for s in found)])
    rounds.INLINE = kept
    table(["model, kB", "Spark's own, s", "with the function, s", "broadcast, s"], rows)


def same(batches):
    return batches


def errors(spark, name, learner, limit=None):
    """Test error and seconds of one pass, by shards and mixes."""
    import pyarrow as pa

    from streamptron.spark import StreamptronClassifier

    data = list(labelled_texts(name, limit))
    n = STREAMS[name] or 3 * len(data) // 4
    texts, labels = ([row[k] for row in data] for k in (0, 1))
    base = StreamptronClassifier(textCol="text", learner=learner, hashSeed=0)
    column = pa.array(texts[:n])

    def error(model):
        guesses = model[-1].predict_many(model[0].transform_many(pa.array(texts[n:])))
        wrong = sum(a != b for a, b in zip(guesses.tolist(), labels[n:], strict=True))
        return 100 * wrong / (len(data) - n)

    alone = base._untrained()
    took = seconds(lambda: alone[-1].learn_many(alone[0].transform_many(column), labels[:n]))
    print(
        f"{name}, {learner}: {n} learned, {len(data) - n} tested; "
        f"one process {error(alone):.2f} %, {took:.2f} s\n"
    )
    folder = tempfile.mkdtemp(prefix="bench-spark-")
    spark.createDataFrame(data[:n], "text string, label string").coalesce(2).write.orc(
        f"{folder}/rows", compression="none"
    )
    frame = spark.read.orc(f"{folder}/rows")
    rows = []
    for shards in SHARDS:
        row = [shards]
        for mixes in MIXES:
            run = base.copy().setNumShards(shards).setMixes(mixes)
            start = time.perf_counter()
            model = run.fit(frame)
            row.append(f"{error(model.model):.2f} / {time.perf_counter() - start:.1f}")
        rows.append(row)
    table(["shards", *(f"{mixes} mixes, % / s" for mixes in MIXES)], rows)


def mail_files(folder, n):
    """Mails in files of 12,000, the same ones again and again."""
    import pyarrow as pa
    from pyarrow import orc

    texts, labels = zip(*labelled_texts("trec07p_first12000"), strict=True)
    table_ = pa.table({"text": texts, "label": labels})
    os.makedirs(folder)
    for k in range(n // len(table_)):
        orc.write_table(table_, f"{folder}/part-{k:03}.orc")
    return table_.nbytes * (n // len(table_))


def alone(folder):
    """One process that reads the files and learns them."""
    from pyarrow import orc

    from streamptron import AdaptiveClassifier, Tokenizer

    tokenizer, learner = Tokenizer(), AdaptiveClassifier(hash_seed=0)
    for name in sorted(os.listdir(folder)):
        part = orc.read_table(f"{folder}/{name}")
        learner.learn_many(
            tokenizer.transform_many(part["text"].combine_chunks()), part["label"].to_numpy()
        )


def cpu_seconds():
    """The CPU time of this process and of all that it has started, by the name of the program."""
    found, parents = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                name, fields = file.read().split("(", 1)[1].rsplit(")", 1)
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        fields = fields.split()
        ticks = sum(map(int, fields[11:15]))  # of it, and of its children that have ended
        parents[int(pid)] = int(fields[1]), name, ticks / os.sysconf("SC_CLK_TCK")
    for pid, (_, name, seconds_) in parents.items():
        at = pid
        while at in parents and at != os.getpid():
            at = parents[at][0]
        if at == os.getpid():
            found[name] = found.get(name, 0.0) + seconds_
    return found


def sizes(spark, numbers=(24_000, 96_000), mixes=(1, 10)):
    from streamptron.spark import StreamptronClassifier

    learner = StreamptronClassifier(textCol="text", hashSeed=0, numShards=2)
    rows = []
    for n in (numbers[0], *numbers):  # the first time is for warming up
        folder = tempfile.mkdtemp(prefix="bench-spark-") + "/rows"
        megabytes = mail_files(folder, n) / 1e6
        frame = spark.read.orc(folder)
        for way in ("one process", *mixes):
            before, began = cpu_seconds(), time.perf_counter()
            if way == "one process":
                alone(folder)
            else:
                learner.copy().setMixes(way).fit(frame)
            wall, after = time.perf_counter() - began, cpu_seconds()
            java, python = (
                sum(s - before.get(name, 0.0) for name, s in after.items() if of_java(name) == java)
                for java in (True, False)
            )
            cells = f"{wall:.1f}", f"{java:.1f}", f"{python:.1f}"
            name = way if way == "one process" else f"Spark, {way} mix{'es'[: 2 * (way > 1)]}"
            rows.append([n, f"{megabytes:.0f}", name, *cells])
    table(
        ["mails", "MB", "", "wall, s", "CPU of Java, s", "CPU of Python, s"], rows[1 + len(mixes) :]
    )


def of_java(name):
    return name == "java"


def memory(spark, n=1_000_000):
    """How much the driver's peak grows while a model of n features is mixed, beside the model."""
    from streamptron import Perceptron
    from streamptron.spark import StreamptronClassifier, rounds

    before = resident()
    model = Perceptron.from_weights(dict.fromkeys((f"feature {i}" for i in range(n)), 0.5))
    size = resident() - before
    from pyspark.ml.linalg import Vectors

    frame = spark.createDataFrame(
        [(Vectors.sparse(9, [k % 9], [1.0]), k % 2) for k in range(100)], ["features", "label"]
    )
    learner = StreamptronClassifier(learner="perceptron", numShards=2, mixes=1)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak is counted from here
    held = resident()
    rounds.learned(learner._rows(frame)[1], model, learner._plan())
    peak = int(status("VmHWM")) / 1024 - held
    print(f"a model of {n} features: {size:.0f} MB; while it is mixed, {peak:.0f} MB more")


def resident():
    return int(status("VmRSS")) / 1024


def status(name):
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith(name))


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--learners", default="adaptive,mira")
    arguments.add_argument("--memory", action="store_true")
    arguments.add_argument("--sizes", action="store_true")
    args = arguments.parse_args()
    header(args, "shared/data, mails and log lines")
    print()
    if args.quick:
        print("skipped: it starts a cluster, which takes more than a few seconds")
        return
    need_data()
    spark = session()
    if args.sizes:
        section("One pass by the number of mails: AdaptiveClassifier, 2 shards, shuffled")
        sizes(spark)
        spark.stop()
        return
    section("Empty rounds")
    empty_rounds(spark)
    sent_models(spark)
    if args.memory:
        section("The driver's memory")
        memory(spark)
    section("Error and seconds")
    for name in STREAMS:
        for learner in args.learners.split(","):
            errors(spark, name, learner)
    spark.stop()


if __name__ == "__main__":
    main()
