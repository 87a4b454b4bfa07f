"""``streamptron serve``: its options; the work is in server.py."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

import click

from streamptron.command.options import (
    FILE,
    CommandOfOptions,
    config_option,
    learn_unsure_option,
    min_probability_option,
    model_option,
    new_label_option,
)
from streamptron.command.process import date_messages


@click.command(cls=CommandOfOptions)
@model_option
@config_option
@click.option("--socket", "path", type=FILE, metavar="FILE", help="Answer at this Unix socket.")
@click.option("--listen", "place", metavar="HOST:PORT", help="Answer at this TCP port.")
@click.option("--positive", metavar="LABEL", default="spam", help="The label of spam.")
@min_probability_option
@click.option("--learn", "learns", is_flag=True, help="Learn the mails of TELL, `spamc -L`.")
@learn_unsure_option
@new_label_option
@click.option("--save-every", type=click.IntRange(1), help="Save after this many mails learned.")
@click.option(
    "--save-seconds",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Save this often, and at the end.",
)
@click.option(
    "--reload-seconds",
    type=click.FloatRange(0, min_open=True),
    help="Look this often whether there is another model in the file, and take it.",
)
@click.option(
    "--max-size", type=click.IntRange(1), default=50_000_000, help="The most bytes of a mail."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds in which a client sends its mail, and then takes the answer.",
)
@click.option(
    "--max-clients",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Clients at once; more wait for their turn.",
)
def serve(model: str, path: str | None, place: str | None, **given: Any) -> int:
    """Judge mails that come through a socket, and learn them.

    It speaks the protocol of SpamAssassin's spamd, so that spamc is its client, and whatever else
    asks spamd. The score is the probability of spam in percent. If the server is down, spamc passes
    the mail through unclassified.

    With --learn it learns what `spamc -L spam`, `-L ham` and `-L forget` say, as the commands learn
    and forget do. No other process may write the model's file meanwhile. SIGTERM and Ctrl-C save
    the model and end it with exit code 0 and 130, SIGHUP reloads the file.

    \b
    Examples:
      streamptron serve --model mail.model --socket mail.sock --learn
      spamc -U mail.sock < mail.eml
      spamc -U mail.sock -L ham < mail.eml
    """
    if not hasattr(signal, "SIGHUP"):
        raise OSError("serve waits for sockets and signals in a way that only Unix has")
    learns = given["learns"]
    if not learns and (
        given["save_every"] or given["learn_unsure"] is not None or given["new_label"]
    ):
        raise click.UsageError("without --learn nothing is learned or saved; give that too")
    if (path is None) == (place is None):
        raise click.UsageError("give --socket FILE or --listen HOST:PORT, one of the two")
    from streamptron.command.keeper import Keeper
    from streamptron.command.server import Server, listen

    keeper = Keeper(
        model,
        writes=learns,
        lines=given["save_every"],
        seconds=given["save_seconds"],
        reload_seconds=given["reload_seconds"],
        learn_unsure=given["learn_unsure"],
        unit="mail",
        new_label=given["new_label"],
    )
    server = Server(
        keeper,
        learns=learns,
        positive=given["positive"],
        least=given["min_probability"],
        most=given["max_size"],
        seconds=given["timeout"],
        clients=given["max_clients"],
    )
    try:
        listener, written = listen(path, place)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    date_messages()
    with listener:
        try:
            return server.run(listener, written)
        finally:
            if path is not None:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
