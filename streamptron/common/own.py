"""Stand-ins for River's base classes and its ``compose``, for when River is not installed.

They have the methods of River's that our classes and their users call: a model is made, shown and
cloned with them as with River's. There is a pipeline, for a tokenizer and a learner, and a union,
for the command line's texts beside features; model files store both as River's. The module `river`
chooses between River and these.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any, Self


class tags:
    """What an estimator can take as its input."""

    TEXT_INPUT = "text input"


class Base:
    """An object with parameters, which it shows and passes to its clones."""

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        lines = [f"{name}={_shown(getattr(self, name))}" for name in _parameters(self)]
        inner = "".join(f"\n  {line}" for line in lines)
        return f"{type(self).__name__} ({inner}\n)" if lines else f"{type(self).__name__} ()"

    def _get_params(self) -> dict[str, Any]:
        """The parameters as the constructor takes them; an estimator as (class, parameters)."""
        values = {name: getattr(self, name) for name in _parameters(self)}
        return {
            name: (type(value), value._get_params()) if isinstance(value, Base) else value
            for name, value in values.items()
        }

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A new object with the same parameters."""
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
    """A measure of answers; of two metrics, the better one compares as the greater."""

    _fmt = ",.6f"

    @property
    def works_with_weights(self) -> bool:
        """Whether answers can have weights."""
        return True

    def is_better_than(self, other: Any) -> bool:
        """Whether this metric's value is better than another's."""
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
    """A model that answers a label, also for many rows at once."""


class MultiLabelClassifier(Estimator):
    """A model that answers a set of labels."""


class Transformer(Estimator):
    """A step that turns an event, or a text, into an event."""

    @property
    def _supervised(self) -> bool:
        return False

    def learn_one(self, x: Any) -> None:
        """Nothing, for a step that learns nothing."""

    def __add__(self, other: Any) -> Any:
        return TransformerUnion(self, other)


class MiniBatchTransformer(Transformer):
    """The same, also for many rows at once."""

    def learn_many(self, X: Any) -> None:
        """Nothing, for a step that learns nothing."""


class Steps(Estimator):
    """Several steps, each with a name."""

    _parts: dict[str, Any]

    def _named(self, obj: Any) -> tuple[str, Any]:
        """A step, and a name that no other step has."""
        name, step = obj if isinstance(obj, tuple) else (type(obj).__name__, obj)
        known, count = name, 0
        while name in self._parts:
            count += 1
            name = f"{known}{count}"
        return name, step

    def __getitem__(self, key: int | str) -> Any:
        return self._parts[list(self._parts)[key] if isinstance(key, int) else key]

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        shown = ",\n".join(map(repr, self._parts.values())).splitlines()
        return "\n  ".join([f"{self._shown_as} (", *shown]) + "\n)"

    _shown_as = "Pipeline"

    def _get_params(self) -> dict[str, Any]:
        return {name: step._get_params() for name, step in self._parts.items()}

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """New steps with the same parameters."""
        given = new_params or {}
        return type(self)(
            *(
                (
                    name,
                    given[name]
                    if isinstance(given.get(name), Estimator)
                    else step.clone(given.get(name), include_attributes),
                )
                for name, step in self._parts.items()
            )
        )


