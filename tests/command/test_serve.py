"""`streamptron serve`: the protocol of spamd, by hand and with Debian's spamc."""

import asyncio
import contextlib
import errno
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
import zlib

import pytest

from streamptron import Journal, load
from streamptron.keeping.lock import ModelLock
from streamptron.service.models import One
from streamptron.service.service import Service, Settings
from streamptron.service.spamd import Client, Spamd
from tests.command.test_mail import HAM, MAIL, SPAM, boxes, model  # noqa: F401
from tests.support.commands import process, run, undated

WAIT = 60  # seconds, for what takes some tenths


@contextlib.contextmanager
def serving(model, *words, code=0, end=signal.SIGTERM):  # noqa: F811
    """A server at a socket beside the model's file; what it has said is in the list."""
    path, said = str(model.parent / "sock"), []
    with process("serve", "-m", model, "--spamd", path, *words) as server:
        try:
            first = server.stderr.readline()
            assert b"Z streamptron: answers at " in first, first + server.stderr.read()
            yield path, said, server
            server.send_signal(end)
            said += undated(server.communicate(timeout=WAIT)[1].decode()).splitlines()
            assert server.returncode == code
        finally:
            server.kill()
    assert not os.path.exists(path)


def linked(path):
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(WAIT)
    link.connect(path)
    return link


def received(link):
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := link.recv(1 << 16):
            data += piece
    return data


def asked(path, method, mail=b"", *fields, length=None, shut=False):
    """The first line, the fields and the body of the answer."""
    head = [f"{method} SPAMC/1.5", *fields]
    if not shut:
        head.append(f"Content-length: {len(mail) if length is None else length}")
    with linked(path) as link:
        link.sendall("\r\n".join([*head, "", ""]).encode() + mail)
        if shut:
            link.shutdown(socket.SHUT_WR)
        data = received(link)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *fields = head.decode().rstrip().split("\r\n")
    return first, dict(field.split(": ", 1) for field in fields), body


TELL_SPAM = ("Message-class: spam", "Set: local")
TELL_HAM = ("Message-class: ham", "Set: local")


def test_each_method_has_its_answer(model):  # noqa: F811
    with serving(model) as (path, said, _):
        assert asked(path, "PING")[0] == "SPAMD/1.5 0 PONG"
        first, fields, body = asked(path, "CHECK", MAIL)
        assert (first, body) == ("SPAMD/1.5 0 EX_OK", b"")
        assert fields["Spam"].startswith("True ; ")
        assert fields["Spam"].endswith(" / 50.00")
        assert asked(path, "CHECK", HAM % (1, 1))[1]["Spam"].startswith("False ; ")
        assert asked(path, "CHECK", MAIL, shut=True)[1]["Spam"] == fields["Spam"]
        assert b"subject: prize" in asked(path, "SYMBOLS", MAIL)[2]
        assert asked(path, "REPORT", MAIL)[2].startswith(b"spam 0.")
        assert asked(path, "REPORT_IFSPAM", HAM % (1, 1))[2] == b""
        first, fields, body = asked(path, "PROCESS", b"X-Streamptron: ham\n" + MAIL)
        assert body == run("filter", "-m", model, data=MAIL)[0]
        assert fields["Content-length"] == str(len(body))
        assert asked(path, "HEADERS", MAIL)[2] == body.partition(b"\n\n")[0] + b"\n\n"
        assert asked(path, "TELL", MAIL, *TELL_SPAM)[0].startswith("SPAMD/1.5 69 this server does")
    assert said == ["streamptron: this server does not learn; start it with --learn"]


def test_a_server_that_knows_only_ham_answers_until_spam_comes(boxes):  # noqa: F811
    path = boxes / "m"
    run("train", "-q", "--ham", boxes / "INBOX", "-m", path)
    with serving(path, "--learn") as (sock, said, _):
        assert asked(sock, "CHECK", MAIL)[1]["Spam"] == "False ; 0.00 / 50.00"
        for n in range(9):
            assert asked(sock, "TELL", SPAM % (n, n), *TELL_SPAM)[1]["DidSet"] == "local"
        assert asked(sock, "CHECK", MAIL)[1]["Spam"].startswith("True ; ")
    assert said == []


