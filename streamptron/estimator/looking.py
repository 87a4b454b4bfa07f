"""Explanations, scores and top features of any pipeline that ends in a learner of ours.

River's pipelines do not have these methods: they only have ``debug_one``.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from streamptron.common.names import short_repr, type_shown
from streamptron.common.river import compose
from streamptron.doors.model import Model
from streamptron.doors.ranking import RankModel
from streamptron.estimator.pipeline import TextPipeline


def explain_one(model: Any, x: Any, label: Hashable = None) -> Any:
    """What each feature contributes to an event's score, after the steps of a pipeline.

    Parameters
    ----------
    model
        A learner, or a pipeline that ends in one: River's, or ``Tokenizer() | learner``.
    x
        The event as the model takes it.
    label
        As for ``Perceptron.explain_one``.

    Returns
    -------
    What the learner's ``explain_one`` returns for the event that the steps make of x. The steps
    learn nothing from it.

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
    """The score of an event, or of each label, after the steps of a pipeline.

    Parameters
    ----------
    model, x
        As for ``explain_one``.

    Returns
    -------
    What the learner's ``decision_function_one`` returns.

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
    """The features with the largest weights, named as the steps of a pipeline name them.

    Parameters
    ----------
    model
        As for ``explain_one``; or a fitted classifier of ``streamptron.sklearn``.
    n, label
        As for ``Perceptron.top_features``.

    Returns
    -------
    What the learner's ``top_features`` returns.

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
        raise ValueError(f"label={short_repr(label)}; {type(learner).__name__} has no labels")
    return learner.top_features(n, label)


class Before:
    """The steps of a pipeline before its learner, as one step."""

    fields = None

    def __init__(self, pipeline: Any) -> None:
        self.steps = compose.Pipeline(*list(pipeline.steps.items())[:-1])

    def learn_one(self, x: Any) -> None:
        """Let the steps learn an event, as the pipeline does."""
        self.steps.learn_one(_own(x))

    def transform_one(self, x: Any) -> Any:
        """An event as the learner gets it."""
        return self.steps.transform_one(_own(x))

    def transform_many(self, X: Any) -> Any:
        """A list of events, or a frame, as the learner gets it."""
        if isinstance(X, list | tuple):
            return [self.transform_one(x) for x in X]
        return self.steps.transform_many(X)

    def teach(self, X: Any) -> None:
        """Let the steps learn a list of events, or a frame."""
        if isinstance(X, list | tuple):
            for x in X:
                self.learn_one(x)
        else:
            self.steps.learn_many(X)

    def put_into(self, pipeline: Any) -> None:
        """Give a pipeline these steps in place of its own."""
        pipeline.steps.update(self.steps.steps)
        pipeline._plan = None  # it is made of the old steps


def _own(x: Any) -> Any:
    """A copy of an event, since a step may change it, as River's Renamer does."""
    return dict(x) if isinstance(x, dict) else x


def learner_of(model: Any) -> tuple[Any, Any]:
    """What comes before the learner of a model (or None), and the learner; or an error."""
    if is_learner(model):
        return None, model
    if isinstance(inside := getattr(model, "model_", None), Model):
        return None, inside  # of a classifier for scikit-learn
    if isinstance(model, TextPipeline) and model._pair is not None:
        return model._pair
    if isinstance(model, compose.Pipeline) and isinstance(model[-1], Model) and len(model) > 1:
        return Before(model), model[-1]
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}; give an object: {model.__name__}()")
    if hasattr(model, "named_steps") and hasattr(model[-1], "model_"):
        raise TypeError(
            "model is a scikit-learn pipeline; give its last step, model[-1], and what its "
            "other steps make of the events, model[:-1].transform(X)"
        )
    raise TypeError(
        f"model is {type_shown(model)}; give a learner of streamptron, a pipeline that ends in "
        "one, or a fitted classifier of streamptron.sklearn"
    )


def is_learner(model: Any) -> bool:
    """Whether it is a learner of ours. River's classes cannot tell: a pipeline is an Estimator."""
    return isinstance(model, Model)


def ranks(learner: Any) -> bool:
    """Whether a learner chooses among candidates, and has no labels."""
    return isinstance(learner, RankModel)


def leads(scores: np.ndarray, own: np.ndarray) -> np.ndarray:
    """By how much the score in a row's own column is ahead of the best other one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, own] = -np.inf
    ahead: np.ndarray = scores[rows, own] - others.max(axis=1)
    return ahead


def _seen(before: Any, x: Any) -> Any:
    """The event as the learner gets it."""
    return x if before is None else before.transform_one(x)
