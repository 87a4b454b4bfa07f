"""Lines of JSON: each is answered as the same body alone would be, whoever reads it."""

import json
import random
import re
from array import array

import pytest

from streamptron import AdaptiveClassifier, Tokenizer, load
from streamptron.doors.batch import Questions
from tests.support.served import serving

pytest.importorskip("starlette")

PECULIAR = [
    b'{"text": "a late goal"}',
    b'  {"text":"law" , "id" : "one"}\t\r',
    b'{"id": "two", "text": "court"}',
    b'{"id": "", "text": "court"}',
    b'{"id": 7, "text": "court"}',
    b'{"id": null, "text": "court"}',
    b'{"id": "taught", "text": "another event"}',
    b'{"id": "\\u0061", "text": "court"}',
    b'{"id": "\x7f", "text": "court"}',
    b'{"id": "' + b"i" * 200 + b'", "text": "court"}',
    b'{"id": "' + b"i" * 201 + b'", "text": "court"}',
    b'{"text": "law", "text": "goal"}',
    b'{"text": "law", "id": "a", "id": "b"}',
    b'{"text": "\\"go\\u0061l\\" \\n\\t\\b\\f\\r\\\\ \\/ vote"}',
    b'{"text": "\\u00c9cris \\ud83d\\ude00 law"}',
    b'{"text": "goal \\ud83d"}',
    b'{"text": "goal \\ude00 \\ud83d"}',
    b'{"text": "goal \\ud83d\\u0061"}',
    b'{"text": "goal \\u12"}',
    b'{"text": "goal \\x"}',
    '{"text": "écris 目标 😀 goal", "id": "é"}'.encode(),
    b'{"text": "goal \xff"}',
    b'{"text": "goal \xed\xa0\x80"}',
    b'{"text": "goal \xef\xbf\xbd"}',
    b'{"text": "goal\ttab"}',
    b'{"text": "goal\x00"}',
    b'{"text": "goal\x7f"}',
    b'{"text": 1e999}',
    b'{"text": NaN}',
    b'{"text": ' + b"9" * 5000 + b"}",
    b'{"text": "goal", "top": 2}',
    b'{"text": "goal", "explain": 1}',
    b'{"text": "goal", "remember": false}',
    b'{"text": "goal"} {}',
    b'{"text": "goal",}',
    b'{"text": "goal"',
    b'{"text": "goal',
    b'{"text" "goal"}',
    b'{"text": ""}',
    b'{"texts": "goal"}',
    b"{}",
    b"7",
    b'"goal"',
    b"not JSON",
    b'\xef\xbb\xbf{"text": "goal"}',
]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "news.model"
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in (("goal match win", "sport"), ("vote law court", 'pol"itics é')):
        pipeline.learn_one(text, label)
    pipeline.save(path)
    return path


def alone(link, body):
    """What a line says if its body came alone."""
    status, found = link.ask("POST", "/predict", body)
    if status != 200:
        found["error"]["status"] = status
    return found


def mixed(rng):
    """Lines, most of them sound, some with a byte changed, some blank."""
    lines = []
    for n in range(300):
        line = bytearray(rng.choice(PECULIAR))
        if rng.random() < 0.5:
            text = " ".join(rng.choice(("goal", "law", "é", "a\nb")) for _ in range(9))
            event = {"text": text, "id": f"i{n}"} if n % 2 else {"text": text}
            line = bytearray(json.dumps(event, ensure_ascii=n % 3 > 0).encode())
        if rng.random() < 0.2:
            line[rng.randrange(len(line))] = rng.choice(b'"\\{}:, \x7f\xc3u\r')
        lines += [bytes(line), *([rng.choice((b"", b" \t\r", b"\x0b"))] if n % 9 == 0 else [])]
    return lines


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("learns", [False, True])
def test_a_line_is_answered_as_the_same_body_alone(model, seed, learns):
    with serving(model, "--learn") as (link, _):  # the id is known then
        link.post("/learn", {"id": "taught", "text": "goal", "label": "sport"})
    lines = PECULIAR + mixed(random.Random(seed))
    with serving(model, *(["--learn"] if learns else [])) as (link, _):
        body = b"\n".join(lines) + b"\n" * (seed % 2)
        _, text = link.ask("POST", "/predict", body, content_type="application/x-ndjson")
        answers = [json.loads(line) for line in text.splitlines()]
        full = [line for line in lines if line.strip()]
        assert len(answers) == len(full)
        for n, (line, answer) in enumerate(zip(full, answers, strict=True), 1):
            assert answer.get("error", {}).pop("line", n) == n
            single = alone(link, line)
            for each in (answer, single):  # an id that the server made
                if re.fullmatch(r"[0-9a-f]{8}-\d+", each.get("id", "")):
                    del each["id"]
            if "or a list of them" in str(single):  # which a line may not be
                assert answer["error"]["message"].endswith(": give an object")
            else:
                assert answer == single, line
        counted = [
            "error" not in each and b"remember" not in line
            for line, each in zip(full, answers, strict=True)
        ]
        assert link.get("/stats")["asked"] == 2 * sum(counted)


