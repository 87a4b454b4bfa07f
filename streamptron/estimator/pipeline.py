"""A faster River pipeline for a tokenizer and a learner.

For a short text, River's general walk through the steps costs several times as much as the two
steps themselves. The answers are the same, and anything unusual (other steps, more arguments) goes
through River's own code.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from streamptron.common.candidates import candidates_of
from streamptron.common.names import short_repr
from streamptron.common.river import compose
from streamptron.doors._core import BinaryModel
from streamptron.doors.model import Model
from streamptron.doors.ranking import RankModel
from streamptron.doors.texts import (
    TextDoor,
    text_learn_one,
    text_predict_one,
    text_predict_proba_one,
)
from streamptron.estimator.learner import Savable

if TYPE_CHECKING:
    from streamptron.keeping.tickets import Ticket


# The functions of looking.py, which take any pipeline.
OF_ANY = ("explain_one", "decision_function_one", "top_features")


class TextPipeline(Savable, compose.Pipeline):
    """What ``Tokenizer() | learner`` makes.

    The learner is ``model[-1]``, the tokenizer ``model[0]``.

    Examples
    --------
    >>> from streamptron import Perceptron, Tokenizer
    >>> model = Tokenizer() | Perceptron()
    >>> model.learn_one("a free prize", True)
    >>> model.predict_one("free")
    True
    """

    _pair: tuple[TextDoor, Any] | None = None
    _lines: dict[str, Any] | None = None  # the command line's settings, see files/lines.py

    def _file_parts(self) -> tuple[Any, Any, Any] | None:
        """Learner, tokenizer and lines; None if it is not ``Tokenizer() | learner``."""
        if self._pair is None:
            return None
        names = [type(step).__name__ for step in self.steps.values()]
        if list(self.steps) != names:
            raise TypeError(
                f"the pipeline's steps are named {short_repr(list(self.steps))}, and a model file "
                "does not store such names; make it as Tokenizer() | learner, or pickle it instead"
            )
        own = [name for name in vars(self) if not name.startswith("_") and name != "steps"]
        if own:
            raise TypeError(
                f"the pipeline has the attribute {own[0]!r}, which a model file does not store; "
                "give it in metadata, or pickle the pipeline instead"
            )
        tokenizer, learner = self._pair
        return learner, tokenizer, self._lines

    @property
    def label_names(self) -> dict[bool, str] | None:
        """How the command line that trained a Perceptron writes its labels.

        ``{False: "ham", True: "spam"}`` after ``streamptron train --learner perceptron``; None for
        any other model. The Perceptron itself answers True and False, here as everywhere.
        """
        if self._lines is None or not isinstance(self[-1], BinaryModel):
            return None
        from streamptron.keeping.known import truth_names

        names = truth_names(self._lines["positive"], self._lines["names"])
        return dict(zip((False, True), names, strict=True))

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> TextPipeline:
        clone: TextPipeline = super().clone(new_params, include_attributes)
        clone._lines = self._lines
        return clone

    def _add_step(self, obj: Any, at_start: bool) -> None:
        name, step = obj if isinstance(obj, tuple) else (type(obj).__name__, obj)
        if isinstance(step, TextDoor | Model):
            # River's function is part of a reference cycle with its argument: a large model would
            # stay in memory until the garbage collector runs
            held = object()
            super()._add_step((name, held), at_start)
            self.steps[next(name for name in self.steps if self.steps[name] is held)] = step
        else:
            super()._add_step(obj, at_start)
        match list(self.steps.values()):
            case [TextDoor() as tokenizer, Model() as learner]:
                _check_fields(tokenizer, learner)
                self._pair = tokenizer, learner
            case _:
                self._pair = None

    # compiled, because a Python call costs as much as a short text
    learn_one = text_learn_one
    predict_one = text_predict_one
    predict_proba_one = text_predict_proba_one

    def explain_one(self, x: Any, label: Any = None) -> list[tuple[Hashable, float]]:
        """What each token of a text contributes to its score; see ``Perceptron.explain_one``."""
        tokenizer, learner = self._both("explain_one")
        return learner.explain_one(tokenizer.transform_one(x), label)  # type: ignore[no-any-return]

    def decision_function_one(self, x: Any) -> Any:
        """The score of a text, or of each label; see ``Perceptron.decision_function_one``."""
        tokenizer, learner = self._both("decision_function_one")
        return learner.decision_function_one(tokenizer.transform_one(x))

    def top_features(self, n: int = 10, *label: Any, **named: Any) -> Any:
        """The tokens with the largest weights; see ``Perceptron.top_features``."""
        return self._both("top_features")[1].top_features(n, *label, **named)

    def predict_ticket(self, x: Any) -> Ticket:
        """Predict one text, and keep its tokens; see ``Perceptron.predict_ticket``."""
        tokenizer, learner = self._both("predict_ticket")
        return learner.predict_ticket(tokenizer.transform_one(x))  # type: ignore[no-any-return]

    def learn_ticket(self, ticket: Any, y: Any, w: float = 1.0, undo: bool = False) -> Any:
        """Learn a text that was predicted earlier; see ``Perceptron.learn_ticket``."""
        return self._both("learn_ticket")[1].learn_ticket(ticket, y, w, undo)

    def undo(self, step: Any) -> None:
        """Take back what one text has taught; see ``Perceptron.undo``."""
        self._both("undo")[1].undo(step)

    def _both(self, what: str) -> tuple[TextDoor, Any]:
        if self._pair is None:
            remedy = f"its last step, model[-1].{what}"
            if what in OF_ANY:
                remedy = f"streamptron.{what}(model, ...)"
            raise TypeError(
                f"{what} is for Tokenizer() | learner, and this pipeline has the steps "
                f"{', '.join(self.steps)}; use {remedy}"
            )
        return self._pair

    def _as_river(self, method: str, *given: Any, **params: Any) -> Any:
        """Let River's own code do it, for other steps and more arguments."""
        if "undo" in params and self._pair is not None:  # River's code does not know it
            tokenizer, learner = self._pair
            return learner.learn_one(tokenizer.transform_one(given[0]), *given[1:], **params)
        return getattr(super(), method)(*given, **params)

    def predict_many(self, X: Any, *, n_jobs: int | None = None) -> Any:
        """Predict the label of each text; see ``Perceptron.predict_many``."""
        X, learner = self._transform_many(X)
        return learner.predict_many(X, **_jobs(n_jobs))

    def predict_proba_many(self, X: Any, *, n_jobs: int | None = None) -> Any:
        """The probability of each label for each text; see ``Perceptron.predict_proba_many``."""
        X, learner = self._transform_many(X)
        return learner.predict_proba_many(X, **_jobs(n_jobs))

    def decision_function_many(self, X: Any, *, n_jobs: int | None = None) -> Any:
        """The scores of each text; see ``Perceptron.decision_function_many``."""
        X, learner = self._transform_many(X)
        return learner.decision_function_many(X, **_jobs(n_jobs))


