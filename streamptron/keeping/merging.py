"""Learning on several machines: merge models, or send what each has learned as bytes."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from streamptron.common.checks import checked_bytes
from streamptron.common.errors import WRONG, ModelFileError
from streamptron.common.names import short_repr, type_shown, with_article
from streamptron.common.values import encoded_parameters
from streamptron.doors.state import delta_read
from streamptron.keeping import mergeable
from streamptron.keeping.container import Texts, labels_text, objects_text, packed, text_of
from streamptron.keeping.layout import ALIGNMENT, COUNTS

NAMES_DEPTH = 100  # how deeply tuples in names may be nested


def merge(models: Iterable[Any], since: Any = None) -> Any:
    """Merge models that learned separately, each from its share of the events.

    A feature's weights are the mean over the models that have changed them; models that have not
    met the feature, or have learned nothing about it, do not count. The average is taken over all
    vectors of all models. Names and labels are united: those of `since` first, then each model's
    new ones, model by model. Counters are added up. The same models in the same order give the same
    bits.

    While models are merged, other threads can predict with them, but learning waits.

    Parameters
    ----------
    models
        Learners of one class with the same parameters, in memory or opened with ``mmap=True``. (For
        pipelines, give their last steps, ``model[-1]``.)
    since
        The model that all of them started from, as copies or from the same file, as it was then.
        Only what they have learned since is merged. None: they have no common past.

    Returns
    -------
    A new model, which can learn more. If only one model has learned anything since, it is a copy of
    that one; if none has, a copy of `since`.

    Raises
    ------
    TypeError
        If a model is of another class, or a VotedPerceptron, whose votes cannot be merged.
    ValueError
        If there is no model, if one is given twice, if parameters differ (the message names one),
        if hashed models have different seeds, or if a model is not a continuation of `since`: one
        that has seen as many events as `since` must equal it to the last bit.
    MemoryError
        If memory runs out.

    Examples
    --------
    >>> import copy
    >>> from streamptron import Perceptron, merge
    >>> base = Perceptron.from_weights({"free": 1.0})
    >>> here, there = copy.deepcopy(base), copy.deepcopy(base)
    >>> here.learn_one({"meeting": 1}, True)
    >>> there.learn_one({"prize": 1}, True)
    >>> merge([here, there], since=base).weights
    {'free': 1.0, 'meeting': 1.0, 'prize': 1.0}
    """
    found = _listed("models", models, "merge([here, there], since=base)")
    if not found:
        raise ValueError("there are no models to merge; give at least one")
    names = [f"models[{k}]" for k in range(len(found))]
    if since is None:
        mergeable.check_alike(found, names)
    else:
        mergeable.check_alike([since, *found], ["since", *names])
    first: dict[int, str] = {}
    for model, name in zip(found, names, strict=True):
        if first.setdefault(id(model), name) != name:
            raise ValueError(
                f"{name} is {first[id(model)]} again; give each model once, or it counts twice"
            )
    return mergeable.merged(found, since, names)


class Delta:
    """What a model has learned since it was copied from another, small enough to send.

    ``model.delta(since)`` makes a delta, ``base.apply(delta)`` learns it; in between it can be
    combined with those of other shards, pickled, or sent as bytes. It holds the weights of the
    features that have changed, new names, new labels and counters: with two labels, 20 bytes per
    feature and the new names.

    Attributes
    ----------
    base
        The digest of the model that it is based on; it can only be applied to that model.
    shards
        The numbers of the shards whose deltas it holds, in rising order.
    nbytes
        The size of its arrays.

    Examples
    --------
    >>> import copy
    >>> from streamptron import Delta, Perceptron
    >>> base = Perceptron()
    >>> shards = [copy.deepcopy(base) for _ in range(2)]
    >>> shards[0].learn_one({"free": 1}, True)
    >>> shards[1].learn_one({"meeting": 1}, False)
    >>> sent = [shard.delta(base, shard=k).to_bytes() for k, shard in enumerate(shards)]
    >>> base.apply(Delta.combine([Delta.from_bytes(data) for data in sent]))
    >>> base.weights
    {'free': 1.0, 'meeting': -1.0}
    """

    def __init__(self) -> None:
        raise TypeError("a Delta is made by model.delta(since), or Delta.from_bytes(data)")

    _parts: list[_Part]  # by shard

    @classmethod
    def _of(cls, parts: list[_Part]) -> Self:
        delta = cls.__new__(cls)
        delta._parts = parts
        return delta

    @property
    def base(self) -> str:
        """The digest of the model that it is based on."""
        return self._parts[0].base

    @property
    def shards(self) -> list[int]:
        """The numbers of the shards, in rising order."""
        return [part.shard for part in self._parts]

    @property
    def nbytes(self) -> int:
        """The size of its arrays."""
        return sum(len(data) for part in self._parts for _, data in part.arrays.values())

    def __repr__(self) -> str:
        kind = self._parts[0].name
        return f"Delta({kind} {self.base[:8]}, shards {self.shards}, {self.nbytes} bytes)"

    @staticmethod
    def combine(deltas: Iterable[Delta]) -> Delta:
        """Combine several deltas, in any order, into one.

        Applying it gives, to the last bit, what ``merge`` makes of the models in the order of their
        shards' numbers.

        Parameters
        ----------
        deltas
            Deltas of the same base, each of another shard.

        Raises
        ------
        ValueError
            If two deltas are of the same shard, or if bases or classes differ.
        """
        found = _listed("deltas", deltas, "Delta.combine([here, there])")
        for k, delta in enumerate(found):
            _check_delta(f"deltas[{k}]", delta)
        parts = [part for delta in found for part in delta._parts]
        if not parts:
            raise ValueError("there are no deltas to combine; give at least one")
        parts.sort(key=lambda part: part.shard)
        for part, after in itertools.pairwise(parts):
            if part.shard == after.shard:
                raise ValueError(
                    f"shard {part.shard} occurs twice; give each shard its own number: "
                    "model.delta(since, shard=...)"
                )
            if part.base != after.base:
                raise ValueError(
                    f"shard {after.shard} continues another model than shard {part.shard}; "
                    "combine only deltas of one base"
                )
            _check_same(part, after)
        return Delta._of(parts)

    def to_bytes(self) -> bytes:
        """The delta as bytes, which ``Delta.from_bytes`` reads, here or elsewhere.

        Raises
        ------
        TypeError
            If a label or feature name is an object that no model file can hold.
        """
        return b"".join(block for part in self._parts for block in part.packed())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what ``to_bytes`` has written. Nothing in it is run.

        Parameters
        ----------
        data
            The bytes, or any object with a buffer of bytes.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        ModelFileError
            If the bytes are damaged, cut off, not a delta, or from a newer version.
        """
        data = checked_bytes("data", data, "the bytes of a Delta")
        parts: list[_Part] = []
        at = 0
        while at < len(data) or not parts:
            part, at = _read(data, at)
            parts.append(part)
        with _damaged():
            return cls._of(cls.combine([cls._of([part]) for part in parts])._parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)


