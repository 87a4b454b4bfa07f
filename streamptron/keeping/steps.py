"""The steps of a pipeline as data: what each kind of step holds, and how to rebuild it from that.

A step consists of its constructor's arguments and of what it has learned since. Both are written as
JSON, to the last bit. Only the kinds in the table below are written and read, with the attributes
listed there, each checked; so nothing in a file is code, and no class is imported because a file
names it. Where the order of a set decides the order in which a learner adds up, it is kept, too.
"""

from __future__ import annotations

import importlib
import inspect
import json
import struct
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Number
from types import MappingProxyType
from typing import Any, NamedTuple

from streamptron.common.errors import ModelFileError
from streamptron.common.names import short_repr, type_shown
from streamptron.common.river import OURS, VERSION, module_of
from streamptron.common.values import decode, encode
from streamptron.doors.model import Model

Check = Callable[[Any], bool]
NONE: Mapping[str, Any] = MappingProxyType({})


class UnknownStep(ModelFileError):
    """A step, or something in one, that this version does not know."""


class Steps(NamedTuple):
    """The steps of a pipeline before its learner.

    Attributes
    ----------
    kind
        The pipeline's class.
    names
        The names of all steps; the last is the learner's.
    before
        The steps before the learner.
    data
        All of this as the bytes that a file holds.
    """

    kind: str
    names: list[str]
    before: list[Any]
    data: bytes


class Kind(NamedTuple):
    """A class whose objects can be written, and what they hold.

    Attributes
    ----------
    home
        River's module that has the class.
    given
        The constructor's parameters, each with its check.
    kept
        The attributes that learning changes, each with its check.
    made
        Attributes that the constructor computes from the parameters; they are not written.
    several
        The attribute in which the constructor stores its ``*arguments``.
    packed
        Attributes of compiled classes of River, with the struct format of their bytes.
    """

    home: str
    given: Mapping[str, Check] = NONE
    kept: Mapping[str, Check] = NONE
    made: tuple[str, ...] = ()
    several: str = ""
    packed: Mapping[str, str] = NONE


# --- Checks


def _of(*kinds: Any) -> Check:
    return lambda value: isinstance(value, kinds)


def _dict_of(check: Check) -> Check:
    return lambda value: isinstance(value, Mapping) and all(map(check, value.values()))


def _object(*names: str) -> Check:
    return lambda value: type(value).__name__ in names


def _steps(value: Any) -> bool:
    return isinstance(value, dict) and all(
        type(name) is str and hasattr(step, "transform_one") for name, step in value.items()
    )


_number, _whole, _truth, _text = _of(Number), _of(int), _of(bool), _of(str)
_any, _window = _of(object), _of(int, type(None))
_mapping = _of(dict, type(None))

_WINDOW = {"window_size": _window}
_SCALING = "preprocessing"
_COMPOSE = "compose"
_STATS = "stats"
_SORTED = {"window": _object("SortedWindow")}
_QUANTILE = "21dB?"  # River's P2 quantile: numbers of its five markers, and how many are set

# --- The table

