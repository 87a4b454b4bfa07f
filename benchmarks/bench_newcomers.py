"""A new label among those that a model knows: AdaptiveClassifier.

After so many events of the old labels one event of a new label is learned: three times the event of
an old label under a mistyped name, three times the first event of a class of its own, where the
stream has one more. A copy of the model learns it, and then answers the next 400 events of the old
labels without learning. Beside it what any mistake does: the same event with the label of another
old one ("flip").

before    errors on these 400 events before the new label comes, in percent
rise      errors after it, less those before: the mean, and the worst
flip      the same of a flip
2, 3      likewise two and three events of the same mistyped label, one after the other
merged    the rise where four shards learned 50 events each since, and one of them the new label

Then the same models go on with the old labels and the class of its own, one in K + 1, each event
answered and then learned: how many of the newcomer's events 2 to 5, 6 to 10, 11 to 30 and 31 to 60
were answered rightly, in percent, and the errors on the old labels' events meanwhile.

At the end whole streams, from the first event on: errors, log-loss in nats (of every tenth event
where labels are many), microseconds an event with its dict, and the model's MB.

topics    made up: a label is 1,600 words, of which 200 are the next one's, too ("close": 1,200); a
          text is 60 of them, and five words that come only once
"""

import copy
import math
import random
import sys
from functools import cache
from itertools import islice
from time import process_time

from benchmarks import bench_labels, common, number_streams
from streamptron import AdaptiveClassifier, merge
from tests.support import streams

ASKED = 400
FAR = ("sci.space", "rec.autos", "talk.politics.guns")
NEAR = ("comp.graphics", "comp.windows.x", "comp.os.ms-windows.misc")
FIVE = ("sci.crypt", "sci.electronics", "sci.med", "sci.space", "misc.forsale")
FEW, SOME, MANY = (300,), (300, 1_000), (300, 1_000, 5_000)
MODELS = {  # a stream: of how many of its labels, after how many events
    "topics": {2: MANY, 5: MANY, 20: MANY},
    "close topics": {2: SOME, 3: SOME, 10: SOME},
    "SMS": {2: MANY},
    "SpamAssassin": {2: MANY},
    "20 newsgroups": {2: FEW, 3: SOME, 5: SOME, 10: SOME, 19: MANY},
    "log lines": {2: FEW, 3: FEW, 5: SOME, 10: SOME, 15: MANY},
    "Elec2": {2: MANY},
    "spambase": {2: SOME},
    "pendigits": {2: SOME, 3: SOME, 5: SOME, 9: MANY},
    "letter": {20: MANY, 25: MANY},
    "MNIST": {5: SOME, 9: SOME},
    "nursery": {3: MANY},
    "tags": {5: MANY, 12: MANY},
}

# --- The streams


def topics(shared, n=30_000, labels=21):
    """Texts of topics whose words are partly those of the next."""
    rng = random.Random(shared)
    step = 1_600 - shared
    words = [f"w{i}" for i in range(step * labels + shared)]
    for i in range(n):
        topic = rng.randrange(labels)
        text = rng.choices(words[step * topic : step * topic + 1_600], k=60)
        once = [f"once {i} {j}" for j in range(5)]
        yield dict.fromkeys(text + once, 1), f"topic {topic}"


@cache
def events_of(name):
    """The events of a stream, in its order."""
    made = {
        "topics": lambda: topics(200),
        "close topics": lambda: topics(1_200, 20_000, 11),
        "SMS": lambda: common.text_events("sms_spam"),
        "SpamAssassin": lambda: common.text_events("spamassassin"),
        "20 newsgroups": lambda: common.text_events("20news_train"),
        "log lines": lambda: common.text_events("loghub_system"),
        "Elec2": lambda: number_streams.events_of("elecNormNew"),
        "MNIST": lambda: islice(common.mnist_events(), 10_000),
        "tags": lambda: streams.tagging_stream("train", 4_000),
    }
    return list(made.get(name, lambda: number_streams.events_of(name))())


def parted(name, n_labels):
    """The events of the first so many labels, and those of the next one."""
    events = events_of(name)
    labels = list(dict.fromkeys(y for _, y in events))
    old = set(labels[:n_labels])
    own = labels[n_labels] if len(labels) > n_labels else None
    return [(x, y) for x, y in events if y in old], [(x, y) for x, y in events if y == own]


