"""Mails: what `Mail() | AdaptiveClassifier()` gets wrong, and what it takes, beside other filters.

Each mail of two corpora is judged and then learned, in the order in which they came. `err`: wrong
at a rank above 0. `1-AUC`: pairs of a spam and a ham in the wrong order. `lam`: the mean of both
kinds of errors on the logit scale. `ham lost`: ham above the rank above which all spam is but
0.1 %. All in percent. `thick 4`: only what was wrong, or of a rank between -4 and 4, is learned.

CPU in microseconds a mail, from raw bytes to the answer and the model that has learned. Other
filters are processes that are started twice for each mail, on the smaller corpus; those that are
not installed are left out and named (Debian: apt-get install bogofilter spamprobe).
"""

import math
import resource
import shutil
import subprocess
import tempfile
import time
from functools import partial
from itertools import islice

from benchmarks import common
from streamptron import AdaptiveClassifier, Mail
from tests.support import mails

VIEWS = {
    "headers": {"text": False, "bytes": 0},
    "text": {"headers": False, "bytes": 0},
    "headers, text": {"bytes": 0},
    "bytes": {"headers": False, "text": False},
    "all (the default)": {},
}
THICK = 4.0
# How a mail is judged, and what is learned of it; {d} is a folder.
OTHERS = {
    "bogofilter": (
        ("bogofilter", "-d", "{d}", "-TT"),
        {"spam": ("bogofilter", "-d", "{d}", "-s"), "ham": ("bogofilter", "-d", "{d}", "-n")},
        lambda out: float(out) - 0.5,
    ),
    "spamprobe": (
        ("spamprobe", "-d", "{d}", "score"),
        {"spam": ("spamprobe", "-d", "{d}", "spam"), "ham": ("spamprobe", "-d", "{d}", "good")},
        lambda out: float(out.split()[1]) - 0.5,
    ),
}


def judged(corpus, params, thick=math.inf, **options):
    """A rank for each mail, above 0 for spam; the model; seconds of predicting and learning."""
    mail, learner = Mail(**params), AdaptiveClassifier(hash_seed=1, **options)
    ranks, seconds = [], 0.0
    for raw, label in corpus:
        x = mail.transform_one(raw)
        began = time.process_time()
        rank = learner.decision_function_one(x) if learner.labels else 0.0  # of the second label
        if learner.labels[:1] == ["spam"]:
            rank = -rank
        ranks.append(rank)
        if abs(rank) < thick or (rank > 0) != (label == "spam"):
            learner.learn_one(x, label)
        seconds += time.process_time() - began
    return ranks, learner, seconds


def by_processes(corpus, name):
    """The ranks by another filter, and the CPU seconds of its processes."""
    judge, teach, rank_of = OTHERS[name]
    ranks = []

    def run(words, mail):
        words = [word.format(d=folder) for word in words]
        return subprocess.run(words, input=mail, capture_output=True, check=False).stdout

    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for mail, label in corpus:
            said = run(judge, mail)  # nothing, before it has learned the first mail
            ranks.append(rank_of(said) if said else 0.0)
            run(teach[label], mail)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ranks, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measures(corpus, ranks):
    """err, 1-AUC, lam and ham lost, in percent."""
    spam = [rank for rank, (_, label) in zip(ranks, corpus, strict=True) if label == "spam"]
    ham = [rank for rank, (_, label) in zip(ranks, corpus, strict=True) if label != "spam"]
    missed, lost = sum(rank <= 0 for rank in spam), sum(rank > 0 for rank in ham)
    rows = sorted([(rank, 1) for rank in spam] + [(rank, 0) for rank in ham])
    below = wrong = 0
    for _, is_spam in rows:
        below += is_spam
        wrong += 0 if is_spam else below
    logits = [
        math.log((n + 0.5) / (len(all_) - n + 0.5)) for n, all_ in ((missed, spam), (lost, ham))
    ]
    cut = sorted(spam)[len(spam) // 1000]
    return [
        100 * (missed + lost) / len(corpus),
        100 * wrong / (len(spam) * len(ham)),
        100 / (1 + math.exp(-sum(logits) / 2)),
        100 * sum(rank >= cut for rank in ham) / len(ham),
    ]


def ours(corpus, params, thick=math.inf, **options):
    ranks, learner, seconds = judged(corpus, params, thick, **options)
    n = len(corpus)
    return [
        *(f"{value:.3f}" for value in measures(corpus, ranks)),
        f"{1e6 * seconds / n:.0f}",
        f"{learner.memory_usage / 1e6:.0f}",
    ]


def main():
    args = common.parser(__doc__).parse_args()
    common.header(args, ", ".join(mails.CORPORA))
    if not all((mails.DATA / f"{name}.tar.xz").is_file() for name in mails.CORPORA):
        print("skipped: the raw mails are not there")
        return
    rows = {name: partial(ours, params=params) for name, params in VIEWS.items()}
    rows["all, thick 4"] = partial(ours, params={}, thick=THICK)
    rows["all, hash_bits=18"] = partial(ours, params={}, hash_bits=18)
    head = ["features", "err %", "1-AUC %", "lam %", "ham lost %", "us a mail", "MB"]
    for name in mails.CORPORA:
        corpus = list(islice(mails.corpus(name), 300 if args.quick else None))
        print(f"{name}, {len(corpus)} mails")
        found = [[row, *make(corpus)] for row, make in rows.items()]
        if name == mails.CORPORA[-1]:
            for other in OTHERS:
                if shutil.which(other) is None:
                    print(f"{other} is not installed, and left out")
                    continue
                ranks, seconds = by_processes(corpus, other)
                values = [f"{value:.3f}" for value in measures(corpus, ranks)]
                found.append([other, *values, f"{1e6 * seconds / len(corpus):.0f}", ""])
        common.table(head, found)
        print()


if __name__ == "__main__":
    main()