KINDS: dict[str, Kind] = {
    # scalers
    "StandardScaler": Kind(
        _SCALING,
        {"with_std": _truth, **_WINDOW},
        {
            "counts": _dict_of(_number),
            "means": _dict_of(lambda mean: isinstance(mean, Number) or _object("Rolling")(mean)),
            "vars": _dict_of(lambda var: isinstance(var, Number) or _object("Rolling")(var)),
        },
    ),
    "MinMaxScaler": Kind(
        _SCALING,
        _WINDOW,
        {
            "min": _dict_of(_object("Min", "RollingMin")),
            "max": _dict_of(_object("Max", "RollingMax")),
        },
    ),
    "MaxAbsScaler": Kind(
        _SCALING, _WINDOW, {"abs_max": _dict_of(_object("AbsMax", "RollingAbsMax"))}
    ),
    "RobustScaler": Kind(
        _SCALING,
        {"with_centering": _truth, "with_scaling": _truth, "q_inf": _number, "q_sup": _number},
        {"median": _dict_of(_object("Quantile")), "iqr": _dict_of(_object("IQR"))},
    ),
    "AdaptiveStandardScaler": Kind(
        _SCALING,
        {"fading_factor": _number},
        {"vars": _dict_of(_object("EWVar")), "means": _dict_of(_object("EWMean"))},
    ),
    "Normalizer": Kind(_SCALING, {"order": _number}),
    "Binarizer": Kind(_SCALING, {"threshold": _number, "dtype": _of(type)}),
    # categories
    "OneHotEncoder": Kind(
        _SCALING,
        {"categories": _mapping, "drop_zeros": _truth, "drop_first": _truth},
        {"values": _dict_of(_of(set)), "_zero_dict": _dict_of(_whole)},
    ),
    "OrdinalEncoder": Kind(
        _SCALING,
        {"categories": _mapping, "unknown_value": _of(int, type(None)), "none_value": _whole},
        {"values": _dict_of(_of(dict))},
        ("_reserved_category_codes",),
    ),
    "FeatureHasher": Kind(
        _SCALING,
        {"n_features": _whole, "seed": _of(int, type(None)), "alternate_sign": _truth},
        {"_seed": _whole},
    ),
    # gaps
    "PreviousImputer": Kind(_SCALING, {}, {"_latest": _of(dict)}),
    "StatImputer": Kind(_SCALING, made=("stats",), several="imputers"),
    # choosing, renaming, joining
    "Select": Kind(_COMPOSE, several="keys"),
    "Discard": Kind(_COMPOSE, several="keys"),
    "SelectType": Kind(_COMPOSE, several="types"),
    "Renamer": Kind(_COMPOSE, {"mapping": _of(dict)}),
    "Prefixer": Kind(_COMPOSE, {"prefix": _text}),
    "Suffixer": Kind(_COMPOSE, {"suffix": _text}),
    "TransformerUnion": Kind(_COMPOSE, {}, {"transformers": _steps}),
    "TransformerProduct": Kind(_COMPOSE, {}, {"transformers": _steps}),
    "Grouper": Kind(
        _COMPOSE,
        {"transformer": lambda step: hasattr(step, "transform_one"), "by": _of(list)},
        {"transformers": _steps},
    ),
    "FuncTransformer": Kind(_COMPOSE, {"func": lambda func: func is dict}),
    "Pipeline": Kind(
        _COMPOSE,
        {},
        {"steps": _steps},
        ("_plan", "_inference_transformers", "_last_step_cached", "_last_step_params"),
    ),
    "PolynomialExtender": Kind(
        "feature_extraction",
        {"degree": _whole, "interaction_only": _truth, "include_bias": _truth, "bias_name": _any},
    ),
    # parts of these
    "Mean": Kind(_STATS, {}, {"n": _number, "_mean": _number}),
    "Var": Kind(_STATS, {"ddof": _whole}, {"mean": _object("Mean"), "_S": _number}),
    "Min": Kind(_STATS, {}, {"min": _number}),
    "Max": Kind(_STATS, {}, {"max": _number}),
    "AbsMax": Kind(_STATS, {}, {"abs_max": _number}),
    "Mode": Kind(_STATS, {"k": _whole}, {"counts": _dict_of(_whole)}),
    "Count": Kind(_STATS, {}, {"n": _whole}),
    "Sum": Kind(_STATS, {}, {"sum": _number}),
    "RollingMin": Kind(_STATS, {"window_size": _whole}, _SORTED),
    "RollingMax": Kind(_STATS, {"window_size": _whole}, _SORTED),
    "RollingAbsMax": Kind(_STATS, {"window_size": _whole}, _SORTED),
    "EWMean": Kind(_STATS, {"fading_factor": _number}, packed={"_ewmean": "<3d?d"}),
    "EWVar": Kind(_STATS, {"fading_factor": _number}, packed={"_ewvar": "<3d?3d?2d"}),
    "Quantile": Kind(
        _STATS, {"q": _number}, {"_is_updated": _truth}, packed={"_quantile": f"<{_QUANTILE}"}
    ),
    "IQR": Kind(
        _STATS,
        {"q_inf": _number, "q_sup": _number},
        {"_is_updated": _truth},
        packed={"_iqr": f"<{_QUANTILE}{_QUANTILE}2d"},
    ),
}
HOMES = ("river.", OURS["compose"])  # modules that may have the classes of the table
TOKENIZERS = {"Tokenizer": "streamptron.learners.text", "Mail": "streamptron.learners.mail"}
PIPELINES = ("Pipeline", "TextPipeline", "RankPipeline")
# The types that SelectType and Binarizer may be given, by their names in a file.
TYPES: dict[str, Any] = {
    **{kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, list, tuple)},
    **{kind.__name__: kind for kind in (dict, set, type(None))},
}
_NUMBERS = ("Number", "Complex", "Real", "Rational", "Integral")


