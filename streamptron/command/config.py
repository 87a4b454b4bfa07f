"""A configuration file: options of commands, in TOML, that need not be typed again.

    model = "/var/lib/streamptron/mail.model"    # for every command that has a --model

    [predict]                                    # for this one
    learn = true
    save-seconds = 60
    class-weight = { spam = 2.0 }

A key is an option without its dashes. What the file says stands before the words of the command
line, so that these win: the last one of an option counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from streamptron.common.names import short_repr

NAME = "--config"


def configured(
    command: click.Command, every: Callable[[], dict[str, click.Command]], words: list[str]
) -> tuple[str | None, list[str]]:
    """The configuration file that the words of a command line name, if any; and the words, with
    those before them that the file stands for. `every` gives all commands by their names.

    Raises
    ------
    click.UsageError
        If the file is not TOML, has a key that is not an option, or a value of the wrong kind.
    """
    path, words = _taken(words) if _has(command) else (None, words)
    if path is None:
        return None, words
    import tomllib  # only needed here, and slow to import

    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except ValueError as error:  # UnicodeDecodeError, too
        raise click.UsageError(f"{path}: it is not TOML: {error}") from None
    options = {name: _options(each) for name, each in every().items() if _has(each)}
    mine = options[str(command.name)]
    everything = {name: option for each in options.values() for name, option in each.items()}
    values = {}
    for key, value in found.items():
        if key in options and isinstance(value, dict):
            for name in value:
                _check(name, options[key], f"{path}: in [{key}] the key")
            if key == command.name:
                values.update(value)
        else:
            _check(key, {**everything, **dict.fromkeys(options)}, f"{path}: the key")
            if key in mine:
                values = {key: value, **values}  # what is for this command alone counts more
    before: list[str] = []
    for key, value in values.items():
        option = mine[key]
        if not option.multiple or not _is_given(option, words):
            before += _words(option, key, value, path)
    return path, [*before, *words]


def _taken(words: list[str]) -> tuple[str | None, list[str]]:
    """The file that the words name, and the other words."""
    for at, word in enumerate(words):
        if word == "--":
            break
        if word == NAME and at + 1 < len(words):
            return words[at + 1], words[:at] + words[at + 2 :]
        if word.startswith(f"{NAME}="):
            return word.partition("=")[2], words[:at] + words[at + 1 :]
    return None, words


def _has(command: click.Command) -> bool:
    return any(NAME in option.opts for option in command.params)


def _options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their keys."""
    return {
        typed.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option)
        for typed in option.opts
        if typed.startswith("--") and typed != NAME
    }


def _check(key: str, known: dict[str, Any], where: str) -> None:
    if key not in known:
        import difflib

        near = difflib.get_close_matches(key, known, 1, 0.0)
        raise click.UsageError(
            f"{where} {short_repr(key)} is not an option; the nearest is {near[0]}"
        )


def _is_given(option: click.Option, words: list[str]) -> bool:
    return any(word.partition("=")[0] in option.opts for word in words)


def _words(option: click.Option, key: str, value: Any, path: str) -> list[str]:
    """The words of the command line that say what a key and its value say."""
    typed = f"--{key}"
    if option.is_flag:
        if isinstance(value, bool):
            return [typed] * value
        raise click.UsageError(f"{path}: {key} = {short_repr(value)}: give true or false")
    if isinstance(value, dict) and option.multiple:
        value = [f"{name}={_text(each, key, path)}" for name, each in value.items()]
    texts = [_text(each, key, path) for each in (value if isinstance(value, list) else [value])]
    if not option.multiple:
        texts = [",".join(texts)]
    return [f"{typed}={text}" for text in texts]


def _text(value: Any, key: str, path: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    raise click.UsageError(f"{path}: {key} = {short_repr(value)}: give a text or a number")
