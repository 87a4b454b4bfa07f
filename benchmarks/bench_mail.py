"""Mails: what `Mail() | AdaptiveClassifier()` gets wrong, and what it takes, beside other filters.

Each mail of two corpora is judged and then learned, in the order in which they came. `err`: wrong
at a rank above 0. `1-AUC`: pairs of a spam and a ham in the wrong order. `lam`: the mean of both
kinds of errors on the logit scale. `ham lost`: ham above the rank above which all spam is but
0.1 %. All in percent. `thick 4`: only what was wrong, or of a rank between -4 and 4, is learned.

CPU in microseconds a mail, from raw bytes to the answer and the model that has learned. Other
filters judge the smaller corpus, cut at .5; `starts` is what of their CPU goes for starting two
processes a mail. SpamAssassin's Bayes alone, without its rules, is asked within one process. Those
that are not installed are left out and named (Debian: apt-get install bogofilter spamprobe crm114
spamassassin).

Two more tables. Attacks: a model has learned half of TREC's, and judges the spam of the rest as
it is and disguised. Many people: each mail of TREC's belongs to a random user, to whom each mailing
list is spam with a probability of .3, and who labels it so.

--filters names what is run, --sample takes the first mails of each corpus only.
"""

import base64
import math
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections import Counter
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
    "crm": (
        (
            "crm",
            "-{ isolate (:s:); { classify <osb unique microgroom> "
            "( {d}/spam.css | {d}/ham.css ) ( :s: ) } output /:*:s:/ }",
        ),
        {
            label: ("crm", f"-{{ learn <osb unique microgroom> ( {{d}}/{label}.css ) }}")
            for label in ("spam", "ham")
        },
        lambda out: float(re.search(rb"#0 .*pR: *([-0-9.]+)", out)[1]),
    ),
}
MARGINS = {"crm": 5.0}  # as its authors train it; the others learn everything
STARTS = {"bogofilter": ["-V"], "spamprobe": ["help"], "crm": ["-v"]}

# It answers each mail, and then learns it.
SPAMASSASSIN = r"""
use strict; use Mail::SpamAssassin; use Mail::SpamAssassin::PerMsgStatus;
my ($folder) = @ARGV; $| = 1; binmode STDIN;
my $filter = Mail::SpamAssassin->new({ dont_copy_prefs => 1, local_tests_only => 1,
    userstate_dir => $folder, config_text =>
    "use_bayes 1\nuse_learner 1\nloadplugin Mail::SpamAssassin::Plugin::Bayes\n" .
    "bayes_path $folder/bayes\nbayes_auto_learn 0\nbayes_min_ham_num 1\n" .
    "bayes_min_spam_num 1\nbayes_auto_expire 0\n" });
$filter->init(1);
$filter->init_learner({ opportunistic_expire_check_only => 1 });
my ($bayes) = grep { $_->isa("Mail::SpamAssassin::Plugin::Bayes") } @{$filter->{plugins}{plugins}};
while (my $head = <STDIN>) {
    my ($label, $size) = split ' ', $head;
    read(STDIN, my $text, $size);
    my $mail = $filter->parse($text);
    my $status = Mail::SpamAssassin::PerMsgStatus->new($filter, $mail);
    my $p = $bayes->scan($status, $mail);
    print defined $p ? $p : 0.5, "\n";
    $status->finish;
    $filter->learn($mail, undef, $label eq "spam", 0);
    $mail->finish;
}
"""


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
    """The ranks by another filter, the CPU seconds of its processes, and its megabytes."""
    judge, teach, rank_of = OTHERS[name]
    ranks = []

    def run(words, mail):
        words = [word.replace("{d}", folder) for word in words]
        return subprocess.run(words, input=mail, capture_output=True, check=False).stdout

    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for mail, label in corpus:
            said = run(judge, mail)  # nothing, before it has learned the first mail
            ranks.append(rank_of(said) if said else 0.0)
            if abs(ranks[-1]) < MARGINS.get(name, math.inf) or (ranks[-1] > 0) != (label == "spam"):
                run(teach[label], mail)
        return ranks, cpu_since(before), megabytes(folder)