def _type_named(name: str) -> Any:
    if name in TYPES:
        return TYPES[name]
    if name in _NUMBERS:
        import numbers

        return getattr(numbers, name)
    raise UnknownStep(f"holds the type {short_repr(name)}, which this version does not know")


def _class_of(name: str) -> Any:
    """The class with a name of the table."""
    home = module_of(KINDS[name].home, f"the step {name}")
    return getattr(home, name)


def _is_known(value: Any) -> bool:
    name = type(value).__name__
    if name not in KINDS or not type(value).__module__.startswith(HOMES):
        return False
    return type(value) is _class_of(name)


def _taken(cls: Any, kind: Kind) -> list[str]:
    """The parameters that the constructor of this version of River has."""
    known = inspect.signature(cls).parameters
    return [name for name in kind.given if name in known]


# --- Writing


def steps_of(pipeline: Any) -> Steps:
    """A pipeline's steps before its learner, as a file holds them.

    Raises
    ------
    TypeError
        If a file cannot hold one of them; the message names it.
    """
    kind = type(pipeline).__name__
    names, steps = list(pipeline.steps), list(pipeline.steps.values())
    parts = []
    for name, step in zip(names[:-1], steps[:-1], strict=True):
        try:
            parts.append(_written(step))
        except _Refused as error:
            raise TypeError(
                f"the step {short_repr(name)} {error.of(step)}; pickle the pipeline instead"
            ) from None
        except RecursionError:
            raise TypeError(
                f"the step {short_repr(name)} is nested too deeply for a model file"
            ) from None
    held = {"river": VERSION, "class": kind, "names": names, "steps": parts}
    return Steps(kind, names, steps[:-1], json.dumps(held, separators=(",", ":")).encode())


class _Refused(TypeError):
    """Why a step cannot be written. `name`: the kind of object, if the text does not say it."""

    def __init__(self, why: str, name: str = "") -> None:
        super().__init__(why)
        self.name = name

    def of(self, step: Any) -> str:
        """The words that follow a step's name: whether it is of this kind, or holds one."""
        if not self.name:
            return str(self)
        return f"{'is' if type(step).__name__ == self.name else 'holds'} a {self.name} {self}"


def _written(value: Any) -> Any:
    """A value, a step, or a part of a step as JSON can hold it."""
    kind = type(value)
    if kind in (list, tuple):
        return [kind.__name__, *map(_written, value)]
    if isinstance(value, dict):
        items = [[_written(name), _written(part)] for name, part in value.items()]
        return ["dict", *items]
    if kind is set:
        return ["set", *map(_written, value)]
    if kind is deque:
        return ["deque", value.maxlen, *map(_written, value)]
    if isinstance(value, type):
        if value in TYPES.values() or (
            value.__module__ == "numbers" and value.__name__ in _NUMBERS
        ):
            return ["type", value.__name__]
        raise _Refused(f"holds the type {value.__qualname__}, which a model file does not know")
    if kind.__module__ == "numpy" and hasattr(value, "dtype") and value.dtype.kind in "biufU":
        return ["numpy", value.dtype.str, value.tobytes().hex()]
    special = _written_special(value)
    if special is not None:
        return special
    if _is_known(value):
        return _written_object(value)
    try:
        return encode(value)
    except TypeError:
        raise _Refused(_why(value)) from None


def _written_special(value: Any) -> Any:
    """Objects that have their own form in a file; None for all others."""
    kind = type(value)
    if kind.__module__.startswith("river.utils."):
        from river import utils

        if kind is utils.Rolling:
            window = _written(list(value.window))
            return ["Rolling", value.window_size, _written(value.obj), window]
        if kind is utils.SortedWindow:
            return ["SortedWindow", _written(value.unsorted_window), _written(value.data)]
    if TOKENIZERS.get(kind.__name__) == kind.__module__:
        return [kind.__name__, _written(value._get_params())]
    return None


