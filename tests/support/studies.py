"""Small data to study: points that a hyperplane separates, or nearly."""

import numpy as np


def blobs(seed, n=120, n_columns=6, noise=0.0, labels=(False, True)):
    """Events whose labels a hyperplane through the origin separates, but for a share of noise."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_columns)), 2)
    w = rng.normal(size=(len(labels), n_columns))
    best = (X @ (w[1] - w[0]) > 0).astype(int) if len(labels) == 2 else (X @ w.T).argmax(axis=1)
    flipped = rng.random(n) < noise
    best[flipped] = rng.integers(0, len(labels), flipped.sum())
    return X, [labels[k] for k in best]


def pairs_of(X, ys):
    return [
        ({j: v for j, v in enumerate(row) if v}, y) for row, y in zip(X.tolist(), ys, strict=True)
    ]
