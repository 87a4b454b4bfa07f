"""NDCG and MRR of rankers on real queries with graded documents, by folds of queries.

Each fifth of the queries is ranked by what has learned the others; so each query counts once a
split. NDCG@10 and MRR are streamptron.metrics'; CPU s is that of fitting, all folds of a split.

RankingPerceptron learns each row's place below those that are better (learn_many), in one pass or
more. The classifiers see one document at a time, and whether its grade is at least 1, or at least
2; the regressor sees its grade; pairs are two documents of one query and different grades, their
difference being the event. Peers: scikit-learn's logistic regression on pairs and gradient boosting
by document, and LightGBM's LambdaRank. They need not be beaten: boosted trees are not linear.
"""

import time
import warnings
from functools import partial
from importlib import metadata

import numpy as np
import scipy.sparse as sp

import streamptron
from benchmarks import common
from streamptron.metrics import ndcg, reciprocal_rank
from tests.support import streams

FOLDS = 5


def queries():
    """(X, grades) of each query."""
    for documents in streams.rank():
        X = np.zeros((len(documents), 301))
        for r, (x, _) in enumerate(documents):
            X[r, list(x)] = list(x.values())
        yield X, np.array([grade for _, grade in documents])


def joined(parts):
    """Rows, grades and query of some queries, one below the other."""
    X = np.vstack([X for X, _ in parts])
    grades = np.concatenate([grades for _, grades in parts])
    return X, grades, np.repeat(np.arange(len(parts)), [len(grades) for _, grades in parts])


def ranking(parts, passes=1, **params):
    model = streamptron.RankingPerceptron(hash_seed=1, **params)
    X, grades, qid = joined(parts)
    for _ in range(passes):
        model.learn_many(sp.csr_array(X), grades, qid)
    return lambda X: model.decision_function_many(sp.csr_array(X))


def classifier(parts, make, least, passes=1):
    model = make(hash_seed=1)
    X, grades, _ = joined(parts)
    for _ in range(passes):
        model.learn_many(sp.csr_array(X), grades >= least)
    return lambda X: model.decision_function_many(sp.csr_array(X))


def logistic_pairs(parts):
    from sklearn.linear_model import LogisticRegression

    pairs = []
    for X, grades in parts:
        above, below = np.nonzero(grades[:, None] > grades[None, :])
        pairs.append(X[above] - X[below])
    d = np.vstack(pairs)
    sign = np.where(np.arange(len(d)) % 2, 1.0, -1.0)
    model = LogisticRegression(fit_intercept=False, max_iter=1000).fit(d * sign[:, None], sign)
    return lambda X: X @ model.coef_[0]


def boosting(parts):
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, grades, _ = joined(parts)
    return HistGradientBoostingRegressor(random_state=0).fit(X, grades).predict


def lambda_rank(parts):
    from lightgbm import LGBMRanker

    X, grades, _ = joined(parts)
    model = LGBMRanker(random_state=0, n_jobs=1, verbose=-1)
    model.fit(X, grades, group=[len(grades) for _, grades in parts])
    return lambda X: model.booster_.predict(X)


OURS = {
    "RankingPerceptron()": ranking,
    "  five passes": partial(ranking, passes=5),
    "  average='none'": partial(ranking, average="none"),
    "  update='margin', C=0.001": partial(ranking, update="margin", C=0.001),
    "  the same, five passes": partial(ranking, passes=5, update="margin", C=0.001),
    "Perceptron(), grade >= 1": partial(classifier, make=streamptron.Perceptron, least=1),
    "  the same in five passes": partial(
        classifier, make=streamptron.Perceptron, least=1, passes=5
    ),
    "Perceptron(), grade >= 2": partial(classifier, make=streamptron.Perceptron, least=2),
    "  five passes of the same": partial(
        classifier, make=streamptron.Perceptron, least=2, passes=5
    ),
}
PEERS = {
    "logistic regression on pairs": ("scikit-learn", logistic_pairs),
    "gradient boosting, by document": ("scikit-learn", boosting),
    "LambdaRank": ("lightgbm", lambda_rank),
}


def measured(fit, parts, splits):
    """NDCG@10, its standard error, MRR, and the CPU seconds a split."""
    values, ranks, seconds = [], [], 0.0
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(parts))
        for fold in np.array_split(order, FOLDS):
            others = [parts[i] for i in order if i not in set(fold)]
            start = time.process_time()
            score = fit(others)
            seconds += time.process_time() - start
            for i in fold:
                X, grades = parts[i]
                scores = score(X).tolist()
                values.append((i, ndcg(grades.tolist(), scores, 10)))
                ranks.append(reciprocal_rank(grades.tolist(), scores))
    by_query = [np.mean([v for i, v in values if i == query]) for query in range(len(parts))]
    error = np.std(by_query) / np.sqrt(len(by_query))
    return np.mean(by_query), error, np.mean(ranks), seconds / splits


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--splits", type=int, default=4, help="of the queries into folds")
    args = parser.parse_args()
    if args.quick:
        args.splits = 1
    common.header(args, "rank.train")
    common.need_data()
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    parts = list(queries())
    if args.quick:
        parts = parts[:6]
    print(f"{len(parts)} queries, {sum(len(grades) for _, grades in parts)} documents")
    rows, missing = [], []
    for name, fit in OURS.items():
        rows.append((name, fit))
    for name, (package, fit) in PEERS.items():
        try:
            rows.append((f"{name} ({package} {metadata.version(package)})", fit))
        except metadata.PackageNotFoundError:
            missing.append(f"{name}: not measured, {package} is not installed")
    common.section("NDCG@10 and MRR, each query ranked by what has learned the other folds")
    found = []
    for name, fit in rows:
        value, error, rank, seconds = measured(fit, parts, args.splits)
        found.append([name, f"{value:.4f}", f"{error:.4f}", f"{rank:.4f}", f"{seconds:.2f}"])
    common.table(["", "NDCG@10", "standard error", "MRR", "CPU s"], found)
    for line in missing:
        print(line)


if __name__ == "__main__":
    main()