def _written_object(value: Any) -> Any:
    name = type(value).__name__
    kind = KINDS[name]
    held = vars(value).keys()
    for attribute in held - kind.given.keys() - kind.kept.keys() - kind.packed.keys():
        if attribute not in kind.made and attribute != kind.several:
            raise _Refused(
                f"with the attribute {attribute!r}, which this version of streamptron does not "
                "know",
                name,
            )
    for attribute, check in kind.kept.items():
        if attribute not in held or not check(getattr(value, attribute)):
            raise _Refused(
                f"whose {attribute} has a form that this version of streamptron does not know: "
                f"{_why_not(getattr(value, attribute, None))}",
                name,
            )
    given = {each: getattr(value, each) for each in _taken(type(value), kind)}
    for each, part in given.items():
        if not kind.given[each](part):
            if inspect.isroutine(part):
                raise _Refused(_why(part))
            raise _Refused(f"with {each}={short_repr(part)}: {_why(part)}", name)
    if kind.several:
        given["*"] = list(getattr(value, kind.several))
    kept = {attribute: getattr(value, attribute) for attribute in kind.kept}
    for attribute, form in kind.packed.items():
        data = getattr(value, attribute).__getstate__()
        if len(data) != struct.calcsize(form):
            raise _Refused(f"holds a {name} of an unknown version of River")
        kept[attribute] = list(struct.unpack(form, data))
    return ["object", name, _written(given), _written_kept(kept)]


def _written_kept(kept: dict[str, Any]) -> Any:
    """What an object has learned; an error about a step inside a step names that step."""
    parts: list[Any] = ["dict"]
    for attribute, value in kept.items():
        if attribute not in ("transformers", "steps"):
            parts.append([attribute, _written(value)])
            continue
        inner: list[Any] = ["dict"]
        for name, step in value.items():
            try:
                inner.append([name, _written(step)])
            except _Refused as error:
                raise _Refused(f"has the step {short_repr(name)}, which {error.of(step)}") from None
        parts.append([attribute, inner])
    return parts


def _why(value: Any) -> str:
    """Why a file cannot hold a value, for errors."""
    if inspect.isroutine(value):
        named = getattr(value, "__name__", "")
        which = "a lambda" if named == "<lambda>" else f"the function {named}"
        return f"is {which}, and a model file holds no code"
    name = type(value).__name__
    if isinstance(value, Model):
        return f"is a {name}, a learner; only the last step can be one"
    if hasattr(value, "transform_one"):
        return f"is {type_shown(value)}, which a model file does not know"
    return f"holds {short_repr(value)}, {type_shown(value)}, which a model file cannot hold"


def _why_not(value: Any) -> str:
    """The same for the values of a container."""
    parts = value.values() if isinstance(value, Mapping) else [value]
    return "; ".join(_why(part) for part in parts if not _is_known(part)) or short_repr(value)


# --- Reading


def steps_read(data: bytes) -> Steps:
    """Read what `steps_of` has written.

    Raises
    ------
    UnknownStep
        If a step, or what it holds, is one that this version does not know.
    ValueError
        If the data contradicts itself; the message names the step.
    """
    held = json.loads(data)
    kind, names, parts, river = (held.get(name) for name in ("class", "names", "steps", "river"))
    if (
        kind not in PIPELINES
        or not (isinstance(names, list) and isinstance(parts, list))
        or not all(type(name) is str for name in names)
        or len(set(names)) != len(names)
        or len(parts) != len(names) - 1
    ):
        raise ValueError("the names of the steps do not fit the steps")
    before = []
    for name, part in zip(names, parts, strict=False):
        try:
            step = _read(part)
        except UnknownStep as error:
            raise UnknownStep(
                f"has the step {short_repr(name)}, which {error}; it was written with River "
                f"{river}: install the version of streamptron that wrote it, or a newer one"
            ) from None
        except ModuleNotFoundError:  # River is missing: the file need not be damaged
            raise
        except Exception as error:
            raise ValueError(f"the step {short_repr(name)} is damaged: {error}") from error
        if not hasattr(step, "transform_one"):
            raise ValueError(f"the step {short_repr(name)} is {type_shown(step)}, not a step")
        before.append(step)
    return Steps(kind, names, before, data)


def _read(part: Any) -> Any:
    if not isinstance(part, list):
        return decode(part)
    tag, *rest = part
    reader = _READERS.get(tag)
    return decode(part) if reader is None else reader(*rest)


