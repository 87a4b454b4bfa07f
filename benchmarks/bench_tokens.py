"""Which tokens? Words, words and pairs of neighbours, and runs of 3 to 5 characters.

Errors of AdaptiveClassifier on one pass, in percent: each event is answered before it is learned,
the first one excepted. Beside them features a model has at the end, in thousands.
"""

from itertools import islice

from benchmarks import common
from streamptron import AdaptiveClassifier, Tokenizer
from tests.support import streams

TOKENS = {
    "words": {},
    "words, pairs": {"ngram_range": (1, 2)},
    "3 characters": {"analyzer": "char", "ngram_range": (3, 3)},
    "4 characters": {"analyzer": "char", "ngram_range": (4, 4)},
    "5 characters": {"analyzer": "char", "ngram_range": (5, 5)},
    "3 to 5": {"analyzer": "char", "ngram_range": (3, 5)},
}


def learned(texts, labels, tokens):
    """A model that has learned all of them, each after it was answered."""
    learner = AdaptiveClassifier(hash_seed=1)
    model = Tokenizer(**tokens) | learner
    for i in range(0, len(texts), 1000):
        model.learn_many(texts[i : i + 1000], labels[i : i + 1000])
    return learner


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--events", type=int, help="at most, of each stream (default all)")
    args = parser.parse_args()
    limit = args.events or (300 if args.quick else None)
    names = (*common.BINARY_TEXTS, *common.MULTICLASS_TEXTS)
    common.header(args, ", ".join(names))
    common.need_data()
    common.section("errors in percent; in brackets thousands of features")
    rows = []
    for name in names:
        texts, labels = zip(*islice(streams.labelled_texts(name), limit), strict=True)
        cells = []
        for tokens in TOKENS.values():
            learner = learned(list(texts), list(labels), tokens)
            percent = 100 * learner.n_mistakes / (len(texts) - 1)
            cells.append(f"{percent:.2f} ({learner.n_features / 1000:.0f})")
        rows.append([name, f"{len(texts):,}", *cells])
    common.table(["stream", "events", *TOKENS], rows)


if __name__ == "__main__":
    main()