def test_what_is_unsure_is_not_spam(model):  # noqa: F811
    with serving(model, "--min-probability", "1") as (path, _, _):
        assert asked(path, "CHECK", MAIL)[1]["Spam"].startswith("False ; ")
        assert asked(path, "PROCESS", MAIL)[2].startswith(b"X-Streamptron: unsure ")


def test_mails_are_learned_corrected_and_taken_back_and_saved_at_the_end(model):  # noqa: F811
    before = load(model)[-1].n_seen
    with serving(model, "--learn") as (path, said, _):
        assert asked(path, "TELL", MAIL, *TELL_HAM)[1]["DidSet"] == "local"
        assert "DidSet" not in asked(path, "TELL", MAIL, *TELL_HAM)[1]
        assert asked(path, "TELL", SPAM % (9, 9), *TELL_SPAM)[1]["DidSet"] == "local"
        assert asked(path, "TELL", MAIL, *TELL_SPAM)[1]["DidSet"] == "local"
        remove = asked(path, "TELL", SPAM % (9, 9), "Remove: local, remote")
        assert remove[1]["DidRemove"] == "local"
        assert "DidRemove" not in asked(path, "TELL", b"another", "Remove: local")[1]
        with pytest.raises(OSError, match="is being written by process"), ModelLock(model):
            pass
    assert said == []
    journal = Journal.load(model)
    assert [journal.label_of(id) for id in journal] == ["spam"]
    assert load(model)[-1].n_seen == before + 3
    # and it learns on from there, as the commands do
    assert "1 known already" in run("learn", "--as", "spam", "-m", model, data=MAIL)[1]


@pytest.mark.slow
def test_a_server_makes_no_third_label_unless_it_is_told_to(model):  # noqa: F811
    run("learn", "--as", "list", "--new-label", "-m", model, data=HAM % (7, 7))
    third = load(model)[-1].labels
    os.rename(model, model.parent / "three")
    (model.parent / "index").write_text("spam Junk/1.eml\nlist INBOX/1.eml\nlost INBOX/2.eml\n")
    run("train", "-q", "index", "--format", "mail", "--label-by", "index", "-m", model,
        cwd=model.parent)  # fmt: skip
    with serving(model, "--learn") as (path, said, _):
        answer = asked(path, "TELL", MAIL, *TELL_HAM)[0]
        assert answer.startswith("SPAMD/1.5 70 the label 'ham' is not one of the model's, ")
    assert len(said) == 1
    with serving(model, "--learn", "--new-label") as (path, _, _):
        assert asked(path, "TELL", MAIL, *TELL_HAM)[1]["DidSet"] == "local"
    assert "ham" in load(model)[-1].labels
    assert third == ["ham", "spam", "list"] or "list" in third


def test_thick_training_leaves_out_what_it_is_sure_of(model):  # noqa: F811
    with serving(model, "--learn", "--learn-unsure", "0") as (path, _, _):
        assert "DidSet" not in asked(path, "TELL", MAIL, *TELL_SPAM)[1]
        assert asked(path, "TELL", MAIL, *TELL_HAM)[1]["DidSet"] == "local"
    assert len(Journal.load(model)) == 1


