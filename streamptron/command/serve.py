"""``streamptron serve``: its options; the work is in server.py, and of HTTP in ../service."""

from __future__ import annotations

import contextlib
import signal
import typing
from typing import Any

import click

from streamptron.command.options import (
    FILE,
    CommandOfOptions,
    config_option,
    known_labels_option,
    learn_unsure_option,
    min_probability_option,
    model_option,
    new_label_option,
)
from streamptron.command.process import date_messages

if typing.TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    Option = Callable[[Callable[..., Any]], Callable[..., Any]]

HTTP = "127.0.0.1:8080"
# What is only of one of the two protocols, and its default.
OF_SPAMD = {"positive": "spam", "min_probability": 0.0, "learn_unsure": None}
OF_HTTP = {
    "sync": "always",
    "remember": 100_000,
    "remember_bytes": 256_000_000,
    "journal": 10_000,
    "keep_texts": 0,
    "keep_lessons": False,
    "known_labels": False,
    "token_file": None,
    "host_name": (),
    "max_lines": 1_000_000,
    "max_features_per_event": 100_000,
    "max_labels": 1000,
    "max_requests": 200,
    "max_watchers": 50,
}


def _count(name: str, help: str, least: int = 1) -> Option:
    """An option that is a whole number; of its default the help says."""
    default = OF_HTTP[name.strip("-").replace("-", "_")]
    return click.option(
        name, type=click.IntRange(least), default=default, show_default=True, help=help
    )


def _seconds(name: str, help: str, default: float | None = None) -> Option:
    kind = click.FloatRange(0, min_open=True)
    shown = default is not None
    return click.option(name, type=kind, default=default, show_default=shown, help=help)


@click.command(cls=CommandOfOptions)
@model_option
@config_option
@click.option(
    "--http", metavar="ADDRESS", help=f"Answer by HTTP at HOST:PORT, or FILE.  [default: {HTTP}]"
)
@click.option("--spamd", metavar="ADDRESS", help="Answer spamc at HOST:PORT, or FILE.")
@click.option("--learn", "learns", is_flag=True, help="Learn what clients say.")
@click.option("--save-every", type=click.IntRange(1), help="Save after this many lessons.")
@_seconds("--save-seconds", "Save this often, and at the end.", 30.0)
@_seconds(
    "--reload-seconds",
    "Look this often whether the model file was replaced, and load it.",
)
@new_label_option
@_seconds("--timeout", "Seconds in which a client sends its request, and takes the answer.", 60.0)
@click.option(
    "--max-size",
    type=click.IntRange(1),
    help="The most bytes of a body, a line or a mail.  [default: a MiB; of mails 50 MB]",
)
@click.option(
    "--max-clients",
    type=click.IntRange(1),
    help="Clients at once.  [default: 1000; of spamc 100, and more wait for their turn]",
)
@click.option("--positive", metavar="LABEL", default="spam", help="The label of spam, for spamc.")
@min_probability_option
@learn_unsure_option
@click.option(
    "--sync",
    type=click.Choice(["always", "1s", "never"]),
    default="always",
    show_default=True,
    help="When the disk has a lesson: before the answer, within a second, when the system likes.",
)
@_count("--remember", "Answers whose labels may come later, and lessons known by their ids.")
@_count("--remember-bytes", "The most bytes of these answers.")
@_count("--journal", "Lessons that can be taken back.")
@_count("--keep-texts", "Texts kept in memory, for the queue of what to label next.", 0)
@click.option("--keep-lessons", is_flag=True, help="Keep the log of lessons that are saved.")
@known_labels_option
@click.option(
    "--token-file",
    type=FILE,
    metavar="FILE",
    help="Lines `ask TOKEN` and `teach TOKEN`: who may do what.",
)
@click.option(
    "--host-name", multiple=True, metavar="NAME", help="Another name under which it answers."
)
@_count("--max-lines", "Lines of a request.")
@_count("--max-features-per-event", "Names of an event that is an object.")
@_count("--max-labels", "Labels of the model.")
@_count("--max-requests", "Requests in work at once.")
@_count("--max-watchers", "Clients that watch at once.", 0)
def serve(model: str, http: str | None, spamd: str | None, **given: Any) -> int:
    """Answer, and learn, as a service.

    By HTTP it takes events as JSON, lines of JSON or mails, and answers what they are; with --learn
    it also learns what clients say they are. A lesson is acknowledged when it is in the log beside
    the model, and no kill or crash loses it. Only this machine reaches it, unless --token-file says
    who may ask and who may teach. See docs/serving.md.

    With --spamd it speaks the protocol of SpamAssassin's spamd instead, for spamc and whatever else
    asks spamd. The score is the probability of spam in percent. If the server is down, spamc
    passes the mail through unclassified. With --learn it learns what `spamc
    -L spam`, `-L ham` and `-L forget` say, as the commands learn and forget do.

    No other process may write the model's file meanwhile. SIGTERM and Ctrl-C save the model and end
    it with exit code 0 and 130, SIGHUP reloads the file.

    \b
    Examples:
      streamptron serve --model news.model --learn
      curl -d '{"text": "a late goal", "id": "7"}' http://127.0.0.1:8080/predict
      curl -d '{"id": "7", "label": "sport"}' http://127.0.0.1:8080/learn
      streamptron serve --model mail.model --spamd mail.sock --learn
      spamc -U mail.sock < mail.eml
    """
    if not hasattr(signal, "SIGHUP"):
        raise OSError("serve waits for sockets and signals in a way that only Unix has")
    _check(http, spamd, given)
    if spamd is not None:
        return _spamd(model, spamd, given)
    return _http(model, http, given)


