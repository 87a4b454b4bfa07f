"""What a learner says of itself, asked of any pipeline that ends in one.

A pipeline of River's has no such methods: River answers with ``debug_one`` alone.
"""

from __future__ import annotations

import typing
from typing import Any

from streamptron.estimator.names import shown
from streamptron.study.data import learner_of

if typing.TYPE_CHECKING:
    from collections.abc import Hashable


def explain_one(model: Any, x: Any, label: Hashable = None) -> Any:
    """What each feature of an event contributes to its score, behind the steps of a pipeline.

    Parameters
    ----------
    model
        A learner, or a pipeline that ends in one, of River's or ``Tokenizer() | learner``.
    x
        The event as the model takes it.
    label
        As for ``Perceptron.explain_one``.

    Returns
    -------
    What the learner's ``explain_one`` says of what the steps make of the event, which learn nothing
    by it.

    Examples
    --------
    >>> import streamptron
    >>> from river import compose
    >>> model = compose.Prefixer("word_") | streamptron.Perceptron()
    >>> model.learn_one({"free": 1}, True)
    >>> streamptron.explain_one(model, {"free": 2})
    [('word_free', 2.0), (None, 1.0)]
    """
    before, learner = learner_of(model)
    return learner.explain_one(_seen(before, x), label)


def decision_function_one(model: Any, x: Any) -> Any:
    """The score of an event, or of each label, behind the steps of a pipeline.

    Parameters
    ----------
    model, x
        As for ``explain_one``.

    Returns
    -------
    What the learner's ``decision_function_one`` says.

    Examples
    --------
    >>> import streamptron
    >>> from river import compose
    >>> model = compose.Prefixer("word_") | streamptron.Perceptron()
    >>> model.learn_one({"free": 1}, True)
    >>> streamptron.decision_function_one(model, {"free": 2})
    3.0
    """
    before, learner = learner_of(model)
    return learner.decision_function_one(_seen(before, x))


def top_features(model: Any, n: int = 10, label: Hashable = None) -> Any:
    """The features with the largest weights, as the steps of a pipeline call them.

    Parameters
    ----------
    model
        As for ``explain_one``; or a fitted classifier of ``streamptron.sklearn``.
    n, label
        As for ``Perceptron.top_features``.

    Returns
    -------
    What the learner's ``top_features`` says.

    Examples
    --------
    >>> import streamptron
    >>> from river import compose
    >>> model = compose.Prefixer("word_") | streamptron.Perceptron()
    >>> model.learn_one({"free": 1}, True)
    >>> streamptron.top_features(model)
    TopFeatures(positive=[('word_free', 0.5)], negative=[])
    """
    if hasattr(model, "model_") and hasattr(model, "top_features"):
        return model.top_features(n, label)
    learner = learner_of(model)[1]
    if label is None:
        return learner.top_features(n)
    if not hasattr(learner, "_explained"):
        raise ValueError(f"label={shown(label)}; {type(learner).__name__} has no labels")
    return learner.top_features(n, label)


def _seen(before: Any, x: Any) -> Any:
    """The event as the learner is given it."""
    return x if before is None else before.transform_one(x)