def test_another_model_in_the_file_learns_again_what_was_not_saved(model, tmp_path):  # noqa: F811
    other = tmp_path / "other.model"
    shutil.copy(model, other)
    run("learn", "--as", "ham", "-m", other, data=HAM % (99, 99))
    with serving(model, "--learn", "--save-seconds", "999") as (path, _, server):
        asked(path, "TELL", MAIL, *TELL_HAM)
        os.replace(other, model)
        server.send_signal(signal.SIGHUP)
        while not server.stderr.readline().endswith(f"streamptron: reloaded {model}\n".encode()):
            assert server.poll() is None
        assert asked(path, "PING")[0] == "SPAMD/1.5 0 PONG"
    assert len(Journal.load(model)) == 2


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"HELLO\r\n\r\n", b"SPAMD/1.5 76 'HELLO' is not a request such as CHECK SPAMC/1.5"),
        (b"EAT SPAMC/1.5\r\nContent-length: 0\r\n\r\n", b"SPAMD/1.5 76 there is no method 'EAT'"),
        (b"CHECK SPAMC/1.5\r\nContent-length: x\r\n\r\n", b"SPAMD/1.5 76 Content-length 'x'"),
        (b"CHECK SPAMC/1.5\r\nuser\r\n\r\n", b"SPAMD/1.5 76 the field 'user' has no colon"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\nabc", b"is 9, but 3 bytes have come"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 9999999\r\n\r\n", b"SPAMD/1.5 98 a mail of more"),
        (b"a" * 20_000, b"SPAMD/1.5 76 the request has no empty line"),
        (b"TELL SPAMC/1.5\r\nContent-length: 0\r\n\r\n", b"neither Set: local nor Remove: local"),
        (
            b"TELL SPAMC/1.5\r\nSet: local\r\nMessage-class: x\r\nContent-length: 0\r\n\r\n",
            b"SPAMD/1.5 76 Message-class is 'x'; give spam or ham",
        ),
        (b"", b"SPAMD/1.5 76 the request has no empty line"),
        (b"CHECK SPAMC/1.5\nContent-length: 3\n\nabc", b"SPAMD/1.5 76 the lines of the request do"),
        (b"CHECK SPAMC/1.5\n\nTo: a\r\n\r\nabc", b"SPAMD/1.5 76 the lines of the request do"),
        (b"CHECK SPAMC/1.5\r\nUser: a\nTo: b\r\n\r\n", b"SPAMD/1.5 76 the lines of the request"),
        (b"CHECK SPAMC/1.5\r\nCompress: gzip\r\n\r\nabc", b"SPAMD/1.5 76 Compress: 'gzip' is not"),
        (b"CHECK SPAMC/1.5\r\nContent-Encoding: br\r\n\r\na", b"SPAMD/1.5 76 the field 'Content-E"),
        (b"CHECK SPAMC/1.5\r\nTransfer-Encoding: x\r\n\r\na", b"SPAMD/1.5 76 the field 'Transfer"),
        (
            b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\nabc",
            b"the mail cannot be unpacked",
        ),
        (
            b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\n" + zlib.compress(b"abc")[:-1],
            b"SPAMD/1.5 76 the mail that zlib has packed is cut off",
        ),
        (
            b"CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\n" + zlib.compress(b"abc") + b"d",
            b"SPAMD/1.5 76 the mail that zlib has packed is cut off, or other bytes follow",
        ),
        (
            b"PROCESS SPAMC/1.5\r\nCompress: zlib\r\n\r\n" + zlib.compress(bytes(1001)),
            b"SPAMD/1.5 98 a mail of more than 1000 bytes (--max-size), once unpacked",
        ),
        (
            b"CHECK SPAMC/1.5\r\nContent-length: 1\r\nContent-length: 3\r\n\r\nabc",
            b"SPAMD/1.5 76 the field 'content-length' comes twice",
        ),
        (
            b"CHECK SPAMC/1.5\r\nContent-length: %s\r\n\r\nabc" % (b"9" * 5000),
            b"SPAMD/1.5 98 a mail of more than 1000 bytes (--max-size)\r\n",
        ),
    ],
)
def test_a_bad_request_gets_its_reason_which_is_said_once(model, request_, answer):  # noqa: F811
    saved = model.read_bytes()
    with serving(model, "--learn", "--max-size", "1000") as (path, said, _):
        for _ in range(3):
            with linked(path) as link:
                link.sendall(request_)
                link.shutdown(socket.SHUT_WR)
                assert answer in received(link)
        assert asked(path, "CHECK", MAIL)[0] == "SPAMD/1.5 0 EX_OK"
    assert len(said) == 1
    assert model.read_bytes() == saved


