"""One model as spamc uses it: the answers of spamd's protocol."""

from __future__ import annotations

import typing
from typing import Any

from streamptron.common.header import with_field, without_ours
from streamptron.common.names import short_repr
from streamptron.files.lines import LineModel
from streamptron.files.verdict import Verdict, check_positive, judged
from streamptron.service.bad import Bad
from streamptron.service.request import NAMES, OK, PROTOCOL, UNAVAILABLE, Refused, Request

if typing.TYPE_CHECKING:
    from streamptron.service.served import Event, Served
    from streamptron.service.service import Service

GONE = 410  # the status of a lesson that cannot be taken back


class Judge:
    """Answers requests with a model.

    Parameters
    ----------
    service
        The service of the model.
    positive
        The label that means spam.
    least
        The probability below which a mail is unsure.
    """

    def __init__(self, service: Service, positive: str, least: float) -> None:
        self.service, self.positive, self._least = service, positive, least
        self._view: LineModel | None = None
        self._viewed: Served | None = None

    def check(self, model: Served) -> LineModel:
        """A model as it judges mails; an error if it cannot judge them."""
        if model.kind != "mail":
            given = "features" if model.kind == "x" else f"{model.kind.removesuffix('s')}s"
            raise ValueError(f"the model learns from {given}, and this format gives mails")
        lines = LineModel.of(model.contents)
        check_positive(lines, self.positive)
        return lines

    @property
    def model(self) -> LineModel:
        """The model that the service has now."""
        if self._view is None or self._viewed is not self.service.model:
            model = self.service.model
            try:
                self._view = self.check(model)
            except ValueError as error:
                raise ValueError(f"the model {self.service.name}: {error}") from None
            self._viewed = model
        return self._view

    def answer(self, request: Request) -> bytes:
        """The answer to a request."""
        method = request.method
        if method == "TELL":
            return self._tell(request)
        if method not in ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS"):
            raise Refused(
                PROTOCOL,
                f"there is no method {short_repr(method, 40)}; give CHECK, SYMBOLS, REPORT, "
                "REPORT_IFSPAM, PROCESS, HEADERS, TELL or PING",
            )
        mail = without_ours(request.mail)
        verdict = judged(self.model, mail, self.positive, self._least, method != "CHECK")
        self.service.judged(mail, self._label(verdict.label), verdict.probability)
        fields = [f"Spam: {verdict.is_spam} ; {verdict.score} / {verdict.threshold}"]
        return response(OK, NAMES[OK], fields, self._body(method, mail, verdict))

    def _body(self, method: str, mail: bytes, verdict: Verdict) -> bytes:
        if method == "CHECK" or (method == "REPORT_IFSPAM" and not verdict.is_spam):
            return b""
        if method == "SYMBOLS":
            return ",".join([verdict.said, *verdict.words]).encode() + b"\r\n"
        if method in ("REPORT", "REPORT_IFSPAM"):
            return "\n".join([verdict.field, *verdict.words, ""]).encode()
        whole = with_field(mail, verdict.field)
        if method == "PROCESS":
            return whole
        for gap in (b"\r\n\r\n", b"\n\n"):
            at = whole.find(gap)
            if at >= 0:
                return whole[: at + len(gap)]
        return whole

    def _tell(self, request: Request) -> bytes:
        """Learn a mail, or take it back."""
        service = self.service
        if not service.learns:
            raise Refused(UNAVAILABLE, "this server does not learn; start it with --learn")
        mail = without_ours(request.mail)
        if "local" in request.names("set"):
            known = {"spam": self.positive, "ham": self._negative()}
            kind = request.fields.get("message-class", "").lower()
            if kind not in known:
                raise Refused(
                    PROTOCOL, f"Message-class is {short_repr(kind, 40)}; give spam or ham to Set"
                )
            label = self._label(known[kind])
            done, said = service.learn({"mail": mail, "label": label}), "DidSet"
        elif "local" in request.names("remove"):
            event = typing.cast("Event", service.model.event({"mail": mail}))
            said = "DidRemove"
            try:
                done = service.undo({"id": service.model.own_id(event.mark)})
            except Bad as error:
                if error.status != GONE:
                    raise
                done = {"done": "known"}  # it taught nothing that could be taken back
        else:
            raise Refused(PROTOCOL, "TELL has neither Set: local nor Remove: local; give one")
        changed = done["done"] not in ("known", "sure")
        return response(OK, NAMES[OK], [f"{said}: local"] if changed else [])

    def _label(self, name: str | None) -> Any:
        """A label as the service writes it."""
        names = self.model.names
        return self.service.model.labels.names[names.index(name)] if name in names else name

    def _negative(self) -> str:
        """The label of ham: the model's other one."""
        names = [name for name in self.model.names if name != self.positive]
        return names[0] if len(names) == 1 else "ham"


def response(code: int, said: str, fields: Any = (), body: bytes = b"") -> bytes:
    """An answer in the protocol's form."""
    head = [f"SPAMD/1.5 {code} {said}", *fields, f"Content-length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("utf-8", "replace") + body
