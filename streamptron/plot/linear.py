"""The model behind a picture: which vector answers, which features, and the boundary of two labels.

If a score is a sum of weights times values, the vector between two labels can be found by asking
for scores. Take the difference of the two labels' scores: b is its value at the origin, and w is
what unit steps add to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.common.names import short_repr, type_shown
from streamptron.estimator.looking import leads, learner_of, ranks
from streamptron.plot.drawing import in_order


def answering(model: Any, serve: Any) -> tuple[Any, Any]:
    """What comes before the learner of a model, and the learner, answering by one kept vector.

    `serve` None: by the vector that is best overall.
    """
    before, learner = learner_of(model)
    if ranks(learner):
        raise TypeError(
            f"{type_shown(learner)} has no boundary between labels; draw it by top_weights or "
            "explanation"
        )
    if "serve" not in learner._get_params():
        if serve not in (None, "current"):
            raise ValueError(
                f"serve={short_repr(serve)}; {type(learner).__name__} keeps only one vector"
            )
        return before, learner
    if serve == "best":
        raise ValueError("serve='best' chooses again for each event; name one vector, or None")
    wanted = learner.serving if serve is None else serve
    return before, learner.clone({"serve": wanted}, include_attributes=True)


def is_linear(learner: Any) -> bool:
    """Whether the score is a sum of weights times values."""
    if not learner._can("draw"):
        return False
    return learner.degree == 1 and not learner.interactions


def check_linear(learner: Any, therefore: str) -> None:
    """Raise an error if the score is not such a sum."""
    if not is_linear(learner):
        raise TypeError(
            f"the score of this {type(learner).__name__} is not a sum of weights times values, "
            f"so {therefore}"
        )


def two_features(
    features: Any, learner: Any, others: Iterable[Hashable]
) -> tuple[Hashable, Hashable]:
    """The two features on the axes, or an error that says how to name them."""
    hashed = learner.hash_bits is not None
    names = list(dict.fromkeys([*([] if hashed else _features(learner)), *others]))
    if features is not None:
        several = isinstance(features, tuple | list)
        if not several or len(features) != 2 or features[0] == features[1]:
            kind = ValueError if several else TypeError
            raise kind(f"features={short_repr(features)}; name two, as features=('a', 'b')")
        if names and not hashed and not {*features} & {*names}:
            raise ValueError(
                f"features={short_repr(features)}; neither has a weight or is in an event; name "
                f"two of {short_repr(names, 200)}"
            )
        return features[0], features[1]
    if len(names) == 2:
        first, second = in_order(names)
        return first, second
    example = f"features={tuple(names[:2])!r}" if len(names) > 2 else "features=('a', 'b')"
    are = f"{len(names) or 'none'} {'is' if len(names) < 2 else 'are'} known by name"
    listed = f": {short_repr(names, 80)}" if names else ""
    raise ValueError(
        f"the picture shows two features, and {are}{listed}; name two, {example}. All others are "
        "0 in the picture"
    )


def _features(learner: Any) -> list[Hashable]:
    """The names of features that have weights."""
    if learner._can("vote") and learner.degree > 1:
        return []  # it has no weights by name
    found = dict.fromkeys(
        name for weights in learner._weights(learner.serving)[1] for name in weights
    )
    paired = getattr(learner, "degree", 1) != 1 or getattr(learner, "interactions", None)
    return [name for name in found if not (paired and hasattr(name, "second"))]


def towards(learner: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lead of the second label over the first, from one score or two per row."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        return scores.reshape(-1) if learner._positive else -scores.reshape(-1)
    ahead: NDArray[np.float64] = scores[:, 1] - scores[:, 0]
    return ahead


def aheads(
    learner: Any, points: Any, plane: tuple[Any, Any], regions: NDArray[np.intp]
) -> Iterator[Any]:
    """For each label that is answered somewhere, its lead over the best other one at each point."""
    scores = np.asarray(learner.decision_function_many(points, feature_names=list(plane)))
    if scores.ndim == 1 or scores.shape[1] <= 2:
        yield towards(learner, scores)
        return
    for at in np.unique(regions):
        yield leads(scores, at)


def line_between(learner: Any, plane: tuple[Any, Any]) -> tuple[NDArray[np.float64], float]:
    """w and b of the second label's lead, in the plane of two features."""
    if learner.hash_bits is None:
        weights, b = weights_between(learner)
        return np.array([weights.get(name, 0.0) for name in plane]), b
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    scores = np.asarray(learner.decision_function_many(corners, feature_names=list(plane)))
    at = towards(learner, scores)
    return np.array([at[1] - at[0], at[2] - at[0]]), float(at[0])


def weights_between(learner: Any) -> tuple[dict[Hashable, float], float]:
    """Weights (by slot if hashed) and intercept of the second label's lead."""
    kind = learner.serving
    rows = learner._weights(kind)[1]
    biases = learner._intercepts(kind)[1]
    if len(rows) == 1:
        sign = 1.0 if learner._positive else -1.0
        return {name: sign * weight for name, weight in rows[0].items()}, sign * biases[0]
    first, second = rows
    names = dict.fromkeys([*first, *second])
    found = {name: second.get(name, 0.0) - first.get(name, 0.0) for name in names}
    return found, biases[1] - biases[0]


def answers_at(
    learner: Any, points: NDArray[np.float64], plane: tuple[Any, Any], labels: list[Any]
) -> NDArray[np.intp]:
    """The index of the answer at each point among the labels."""
    answers = learner.predict_many(points, feature_names=list(plane)).tolist()
    order = {label: at for at, label in enumerate(labels)}
    return np.array([order[answer] for answer in answers], dtype=np.intp)
