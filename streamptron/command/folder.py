"""`serve --models`: the options for a folder of models, and for new models in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import click

from streamptron.command import options
from streamptron.learners.registry import BY_NAME

OF_FOLDER = {"max_models": 1000, "max_open_bytes": 1 << 30, "create": False}
OF_NEW = options.LEARNER_OPTIONS.without("max_labels")  # --max-labels is for all models here
OF_FIELDS = ("text", "features")
SECTIONS = {
    "New models of a folder": ["create", "events", *OF_FIELDS, "learner", *OF_NEW.names],
    **options.TEXT_SECTION,
}
# By the kind of events: how they are written in files, which a new model stores.
READING: dict[str, dict[str, Any]] = {
    "text": {"format": "plain"},
    "mail": {"format": "mail", "label_by": "folder"},
    "fields": {"format": "jsonl", "label": "label"},
    "x": {"format": "svmlight"},
}
FOLDER_OPTIONS = options.Options(
    options.count("--max-models", "Models of the folder.", OF_FOLDER["max_models"]),
    options.count(
        "--max-open-bytes",
        "Memory of open models; the others are saved and closed.",
        OF_FOLDER["max_open_bytes"],
    ),
    click.option(
        "--user-model",
        metavar="NAME",
        help="With --spamd: the model for users that have none; new ones are copies of it.",
    ),
    click.option("--create", is_flag=True, help="Make a model when it is first taught."),
    click.option(
        "--events",
        type=click.Choice(list(READING)),
        help="What its events are: texts, mails, fields, or numbers and names.  [default: text]",
    ),
    click.option(
        "--text",
        metavar="FIELD",
        multiple=True,
        help="fields: one that is a text; may be repeated.",
    ),
    click.option("--features", metavar="A,B,...", help="fields: those that are features."),
    click.option(
        "--learner", type=options.Learner(list(BY_NAME)), help="Its learner, as of train."
    ),
    *OF_NEW,
    *options.TOKENIZER_OPTIONS,
)


def check(model: str | None, models: str | None, spamd: str | None, given: dict[str, Any]) -> None:
    """Raise a usage error unless the options are those of one model, or of a folder."""
    if (model is None) == (models is None):
        raise click.UsageError("give --model FILE or --models FOLDER, one of the two")
    for name, default in OF_FOLDER.items():
        if given[name] != default and models is None:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --models; leave it out, or give that")
    user = given["user_model"]
    if user is not None and (models is None or spamd is None):
        raise click.UsageError("--user-model is for --models and --spamd; leave it out")
    if given["create"] and not given["learns"]:
        raise click.UsageError("--create is for models that learn; give --learn, too")
    if given["create"] and spamd is not None and user is None:
        raise click.UsageError(
            "--spamd with --create gives each user a copy of a filter, to teach it further; give "
            "--user-model NAME, the one to copy"
        )
    new = ["events", *OF_FIELDS, "learner", *OF_NEW.names, *options.TOKENIZER_OPTIONS.names]
    asked = options.taken(new, dict(given))
    if given["positive"] is not None and spamd is None:
        asked["positive"] = given["positive"]
    if asked and user is not None:
        option = options.option_called(next(iter(asked)))
        raise click.UsageError(f"{option}: new models are copies of --user-model; leave it out")
    if asked and not given["create"]:
        option = options.option_called(next(iter(asked)))
        also = " or --spamd" if option == "--positive" else ""
        raise click.UsageError(f"{option} is for --create{also}; leave it out, or give that")


def created(given: dict[str, Any]) -> Callable[[str], Any]:
    """A function that writes a new model to a path."""
    events = given["events"] or "text"
    model = options.new_model(dict(given), {**READING[events], **_fields(events, given)})
    if events == "x":  # whose labels may be any values of JSON
        return cast("Callable[[str], Any]", model.learner.save)
    if given["known_labels"]:
        raise click.UsageError("--known-labels: a new model knows no label yet; leave it out")
    return model.save


def _fields(events: str, given: dict[str, Any]) -> dict[str, Any]:
    """The reading options for the fields of a new model's events."""
    asked = options.reading_of({name: given[name] for name in OF_FIELDS})
    if events != "fields":
        for name in asked:
            raise click.UsageError(f"--{name} is for --events fields; leave it out, or give that")
    elif not given["text"]:
        raise click.UsageError(
            "--events fields: give --text FIELD, for each field that is a text; for features alone "
            "--events x"
        )
    else:
        asked["text"] = list(given["text"])
    return asked