def _read_numpy(dtype: str, data: str) -> Any:
    import numpy as np

    kind = np.dtype(dtype)
    if kind.kind not in "biufU":
        raise ValueError(f"a number has the dtype {short_repr(dtype)}")
    if kind.itemsize == 0:
        return np.str_("")
    (value,) = np.frombuffer(bytes.fromhex(data), dtype=kind)
    return value


def _read_rolling(size: Any, obj: Any, window: Any) -> Any:
    utils = module_of("utils", "a Rolling")
    inner, entries = _read(obj), _read(window)
    if type(size) is not int or type(inner).__name__ not in ("Mean", "Var"):
        raise ValueError("a Rolling is not of a Mean or a Var")
    if not isinstance(entries, list) or len(entries) > size:
        raise ValueError("a Rolling has more values than its window can hold")
    for entry in entries:
        (args, params) = entry
        if not (isinstance(args, tuple) and all(map(_number, args)) and params == {}):
            raise ValueError("a Rolling has values that are not numbers in its window")
    rolling: Any = utils.Rolling(type(inner), window_size=size)
    rolling.obj = inner
    rolling.window.extend(entries)
    return rolling


def _read_sorted(unsorted: Any, data: Any) -> Any:
    utils = module_of("utils", "a SortedWindow")
    window, values = _read(unsorted), _read(data)
    if sorted(window) != values or not all(map(_number, values)):
        raise ValueError("a SortedWindow is not sorted, or not of numbers")
    made: Any = utils.SortedWindow(size=window.maxlen)
    made.data = values
    made.unsorted_window = window
    return made


def _read_tokenizer(name: str, params: Any) -> Any:
    # by name from the table, as for River's classes: this folder must not import the tokenizers
    return getattr(importlib.import_module(TOKENIZERS[name]), name)(**_read(params))


def _read_object(name: str, given: Any, kept: Any) -> Any:
    kind = KINDS.get(name)
    if kind is None:
        raise UnknownStep(f"needs the class {name}, which this version does not know")
    cls = _class_of(name)
    params, state = _read(given), _read(kept)
    arguments = params.pop("*", [])
    for part in params.keys() - _taken(cls, kind) | state.keys() - kind.kept.keys() - set(
        kind.packed
    ):
        raise UnknownStep(f"needs {part} of the class {name}, which this version does not know")
    for part, check in kind.given.items():
        if part in params and not check(params[part]):
            raise ValueError(f"{name} has {part}={short_repr(params[part])}")
    if name == "Pipeline":
        return cls(*_checked(name, kind, state)["steps"].items())
    made = cls(*arguments, **params)
    if name == "Select":  # it gives the features in this order, and sums depend on it
        made.keys = dict.fromkeys(arguments)
    for attribute, value in _checked(name, kind, state).items():
        own = getattr(made, attribute)
        if isinstance(own, dict):
            own.clear()
            dict.update(own, value)
        else:
            setattr(made, attribute, value)
    for attribute, form in kind.packed.items():
        getattr(made, attribute).__setstate__(_repacked(name, form, state[attribute]))
    return made


def _checked(name: str, kind: Kind, state: dict[str, Any]) -> dict[str, Any]:
    for attribute, check in kind.kept.items():
        if attribute not in state:
            raise ValueError(f"{name} has no {attribute}")
        if not check(state[attribute]):
            raise ValueError(f"{name} has {attribute}={short_repr(state[attribute])}")
    return {attribute: state[attribute] for attribute in kind.kept}


def _repacked(name: str, form: str, values: Any) -> bytes:
    """Bytes for River's compiled code, which does not check truth values and counts itself."""
    data = struct.pack(form, *values)
    if struct.unpack(form, data) != tuple(values) or any(
        type(value) is int and not 0 <= value <= 5 for value in values
    ):
        raise ValueError(f"{name} has the numbers {short_repr(values)}")
    return data


_READERS: dict[str, Callable[..., Any]] = {
    "list": lambda *parts: list(map(_read, parts)),
    "tuple": lambda *parts: tuple(map(_read, parts)),
    "dict": lambda *items: {_read(name): _read(part) for name, part in items},
    "set": lambda *parts: set(map(_read, parts)),
    "deque": lambda size, *parts: deque(map(_read, parts), size),
    "type": _type_named,
    "numpy": _read_numpy,
    "Rolling": _read_rolling,
    "SortedWindow": _read_sorted,
    **{name: partial(_read_tokenizer, name) for name in TOKENIZERS},
    "object": _read_object,
}
