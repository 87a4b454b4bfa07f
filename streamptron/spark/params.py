"""The parameters of the estimator and its model, with pyspark.ml's names and types.

The learner's and the tokenizer's parameters have their usual names, but in camelCase. A parameter
that is not set has the learner's own default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasThresholds,
    HasWeightCol,
)

from streamptron.common.errors import ParameterError, in_python
from streamptron.learners.perceptron import Perceptron
from streamptron.learners.registry import BY_NAME, MULTILABEL, PARAMETERS, Parameter, parameters_of
from streamptron.learners.text import Tokenizer

MERGEABLE = {name: learner for name, learner in BY_NAME.items() if learner()._can("merge")}

Converter = Callable[[Any], Any]


def _pairs(value: Any) -> list[list[str]]:
    return [TypeConverters.toListString(pair) for pair in value]


def _by_label(value: Any) -> list[list[Any]]:
    """A dict as pairs, so that labels keep their types when they are saved as JSON."""
    pairs = value.items() if isinstance(value, Mapping) else value
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise TypeError(f"{value!r}; give a dict of label to number")
    found = []
    for label, weight in pairs:
        if not isinstance(label, str | bool | int | float):
            raise TypeError(f"the label {label!r} is not a str, bool or number")
        found.append([label, TypeConverters.toFloat(weight)])
    return found


def _or_word(word: str) -> Converter:
    """A converter that accepts a number or the word."""

    def convert(value: Any) -> float | str:
        if isinstance(value, str) and value != word:
            raise TypeError(f"{value!r}; give a number, or {word!r}")
        return word if value == word else float(TypeConverters.toFloat(value))

    return convert


def _fields(value: Any) -> list[str]:
    names: list[str] = TypeConverters.toListString(value)
    if not names:
        raise TypeError("no columns; name at least one column of texts")
    return names


def _learner(value: Any) -> str:
    if value not in MERGEABLE:
        raise ValueError(f"learner={value!r}; it must be one of {', '.join(MERGEABLE)}")
    return str(value)


def _count(value: Any) -> int:
    found: int = TypeConverters.toInt(value)
    if found < 1:
        raise ValueError(f"{value!r} shards, rounds or mixes; it must be at least 1")
    return found


CONVERTERS: dict[str, Converter] = {
    "NUMBER": TypeConverters.toFloat,
    "SPAN": TypeConverters.toFloat,
    "TRUTH": TypeConverters.toBoolean,
    "WORD": TypeConverters.toString,
    "COUNT": TypeConverters.toInt,
    "COUNT_OR_NONE": TypeConverters.toInt,
    "SEED": TypeConverters.toInt,
    "BY_LABEL": _by_label,
    "FIELDS": _pairs,
    "WORD_OR_NONE": TypeConverters.toString,
    "RANGE": TypeConverters.toListInt,
    "TEXT": TypeConverters.toString,
    "NAMES": _fields,
}


def _converter(parameter: Parameter) -> Converter:
    if parameter.kind == "NUMBER_OR_WORD":
        return _or_word(*parameter.words)
    return CONVERTERS[parameter.kind]


# If two learners define a parameter differently, the first one's definition counts.
LEARNER_TABLE = {
    each.name: each
    for each in reversed(PARAMETERS)
    if any(learner.__name__ in each.learners for learner in MERGEABLE.values())
}
# Converters by our names.
LEARNER_PARAMS = {name: _converter(each) for name, each in LEARNER_TABLE.items()}
TOKENIZER_PARAMS = {name: _converter(each) for name, each in parameters_of(Tokenizer).items()}


def camel(name: str) -> str:
    """``max_features`` as ``maxFeatures``."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def _made(kind: Any, params: dict[str, Any]) -> Any:
    """Make a learner or a Tokenizer; errors name parameters as they are named here."""
    try:
        return kind(**params)
    except ParameterError as error:
        raise error.worded(_written) from None


def _written(name: str, value: str | None, label: str | None) -> str:
    return in_python(camel(name), value, label)


def _param(name: str, doc: str, converter: Converter) -> Param[Any]:
    return Param(Params._dummy(), name, doc, typeConverter=converter)