def test_a_mail_that_is_sent_packed_is_unpacked(model):  # noqa: F811
    packed = zlib.compress(MAIL)
    with serving(model, "--learn", "--max-size", "1000") as (path, said, _):
        for how in ("Compress: zlib", "compress:ZLIB"):
            assert asked(path, "PROCESS", packed, how)[2] == asked(path, "PROCESS", MAIL)[2]
        assert asked(path, "CHECK", packed, "Compress: zlib", shut=True)[1]["Spam"].startswith("T")
        # a field that the protocol does not have, and that says nothing of the mail
        assert asked(path, "CHECK", MAIL, "User: ann", "X-Queue: 1", "Helo: a")[0].endswith("OK")
        assert asked(path, "TELL", packed, "Compress: zlib", *TELL_SPAM)[1]["DidSet"] == "local"
        assert "DidSet" not in asked(path, "TELL", MAIL, *TELL_SPAM)[1]
    assert said == []


def test_without_a_descriptor_clients_wait(model):  # noqa: F811
    with serving(model) as (path, said, server):
        used = max(map(int, os.listdir(f"/proc/{server.pid}/fd")))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used + 2, used + 2))
        links = [linked(path) for _ in range(12)]
        message = b"streamptron: a client was not accepted: Too many open files; it waits\n"
        assert server.stderr.readline().endswith(message)
        for link in links:
            link.sendall(b"PING SPAMC/1.5\r\n\r\n")
            assert received(link) == b"SPAMD/1.5 0 PONG\r\n"
            link.close()
    assert said == []


def test_a_socket_that_cannot_be_taken_from_is_not_asked_again_at_once(capsys):
    class Full(socket.socket):
        def accept(self):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    options = {"positive": "spam", "least": 0.0, "most": 1, "seconds": 1.0, "clients": 1}

    async def looks(listener):
        door = Spamd(One(Service("m", Settings())), listener, "here", **options)
        await door.start()
        assert door._is_open
        door._accept()
        assert not door._is_open
        door._end(Client(socket.socket()))  # there is a descriptor again
        assert door._is_open
        await door.stop()

    with Full() as listener:
        asyncio.run(looks(listener))
    assert "a client was not accepted: Too many open files; it waits" in capsys.readouterr().err


def test_a_slow_client_holds_up_nobody_and_is_cut_off(model):  # noqa: F811
    with serving(model, "--timeout", "1") as (path, said, _), linked(path) as slow:
        slow.sendall(b"CHECK SPAMC/1.5\r\nContent-le")
        assert asked(path, "CHECK", MAIL)[0] == "SPAMD/1.5 0 EX_OK"
        assert received(slow) == b""
    assert said == ["streamptron: a client took longer than 1 s, and was cut off"]


def test_one_that_does_not_read_its_answer_is_cut_off_too(model):  # noqa: F811
    mail = MAIL + b"x" * 5_000_000
    with serving(model, "--timeout", "2") as (path, said, _), linked(path) as slow:
        slow.sendall(b"PROCESS SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(mail) + mail)
        assert asked(path, "CHECK", MAIL)[0] == "SPAMD/1.5 0 EX_OK"
        time.sleep(3)
        assert asked(path, "CHECK", MAIL)[0] == "SPAMD/1.5 0 EX_OK"
    assert said == ["streamptron: a client took longer than 2 s, and was cut off"]


def test_more_clients_than_there_is_room_for_wait_for_their_turn(model):  # noqa: F811
    with serving(model, "--max-clients", "2") as (path, said, _):
        links = [linked(path) for _ in range(20)]
        for link in links:
            link.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(MAIL))
        for link in links:
            link.sendall(MAIL)
            assert received(link).startswith(b"SPAMD/1.5 0 EX_OK\r\nSpam: True")
            link.close()
    assert said == []