def by_spamassassin(corpus):
    """The same by SpamAssassin's Bayes, in one process."""
    ranks = []
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        words = ["perl", "-e", SPAMASSASSIN, folder]
        with subprocess.Popen(words, **pipes, stderr=subprocess.DEVNULL) as process:
            for mail, label in corpus:
                process.stdin.write(f"{label} {len(mail)}\n".encode() + mail)
                process.stdin.flush()
                # even odds do not decide: taken for spam, as that errs less
                ranks.append(float(process.stdout.readline()) - 0.5 or 1e-9)
            process.stdin.close()
        return ranks, cpu_since(before), megabytes(folder)


def cpu_since(before):
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def megabytes(folder):
    return sum(file.stat().st_blocks * 512 for file in os.scandir(folder)) / 1e6


def starts(name, n=30):
    """CPU seconds of starting two processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(2 * n):
        subprocess.run([name, *STARTS[name]], capture_output=True, check=False)
    return cpu_since(before) / n


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
        "-",
        f"{learner.memory_usage / 1e6:.0f}",
    ]


# --- Attacks


def parted(mail):
    """Header and text of a mail, as bytes."""
    gap = re.search(rb"\r?\n\r?\n", mail)
    return (mail[: gap.start()], mail[gap.end() :]) if gap else (mail, b"")


def as_text(head, body, kind="plain", encoding="8bit"):
    """A mail with another text: the fields that say how the old one was packed go."""
    kept = re.sub(rb"(?im)^(content-|mime-)[^\n]*\n?(?:[ \t][^\n]*\n?)*", b"", head + b"\n")
    how = f"Content-Type: text/{kind}\nContent-Transfer-Encoding: {encoding}\n\n"
    return kept + how.encode() + body


def spread(text, between):
    """A text with something within each of its words."""
    return re.sub(rb"\b(\w\w)(\w+)", rb"\1" + between + rb"\2", text)


def attacks(spam, ham):
    """The spam, as it is and disguised."""
    head, body = parted(spam)
    plain, pretext = body[:5000], parted(ham)[1][:5000]
    return {
        "as it is": spam,
        "text packed anew": as_text(head, plain),
        "in base64": as_text(head, base64.encodebytes(plain), encoding="base64"),
        "tags within words": as_text(head, spread(plain, b"<b></b>"), kind="html"),
        "zero-width characters": as_text(head, spread(plain, "\u200b".encode())),
        "a ham's text appended": as_text(head, plain + b"\n" + pretext),
        "under a ham's header": as_text(parted(ham)[0], plain),
    }


def attacked(corpus, params, n=500, seed=1):
    """Of each attack the percentage of spam that is taken for ham."""
    rng, half = random.Random(seed), len(corpus) // 2
    _, learner, _ = judged(corpus[:half], params)
    sign = -1 if learner.labels[0] == "spam" else 1
    tokenizer = Mail(**params)
    hams = [mail for mail, label in corpus[:half] if label != "spam"]
    missed, tried = Counter(), 0
    for mail, label in corpus[half:]:
        if label == "spam" and tried < n:
            tried += 1
            for name, other in attacks(mail, rng.choice(hams)).items():
                rank = sign * learner.decision_function_one(tokenizer.transform_one(other))
                missed[name] += rank <= 0
    return {name: 100 * missed[name] / tried for name in attacks(b"", b"")}


# --- Many people


def people(corpus, n_users, clip=3.0, first=20, seed=3):
    """Percent of errors of a shared model, of personal ones, and of both together."""
    rng = random.Random(seed)
    users = [rng.randrange(n_users) for _ in corpus]
    lists = [list_of(mail) for mail, _ in corpus]
    large = sorted(name for name, n in Counter(lists).items() if n >= 30 and name)
    unwanted = {(user, name): rng.random() < 0.3 for user in range(n_users) for name in large}
    mail, shared = Mail(), AdaptiveClassifier(hash_seed=1)
    own = [AdaptiveClassifier(hash_seed=1) for _ in range(n_users)]
    seen, wrong, n_first = Counter(), Counter(), 0
    for (raw, label), user, name in zip(corpus, users, lists, strict=True):
        x = mail.transform_one(raw)
        y = label == "spam" or unwanted.get((user, name), False)
        ranks = [m.decision_function_one(x) if m.n_seen else 0.0 for m in (shared, own[user])]
        both = sum(max(-clip, min(clip, rank)) for rank in ranks)
        is_new = seen[user] < first
        n_first += is_new
        seen[user] += 1
        for who, rank in zip(("shared", "personal", "both"), (*ranks, both), strict=True):
            wrong[who] += (rank > 0) != y
            wrong[who, "first"] += is_new and (rank > 0) != y
        for model in (shared, own[user]):
            model.learn_one(x, y)
    return [
        [who, 100 * wrong[who] / len(corpus), 100 * wrong[who, "first"] / n_first]
        for who in ("shared", "personal", "both")
    ]


def list_of(mail):
    """The mailing list that a mail of TREC's was sent to; the addresses of people are none."""
    found = re.search(rb"(?im)^(?:delivered-to|to):[^\n]*?([\w.+-]+@[\w.-]+)", mail[:20_000])
    name = found[1].lower() if found else b""
    return b"" if name.endswith(b"uwaterloo.ca") else name