def _jobs(n_jobs: int | None) -> dict[str, int]:
    """n_jobs as an argument, only if it was given: River's learners do not have it."""
    return {} if n_jobs is None else {"n_jobs": n_jobs}


class RankPipeline(TextPipeline):
    """What ``Tokenizer() | RankingPerceptron()`` makes: each candidate is a text.

    Each method takes texts where the learner's takes features.

    Examples
    --------
    >>> from streamptron import RankingPerceptron, Tokenizer
    >>> model = Tokenizer() | RankingPerceptron()
    >>> model.learn_one({"a": "do not know", "b": "see the manual"}, "b")
    >>> model.rank_one(["I do not", "the manual", "I see"])
    [1, 2, 0]
    """

    def _read(self, candidates: Any) -> dict[Any, Any] | list[Any]:
        """Candidates that are texts, as the learner takes them."""
        assert self._pair is not None
        names, texts, own = candidates_of(candidates)
        events = []
        for name, text in zip(names, texts, strict=True):
            try:
                events.append(self._pair[0].transform_one(text))
            except (TypeError, ValueError) as error:
                raise type(error)(f"candidates[{short_repr(name)}]: {error}") from None
        return dict(zip(names, events, strict=True)) if own else events

    def learn_one(  # type: ignore[override]
        self, candidates: Any, chosen: Any, w: float = 1.0, undo: bool = False
    ) -> None:
        """Learn which of some texts is the right one; see ``RankingPerceptron.learn_one``."""
        self[-1].learn_one(self._read(candidates), chosen, w, undo)

    def predict_one(self, candidates: Any) -> Any:  # type: ignore[override]
        """The id of the best text; see ``RankingPerceptron.predict_one``."""
        return self[-1].predict_one(self._read(candidates))

    def predict_proba_one(self, candidates: Any) -> Any:  # type: ignore[override]
        """The probability of each text; see ``RankingPerceptron.predict_proba_one``."""
        return self[-1].predict_proba_one(self._read(candidates))

    def rank_one(self, candidates: Any) -> list[Any]:
        """The ids of all candidates, the best first; see ``RankingPerceptron.rank_one``."""
        return self[-1].rank_one(self._read(candidates))  # type: ignore[no-any-return]

    def decision_function_one(self, candidates: Any) -> Any:
        """The score of each candidate; see ``RankingPerceptron.decision_function_one``."""
        return self[-1].decision_function_one(self._read(candidates))

    def explain_one(self, candidates: Any, chosen: Any = None) -> Any:
        """What each token adds to a candidate's lead; see ``RankingPerceptron.explain_one``."""
        return self[-1].explain_one(self._read(candidates), chosen)

    def learn_many(  # type: ignore[override]
        self, X: Any, grades: Any, qid: Any, w: Any = 1.0
    ) -> None:
        """Learn from texts with grades; see ``RankingPerceptron.learn_many``."""
        self[-1].learn_many(self._rows(X), grades, qid, w)

    def decision_function_many(self, X: Any, qid: Any = None, *, n_jobs: int | None = None) -> Any:
        """The score of each text; see ``RankingPerceptron.decision_function_many``."""
        return self[-1].decision_function_many(self._rows(X), qid, n_jobs=n_jobs)

    predict_many = decision_function_many

    def _rows(self, X: Any) -> Any:
        return self[0].transform_many(X)


def pipeline_of(tokenizer: TextDoor, learner: Model) -> TextPipeline:
    """``Tokenizer() | learner``."""
    return (RankPipeline if isinstance(learner, RankModel) else TextPipeline)(tokenizer, learner)


def _check_fields(tokenizer: Any, learner: Any) -> None:
    """Raise a ValueError if the learner pairs a field that the Tokenizer does not read."""
    fields = tokenizer.fields or ()
    there = (fields,) if isinstance(fields, str) else tuple(fields)
    paired = getattr(learner, "interactions", None) or ()  # not all learners have pairs
    for field in dict.fromkeys(field for pair in paired for field in pair):
        if field not in there:
            raise ValueError(
                f"interactions has the field {field!r}, and the Tokenizer has "
                f"fields={short_repr(tokenizer.fields)}; add the field to these, or leave it out "
                "of interactions"
            )