def test_a_socket_that_a_dead_process_left_is_taken_and_one_that_lives_is_not(model):  # noqa: F811
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(model.parent / "sock"))
    dead.close()
    with serving(model) as (path, _, _):
        _, said = run("serve", "-m", model, "--spamd", path, code=1)
        assert "another process answers there" in said
        assert asked(path, "PING")[0] == "SPAMD/1.5 0 PONG"


def test_a_port_answers_too_and_ctrl_c_ends_it(model):  # noqa: F811
    with process("serve", "-m", model, "--spamd", "127.0.0.1:0") as server:
        try:
            place = server.stderr.readline().decode().split()[-1]
            host, _, port = place.rpartition(":")
            with socket.create_connection((host, int(port)), WAIT) as link:
                link.sendall(b"PING SPAMC/1.2\r\n\r\n")
                assert received(link) == b"SPAMD/1.5 0 PONG\r\n"
            server.send_signal(signal.SIGINT)
            assert server.wait(WAIT) == 130
        finally:
            server.kill()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--spamd", "sock", "--max-lines", "9"], 2, "--max-lines is for --http; leave it out"),
        (["--positive", "Junk"], 2, "--positive is for --create or --spamd; leave it out"),
        (["--spamd", "localhost:"], 2, "give a host and a port, as 127.0.0.1:783"),
        (["--spamd", "none/sock"], 1, "--spamd none/sock: No such file or directory"),
        (["--spamd", "sock", "--save-every", "1"], 2, "without --learn nothing is learned"),
        (["--jobs", "2", "--learn"], 2, "--jobs is for servers without --learn"),
        (["--jobs", "2", "--spamd", "sock"], 2, "--jobs is for --http; leave it out"),
        (["--spamd", "sock", "--positive", "Junk"], 1, "--positive Junk is not a label"),
    ],
)
def test_what_cannot_be_meant_is_said(model, words, code, message):  # noqa: F811
    assert message in run("serve", "-m", model, *words, cwd=model.parent, code=code)[1]


def test_a_model_of_texts_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"spam\twin\nham\tsee you\n")
    run("train", "-q", tmp_path / "a.tsv", "-m", tmp_path / "m")
    _, said = run("serve", "-m", tmp_path / "m", "--spamd", tmp_path / "sock", code=1)
    assert "the model learns from texts, and this format gives mails" in said


# --- Debian's client


def spamc(path, *words, mail=MAIL, code=0):
    if shutil.which("spamc") is None:
        pytest.skip("spamc is not installed: apt-get install spamc")
    done = subprocess.run(
        ["spamc", "-F", os.devnull, "-U", path, *words],
        input=mail,
        capture_output=True,
        timeout=WAIT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, b"")
    return done.stdout


def test_spamc_judges_and_teaches(model):  # noqa: F811
    with serving(model, "--learn") as (path, said, _):
        assert spamc(path, "-K").startswith(b"SPAMD/1.5 0")
        assert spamc(path) == run("filter", "-m", model, data=MAIL)[0]
        assert spamc(path, "-c", code=1).endswith(b"/50.0\n")
        spamc(path, "-c", mail=HAM % (1, 1))
        assert spamc(path, "-y").startswith(b"spam,subject: prize")
        assert b"text: money" in spamc(path, "-R")
        assert spamc(path, "--headers").startswith(b"X-Streamptron: spam")
        assert b"successfully un/learned" in spamc(path, "-L", "ham")
        assert b"already un/learned" in spamc(path, "-L", "ham")
        spamc(path, "-c")
        assert b"successfully un/learned" in spamc(path, "-L", "spam")
        assert b"successfully un/learned" in spamc(path, "-L", "forget")
        assert b"already un/learned" in spamc(path, "-L", "forget")
    assert said == []
    assert len(Journal.load(model)) == 0
