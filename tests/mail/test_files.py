"""Mails from files: mbox, Maildir, MH, folders of .eml, an index."""

import bz2
import gzip
import io
import os
import re
from itertools import islice

import pytest

from streamptron.files import Block, LineError, read
from streamptron.files.mail import identity, in_turns, message_id
from streamptron.files.mbox import Cutter

FIRST = b"Message-ID: <1@a>\nSubject: one\n\nfirst\n"
SECOND = b"Message-ID: <2@a>\nSubject: two\n\nFrom here on\n\nsecond\n"
LINE = b"From a@example.org Mon Jan  1 12:30:00 2024\n"
MBOX = LINE + FIRST + b"\n" + LINE + SECOND.replace(b"From here", b">From here") + b"\n"


def batched(items, size):
    items = iter(items)
    while batch := list(islice(items, size)):
        yield batch


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


@pytest.mark.parametrize(
    ("mail", "message"),
    [
        (FIRST, "but this file begins with b'Message-ID: <1@a>'"),
        (b"From me to you\n\nhello\n", "it begins with b'From me to you'; an mbox begins"),
        (b"From me\nto you\n", "it begins with b'From me'; an mbox begins with a line"),
    ],
)
def test_what_is_no_mbox_says_what_it_is(mail, message, tmp_path):
    with pytest.raises(LineError, match=re.escape(message)):
        mails(write(tmp_path / "in.mbox", mail))