def _listed(name: str, values: Any, example: str) -> list[Any]:
    """Several models or deltas as a list."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} is {short_repr(values)}, {type_shown(values)}; give a list of {name}: "
            f"{example}"
        )
    return list(values)


def _check_delta(name: str, delta: Any) -> None:
    if not isinstance(delta, Delta):
        raise TypeError(
            f"{name} is {short_repr(delta)}, {type_shown(delta)}; it must be a Delta: that of "
            "model.delta(since) or Delta.from_bytes(data)"
        )


class _Part(NamedTuple):
    """The delta of one shard."""

    name: str  # of the class
    base: str
    shard: int
    params: dict[str, Any]
    state: dict[str, Any]
    arrays: dict[str, Any]

    @property
    def n_seen(self) -> int:
        """How many events its model has seen."""
        n: int = json.loads(self.state["counters"])[0]
        return n

    def packed(self) -> list[Any]:
        """A header and the arrays' bytes, padded so that another delta may follow."""
        state = self.state
        texts = {
            "class": text_of(self.name),
            "base": text_of(self.base),
            "shard": text_of(self.shard),
            "parameters": text_of(encoded_parameters(self.params)),
            "labels": labels_text(state["labels"]),
            "objects": objects_text(state["objects"]),
            **{name: state[name] for name in COUNTS if name in state},
        }
        pieces = packed(texts, self.arrays, delta=True)
        return [*pieces, bytes(-sum(map(len, pieces)) % ALIGNMENT)]


