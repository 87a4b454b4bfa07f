"""``streamptron serve``: its options; the service itself is in ../service."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
from typing import TYPE_CHECKING, Any, cast

import click

from streamptron.command import options
from streamptron.command.folder import FOLDER_OPTIONS, SECTIONS, check, created
from streamptron.common.checks import jobs_of
from streamptron.common.process import date_messages

if TYPE_CHECKING:
    import socket

    from streamptron.service.models import Folder, One
    from streamptron.service.run import Door
    from streamptron.service.service import Settings


HTTP = "127.0.0.1:8080"
OF_MAILS = 50_000_000  # the most bytes of a mail
# The options of only one of the two protocols, with their defaults.
OF_SPAMD = {"min_probability": 0.0}
OF_HTTP = {
    "token_file": None,
    "host_name": (),
    "max_lines": 1_000_000,
    "max_requests": 200,
    "max_watchers": 50,
    "jobs": None,
}


@click.command(cls=options.CommandOfOptions, sections=SECTIONS)
@click.option("--model", "-m", type=options.FILE, metavar="FILE", help="The model file.")
@click.option(
    "--models",
    type=options.FILE,
    metavar="FOLDER",
    help="Serve each FOLDER/NAME.model, at /m/NAME/, instead.",
)
@click.option(
    "--shadow",
    type=options.FILE,
    metavar="FILE",
    help="A second model that gets the same requests and lessons, but answers no client; with "
    "--models a folder of them.",
)
@options.config_option
@click.option(
    "--http", metavar="ADDRESS", help=f"Answer by HTTP at HOST:PORT, or FILE.  [default: {HTTP}]"
)
@click.option("--spamd", metavar="ADDRESS", help="Answer spamc at HOST:PORT, or FILE.")
@click.option("--learn", "learns", is_flag=True, help="Learn what clients say.")
@options.count("--save-every", "Save after this many lessons.")
@options.seconds("--save-seconds", "Save this often, and at the end.", 30.0)
@options.reload_seconds_option
@options.new_label_option
@options.seconds(
    "--timeout", "Seconds that a client has to send a request, and to read the answer.", 60.0
)
@options.count(
    "--max-size",
    "The most bytes of a body, a line or a mail.  [default: 1 MiB; for mails 50 MB]",
)
@options.count("--max-clients", "Clients at once.  [default: 1000; for spamc 100, others wait]")
@click.option(
    "--positive",
    metavar="LABEL",
    help="The label of spam, for spamc  [default: spam]; for a new perceptron its true label.",
)
@options.min_probability_option
@options.learn_unsure_option
@click.option(
    "--sync",
    type=click.Choice(["always", "1s", "never"]),
    default="always",
    show_default=True,
    help="Sync a lesson to disk before the answer, within a second, or leave it to the system.",
)
@options.count("--remember", "How many answers and lessons to remember by id.", 100_000)
@options.count("--remember-bytes", "The most bytes that these answers may take.", 256_000_000)
@options.count("--journal", "How many lessons can be taken back.  [default: 10,000; for mails 500]")
@options.count(
    "--keep-texts", "How many texts to keep in memory, for the queue of what to label next.", 0, 0
)
@click.option("--keep-lessons", is_flag=True, help="Keep old logs of lessons after a save.")
@options.known_labels_option
@click.option(
    "--token-file",
    type=options.FILE,
    metavar="FILE",
    help="Lines `ask TOKEN` and `teach TOKEN`: who may do what.",
)
@click.option("--host-name", multiple=True, metavar="NAME", help="Another host name to answer to.")
@options.count("--max-lines", "The most lines of a request.", 1_000_000)
@options.count("--max-features-per-event", "The most names in an event that is an object.", 100_000)
@options.count("--max-labels", "The most labels of the model.", 1000)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    help="Threads that answer lines, without --learn.  [default: one per core, at most 4]",
)
@options.count("--max-requests", "The most requests in work at once.", 200)
@options.count("--max-watchers", "The most clients that watch at once.", 50, 0)
@FOLDER_OPTIONS
def serve(
    model: str | None, models: str | None, http: str | None, spamd: str | None, **given: Any
) -> int:
    """Answer, and learn, as a service.

    Over HTTP it takes events as JSON, JSON lines or mails, and answers with their labels; with
    --learn it also learns the labels that clients send. A lesson is acknowledged only when it is in
    the log beside the model, so no kill or crash loses it. Only this machine can reach the server,
    unless --token-file says who may ask and who may teach. See docs/serving.md.

    With --spamd it speaks the protocol of SpamAssassin's spamd, for spamc and other clients of
    spamd. The score is the probability of spam in percent. If the server is down, spamc passes the
    mail through unclassified. With --learn it learns what `spamc -L spam`, `-L ham` and `-L forget`
    say, as the commands learn and forget do. Add --http to serve both with one model; lessons are
    the same, whichever way they come.

    With --models it serves all models of a folder, each at /m/NAME/ instead of /; /models lists
    them. The least recently used ones are saved and closed, and opened again when needed. --create
    makes new ones, with the same options as train. The user that spamc names (`spamc -u NAME`) gets
    the model of that name, or else the one of --user-model.

    No other process may write the model's file meanwhile. SIGTERM and Ctrl-C save the model and end
    the server with exit code 0 or 130; SIGHUP reloads the file.

    \b
    Examples:
      streamptron serve --model news.model --learn
      curl -d '{"text": "a late goal", "id": "7"}' http://127.0.0.1:8080/predict
      curl -d '{"id": "7", "label": "sport"}' http://127.0.0.1:8080/learn
      streamptron serve --model mail.model --spamd mail.sock --http 127.0.0.1:8080 --learn
      spamc -U mail.sock < mail.eml
      streamptron serve --models FOLDER --learn --create --ngrams 1,2
    """
    if not hasattr(signal, "SIGHUP"):
        raise OSError("serve waits for sockets and signals in a way that only Unix has")
    _check(http, spamd, given)
    check(model, models, spamd, given)
    from streamptron.service.models import Folder, One
    from streamptron.service.run import Running
    from streamptron.service.served import is_of_mails
    from streamptron.service.service import Service

    settings = _settings(given)
    user = given["user_model"]
    mails = given["events"] == "mail" or spamd is not None or (model and is_of_mails(model))
    found: One | Folder
    if model is not None:
        found = One(Service(model, settings))
    else:
        found = Folder(
            cast("str", models),
            settings,
            most=given["max_models"],
            most_bytes=given["max_open_bytes"],
            create=created(given) if given["create"] and user is None else None,
            like=user if given["create"] else None,
        )
    with contextlib.ExitStack() as stack:
        doors: list[Door] = []
        if http is not None or spamd is None:
            doors.append(_web(stack, found, http, bool(mails), given))
        if spamd is not None:
            doors.append(_spamd(stack, found, spamd, given))
        return Running(found, doors).run()


def _check(http: str | None, spamd: str | None, given: dict[str, Any]) -> None:
    """Raise a usage error for an option whose protocol, or --learn, was not asked for."""
    if not given["learns"] and (
        given["save_every"] or given["learn_unsure"] is not None or given["new_label"]
    ):
        raise click.UsageError("without --learn nothing is learned or saved; give that too")
    if given["shadow"] is not None and not given["learns"]:
        raise click.UsageError("--shadow learns what the model does; give --learn, too")
    if given["jobs"] is not None and given["learns"]:
        raise click.UsageError("--jobs is for servers without --learn; leave one of them out")
    for names, asked, there in (
        (OF_SPAMD, "--spamd", spamd is not None),
        (OF_HTTP, "--http", http is not None or spamd is None),
    ):
        for name, default in names.items():
            if given[name] != default and not there:
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option} is for {asked}; leave it out, or give that")


def _settings(given: dict[str, Any]) -> Settings:
    from streamptron.service.served import Bounds
    from streamptron.service.service import Settings

    bounds = Bounds(given["max_features_per_event"], given["max_labels"])
    names = {each.name for each in dataclasses.fields(Settings)} & set(given)
    return Settings(bounds=bounds, **{name: given[name] for name in names})


def _listening(
    stack: contextlib.ExitStack, address: str, option: str, given: socket.socket | None = None
) -> tuple[socket.socket, str]:
    """A new socket, or the one given, and its address as text."""
    from streamptron.service.sockets import listen, unlink, written

    try:
        listener, place = listen(address, option) if given is None else (given, written(given))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    date_messages()
    if given is None:
        stack.callback(unlink, listener, place)
    stack.enter_context(listener)
    return listener, place


def _spamd(
    stack: contextlib.ExitStack, models: One | Folder, address: str, given: dict[str, Any]
) -> Door:
    from streamptron.service.models import NAME, NAMED, Folder
    from streamptron.service.spamd import Spamd

    user = given["user_model"]
    if isinstance(models, Folder) and user is not None:
        if not NAME.fullmatch(user):
            raise click.UsageError(f"--user-model {user} is not a model's name, {NAMED}")
        if not os.path.isfile(models.file(user)):
            raise FileNotFoundError(f"--user-model {user}: there is no {models.file(user)}")
    return Spamd(
        models,
        *_listening(stack, address, "--spamd"),
        positive=given["positive"] or "spam",
        least=given["min_probability"],
        most=given["max_size"] or OF_MAILS,
        seconds=given["timeout"],
        clients=given["max_clients"] or 100,
        default=user,
    )


def _web(
    stack: contextlib.ExitStack,
    models: One | Folder,
    http: str | None,
    mails: bool,
    given: dict[str, Any],
) -> Door:
    try:
        from streamptron.service.http import Site
        from streamptron.service.lines import Limits
        from streamptron.service.web import Web
    except ImportError as error:
        raise click.UsageError(
            f'serving by HTTP needs {error.name}: pip install "streamptron[serve]"'
        ) from None
    from streamptron.service.guard import Tokens
    from streamptron.service.sockets import is_loopback
    from streamptron.service.systemd import handed_over

    tokens = None
    if given["token_file"] is not None:
        with open(given["token_file"], encoding="utf-8") as file:
            tokens = Tokens(file.read(), given["token_file"])
    limits = Limits(
        given["max_size"] or (OF_MAILS if mails else 1 << 20),
        given["max_lines"],
        given["timeout"],
        given["max_watchers"],
        given["jobs"] or min(4, jobs_of(-1)),
    )
    found = handed_over() if http is None else None
    listener, place = _listening(stack, http or HTTP, "--http", found)
    if tokens is None and not is_loopback(listener):
        raise click.UsageError(
            f"--http {place}: other machines reach it; give --token-file, or 127.0.0.1"
        )
    return Web(
        Site(models, limits),
        listener,
        place,
        tokens=tokens,
        hosts=given["host_name"],
        seconds=given["timeout"],
        most=(given["max_requests"], given["max_clients"] or 1000),
    )
