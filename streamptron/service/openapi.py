"""The OpenAPI description, from which other tools make clients and tests."""

from __future__ import annotations

from typing import Any

from streamptron.common.version import RELEASE

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["field", "value", "message"],
            "properties": {"field": {}, "value": {}, "message": {"type": "string"}},
        }
    },
}
STRING, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
LABEL = {"description": "A text or a number; for some models true or false."}
ID = {"type": "string", "minLength": 1, "maxLength": 200}
NAME = {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$"}
EVENTS = {
    "text": STRING,
    "fields": {"type": "object"},
    "x": {"type": "object"},
    "mail": {"type": "string", "contentEncoding": "base64"},
}
ASKED = {
    "top": {"type": "integer", "minimum": 0, "maximum": 1000},
    "explain": {"type": "integer", "minimum": 0, "maximum": 1000},
    "remember": {"type": "boolean"},
}
TAUGHT = {"label": LABEL, "labels": {"type": "array", "items": LABEL}, "weight": NUMBER}
DONE = {"id": ID, "done": STRING, "version": WHOLE, "durable": STRING}
DOES: dict[str, tuple[str, dict[str, Any]]] = {
    "predict": ("Answer an event.", {"id": ID, **EVENTS, **ASKED}),
    "learn": ("Learn what an event is.", {"id": ID, **EVENTS, **TAUGHT}),
    "undo": ("Take a lesson back.", {"id": ID}),
}
SHOWS = {
    "/labels": "The labels of the model, with counts.",
    "/model": "What the model is.",
    "/top": "The features that count most towards a label.",
    "/queue": "What a person should label next.",
    "/stats": "All numbers of the page.",
    "/-/ready": "Whether a model is loaded.",
    "/-/healthy": "Whether the process is running.",
    "/metrics": "Numbers for Prometheus.",
    "/events": "Numbers and lessons, as server-sent events.",
}
TEXTS = ("/-/ready", "/-/healthy", "/metrics", "/events")


def _answers(kind: str = "application/json") -> dict[str, Any]:
    return {
        "200": {"description": "Done.", "content": {kind: {"schema": {}}}},
        "4XX": {
            "description": "It is refused, and nothing has changed.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        },
        "5XX": {"description": "Not now.", "content": {"application/json": {"schema": {}}}},
    }


def _shows(path: str, what: str) -> dict[str, Any]:
    kind = "text/plain" if path in TEXTS else "application/json"
    return {"get": {"summary": what, "responses": _answers(kind)}}


def _does(what: str, fields: dict[str, Any]) -> dict[str, Any]:
    event = {"type": "object", "properties": fields}
    kinds: dict[str, Any] = {
        "application/json": {"schema": {"oneOf": [event, {"type": "array", "items": event}]}},
        "application/x-ndjson": {"schema": STRING},
    }
    if "mail" in fields:
        kinds["message/rfc822"] = {"schema": STRING}
    body = {"required": True, "content": kinds}
    return {"post": {"summary": what, "requestBody": body, "responses": _answers()}}


def document(many: bool = False) -> dict[str, Any]:
    """The document at /openapi.json; with many models, each has its calls under its name."""
    paths: dict[str, Any] = {f"/{name}": _does(*given) for name, given in DOES.items()}
    for path, what in SHOWS.items():
        paths[path] = _shows(path, what)
    n = {"name": "n", "in": "query", "schema": ASKED["top"]}
    label = {"name": "label", "in": "query", "schema": STRING}
    paths["/queue"]["get"]["parameters"] = [n]
    paths["/top"]["get"]["parameters"] = [n, label]
    told = {
        f"/-/{name}": {"post": {"summary": what, "responses": _answers()}}
        for name, what in (("save", "Save the model."), ("reload", "Take the model in the file."))
    }
    paths |= told
    if many:
        name = {"name": "name", "in": "path", "required": True, "schema": NAME}
        healthy = paths.pop("/-/healthy")
        paths = {
            f"/m/{{name}}{path}": {**does, "parameters": [name]} for path, does in paths.items()
        }
        paths |= {**told, "/-/healthy": healthy, "/-/ready": _shows("/-/ready", SHOWS["/-/ready"])}
        paths["/metrics"] = _shows("/metrics", "Numbers for Prometheus, by model.")
        paths["/models"] = _shows("/models", "All models.")
    return {
        "openapi": "3.1.0",
        "info": {"title": "streamptron", "version": RELEASE},
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR, "Done": {"type": "object", "properties": DONE}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
