"""`streamptron serve` over loopback, beside the same server with an empty handler.

A client of one connection, as bytes that were made before, asks or teaches a text a request; its
time is the server's and its own, which is why the empty handler stands beside it: a page of the
same server (`/-/healthy`) that does nothing. The servers are asked in turns. Lines (ndjson) are
20,000 texts in one request, beside `predict_many` of the same texts in this process, after they
were read from the same lines. Last the time of single answers while another client teaches, and
lessons a second with and without somebody who watches.
"""

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks import common
from streamptron import AdaptiveClassifier, Tokenizer, load
from tests.support import streams

TURNS = 5


class Raw:
    """A connection that sends bytes as they are."""

    def __init__(self, path):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.connect(path)

    def ask(self, request):
        """The body of the answer, which has a length."""
        self.link.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.link.recv(1 << 16)
        head, _, body = data.partition(b"\r\n\r\n")
        lower = head.lower()
        if b"content-length: " not in lower:
            return self._chunks(body)
        size = int(lower.partition(b"content-length: ")[2].partition(b"\r")[0])
        while len(body) < size:
            body += self.link.recv(1 << 16)
        return body

    def _chunks(self, body):
        pieces = [body]
        while not pieces[-1].endswith(b"0\r\n\r\n"):
            pieces.append(self.link.recv(1 << 20))
        return b"".join(pieces)


def request(url, body, kind="application/json"):
    head = f"POST {url} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


EMPTY = b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n"


@contextlib.contextmanager
def serving(model, *words):
    """A server's socket."""
    path = f"{model}.sock"
    command = [sys.executable, "-m", "streamptron", "serve", "-m", model, "--http", path, *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            process.stderr.readline()
            yield path
        finally:
            process.terminate()
            process.wait()


def rate(link, requests):
    """Requests a second."""
    began = time.perf_counter()
    for each in requests:
        link.ask(each)
    return len(requests) / (time.perf_counter() - began)


def events(texts, **more):
    return [json.dumps({"text": text, **more}).encode() for text, _ in texts]


def one_text_a_request(model, texts, args):
    asked = [request("/predict", body) for body in events(texts)]
    rows = []
    for name, words, made in (
        ("predict, answering only", (), asked),
        ("predict, with --learn", ("--learn",), asked),
        ("learn, --sync never", ("--learn", "--sync", "never"), None),
        ("learn, --sync always", ("--learn", "--sync", "always"), None),
    ):
        if made is None:
            made = [
                request("/learn", json.dumps({"text": text, "label": label}).encode())
                for text, label in texts
            ]
        best = [0.0, 0.0]
        with serving(model, *words) as path:
            link = Raw(path)
            rate(link, made[:100])
            for _ in range(args.turns):
                best[0] = max(best[0], rate(link, [EMPTY] * len(made)))
                best[1] = max(best[1], rate(link, made))
        rows.append((name, f"{best[1]:,.0f}", f"{best[0]:,.0f}", f"{best[1] / best[0]:.2f}"))
    common.section("One text a request, one connection")
    common.table(("", "requests a second", "empty handler", "share"), rows)


def lines(model, streams_of, args):
    rows = []
    for name, texts in streams_of:
        body = b"\n".join(events(texts)) + b"\n"
        whole = request("/predict", body, "application/x-ndjson")
        pipeline = load(model)
        best = [0.0, 0.0, 0.0]
        with serving(model) as path:
            link = Raw(path)
            for _ in range(args.turns):
                began = time.perf_counter()
                link.ask(whole)
                best[0] = max(best[0], len(texts) / (time.perf_counter() - began))
                began = time.perf_counter()
                read = [json.loads(line)["text"] for line in body.splitlines()]
                middle = time.perf_counter()
                pipeline.predict_many(read)
                ended = time.perf_counter()
                best[1] = max(best[1], len(texts) / (ended - middle))
                best[2] = max(best[2], len(texts) / (ended - began))
        shares = [f"{best[0] / each:.2f}" for each in best[1:]]
        rows.append((name, *(f"{each:,.0f}" for each in best), *shares))
    common.section("Lines: texts a second")
    headings = ("", "serve", "predict_many", "json.loads, predict_many", "share", "with json")
    common.table(headings, rows)


def while_it_learns(model, texts, args):
    rows = []
    lessons = [
        request("/learn", json.dumps({"text": text, "label": label}).encode())
        for text, label in texts
    ]
    asked = [request("/predict", body) for body in events(texts)]
    for watched in (False, True):
        with serving(model, "--learn", "--sync", "never", "--save-seconds", "2") as path:
            ended, done, times = threading.Event(), [0], []

            def teach(path=path, ended=ended, done=done):
                link = Raw(path)
                while not ended.is_set():
                    link.ask(lessons[done[0] % len(lessons)])
                    done[0] += 1

            teacher = threading.Thread(target=teach)
            if watched:
                looks = Raw(path)
                looks.link.sendall(b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
                reader = threading.Thread(target=drain, args=(looks.link,), daemon=True)
                reader.start()
            teacher.start()
            link, began = Raw(path), time.perf_counter()
            while time.perf_counter() - began < args.seconds:
                before = time.perf_counter()
                link.ask(asked[len(times) % len(asked)])
                times.append(1000 * (time.perf_counter() - before))
            took = time.perf_counter() - began
            ended.set()
            teacher.join()
            rows.append(
                (
                    "watched" if watched else "not watched",
                    f"{done[0] / took:,.0f}",
                    f"{len(times) / took:,.0f}",
                    *(f"{common.quantile(times, q / 100):.2f}" for q in (50, 99, 99.9)),
                )
            )
    common.section("One client teaches, another asks")
    common.table(("", "lessons a second", "answers", "ms, median", "99 %", "99.9 %"), rows)


def drain(link):
    with contextlib.suppress(OSError):
        while link.recv(1 << 16):
            pass


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    if args.quick:
        args.turns, args.seconds = 1, 1.0
    common.header(args, "20,000 texts of the SMS collection, again and again")
    common.need_data()
    sms = [(text, str(label)) for text, label in streams.labelled_texts("sms_spam")]
    n = 1000 if args.quick else 20_000
    texts = (sms * (n // len(sms) + 1))[:n]
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "sms.model")
        pipeline = Tokenizer() | AdaptiveClassifier()
        for text, label in sms:
            pipeline.learn_one(text, label)
        pipeline.save(model)
        one_text_a_request(model, texts[: n // 10], args)
        news = [(text, label) for text, label in streams.labelled_texts("20news_train", n // 10)]
        lines(model, [("SMS", texts), ("20 newsgroups", news)], args)
        while_it_learns(model, texts, args)


if __name__ == "__main__":
    main()