class StreamptronParams(
    HasFeaturesCol,
    HasLabelCol,
    HasWeightCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasThresholds,
):
    """The parameters that the estimator and its model share."""

    textCol = _param("textCol", "the column of texts; instead of featuresCol", str)
    learner = _param("learner", f"one of {', '.join(MERGEABLE)}", _learner)
    numShards = _param(
        "numShards",
        "how many shards learn in parallel; by default as many as the cluster has cores",
        _count,
    )
    rounds = _param("rounds", "how often all rows are learned", _count)
    mixes = _param("mixes", "how often the shards are merged in each round; each is a job", _count)
    seed = _param("seed", "the seed of the shuffle", TypeConverters.toInt)
    shuffle = _param(
        "shuffle",
        "whether rows are assigned to shards and learned in random order; if not, each partition "
        "is a shard, in its own order",
        TypeConverters.toBoolean,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(learner=next(iter(MERGEABLE)), rounds=1, mixes=10, seed=0, shuffle=True)

    def _set(self, **kwargs: Any) -> Any:
        for name in kwargs:
            if not self.hasParam(name):
                raise TypeError(f"{name} is not a parameter of {type(self).__name__}")
        return super()._set(**kwargs)

    def _given(self, params: dict[str, Converter]) -> dict[str, Any]:
        """Our parameters that are set."""
        return {
            name: self.getOrDefault(camel(name)) for name in params if self.isDefined(camel(name))
        }

    def getClassWeight(self) -> dict[Any, float]:
        """The value of classWeight, as a dict."""
        return dict(self.getOrDefault("classWeight"))

    def _has_sets(self) -> bool:
        """Whether an event has several labels."""
        return self.getOrDefault("learner") in MULTILABEL

    def _has_text(self) -> bool:
        """Whether events are texts."""
        given = [name for name in ("textCol", "fields", "featuresCol") if self.isSet(name)]
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} are both set; set one of them")
        return given in (["textCol"], ["fields"])

    def _untrained(self) -> Any:
        """A learner with these parameters, or ``Tokenizer() | learner`` for texts."""
        kind = MERGEABLE[self.getOrDefault("learner")]
        given = self._given(LEARNER_PARAMS)
        known = inspect.signature(kind).parameters
        for name in given:
            if name not in known:
                raise ValueError(
                    f"{camel(name)} is not a parameter of {kind.__name__}; "
                    "clear it, or choose another learner"
                )
        if "interactions" in given:
            given["interactions"] = [tuple(pair) for pair in given["interactions"]]
        for name in {"class_weight", "false_positive_rate"} & given.keys():
            of_two = kind is Perceptron  # 0 and 1 are False and True, as in the label column
            given[name] = {
                bool(label) if of_two and label in (0, 1) else label: number
                for label, number in given[name]
            }
        learner = _made(kind, given)
        words = self._given(TOKENIZER_PARAMS)
        if self._has_text():
            if "ngram_range" in words:
                words["ngram_range"] = tuple(words["ngram_range"])
            if "fields" in words:
                words["fields"] = tuple(words["fields"])
            return _made(Tokenizer, words) | learner
        if words:
            raise ValueError(
                f"{camel(next(iter(words)))} is for the tokenizer, but there are no texts; set "
                "textCol or fields"
            )
        return learner


for _name, _take in {**LEARNER_PARAMS, **TOKENIZER_PARAMS}.items():
    _doc = LEARNER_TABLE[_name].about if _name in LEARNER_TABLE else f"{_name} of the tokenizer"
    setattr(StreamptronParams, camel(_name), _param(camel(_name), _doc, _take))


def _add_accessors(name: str) -> None:
    """Add ``getName`` and ``setName``, as in pyspark.ml."""

    def get(self: StreamptronParams) -> Any:
        return self.getOrDefault(name)

    def put(self: StreamptronParams, value: Any) -> Any:
        return self._set(**{name: value})

    title = name[0].upper() + name[1:]
    get.__doc__, put.__doc__ = f"The value of {name}.", f"Set {name}."
    if not hasattr(StreamptronParams, f"get{title}"):
        setattr(StreamptronParams, f"get{title}", get)
    setattr(StreamptronParams, f"set{title}", put)


for _name in dir(StreamptronParams):
    if isinstance(getattr(StreamptronParams, _name), Param):
        _add_accessors(_name)