@contextlib.contextmanager
def _damaged() -> Iterator[None]:
    """Turn errors about invalid bytes into a ModelFileError that says what to do."""
    try:
        yield
    except ModelFileError:
        raise
    except WRONG as error:
        raise ModelFileError(f"the delta is damaged: {error}; ask for it again") from error


def _read(data: bytes, at: int) -> tuple[_Part, int]:
    """The part that begins at an offset, checked, and where it ends."""
    found = delta_read(data, at)
    if len(found) == 2:
        words, foreign = found
        wrong = "the delta " if foreign else "the delta is damaged: "
        raise ModelFileError(f"{wrong}{words}{'' if foreign else '; ask for it again'}")
    places, header, size = found
    body = at + len(header)
    arrays = {
        name: (shape, data[body + start : body + end])
        for name, (shape, start, end) in places.items()
    }
    with _damaged():
        its = Texts(header)
        name, base, shard = its.part("class"), its.part("base"), its.part("shard")
        if not (isinstance(name, str) and isinstance(base, str)):
            raise ValueError("its class or its base is not a text")
        params = its.parameters("parameters")
        return _Part(name, base, checked_shard(shard), params, its.kept(), arrays), at + size


def checked_shard(shard: Any) -> int:
    """A shard's number, or an error."""
    if isinstance(shard, bool) or not isinstance(shard, int):
        raise TypeError(f"shard={short_repr(shard)}; it must be an int of at least 0")
    if not 0 <= shard < 2**53:
        raise ValueError(f"shard={short_repr(shard)}; it must be an int of at least 0")
    return shard


def _check_same(part: _Part, other: _Part) -> None:
    """Check that two parts can be merged; ``apply`` checks the parameters that one omits."""
    if part.name != other.name:
        raise ValueError(
            f"shard {other.shard} is of {with_article(other.name)} and shard "
            f"{part.shard} of {with_article(part.name)}"
        )
    mergeable.check_parameters(
        other.params, part.params, f"shard {other.shard}", f"shard {part.shard}"
    )


def delta_of(model: Any, since: Any, shard: int) -> Delta:
    """See ``model.delta``."""
    checked_shard(shard)
    mergeable.check_alike([since, model], ["since", "the model"])
    base = mergeable.digest(since)
    state, arrays = mergeable.delta_state(model, since)
    params = dict(model._get_params())
    return Delta._of([_Part(type(model).__name__, base, shard, params, state, arrays)])


def apply_delta(model: Any, delta: Delta) -> None:
    """See ``model.apply``."""
    _check_delta("delta", delta)
    mergeable.check_alike([model], ["the model"])
    first = delta._parts[0]
    name = type(model).__name__
    if first.name != name:
        raise ValueError(
            f"the delta is of {with_article(first.name)}, and the model is {with_article(name)}"
        )
    params = dict(model._get_params())
    for part in delta._parts:
        given = part.params
        if given.keys() != params.keys():  # a C program omits parameters that it was not given
            with _damaged():
                given = dict(type(model)(**given)._get_params())
        mergeable.check_parameters(given, params, f"the delta of shard {part.shard}", "the model")

    def check(found: str) -> None:
        if found != first.base:
            raise ValueError(
                f"the delta continues the model {first.base[:8]}, and this one is {found[:8]}: "
                "it is another, or it has learned since, perhaps this very delta; nothing has "
                "changed"
            )

    before = model.n_seen
    parts = [part for part in delta._parts if part.n_seen != before or part.arrays["rows"][0][0]]
    names = [f"the delta of shard {part.shard}" for part in parts]
    mergeable.apply(model, [(part.state, part.arrays) for part in parts], names, check, NAMES_DEPTH)