# --- The tables


def others(corpus, chosen):
    """A row for each other filter that is installed."""
    for name in [*OTHERS, "spamassassin"]:
        if name not in chosen:
            continue
        if shutil.which(name) is None:
            print(f"{name} is not installed, and left out")
            continue
        judge = by_spamassassin if name == "spamassassin" else partial(by_processes, name=name)
        ranks, seconds, size = judge(corpus)
        values = [f"{value:.3f}" for value in measures(corpus, ranks)]
        own = f"{1e6 * starts(name):.0f}" if name in STARTS else "-"
        yield [name, *values, f"{1e6 * seconds / len(corpus):.0f}", own, f"{size:.0f}"]


def main():
    parser = common.parser(__doc__)
    filters = ["ours", *OTHERS, "spamassassin", "attacks", "people"]
    parser.add_argument("--filters", default=",".join(filters), help=", ".join(filters))
    parser.add_argument("--sample", type=int, help="only the first mails of each corpus")
    args = parser.parse_args()
    chosen = args.filters.split(",")
    if unknown := [name for name in chosen if name not in filters]:
        parser.error(f"--filters {unknown[0]}: give some of {', '.join(filters)}")
    common.header(args, ", ".join(mails.CORPORA))
    if not all((mails.DATA / f"{name}.tar.xz").is_file() for name in mails.CORPORA):
        print("skipped: the raw mails are not there")
        return
    rows = {name: partial(ours, params=params) for name, params in VIEWS.items()}
    rows["all, thick 4"] = partial(ours, params={}, thick=THICK)
    rows["all, hash_bits=18"] = partial(ours, params={}, hash_bits=18)
    head = ["features", "err %", "1-AUC %", "lam %", "ham lost %", "us a mail", "starts", "MB"]
    most = args.sample or (200 if args.quick else None)
    for name in mails.CORPORA:
        corpus = list(islice(mails.corpus(name), most))
        print(f"{name}, {len(corpus)} mails")
        found = [[row, *make(corpus)] for row, make in rows.items() if "ours" in chosen]
        if name == mails.CORPORA[-1]:
            found += others(corpus, chosen)
        if found:
            common.table(head, found)
        if "attacks" in chosen and name == mails.CORPORA[0]:
            by_view = {view: attacked(corpus, VIEWS[view]) for view in list(VIEWS)[2::2]}
            names = list(next(iter(by_view.values())))
            table = [[a, *(f"{by_view[view][a]:.1f}" for view in by_view)] for a in names]
            common.table(["spam missed, %", *by_view], table)
        if "people" in chosen and name == mails.CORPORA[0]:
            table = [
                [f"{n}, {who}", f"{wrong:.2f}", f"{new:.2f}"]
                for n in (10, 50)
                for who, wrong, new in people(corpus, n)
            ]
            common.table(["users, model", "err %", "first 20 mails, err %"], table)
        print()


if __name__ == "__main__":
    main()
