"""The bases of learners and tokenizers where River is not installed.

They have those of River's methods that our classes and their users call: a model is made, shown and
cloned with them as with River's. `river` decides which of the two are taken.
"""

from __future__ import annotations

import copy
from typing import Any, Self


class tags:
    """What an estimator may be given."""

    TEXT_INPUT = "text input"


class Base:
    """What has parameters: it shows them, and makes another one with the same."""

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        lines = [f"{name}={_shown(getattr(self, name))}" for name in _parameters(self)]
        inner = "".join(f"\n  {line}" for line in lines)
        return f"{type(self).__name__} ({inner}\n)" if lines else f"{type(self).__name__} ()"

    def _get_params(self) -> dict[str, Any]:
        """The parameters, as the constructor takes them; of an estimator its class and its own."""
        values = {name: getattr(self, name) for name in _parameters(self)}
        return {
            name: (type(value), value._get_params()) if isinstance(value, Base) else value
            for name, value in values.items()
        }

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A fresh one with the same parameters."""
        params = self._get_params() | (new_params or {})
        clone = type(self)(
            **{
                name: getattr(self, name).clone(value[1])
                if isinstance(value, tuple) and value and isinstance(value[0], type)
                else copy.deepcopy(value)
                for name, value in params.items()
            }
        )
        if include_attributes:
            for name, value in vars(self).items():
                if name not in params:
                    setattr(clone, name, copy.deepcopy(value))
        return clone


class Estimator(Base):
    """A model, or a step before one."""

    @property
    def _supervised(self) -> bool:
        return True

    def _more_tags(self) -> set[str]:
        return set()

    @property
    def _tags(self) -> set[str]:
        classes = [each for each in type(self).__mro__ if hasattr(each, "_more_tags")]
        return {tag for each in classes for tag in each._more_tags(self)}

    def __or__(self, other: Any) -> Any:
        _no_pipeline(self, other)

    def __ror__(self, other: Any) -> Any:
        _no_pipeline(other, self)


class Metric(Base):
    """How good answers are; the better of two metrics is the greater one."""

    _fmt = ",.6f"

    @property
    def works_with_weights(self) -> bool:
        """Whether an answer can count more than another one."""
        return True

    def is_better_than(self, other: Any) -> bool:
        """Whether this one's value is better than another one's."""
        return bool(self.get() > other.get())

    def __gt__(self, other: Any) -> bool:
        return self.is_better_than(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.get():{self._fmt}}".rstrip("0")

    __str__ = __repr__

    def get(self) -> float:
        """The value so far."""
        raise NotImplementedError


class Classifier(Estimator):
    """A model that answers a label."""

    @property
    def _multiclass(self) -> bool:
        return False


class MiniBatchClassifier(Classifier):
    """A model that answers a label, also of many rows at once."""


class MultiLabelClassifier(Estimator):
    """A model that answers a set of labels."""


class Transformer(Estimator):
    """A step that makes an event of an event, or of a text."""

    @property
    def _supervised(self) -> bool:
        return False

    def learn_one(self, x: Any) -> None:
        """Nothing, for a step that learns nothing."""

    def __add__(self, other: Any) -> Any:
        from streamptron.estimator.joined import TransformerUnion

        return TransformerUnion(self, other)


class MiniBatchTransformer(Transformer):
    """The same, also of many rows at once."""

    def learn_many(self, X: Any) -> None:
        """Nothing, for a step that learns nothing."""


def _no_pipeline(first: Any, second: Any) -> None:
    from streamptron.estimator.river import need

    need(f"a pipeline of {type(first).__name__} and {type(second).__name__}")


def _parameters(made: Any) -> list[str]:
    import inspect  # takes as long as all of this package's Python

    found = inspect.signature(made.__init__).parameters.values()
    return [each.name for each in found if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def _shown(value: Any) -> str:
    """A parameter, in the form in which River shows it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        short = value > 1e5 or 0 < value < 1e-4
        return f"{value:.0e}" if short else f"{value:.6f}".rstrip("0")
    return str(sorted(value) if isinstance(value, set) else value)
