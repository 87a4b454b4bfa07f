"""When not to learn from a stream: tables that do not change, and texts of which few are labelled.

Tables: two thirds of the rows, in the order of the file, are learned, and the rest is answered.
AdaptiveClassifier goes over the rows once and five times, as dicts; scikit-learn's gradient
boosting and random forest have all rows before them, as arrays (a category is a column of zeros and
ones). Errors in percent; seconds of CPU for learning.

Texts: of the 20 newsgroups the first so many texts of each group are learned in one pass, and the
last third is answered.
"""

import time
from collections import Counter

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from threadpoolctl import threadpool_limits

from benchmarks import common, number_streams
from streamptron import AdaptiveClassifier

# elecNormNew is left out, as it changes with time
TABLES = tuple(name for name in number_streams.TABLES if name != "elecNormNew")
TREES = {
    "gradient boosting": HistGradientBoostingClassifier,
    "random forest": RandomForestClassifier,
}
LABELLED = (2, 8, 32, 128)


def ours(learned, asked, passes):
    """The error in percent, and seconds of learning."""
    model = AdaptiveClassifier()
    start = time.process_time()
    for _ in range(passes):
        for x, y in learned:
            model.learn_one(x, y)
    seconds = time.process_time() - start
    return 100 * np.mean([model.predict_one(x) != y for x, y in asked]), seconds


def trees(make, learned, asked):
    vectors = DictVectorizer(sparse=False)
    X = vectors.fit_transform([x for x, _ in learned])
    model = make(random_state=0)
    start = time.process_time()
    with threadpool_limits(1):
        model.fit(X, [y for _, y in learned])
    seconds = time.process_time() - start
    answers = model.predict(vectors.transform([x for x, _ in asked]))
    return 100 * np.mean(answers != np.array([y for _, y in asked])), seconds


def bench_tables(names, limit):
    rows = []
    for name in names:
        events = number_streams.events_of(name, limit)
        at = 2 * len(events) // 3
        parts = events[:at], events[at:]
        found = [ours(*parts, passes) for passes in (1, 5)]
        found += [trees(make, *parts) for make in TREES.values()]
        cells = [f"{error:.2f} ({seconds:.2f})" for error, seconds in found]
        rows.append([f"{name} ({len(events):,})", *cells])
    common.table(["error (CPU s)", "one pass", "five passes", *TREES], rows)


def bench_texts(limit):
    events = list(common.text_events("20news_train", limit))
    at = 2 * len(events) // 3
    rows = []
    for most in (*LABELLED, None):
        model, met = AdaptiveClassifier(), Counter()
        for x, y in events[:at]:
            met[y] += 1
            if most is None or met[y] <= most:
                model.learn_one(x, y)
        wrong = [model.predict_one(x) != y for x, y in events[at:]]
        rows.append([f"{most or 'all'}", f"{model.n_seen:,}", f"{100 * np.mean(wrong):.1f}"])
    common.table(["labelled texts a group", "texts", "error"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--streams", nargs="+", choices=TABLES, default=TABLES, metavar="STREAM")
    parser.add_argument("--events", type=int, help="at most, of each table and of the texts")
    args = parser.parse_args()
    args.streams = list(args.streams)
    if args.quick:
        args.streams, args.events = ["vehicle", "diabetes"], 90
    common.header(args, f"{', '.join(args.streams)}, 20news_train")
    common.need_data()
    common.section("Tables that do not change")
    bench_tables(args.streams, args.events)
    common.section("Texts of which few are labelled")
    bench_texts(args.events)


if __name__ == "__main__":
    main()