@pytest.mark.parametrize("seed", [3])
def test_the_number_of_threads_changes_no_answer(model, seed):
    rng = random.Random(seed)
    words = ("goal", "match", "law", "court", "vote", "win", "é")
    texts = [" ".join(rng.choices(words, k=rng.randrange(40))) for _ in range(3000)]
    lines = [json.dumps({"text": text}).encode() for text in texts]
    for n in range(9):
        lines.insert(rng.randrange(len(lines)), PECULIAR[n + 9])
    body, found = b"\n".join(lines) + b"\n", []
    for jobs in ("1", "2", "5"):
        with serving(model, "--jobs", jobs) as (link, _):
            found.append(link.ask("POST", "/predict", body, content_type="application/x-ndjson"))
            asked = link.get("/stats")["asked"]
    assert len(found[0][1].splitlines()) == len(lines)
    assert found[1] == found[2] == found[0]
    assert asked == len(lines) - found[0][1].count('"error"')


def many(n):
    """A body of so many lines."""
    return b"".join(b'{"id": "%d", "text": "a late goal"}\n' % i for i in range(n))


def asking(link, n_bytes):
    """A socket to which the head of a request of so many bytes was sent."""
    link.connect()
    head = f"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: {n_bytes}\r\n"
    link.sock.sendall(f"{head}Content-Type: application/x-ndjson\r\n\r\n".encode())
    return link.sock


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_answers_come_while_the_client_waits_to_send_more(model, jobs):
    part = many(3000)  # more than one thread gets at a time
    with serving(model, "--jobs", jobs) as (link, _):
        sock, found = asking(link, 3 * len(part) + 5), b""
        for n in range(3):
            sock.sendall(part)
            while found.count(b'"version":') < 3000 * (n + 1):
                data = sock.recv(1 << 16)
                assert data, found[-1000:]
                found += data
        sock.sendall(b"{}\n{}")
        while not found.endswith(b"0\r\n\r\n"):
            found += sock.recv(1 << 16)
        assert b'"line":9001,' in found
        assert b'"line":9002,' in found
        ids = [int(id) for id in re.findall(rb'"id":"(\d+)"', found)]
        assert ids == 3 * list(range(3000))


def test_what_came_before_a_line_that_is_too_long_is_answered(model):
    body = many(20_000) + b'{"text": "' + b"a" * 2_000_000
    with serving(model, "--jobs", "2") as (link, _):
        status, text = link.ask("POST", "/predict", body, content_type="application/x-ndjson")
        *answers, last = (json.loads(line) for line in text.splitlines())
        assert status == 200
        assert [answer["id"] for answer in answers] == [str(n) for n in range(20_000)]
        assert last["error"]["status"] == 413


def test_a_client_that_goes_leaves_nothing_behind(model):
    body, said = many(20_000), []
    with serving(model, "--jobs", "2", said=said) as (link, _):
        for n in range(5):
            sock = asking(link, 2 * len(body))
            sock.sendall(body[: len(body) * (n + 1) // 5])
            link.close()
        assert len(link.lines("/predict", [{"text": "goal"}] * 9)) == 9
    assert said == [""]


def test_more_lines_than_allowed_are_refused_and_blank_ones_do_not_count(model):
    with serving(model, "--max-lines", "3") as (link, _):
        assert len(link.lines("/predict", ['{"text": "goal"}\n\n'] * 3)) == 3
        *_, last = link.lines("/predict", [{"text": "goal"}] * 4)
        assert last["error"]["status"] == 413


@pytest.mark.parametrize("seed", [1])
def test_a_probability_is_written_as_python_writes_it(model, seed):
    rng, door = random.Random(seed), load(model)[0]
    numbers = [10 ** rng.uniform(-6, 0) for _ in range(3000)]
    numbers += [round(rng.random(), rng.randrange(1, 17)) for _ in range(3000)]
    for power in (*(2.0**-n for n in range(14)), *(10.0**-n for n in range(6))):
        numbers += [power, power * (1 + 2**-52), power * (1 - 2**-53), 3 * power / 4]
    block = b'{"text": ""}\n' * len(numbers)
    questions = Questions(door, block, 0, len(block), {})
    outputs = array("q", bytes(8 * len(numbers)))
    found, counts = questions.answered([b"", b""], b"}", outputs, array("d", numbers), [])
    assert list(counts) == [len(numbers), 0]
    assert found.decode().split() == [f"{{{number!r}}}" for number in numbers]