DATED = [
    b"From a@example.org Mon Jan  1 12:30:00 2024",
    b"From a@example.org Mon Jan 01 12:30:00 +0000 2024",  # Gmail's archive
    b"From a@example.org Mon Jan  1 12:30:00 2024 +0100",
    b"From a@example.org Mon Jan  1 12:30:00 GMT 2024",
    b"From a@example.org Mon Jan  1 12:30 2024",
    b"From a@example.org Mon, 1 Jan 2024 12:30:00 +0100 (CET)",
    b"From a at example.org  Mon Jan  1 12:30:00 2024",  # a mailing list's archive
    b"From - Mon Jan 01 12:30:00 2024",  # Thunderbird
    b"From ???@??? Mon Jan 01 12:30:00 2024",
    b'From "A B"@example.org Mon Jan  1 12:30:00 2024',
    b"From Mon Jan  1 12:30:00 2024",
    b"From a Mon Jan  1 12:30:00 2024 remote from b",
    b"From a@example.org 2024-01-01T12:30:00Z",
    b"From a@example.org 2024-01-01 12:30:00.5+01:00",
    b"From a@example.org 2024-01-01",
]
BARE = [b"From ", b"From a@example.org", b"From - ", b"From a Mo Jan  1 12:30:00 2024"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("line", DATED + BARE)
def test_each_program_has_its_own_first_line_of_a_mail(line, end):
    box = line + b"\n" + FIRST + b"\n" + line + b"\n" + SECOND
    wanted = [mail.replace(b"\n", end) for mail in (FIRST, SECOND)]
    assert mails(io.BytesIO(box.replace(b"\n", end)), "mail") == wanted
    # empty lines before it
    assert mails(io.BytesIO((b"\n\n" + box).replace(b"\n", end)), "mail") == wanted


@pytest.mark.parametrize("line", DATED)
def test_a_line_with_a_date_begins_a_mail_without_an_empty_one_before_it(line):
    box = io.BytesIO(line + b"\n" + FIRST + line + b"\n\nno header\n" + line + b"\n" + SECOND)
    assert mails(box, "mail") == [FIRST, b"\nno header\n", SECOND]


@pytest.mark.parametrize(
    "line",
    [
        b"From noon until 14:30 we meet",
        b"From Mon Jan 1 on it is 12:30 or later",
        b"From here",
        b"From ",
        b"From 2024-01-01 on prices rise",
        b"From a@example.org Mon Jan 1 to Tue Jan 2 2024",
        b"From noon until 14:30\nPlace: the office",
        b"From one\nto two",
    ],
)
def test_a_line_of_a_text_begins_no_mail(line):
    mail = FIRST + b"\n" + line + b"\n\nmore\n"
    box = LINE + mail + b"\n" + LINE + SECOND.replace(b"\nFrom", b"\n>From")
    assert mails(io.BytesIO(box), "mail") == [mail, SECOND]


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
def test_a_mail_that_says_how_long_it_is_ends_there_if_another_begins_there(size):
    text = b"\n" + LINE + b"\nan mbox in a mail\n\n" + LINE + FIRST
    true = b"Subject: 1\nContent-Length: %d\n\n" % len(text) + text
    false = b"Subject: 2\nContent-Length: %d\n\ntext\n"
    box = b""
    for mail in (true, false % 3, false % 40, false % 10**8, false % 10**12, true):
        box += LINE + mail + b"\n"
    blocks = [b"".join(lines) for lines in batched(box.splitlines(True), size)]
    cut, line = [], 1
    for data in blocks:
        cut.append(Block("box", line, data))
        line += data.count(b"\n")
    found = [mail for _, mail in Cutter().mails(cut)]
    assert found[0] == found[-1] == true
    assert found[1:-1] == [false % n for n in (3, 40, 10**8, 10**12)]


def test_one_mail_with_lines_of_an_mbox_in_it_is_warned_of(tmp_path):
    box = b"X-Exported: yes\n\n" + MBOX
    with pytest.warns(UserWarning, match="box is read as one mail, though 2 of its lines look"):
        assert mails(write(tmp_path / "box", box), "mail") == [box]
    assert mails(io.BytesIO(FIRST + b"\n" + LINE), "mail") == [FIRST + b"\n" + LINE]


def test_other_files_of_a_folder_are_left_out_and_named(tmp_path):
    others = {
        "Thumbs.db": b"\xd0\xcf\x11\xe0\0\0",
        "INBOX.msf": b'// <!-- <mdb:mork:z v="1.4"/> -->\n',
        "c.msg": b"\xd0\xcf\x11\xe0\xa1",
        "dovecot-uidlist": b"3 V1 N5 G0\n1 :a\n",
        "list.json": b'{"to": 1}\n',
    }
    for name, data in {**others, "a.eml": FIRST, "INBOX": MBOX, "1234": b"text"}.items():
        write(tmp_path / "in" / name, data)
    write(tmp_path / "in" / "cur" / "1.a", b"\xd0")
    write(tmp_path / "in" / "x.eml", b"no header")
    labels_of = {str(tmp_path / "in"): "ham"}
    explicit = {"labels_of": labels_of}, {}
    for options in explicit:
        paths = in_turns([[str(tmp_path / "in")]]) if options else tmp_path / "in"
        with pytest.warns(UserWarning, match="5 files that are not mails were left out, in .*in: "):
            found = mails(paths, "mail", **options)
        assert sorted(found) == sorted([FIRST, FIRST, SECOND, b"text", b"\xd0", b"no header"])
    # one that is named is taken at its word
    assert mails(tmp_path / "in" / "c.msg", "mail") == [others["c.msg"]]


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


MAIL = b"Message-ID: <1@a>\nFrom: a\nSubject: two\n words\n\ntext\n\nmore\n"


@pytest.mark.parametrize(
    "same",
    [
        MAIL.replace(b"\n", b"\r\n"),
        b"Received: by b\nX-Streamptron: ham\n" + MAIL + b"\n\n",
        MAIL.replace(b"From", b"Status: RO\nFrom").rstrip(),
        MAIL.replace(b"two\n words", b"two words"),
    ],
)
def test_a_mail_stays_the_same_on_its_way(same):
    assert identity(same) == identity(MAIL) == ("1@a", identity(MAIL)[1])


@pytest.mark.parametrize(
    "other",
    [
        MAIL.replace(b"1@a", b"2@a"),
        MAIL.replace(b"From: a", b"From: b"),
        MAIL.replace(b"two", b"three"),
        MAIL.replace(b"more", b"less"),
        MAIL.replace(b"text\n", b"text"),
        b"",
        b"text",
        b"Message-ID: <1@a>\nFrom: a\nSubject: two words\n",
    ],
)
def test_another_mail_is_another_whatever_its_id(other):
    assert identity(other) != identity(MAIL)
    assert identity(b"another text") != identity(other)


def test_groups_of_mails_are_mixed(tmp_path):
    for i in range(2):
        write(tmp_path / "spam" / f"{i}.eml")
    for i in range(4):
        write(tmp_path / "ham" / f"{i}.eml")
    found = in_turns([(str(tmp_path / "spam"),), (str(tmp_path / "ham"),)])
    folders = [path.split(os.sep)[-2] for path in found]
    assert folders == ["ham", "spam", "ham", "ham", "spam", "ham"]
