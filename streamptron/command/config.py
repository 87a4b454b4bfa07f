"""A configuration file: options of commands, in TOML.

    model = "/var/lib/streamptron/mail.model"    # for every command that has --model

    [predict]                                    # for this command
    learn = true
    save-seconds = 60
    class-weight = { spam = 2.0 }

A key is an option without its dashes. The options of the file are put before the words of the
command line. As the last occurrence of an option counts, the command line wins.
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
    """The configuration file that a command line names, or None; and the words of the command line,
    with those for the file's options before them. `every` returns all commands by their names.

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
                values = {key: value, **values}  # the command's own section overrides it
    before: list[str] = []
    for key, value in values.items():
        option = mine[key]
        is_given = any(word.partition("=")[0] in option.opts for word in words)
        if not (option.multiple and is_given):
            before += _words(option, key, value, path)
    return path, [*before, *words]


def _taken(words: list[str]) -> tuple[str | None, list[str]]:
    """The configuration file in the words of a command line, and the other words."""
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


def _words(option: click.Option, key: str, value: Any, path: str) -> list[str]:
    """The words of a command line that stand for a key and its value."""
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