class Pipeline(Steps):
    """Steps in a row: each gets the output of the one before it."""

    def __init__(self, *steps: Any) -> None:
        self.steps: dict[str, Any] = OrderedDict()
        self._plan = None  # a pickle of this may be loaded where River is installed, which needs it
        for step in steps:
            self._add_step(step, at_start=False)

    @property
    def _parts(self) -> dict[str, Any]:  # type: ignore[override]
        return self.steps

    def _add_step(self, obj: Any, at_start: bool) -> None:
        name, step = self._named(obj)
        self.steps[name] = step
        if at_start:
            self.steps.move_to_end(name, last=False)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return " | ".join(map(str, self.steps.values()))

    @property
    def _last_step(self) -> Any:
        return self[-1]

    @property
    def _supervised(self) -> bool:
        return any(step._supervised for step in self.steps.values())

    @property
    def _multiclass(self) -> bool:
        return bool(self[-1]._multiclass)

    def _transformed(self, x: Any, learns: bool = False) -> Any:
        """An event as the last step gets it."""
        for step in list(self.steps.values())[:-1]:
            if learns:
                step.learn_one(x)
            x = step.transform_one(x)
        return x

    def learn_one(self, x: Any, y: Any = None, **params: Any) -> Any:
        """Learn an event."""
        x, last = self._transformed(x, learns=True), self[-1]
        return last.learn_one(x, y, **params) if last._supervised else last.learn_one(x)

    def transform_one(self, x: Any) -> Any:
        """What the steps make of an event."""
        x, last = self._transformed(x), self[-1]
        return last.transform_one(x) if hasattr(last, "transform_one") else x

    def predict_one(self, x: Any, **params: Any) -> Any:
        """What the last step answers."""
        return self[-1].predict_one(self._transformed(x), **params)

    def predict_proba_one(self, x: Any, **params: Any) -> Any:
        """The probabilities that the last step answers."""
        return self[-1].predict_proba_one(self._transformed(x), **params)

    def _transform_many(self, X: Any) -> tuple[Any, Any]:
        for step in list(self.steps.values())[:-1]:
            X = step.transform_many(X)
        return X, self[-1]

    def learn_many(self, X: Any, y: Any = None, **params: Any) -> None:
        """Learn many events."""
        X, last = self._transform_many(X)
        last.learn_many(X, y, **params)

    def transform_many(self, X: Any) -> Any:
        """What the steps make of many events."""
        X, last = self._transform_many(X)
        return last.transform_many(X) if hasattr(last, "transform_many") else X


class TransformerUnion(Steps, Transformer):
    """Steps that all get the same event; their features are put together."""

    _shown_as = "TransformerUnion"

    def __init__(self, *transformers: Any) -> None:
        self.transformers: dict[str, Any] = {}
        for step in transformers:
            name, transformer = self._named(step)
            self.transformers[name] = transformer.clone(include_attributes=True)

    @property
    def _parts(self) -> dict[str, Any]:  # type: ignore[override]
        return self.transformers

    def __str__(self) -> str:
        return " + ".join(map(str, self.transformers.values()))

    def transform_one(self, x: Any) -> dict[Any, Any]:
        """The features that the steps make of an event; where two make the same, the first wins."""
        made: dict[Any, Any] = {}
        for step in reversed(self.transformers.values()):
            made.update(step.transform_one(x))
        return made


class Discard(Transformer):
    """Leaves features out."""

    def __init__(self, *keys: Any) -> None:
        self.keys = set(keys)

    def __str__(self) -> str:
        return f"~{sorted(self.keys)}"

    def __repr__(self) -> str:
        inner = "".join(f"\n  {key}" for key in sorted(self.keys))
        return f"Discard ({inner}\n)" if inner else "Discard ()"

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A new one with the same keys."""
        return type(self)(*self.keys)

    def transform_one(self, x: Any) -> dict[Any, Any]:
        """The event without these features."""
        return {name: value for name, value in x.items() if name not in self.keys}


def _no_pipeline(first: Any, second: Any) -> None:
    raise missing(f"a pipeline of {type(first).__name__} and {type(second).__name__}")


def missing(what: str) -> ModuleNotFoundError:
    """The error for something that needs River."""
    return ModuleNotFoundError(
        f"{what} needs River, which is not installed: pip install river", name="river"
    )


def _parameters(made: Any) -> list[str]:
    import inspect  # as slow to import as all of this package's Python

    found = inspect.signature(made.__init__).parameters.values()
    return [each.name for each in found if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def _shown(value: Any) -> str:
    """A parameter as River shows it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        short = value > 1e5 or 0 < value < 1e-4
        return f"{value:.0e}" if short else f"{value:.6f}".rstrip("0")
    return str(sorted(value) if isinstance(value, set) else value)
