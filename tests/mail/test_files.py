"""Mails from files: mbox, Maildir, MH, folders of .eml, an index."""

import bz2
import gzip
import io
import os

import pytest

from streamptron.files import LineError, read
from streamptron.files.mail import in_turns, message_id

FIRST = b"Message-ID: <1@a>\nSubject: one\n\nfirst\n"
SECOND = b"Message-ID: <2@a>\nSubject: two\n\nFrom here on\n\nsecond\n"
LINE = b"From a@example.org Mon Jan  1 12:30:00 2024\n"
MBOX = LINE + FIRST + b"\n" + LINE + SECOND.replace(b"From here", b">From here") + b"\n"


def mails(*arguments, **options):
    return [x for x, _ in read(*arguments, **options)]


def write(path, data=FIRST):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_file_is_one_mail_as_it_is(tmp_path):
    write(tmp_path / "a.eml", SECOND)
    assert mails(tmp_path / "a.eml") == [SECOND]
    assert mails(io.BytesIO(b"no header"), "mail") == [b"no header"]
    assert mails(io.BytesIO(b""), "mail") == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_an_mbox_is_cut_where_mails_begin(tmp_path, pack):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}.get(pack, "")
    records = list(read(write(tmp_path / f"in.mbox{suffix}", pack(MBOX))).records())
    assert [record.x for record in records] == [FIRST, SECOND]
    assert [record.line for record in records] == [1, 7]
    assert [record.tag for record in records] == ["1@a", "2@a"]


@pytest.mark.parametrize("size", [*range(1, 20), 50])
def test_an_mbox_is_cut_alike_however_it_is_read(size):
    class Slow(io.RawIOBase):
        def __init__(self, data):
            self.data = data

        def readable(self):
            return True

        def readinto(self, view):
            n = min(size, len(view), len(self.data))
            view[:n], self.data = self.data[:n], self.data[n:]
            return n

    assert mails(Slow(MBOX * 3), "mail") == [FIRST, SECOND] * 3
    crlf = MBOX.replace(b"\n", b"\r\n")
    wanted = [mail.replace(b"\n", b"\r\n") for mail in (FIRST, SECOND)]
    assert mails(Slow(crlf), "mail") == wanted


def test_an_mbox_without_from_is_a_bad_line(tmp_path):
    with pytest.raises(LineError, match="an mbox begins with a line `From `"):
        mails(write(tmp_path / "in.mbox"))


def test_a_maildir_is_read_in_order_of_time_without_what_is_half_written(tmp_path):
    for name in ("cur/20.b:2,S", "new/10.a", "tmp/05.x", ".Junk/cur/01.y", "dovecot.index"):
        write(tmp_path / "Maildir" / name, name.encode())
    (tmp_path / "Maildir" / "cur" / ".hidden").write_bytes(b"")
    assert mails(tmp_path / "Maildir", "mail") == [b"new/10.a", b"cur/20.b:2,S"]


def test_a_mail_that_is_marked_meanwhile_is_found(tmp_path):
    box = tmp_path / "Maildir"
    for name in ("cur", "tmp"):
        (box / name).mkdir(parents=True)
    path = write(box / "new" / "10.a")
    reader = read(box, "mail")
    os.rename(path, box / "cur" / "10.a:2,S")
    assert [x for x, _ in reader] == [FIRST]


def test_mh_folders_go_by_number(tmp_path):
    for n in (1, 2, 10, 100):
        write(tmp_path / "inbox" / str(n), str(n).encode())
    write(tmp_path / "inbox" / ".mh_sequences")
    assert mails(tmp_path / "inbox", "mail") == [b"1", b"2", b"10", b"100"]


def test_labels_are_the_names_of_folders_and_mboxes(tmp_path):
    write(tmp_path / "Junk" / "a.eml")
    write(tmp_path / ".Spam" / "cur" / "10.a")
    write(tmp_path / "list.mbox.gz", gzip.compress(MBOX))
    paths = [tmp_path / "Junk", tmp_path / ".Spam" / "cur" / "10.a", tmp_path / "list.mbox.gz"]
    labels = [y for _, y in read(paths, "mail", label_by="folder")]
    assert labels == ["Junk", "Spam", "list", "list"]
    assert [y for _, y in read(paths[:1], "mail")] == [None]
    lists = [y for _, y in read(paths[:1], "mail", several=True, label_by="folder")]
    assert lists == [["Junk"]]
    assert [y for _, y in read(paths[:1], "mail", several=True)] == [[]]


def test_labels_of_folders_are_those_that_were_given(tmp_path):
    write(tmp_path / "a" / "x.eml")
    write(tmp_path / "a" / "b" / "y.eml")
    labels_of = {str(tmp_path / "a"): "ham", str(tmp_path / "a" / "b"): "spam"}
    found = read(tmp_path / "a", "mail", labels_of=labels_of)
    assert [y for _, y in found] == ["spam", "ham"]


def test_an_index_names_labels_and_files(tmp_path):
    write(tmp_path / "data" / "1")
    index = write(tmp_path / "index", b"spam data/1\n\nham\tdata/2\nspam\n")
    reader = read(index, "mail", label_by="index", on_error="skip")
    with pytest.warns(UserWarning, match="2 of 4 lines are bad"):
        assert list(reader) == [(FIRST, "spam")]
    assert [(e.line, e.reason.split(";")[0]) for e in reader.errors] == [
        (3, f"{tmp_path}/data/2: No such file or directory"),
        (4, "no file"),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_by": "date"}, 'label_by=\'date\'; give "folder", "index" or None'),
        ({"label_by": "folder", "labels_of": {}}, "two ways to label"),
        ({"raw": True}, "raw is not an option of the format mail"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        read(io.BytesIO(b"a"), "mail", **options)


@pytest.mark.parametrize(
    ("header", "id"),
    [
        (b"Message-ID: <17@a>\n", "17@a"),
        (b"to: x\r\nMESSAGE-id:\r\n <17@a>\r\n", "17@a"),
        (b"Message-ID: 17\nMessage-ID: <18@a>\n", "17"),
        (b"Message-ID: < 1 7 >\n", " 1 7 "),
    ],
)
def test_a_mail_is_known_by_its_message_id(header, id):
    assert message_id(header + b"\nMessage-ID: <body@a>") == id


@pytest.mark.parametrize(
    "header", [b"", b"Message-ID:\n", b"Message-ID: <\xff>\n", b"Message-ID: <%s>\n" % (b"a" * 251)]
)
def test_a_mail_without_an_id_is_known_by_its_bytes(header):
    mail = header + b"\nMessage-ID: <body@a>"
    assert message_id(mail) == message_id(mail) != message_id(mail + b"\n")
    assert message_id(mail).startswith("sha256:")


def test_groups_of_mails_are_mixed(tmp_path):
    for i in range(2):
        write(tmp_path / "spam" / f"{i}.eml")
    for i in range(4):
        write(tmp_path / "ham" / f"{i}.eml")
    found = in_turns([(str(tmp_path / "spam"),), (str(tmp_path / "ham"),)])
    folders = [path.split(os.sep)[-2] for path in found]
    assert folders == ["ham", "spam", "ham", "ham", "spam", "ham"]
