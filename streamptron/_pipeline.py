"""River's pipeline for a tokenizer and a learner, without the walk through its plan.

On a short text that walk costs several times what the two steps do. The answers are the same, and
whatever is not everyday (other steps, more arguments) goes River's way.
"""

from __future__ import annotations

from typing import Any

from river import compose

from streamptron._core import Model, TextDoor


class TextPipeline(compose.Pipeline):
    """What ``Tokenizer() | learner`` makes.

    Examples
    --------
    >>> from streamptron import Perceptron, Tokenizer
    >>> model = Tokenizer() | Perceptron()
    >>> model.learn_one("a free prize", True)
    >>> model.predict_one("free")
    True
    """

    _pair: tuple[TextDoor, Any] | None = None

    def _add_step(self, obj: Any, at_start: bool) -> None:
        super()._add_step(obj, at_start)
        match list(self.steps.values()):
            case [TextDoor() as tokenizer, Model() as learner]:
                self._pair = tokenizer, learner
            case _:
                self._pair = None

    def learn_one(self, x: Any, y: Any = None, **params: Any) -> None:
        if (pair := self._pair) is None or params:
            super().learn_one(x, y, **params)
        else:
            pair[1].learn_one(pair[0].transform_one(x), y)

    def predict_one(self, x: Any, **params: Any) -> Any:
        if (pair := self._pair) is None or params:
            return super().predict_one(x, **params)
        return pair[1].predict_one(pair[0].transform_one(x))

    def predict_proba_one(self, x: Any, **params: Any) -> Any:
        if (pair := self._pair) is None or params:
            return super().predict_proba_one(x, **params)
        return pair[1].predict_proba_one(pair[0].transform_one(x))