def _check(http: str | None, spamd: str | None, given: dict[str, Any]) -> None:
    """That the options are those of what is asked for."""
    if http is not None and spamd is not None:
        raise click.UsageError("give --http or --spamd, one of the two")
    if not given["learns"] and (
        given["save_every"] or given["learn_unsure"] is not None or given["new_label"]
    ):
        raise click.UsageError("without --learn nothing is learned or saved; give that too")
    others, asked = (OF_SPAMD, "--spamd") if spamd is None else (OF_HTTP, "--http")
    for name, default in others.items():
        if given[name] != default:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for {asked}; leave it out, or give that")


@contextlib.contextmanager
def _listening(
    address: str, option: str, given: socket.socket | None = None
) -> Iterator[tuple[socket.socket, str]]:
    """The socket, made or given, and how its place is written."""
    from streamptron.command.server import listen, unlink, written

    try:
        listener, place = listen(address, option) if given is None else (given, written(given))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    date_messages()
    with listener:
        try:
            yield listener, place
        finally:
            if given is None:
                unlink(listener, place)


def _spamd(model: str, address: str, given: dict[str, Any]) -> int:
    from streamptron.command.keeper import Keeper
    from streamptron.command.server import Server

    keeper = Keeper(
        model,
        writes=given["learns"],
        lines=given["save_every"],
        seconds=given["save_seconds"],
        reload_seconds=given["reload_seconds"],
        learn_unsure=given["learn_unsure"],
        unit="mail",
        new_label=given["new_label"],
    )
    server = Server(
        keeper,
        learns=given["learns"],
        positive=given["positive"],
        least=given["min_probability"],
        most=given["max_size"] or 50_000_000,
        seconds=given["timeout"],
        clients=given["max_clients"] or 100,
    )
    with _listening(address, "--spamd") as (listener, place):
        return server.run(listener, place)


def _http(model: str, http: str | None, given: dict[str, Any]) -> int:
    try:
        from streamptron.service.lines import Limits
        from streamptron.service.run import Running, is_loopback
    except ImportError as error:
        raise click.UsageError(
            f'serving by HTTP needs {error.name}: pip install "streamptron[serve]"'
        ) from None
    from streamptron.service.guard import Tokens
    from streamptron.service.served import Bounds
    from streamptron.service.service import Service, Settings
    from streamptron.service.systemd import handed_over

    bounds = Bounds(given["max_features_per_event"], given["max_labels"])
    same = (
        "learns",
        "sync",
        "save_seconds",
        "save_every",
        "reload_seconds",
        "remember",
        "remember_bytes",
        "journal",
        "keep_texts",
        "keep_lessons",
        "new_label",
        "known_labels",
    )
    service = Service(model, Settings(bounds=bounds, **{name: given[name] for name in same}))
    tokens = None
    if given["token_file"] is not None:
        with open(given["token_file"], encoding="utf-8") as file:
            tokens = Tokens(file.read(), given["token_file"])
    limits = Limits(
        given["max_size"] or (50_000_000 if _is_of_mails(model) else 1 << 20),
        given["max_lines"],
        given["timeout"],
        given["max_watchers"],
    )
    found = handed_over() if http is None else None
    with _listening(http or HTTP, "--http", found) as (listener, place):
        if tokens is None and not is_loopback(listener):
            raise click.UsageError(
                f"--http {place}: other machines reach it; give --token-file, or 127.0.0.1"
            )
        return Running(
            service,
            listener,
            place,
            tokens=tokens,
            hosts=given["host_name"],
            limits=limits,
            most=(given["max_requests"], given["max_clients"] or 1000),
        ).run()


def _is_of_mails(path: str) -> bool:
    """Whether a model reads mails, whose attachments come with them."""
    from streamptron.doors.texts import MailDoor
    from streamptron.modelfile.read import read

    with contextlib.suppress(OSError, ValueError):
        return isinstance(read(path, mmap=True).tokenizer, MailDoor)
    return False
