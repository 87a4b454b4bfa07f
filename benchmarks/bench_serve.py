"""`streamptron serve` over loopback, beside the same server with an empty handler.

A client of one connection, as bytes that were made before, asks or teaches a text a request; its
time is the server's and its own, which is why the empty handler stands beside it: a page of the
same server (`/-/healthy`) that does nothing. The servers are asked in turns. Lines (ndjson) are
20,000 texts in one request, beside `predict_many` of the same texts in this process, after they
were read from the same lines. Then the time of single answers while another client teaches, which
is a process of its own. Last the CPU time of the server for a lesson, with and without somebody who
watches the page, in turns: the least of each, and the median of what a turn with a page took more
than the one beside it, with an interval that holds the true one in 95 of 100 runs.
"""

import contextlib
import itertools
import json
import math
import multiprocessing
import socket
import statistics
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
PAIRS = 100  # of turns with and without a page
LESSONS = 1500  # of such a turn, which is about a second


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
def serving(model, *words, processes=None):
    """A server's socket; its process is added to `processes`."""
    path = f"{model}.sock"
    command = [sys.executable, "-m", "streamptron", "serve", "-m", model, "--http", path, *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            process.stderr.readline()
            if processes is not None:
                processes.append(process)
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
    for (name, texts), words in itertools.product(streams_of, ((), ("--jobs", "1"))):
        body = b"\n".join(events(texts)) + b"\n"
        whole = request("/predict", body, "application/x-ndjson")
        pipeline = load(model)
        best = [0.0, 0.0, 0.0]
        with serving(model, *words) as path:
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
        title = " ".join((name, *words)) if words else f"{name}, a thread a core"
        rows.append((title, *(f"{each:,.0f}" for each in best), *shares))
    common.section("Lines: texts a second; predict_many has one thread")
    headings = ("", "serve", "predict_many", "json.loads, predict_many", "share", "with json")
    common.table(headings, rows)


def lessons_of(texts):
    bodies = (json.dumps({"text": text, "label": label}).encode() for text, label in texts)
    return [request("/learn", body) for body in bodies]


def while_it_learns(model, texts, args):
    lessons, asked = lessons_of(texts), [request("/predict", body) for body in events(texts)]
    with serving(model, "--learn", "--sync", "never", "--save-seconds", "2") as path:
        done = multiprocessing.Value("q", 0)
        teacher = multiprocessing.Process(target=teach, args=(path, lessons, done), daemon=True)
        teacher.start()
        while not done.value:
            time.sleep(0.01)
        link, times, before = Raw(path), [], done.value
        began = time.perf_counter()
        while time.perf_counter() - began < args.seconds:
            sent = time.perf_counter()
            link.ask(asked[len(times) % len(asked)])
            times.append(1000 * (time.perf_counter() - sent))
        took, n = time.perf_counter() - began, done.value - before
        teacher.terminate()
        teacher.join()
    common.section("One client teaches, another asks, and it saves each other second")
    common.table(
        ("lessons a second", "answers", "ms, median", "99 %", "99.9 %", "longest"),
        [
            (
                f"{n / took:,.0f}",
                f"{len(times) / took:,.0f}",
                *(f"{common.quantile(times, q / 100):.2f}" for q in (50, 99, 99.9)),
                f"{max(times):.2f}",
            )
        ],
    )


def teach(path, lessons, done):
    """Teach until the process is ended."""
    link = Raw(path)
    while True:
        link.ask(lessons[done.value % len(lessons)])
        done.value += 1


def the_page(model, texts, args):
    lessons, processes = lessons_of(texts), []
    n = LESSONS if not args.quick else 100
    with serving(model, "--learn", "--sync", "never", processes=processes) as path:
        clock = (~processes[0].pid << 3) | 2  # of that process's CPU time, on Linux
        link, taught = Raw(path), 0

        def turn(watched):
            """Microseconds of CPU time for a lesson."""
            nonlocal taught
            with watching(path) if watched else contextlib.nullcontext():
                before = time.clock_gettime(clock)
                for _ in range(n):
                    link.ask(lessons[taught % len(lessons)])
                    taught += 1
                return 1e6 * (time.clock_gettime(clock) - before) / n

        turn(False)
        pairs = []
        for number in range(args.pairs if not args.quick else 2):
            order = (False, True) if number % 2 else (True, False)
            found = {watched: turn(watched) for watched in order}
            pairs.append((found[False], found[True]))
    common.section("A page that is open: CPU time of the server for a lesson")
    more = sorted(100 * (b / a - 1) for a, b in pairs)
    # by the binomial distribution of how many are below the median
    aside = math.ceil(0.98 * math.sqrt(len(more)))
    low, high = max(0, len(more) // 2 - aside), min(len(more) - 1, len(more) // 2 + aside)
    without, watched = map(min, zip(*pairs, strict=True))
    headings = ("us, least", "with a page", "more, %", "median of pairs, %", "95 %", "pairs")
    row = (
        *(f"{without:.0f}", f"{watched:.0f}", f"{100 * (watched / without - 1):.1f}"),
        *(f"{statistics.median(more):.1f}", f"{more[low]:.1f} to {more[high]:.1f}", len(pairs)),
    )
    common.table(headings, [row])


@contextlib.contextmanager
def watching(path):
    """Somebody has the page open."""
    looks = Raw(path)
    looks.link.sendall(b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
    reader = threading.Thread(target=drain, args=(looks.link,))
    reader.start()
    yield
    looks.link.shutdown(socket.SHUT_RDWR)
    reader.join()


def drain(link):
    with contextlib.suppress(OSError):
        while link.recv(1 << 16):
            pass


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="turns with and without a page")
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
        the_page(model, texts, args)


if __name__ == "__main__":
    main()
