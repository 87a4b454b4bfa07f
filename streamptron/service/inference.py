"""A second API: the Open Inference Protocol, which KServe's clients use.

    POST /v2/models/news/infer
    {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["a goal", "a law"]}]}

Each input of a request is a column, with a value for each event. A model of texts or mails takes
one column. A model of fields, or of named features, takes any number: each event consists of its
values in all columns, without nulls. The answer has the columns `label` and `probability`, or
`labels`, as JSON.
"""

from __future__ import annotations

import json
import typing
from typing import Any

from streamptron.common.names import short_repr
from streamptron.common.version import RELEASE
from streamptron.service.bad import Bad

if typing.TYPE_CHECKING:
    from streamptron.service.service import Service

NUMBERS = (
    *("FP64", "FP32", "FP16", "INT64", "INT32", "INT16", "INT8"),
    *("UINT64", "UINT32", "UINT16", "UINT8", "BOOL"),
)
SERVER = {"name": "streamptron", "version": RELEASE, "extensions": []}


def about(service: Service) -> dict[str, Any]:
    """A model's columns. If a model takes several columns, their names are not listed."""
    kind, several = service.model.kind, service.model.several
    columns = [("labels", "BYTES")] if several else [("label", "BYTES"), ("probability", "FP64")]
    given = [(kind, "BYTES")] if kind in ("text", "mail") else []
    return {
        "name": service.name,
        "platform": "streamptron",
        "inputs": [_described(*each) for each in given],
        "outputs": [_described(*each) for each in columns],
    }


def _described(name: str, datatype: str) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": [-1]}


def _column(given: Any) -> tuple[str, list[Any]]:
    """An input's name and values, checked."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise Bad(400, "give each input a name", "inputs", given)
    name, values, shape = given["name"], given.get("data"), given.get("shape")
    datatype = given.get("datatype")
    if datatype != "BYTES" and datatype not in NUMBERS:
        wanted = f"BYTES or one of {', '.join(NUMBERS)}"
        raise Bad(
            400, f"{name}: datatype={short_repr(datatype)}; give {wanted}", "datatype", datatype
        )
    if not isinstance(values, list):
        raise Bad(400, f"{name}: give data, a list", "data", values)
    if values and all(isinstance(each, list) and len(each) == 1 for each in values):
        values = [each[0] for each in values]  # from shape (n, 1)
    if shape not in ([len(values)], [len(values), 1]):
        raise Bad(
            400, f"{name}: shape={short_repr(shape)}, but data has {len(values)}", "shape", shape
        )
    kinds = (str,) if datatype == "BYTES" else (int, float)
    for value in values:
        if not (value is None or isinstance(value, kinds)):
            raise Bad(
                400, f"{name}: {short_repr(value)} is not of datatype {datatype}", "data", value
            )
    return name, values


def events_of(service: Service, said: Any) -> list[dict[str, Any]]:
    """The events of a request, as /predict takes them."""
    if not isinstance(said, dict) or not isinstance(said.get("inputs"), list) or not said["inputs"]:
        raise Bad(400, 'give "inputs", a list', "inputs")
    columns = dict(map(_column, said["inputs"]))
    sizes = {len(values) for values in columns.values()}
    if len(columns) < len(said["inputs"]) or len(sizes) > 1:
        raise Bad(400, "give each input once, and the same number of values in each", "inputs")
    kind = service.model.kind
    if kind in ("text", "mail"):
        if list(columns) != [kind]:
            raise Bad(
                400, f"the model takes one input, {kind}", "inputs", short_repr(list(columns))
            )
        events = [{kind: value} for value in columns[kind]]
    else:
        rows = zip(*columns.values(), strict=True)
        events = [
            {kind: {k: v for k, v in zip(columns, row, strict=True) if v is not None}}
            for row in rows
        ]
    return [{**event, "remember": False} for event in events] if service.learns else events


def outputs_of(service: Service, said: Any, found: list[Any]) -> dict[str, Any]:
    """The answer to a request, from the answers of /predict for its events."""
    answers: list[dict[str, Any]] = []
    for at, each in enumerate(found):
        if isinstance(each, Bad):
            raise Bad(each.status, f"event {at}: {each.message}", each.field, each.value)
        answers.append(json.loads(each) if isinstance(each, str) else each)
    if service.model.several:
        columns = {"labels": ("BYTES", [json.dumps(each["labels"]) for each in answers])}
    else:
        if any(each["label"] is None for each in answers):
            raise Bad(503, "the model has learned nothing yet")
        labels = [each["label"] for each in answers]
        columns = {
            "label": ("BYTES", [k if isinstance(k, str) else json.dumps(k) for k in labels]),
            "probability": ("FP64", [each["probability"] for each in answers]),
        }
    outputs = [
        {"name": name, "datatype": datatype, "shape": [len(data)], "data": data}
        for name, (datatype, data) in columns.items()
    ]
    id = {"id": said["id"]} if isinstance(said.get("id"), str) else {}
    return {"model_name": service.name, **id, "outputs": outputs}