# --- A newcomer among old labels


def learnt(model, events):
    for x, y in events:
        model.learn_one(x, y)
    return model


def errors(model, events):
    return 100 * sum(model.predict_one(x) != y for x, y in events) / len(events)


def rise(model, asked, before, events):
    """By how much errors rise if a copy learns these."""
    return errors(learnt(copy.deepcopy(model), events), asked) - before


def merged_rise(model, asked, before, since, newcomer):
    """The same where a shard of four learns it."""
    shards = [learnt(copy.deepcopy(model), since[k::4]) for k in range(4)]
    plain = errors(merge(shards, since=model), asked)
    learnt(shards[0], newcomer)
    return errors(merge(shards, since=model), asked) - plain


def model_of(name, n_labels, n):
    """The model of n events, the events after them, and those of a class of its own."""
    old, own = parted(name, n_labels)
    if len(old) < n + ASKED + 50:
        return None
    return learnt(AdaptiveClassifier(), old[:n]), old[n:], own


def row_of_model(name, n_labels, n):
    """(before, rises, flips, rises of two, of three, merged) of a model."""
    found = model_of(name, n_labels, n)
    if found is None:
        return None
    model, old, own = found
    asked, more = old[:ASKED], old[ASKED:]
    labels = model.labels
    before = errors(model, asked)
    mistyped = more[:: max(len(more) // 3, 1)][:3]
    newcomers = [[(x, "mistyped")] for x, _ in mistyped] + [[event] for event in own[:3]]
    flips = [[(x, labels[labels.index(y) - 1])] for x, y in mistyped]
    rises = [rise(model, asked, before, newcomer) for newcomer in newcomers]
    several = [
        [
            rise(model, asked, before, [(x, "mistyped") for x, _ in more[i : i + times]])
            for i in range(0, len(more) - times, max(len(more) // 3, 1))
        ][:3]
        for times in (2, 3)
    ]
    merged = [merged_rise(model, asked, before, more[:200], newcomer) for newcomer in newcomers]
    return before, rises, [rise(model, asked, before, flip) for flip in flips], *several, merged


def mean(numbers):
    return sum(numbers) / len(numbers)


def shown(numbers):
    return f"{mean(numbers):6.2f} {max(numbers):6.2f}"


def robustness(models):
    common.section("One event of a new label: errors on the next 400 events of the old ones")
    print(f"{'':15} K     n  before  {'rise':13}  {'flip':13}  {'2':13}  {'3':13}  merged")
    everything = []
    for name, n_labels, n in models:
        row = row_of_model(name, n_labels, n)
        if row is None:
            continue
        everything.append(row)
        print(f"{name:14} {n_labels:2} {n:5}  {row[0]:6.1f}  " + "  ".join(map(shown, row[1:])))
        sys.stdout.flush()
    for title, of in (("rise", 1), ("flip", 2), ("2", 3), ("3", 4), ("merged", 5)):
        each = [number for row in everything for number in row[of]]
        bad = sum(number > 1 for number in each)
        models_mean = mean([mean(row[of]) for row in everything])
        print(f"{title:6}  mean {models_mean:6.3f}; above 1 point {bad} of {len(each)}")


def row_of_newcomer(name, n_labels, n):
    """(rightly answered, how many) by part of the newcomer's events, and of the old labels."""
    found = model_of(name, n_labels, n)
    if found is None or not found[2]:
        return None
    model, old, own = found
    rng = random.Random(n_labels)
    parts = {2: [0, 0], 6: [0, 0], 11: [0, 0], 31: [0, 0]}
    wrong = asked = came = 0
    old, own = iter(old), iter(own)
    while came < 60:
        is_new = rng.randrange(n_labels + 1) == 0 or not came
        event = next(own if is_new else old, None)
        if event is None:
            break
        right = model.predict_one(event[0]) == event[1]
        if not is_new:
            asked += 1
            wrong += not right
        else:
            came += 1
            part = max((first for first in parts if first <= came), default=None)
            if part:
                parts[part][0] += right
                parts[part][1] += 1
        model.learn_one(*event)
    return [100 * n / max(of, 1) for n, of in parts.values()], 100 * wrong / max(asked, 1)


def recall(models):
    common.section("How soon a new label is known: its events 2 to 5, 6 to 10, 11 to 30, 31 to 60")
    print(f"{'':15} K     n   2-5  6-10 11-30 31-60   errors on the old ones")
    rows = []
    for name, n_labels, n in models:
        row = row_of_newcomer(name, n_labels, n)
        if row is None:
            continue
        rows.append(row)
        print(f"{name:14} {n_labels:2} {n:5}  " + " ".join(f"{r:5.0f}" for r in row[0]), end="  ")
        print(f"{row[1]:5.1f}")
        sys.stdout.flush()
    all_of = [mean([row[0][i] for row in rows]) for i in range(4)]
    print(f"{'all models':24} " + " ".join(f"{r:5.1f}" for r in all_of), end="  ")
    print(f"{mean([row[1] for row in rows]):5.2f}")


# --- Whole streams


def newsgroups(names):
    return [(x, y) for x, y in events_of("20 newsgroups") if y in names]


def whole_streams(quick):
    """{name: (events, one in so many is asked for its probabilities)}."""
    many = bench_labels.many_streams(whole=True)

    def first(name):
        events, n = many[name]
        return lambda: islice(events(), n)

    found = {
        "20 newsgroups": (first("20 newsgroups"), 1),
        "three of them, far": (lambda: newsgroups(FAR), 1),
        "three of them, near": (lambda: newsgroups(NEAR), 1),
        "five of them": (lambda: newsgroups(FIVE), 1),
        "log lines": (first("log systems"), 1),
        "tags": (lambda: islice(streams.tagging_stream("train"), 30_000), 1),
        "MNIST": (lambda: islice(common.mnist_events(), 4_000), 1),
    }
    numbers = ("nursery", "letter", "optdigits", "pendigits", "page_blocks", "waveform5000")
    for name in (*numbers, "vehicle", "vowel"):
        found[name] = (lambda name=name: number_streams.events_of(name)), 1
    for name in ("cloze, 100 words", "cloze, 1,000 words", "cloze, 20,000 words"):
        found[name] = first(name), 10
    for name in ("next, 1,000 words", "next, 20,000 words"):
        found[name] = first(name), 10
    for name in ("language", "which text", "log templates"):
        found[name] = first(name), 10
    return dict(list(found.items())[7:8]) if quick else found


def row_of_stream(events, one_in):
    """(events, labels, errors, log-loss, us, MB)."""
    model = AdaptiveClassifier()
    n = wrong = asked = 0
    loss = spent = 0.0
    for x, y in events():
        n += 1
        if n % one_in == 0 and y in model.labels:
            loss -= math.log(max(model.predict_proba_one(x)[y], 1e-300))
            asked += 1
        start = process_time()
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
        spent += process_time() - start
    labels = len(model.labels)
    return n, labels, 100 * wrong / n, loss / max(asked, 1), 1e6 * spent / n, model


def whole(quick):
    common.section("Whole streams")
    print(f"{'':20} events  labels  errors  log-loss     us     MB")
    for name, (events, one_in) in whole_streams(quick).items():
        n, labels, wrong, loss, us, model = row_of_stream(events, one_in)
        mb = model.memory_usage / 1e6
        print(f"{name:20} {n:6} {labels:7}  {wrong:6.2f}  {loss:8.4f}  {us:5.1f}  {mb:5.2f}")
        sys.stdout.flush()


def main(argv):
    parser = common.parser(__doc__)
    parser.add_argument("--part", choices=("rise", "recall", "streams"), help="only this")
    args = parser.parse_args(argv)
    common.header(args, "texts, log lines, columns and made up topics")
    common.need_data()
    models = [(name, k, n) for name, of in MODELS.items() for k, ns in of.items() for n in ns]
    if args.quick:
        models = [("SMS", 2, 300), ("nursery", 3, 300)]
    if args.part in (None, "rise"):
        robustness(models)
    if args.part in (None, "recall"):
        recall(models)
    if args.part in (None, "streams"):
        whole(args.quick)


if __name__ == "__main__":
    main(sys.argv[1:])
