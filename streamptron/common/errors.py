"""Errors about parameters, which each language and tool words in its own way, and model files."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import Any, Self

from streamptron.common.names import short_repr

# Writes a parameter from its name, its value as text, and the label that the value is for.
Written = Callable[[str, str | None, str | None], str]

# What may be raised while an object is built from damaged or forged data.
WRONG = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)

_parse = string.Formatter().parse


class ParameterError(ValueError):
    """A parameter that is invalid, or contradicts another one.

    A value of a wrong type is also a TypeError.

    Parameters
    ----------
    name, value
        The parameter.
    wanted
        What it must be.
    sentence
        What to say instead of "it must be ...". In it ``{name}`` stands for a parameter as it was
        given, ``{name:value}`` for one with another value and ``{name!s}`` for the name alone.
    given
        The values of other parameters in the sentence.
    label
        The label that the value is for, if the parameter has one value per label.

    Attributes
    ----------
    name : str
        The parameter's name.
    value
        What was given.
    wanted : str
        What it must be.

    Examples
    --------
    >>> from streamptron import ParameterError, Perceptron

    >>> try:
    ...     Perceptron(margin=-1)
    ... except ParameterError as error:
    ...     print(error.name, error.value, error.wanted, sep=" / ")
    margin / -1 / a number of at least 0 and at most 1e+50
    """

    def __init__(
        self,
        name: str,
        value: Any,
        wanted: str = "",
        sentence: str | None = None,
        given: Mapping[str, Any] | None = None,
        label: Any = None,
    ) -> None:
        self._made_of = name, value, wanted, sentence, given, label
        self.name = name
        self.value = value
        self.label = label
        self._sentence = sentence
        self._given = {name: value, **(given or {})}
        self.wanted = wanted
        super().__init__(self.words())
        self.wanted = wanted or str(self)

    def words(self, written: Written | None = None) -> str:
        """The error as a sentence.

        Parameters
        ----------
        written
            A function that writes a parameter, given its name, its value as text (None: write the
            name alone) and the label that the value is for, or None. The default writes it as
            Python does, ``name=value``.
        """
        written = written or in_python
        if self._sentence is None:
            label = None if self.label is None else short_repr(self.label)
            return f"{written(self.name, short_repr(self.value), label)}; it must be {self.wanted}"
        words = ""
        for plain, name, value, alone in _parse(self._sentence):
            words += plain
            if name is not None:
                given = None if alone else value or short_repr(self._given[name])
                label = self.label if name == self.name and given is not None else None
                words += written(name, given, None if label is None else short_repr(label))
        return words

    def worded(self, written: Written) -> Self:
        """The same error in other words, as `words` gives them."""
        error = type(self)(*self._made_of)
        error.args = (self.words(written),)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of


class ParameterTypeError(ParameterError, TypeError):
    """A parameter of a wrong type."""


def in_python(name: str, value: str | None, label: str | None) -> str:
    """A parameter as Python writes it."""
    place = name if label is None else f"{name}[{label}]"
    return place if value is None else f"{place}={value}"


def plain(text: str) -> str:
    """A text with its braces escaped, for the sentence of a ParameterError."""
    return text.replace("{", "{{").replace("}", "}}")


def contradiction(sentence: str, given: Mapping[str, Any]) -> ParameterError:
    """An error about parameters that contradict each other; `name` is the first in the sentence."""
    named = [name for _, name, _, _ in _parse(sentence) if name is not None]
    others = {name: given[name] for name in named if name in given}
    return ParameterError(named[0], others.get(named[0]), "", sentence, others)


class ModelFileError(ValueError):
    """Not a model file, a damaged one, or one that this version cannot read."""
