"""The features of mails: what the docstring says, and what the twin gives, bit for bit."""

import base64
import pickle
import quopri
import random
import re
import sys
from pathlib import Path

import pytest

from streamptron import AdaptiveClassifier, Mail, Perceptron, Tokenizer, load
from streamptron.common.tokens import described
from tests.support.mails import (
    CORPORA,
    changed,
    corpus,
    likely_mail,
    needs_mails,
    random_charset,
    random_html,
    random_mail,
    random_parameters,
    sample,
)
from tests.support.marks import seeds, slow
from tests.twin import mail as twin

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python


def check(mail, **params):
    found, wanted = Mail(**params).transform_one(mail), twin.features(mail, **params)
    assert list(found.items()) == list(wanted.items())


def peak():
    """The most memory that the process had, in kB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def words(mail, **params):
    return list(Mail(bytes=0, **params).transform_one(mail))


@seeds(12, n_slow=40)
def test_random_mails_with_random_parameters(seed):
    rng = random.Random(seed)
    for _ in range(60):
        params = random_parameters(rng)
        mail = random_mail(rng)
        check(mail, **params)
        check(changed(rng, likely_mail(rng)), **params)


@pytest.mark.slow
@needs_mails
@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("n", slow({2500}, among=[60, 2500]), ids="{} of them".format)
def test_real_mails_and_changed_ones(name, n):
    rng = random.Random(n)
    for mail, _ in sample(name, n):
        check(mail)
        check(changed(rng, mail), **random_parameters(rng))


@pytest.mark.parametrize(
    ("mail", "features"),
    [
        (b"", []),
        (b"no header at all", ["no", "header", "at", "all"]),
        (b"From a 12:30\nno header:\n\nat all", ["no", "header", "at", "all"]),
        (b"\nno header at all", ["no", "header", "at", "all"]),
        (b"Subject: a\n b\n\tc\n\nd", ["subject:a", "subject:b", "subject:c", "d"]),
        (b"From a@b Mon 12:30\nTo: x\nno colon\nA B: c\n\n", ["to:x"]),
        (b"X-Spam-Flag: YES\nStatus: RO\nX-Streamptron: spam\nTo: x\n\n", ["to:x"]),
        (b"Subject: =?koi8?q?a_b?=\n =?u?b?Yw==?= d\n\n", ["subject:a", "subject:bc", "subject:d"]),
        (b"To: \xc3\x89cris \xce\xb1\n\n", ["to:ecris", "to:\u03b1"]),
        (
            b"\n" + "p\u0440ize \u0440\u0430".encode(),
            ["ppize", "\u0440\u0430"],
        ),
        (b"\n" + b"a" * 33 + b" " + b"a" * 64, ["long<6>", "long<7>"]),
        (b"\n" + "\u4e2d\u6587".encode() * 6, ["\u4e2d\u6587", "\u6587\u4e2d", "\u6587"]),
        (b"Content-Type: image/png\n\nnothing", ["content-type:image", "content-type:png"]),
        (
            b"Content-Type: text/html\n\nv<b></b>iagra<p>&nbsp;now<!-- x --><script>y</script>",
            ["content-type:text", "content-type:html", "viagra", "now"],
        ),
        (
            b"Content-Type: multipart/mixed; boundary=x\n\nno\n--x\nContent-Type: text/plain\n"
            b"Content-Transfer-Encoding: base64\nSubject: no\n\nYQ==\n--x--\nno",
            [
                *("content-type:multipart", "content-type:mixed", "content-type:boundary"),
                *("content-type:x", "p.content-type:text", "p.content-type:plain", "a"),
            ],
        ),
    ],
)
def test_each_rule_on_a_mail_of_its_own(mail, features):
    assert words(mail) == features
    check(mail)


def test_letters_stay_as_they_are_without_folding():
    mail = b"\n\xc3\x89cris p\xd1\x80ize"
    assert words(mail, fold=False) == ["\u00e9cris", "p\u0440ize"]


def test_bytes_are_the_first_ones_four_in_a_row():
    found = dict(Mail(headers=False, text=False, bytes=6).transform_one(b"To: a\n\n"))
    assert found == {b"To: ": 1.0, b"o: a": 1.0, b": a\n": 1.0}
    assert dict(Mail(headers=False, text=False).transform_one(b"abc")) == {}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"bytes": 3}, "bytes=3; it must be 0, for none, or an int from 4 to"),
        ({"bytes": True}, "bytes=True"),
        ({"bytes": 2.0}, "bytes=2.0"),
        ({"headers": 1}, "headers=1"),
        ({"headers": False, "text": False, "bytes": 0}, "turn one of them on"),
        ({"fold": None}, "fold=None"),
    ],
)
def test_wrong_parameters_are_refused_by_their_names(params, message):
    with pytest.raises((TypeError, ValueError), match=message.replace("(", r"\(")):
        Mail(**params)


TEXTS = {
    "Дом вон МИР ёлка": "windows-1251 cp1251 koi8-r KOI8-U iso-8859-5 utf-16 utf-16le UTF-16BE "
    "utf-7 iso-2022-jp euc-jp shift_jis gb2312 gb18030 euc-kr",
    "łódź Żółw čeština": "windows-1250 iso-8859-2 ISO-8859-16",
    "Écris straße": "iso-8859-1 ISO_8859-1:1987 iso-8859-15 windows-1252 macintosh utf-8",
    "ΑΒΓ ψωμί": "windows-1253 iso-8859-7",
    "şöğüş İçin": "windows-1254 iso-8859-9",
    "שלום": "windows-1255 iso-8859-8 iso-8859-8-i",
    "مرحبا": "windows-1256 iso-8859-6",
    "ąžuolas ģimene": "windows-1257 iso-8859-13 iso-8859-4",
    "สวัสดี": "tis-620 windows-874 iso-8859-11",
    "ひらがな カタカナー": "iso-2022-jp x-sjis euc-jp",
    "한국어 똠방각하": "cp949 ks_c_5601-1987",
    "한국어": "euc-kr iso-2022-kr",
}
CODECS = {
    "x-sjis": "shift_jis", "ks_c_5601-1987": "cp949", "tis-620": "cp874", "windows-874": "cp874",
    "ISO_8859-1:1987": "latin-1", "macintosh": "mac_roman",
    "iso-8859-8-i": "iso-8859-8", "iso-8859-11": "cp874",
}  # fmt: skip
CASES = [(text, name) for text, names in TEXTS.items() for name in names.split()]


@pytest.mark.parametrize(("text", "name"), CASES, ids="{}".format)
def test_words_of_a_charset_are_those_of_utf_8(text, name):
    data = text.encode(CODECS.get(name, name))
    for fold in (True, False):
        wanted = words(b"\n" + text.encode(), fold=fold)
        head = f'Content-Type: text/plain; charset="{name.upper()}"\n\n'.encode()
        mail = head + data
        assert words(mail, headers=False, fold=fold) == wanted
        check(mail)
    subject = base64.b64encode(data)
    mail = f"Subject: =?{name}?B?{subject.decode()}?=\n\n".encode()
    assert words(mail) == [f"subject:{word}" for word in words(b"\n" + text.encode())]


@pytest.mark.parametrize("name", ["big5", "gb2312", "euc-kr", "shift_jis", "iso-2022-jp", "none"])
def test_words_that_are_only_kept_apart_are_different_and_always_the_same(name):
    text = "中 大 小 人 山 水 木 中大 大小"
    codec = "gb2312" if name == "none" else name
    mail = f"Content-Type: text/plain; charset={name}\n\n".encode() + text.encode(codec)
    found = words(mail, headers=False)
    assert len(set(found)) == len(text.split())
    check(mail)


def test_charsets_with_the_same_list_have_the_same_words():
    def of(name):
        mail = f"Content-Type: text/plain; charset={name}\n\n".encode() + "日本 大小".encode(name)
        return words(mail, headers=False)

    assert of("iso-2022-jp") == of("shift_jis") == of("euc-jp")
    assert of("gb2312") == of("gbk") == of("gb18030")


@pytest.mark.parametrize("charset", ["", "; charset=us-ascii", "; charset=x-unknown"])
def test_words_of_no_known_charset_stay_different(charset):
    text = "дом вон мир лис чай ай Ёж"
    for codec in ("cp1251", "koi8-r", "iso-8859-5"):
        mail = f"Content-Type: text/plain{charset}\n\n".encode() + text.encode(codec)
        assert len(set(words(mail, headers=False))) == len(text.split())
        check(mail)
    assert words(b"\n\x93free\x94 don\x92t \x85") == ["free", "don", "t"]


FOREIGN = [
    "X-Spam-Status",
    "X-Spam",
    "X-SpamProbe",
    "X-Bogosity",
    "X-Rspamd-Action",
    "X-Spamd-Result",
    "X-DSPAM-Result",
    "X-CRM114-Status",
    "X-Gmail-Labels",
    "X-GM-THRID",
    "X-Mozilla-Keys",
    "X-MS-Exchange-Organization-SCL",
    "X-Forefront-Antispam-Report",
    "X-Barracuda-Spam-Score",
    "X-MailScanner-SpamCheck",
    "X-Antispam",
    "X-Streamptron",
    "Status",
    "X-Status",
    "X-UID",
    "X-UIDL",
    "X-Keywords",
    "Content-Length",
    "Lines",
    "x-spam-FLAG",
]


@pytest.mark.parametrize("name", FOREIGN)
def test_fields_of_filters_and_mailboxes_are_neither_words_nor_bytes(name):
    mail = b"From: a\n%sSubject: b\n\ntext\n%s"
    field = name.encode() + b": spam 0.99\n\tand more\n"
    for params in ({}, {"headers": False, "text": False, "bytes": 30}):
        found = Mail(**params).transform_one(mail % (field, field))
        assert list(found) == list(Mail(**params).transform_one(mail % (b"", field)))
        check(mail % (field, field), **params)


def test_other_fields_of_such_names_stay():
    assert words(b"X-Mailer: a\nLines-Of: b\nX-UIDs: c\n\n") == [
        "x-mailer:a",
        "lines-of:b",
        "x-uids:c",
    ]


@pytest.mark.parametrize(
    "field",
    [
        b"boundary*=utf-8''x%20y",
        b'boundary*0="x "; boundary*1=y',
        b"boundary*0*=''x%20; boundary*1=y",
        b'boundary="x y"\nContent-Type: text/plain',
        b'x=y\nContent-Type: multipart/mixed; boundary="x\\ y"',
    ],
)
def test_parts_are_found_however_their_boundary_is_written(field):
    mail = (
        b"Content-Type: multipart/mixed; "
        + field
        + (b"\n\n--x y\nContent-Transfer-Encoding: base64\n\nZnJlZQ==\n--x y--\n")
    )
    assert words(mail, headers=False) == ["free"]
    check(mail)


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_a_mail_in_a_mail_is_read_however_it_is_encoded(encoding):
    inner = b"Subject: a\nContent-Type: text/html; charset=koi8-r\n\n<p>\xc4\xcf\xcd fr<b>ee</b>\n"
    code = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}[encoding]
    for _ in range(3):
        head = f"Content-Type: message/rfc822\nContent-Transfer-Encoding: {encoding}\n\n".encode()
        inner = head + code(inner)
        assert words(inner, headers=False) == ["дом", "free"]
        check(inner)


def html(text):
    return words(b"Content-Type: text/html; charset=utf-8\n\n" + text.encode(), headers=False)


def test_named_characters_are_what_browsers_make_of_them():
    import html.entities as known

    for name, code in known.name2codepoint.items():
        assert html(f"a&{name};b") == html(f"a&#{code};b"), name
    for name in known.html5:
        if not name.endswith(";"):
            assert html(f"a&{name} b") == html(f"a&#{ord(known.html5[name])} b"), name
    assert html("&notx &amp &#x41;&#66 &#146;c") == ["x", "ab", "c"]


def test_letters_are_those_of_the_table_of_letters():
    text = "„frei“ frei… »frei« ¡frei! win🎁now मुफ्त। مجاني،"
    assert words(b"\n" + text.encode()) == ["frei", "win", "now", "मुफ्त", "مجاني"]


@seeds(4, n_slow=20)
def test_random_html_and_charsets(seed):
    rng = random.Random(seed)
    for _ in range(150):
        check(random_html(rng), bytes=0, fold=rng.random() < 0.7)
        check(random_charset(rng), bytes=0, fold=rng.random() < 0.5)


@pytest.mark.parametrize("x", ["Subject: a\n\n", None, 3, {"subject": b"a"}, [b"a"]])
def test_what_is_not_bytes_is_refused_and_changes_nothing(x):
    model = Mail() | AdaptiveClassifier()
    model.learn_one(b"Subject: a\n\nb", "ham")
    before = pickle.dumps(model)
    with pytest.raises(TypeError, match="a mail is the bytes of its file"):
        model.learn_one(x, "spam")
    with pytest.raises(TypeError, match=r"in row 1: x is .*a mail is the bytes of its file"):
        Mail().transform_many([b"a", x])
    assert pickle.dumps(model) == before


def test_other_kinds_of_bytes_are_taken():
    mail = b"Subject: free\n\nprize"
    wanted = dict(Mail().transform_one(mail))
    assert dict(Mail().transform_one(bytearray(mail))) == wanted
    assert dict(Mail().transform_one(memoryview(mail))) == wanted


@seeds(3)
def test_many_mails_teach_what_they_teach_one_by_one(seed):
    rng = random.Random(seed)
    mails = [random_mail(rng) for _ in range(80)]
    labels = [rng.choice(("spam", "ham")) for _ in mails]
    one, many, dicts = (
        Mail() | AdaptiveClassifier(hash_seed=1),
        Mail() | AdaptiveClassifier(hash_seed=1),
        AdaptiveClassifier(hash_seed=1),
    )
    for mail, label in zip(mails, labels, strict=True):
        one.predict_one(mail)
        one.learn_one(mail, label)
        dicts.learn_one(twin.features(mail), label)
    many.learn_many(mails, labels)
    assert list(many.predict_many(mails)) == [one.predict_one(mail) for mail in mails]
    for mail in mails:
        p = one.predict_proba_one(mail)
        assert p == many.predict_proba_one(mail) == dicts.predict_proba_one(twin.features(mail))


def test_a_file_a_pickle_and_a_ticket_hold_all_of_it(tmp_path):
    mail = b"Subject: free prize\n\nclick <here>"
    model = Mail(text=False, bytes=100, fold=False) | AdaptiveClassifier()
    model.learn_one(mail, "spam")
    model.save(tmp_path / "mail.model")
    for other in (load(tmp_path / "mail.model"), pickle.loads(pickle.dumps(model))):
        assert other[0]._get_params() == model[0]._get_params()
        assert type(other[0]) is Mail
        assert other.predict_proba_one(mail) == model.predict_proba_one(mail)
        other.learn_one(b"Subject: see you\n\n", "ham")
        model_now = pickle.loads(pickle.dumps(model))
        model_now.learn_one(b"Subject: see you\n\n", "ham")
        assert other.predict_proba_one(mail) == model_now.predict_proba_one(mail)
    ticket = model.predict_ticket(b"Subject: prize\n\n")
    model.learn_ticket(ticket, "ham")
    assert model.predict_one(b"Subject: prize\n\n") == "ham"


def test_features_are_named_as_a_person_reads_them():
    model = Mail(bytes=8) | AdaptiveClassifier()
    mail = b"Subject: free\n\nprize"
    model.learn_one(mail, "spam")
    model.learn_one(b"Subject: meeting\n\ntomorrow", "ham")
    named = {described(name) for name, _ in model.explain_one(mail) if name is not None}
    assert {"subject: free", "text: prize", 'bytes: "Subj"'} <= named


def test_rivers_learners_get_a_dict():
    from river import naive_bayes

    model = Mail(bytes=0) | naive_bayes.BernoulliNB()
    model.learn_one(b"Subject: free\n\nprize", "spam")
    assert model.predict_one(b"Subject: free\n\nprize") == "spam"


@pytest.mark.skipif(
    sys.platform != "linux", reason="the most memory that was used, as Linux has it"
)
@pytest.mark.parametrize(
    "unit",
    [b"a ", b"--x\n", b"<", b"=?u?q?", b"Content-Type: multipart/mixed; boundary=x\n\n--x\n",
     b"X: \n", b"&#", b"<div style=\"", b"<p hidden>", b"</p>", b"&am", b"x-", b"=  ",
     b"\n ", "\u4e2d".encode(), b"<!--", b"boundary=\""],
)  # fmt: skip
def test_a_mail_of_50_mb_takes_little_memory(unit):
    head = b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n"
    mail = (head + unit * (50_000_000 // len(unit)))[:50_000_000]
    model = Mail() | Perceptron(hash_bits=10)
    model.learn_one(b"Subject: a\n\nb", True)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is the present from here on
    before = peak()
    model.predict_one(mail)
    assert peak() - before < 64_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        b"<", b"=?", b"--x", b'boundary="', b"\n--", b"&", b"<!-", b"\n", b"<a '", b"<p>", b"</a>",
        b"<div style='a:(", b"<!--!", b"<title>", b"= ", b"&#1", b"X-Spam: a\n", b"From \n",
        b"Content-Type: multipart/mixed; boundary*1=a\n",
    ],
)  # fmt: skip
def test_time_grows_no_faster_than_the_mail(unit):
    """By the steps that are counted, not by the clock: a mail of twice the size has features that
    are at most twice as many, and all sizes up to 20 MB end at all.
    """
    head = b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n"
    sizes = [len(Mail().transform_one(head + unit * n)) for n in (10_000, 20_000, 5_000_000)]
    assert sizes[1] <= 2 * sizes[0]
    assert sizes[2] <= 400_000


def test_a_tokenizer_is_not_a_mail():
    assert not isinstance(Tokenizer(), type(Mail()))
    assert Mail().fields is None


# --- What it is for

FIGURES = {
    ("trec07p_first12000_raw", 0): (32, 0.0049),
    ("trec07p_first12000_raw", 3500): (23, 0.0079),
    ("spamassassin_raw", 0): (66, 0.103),
    ("spamassassin_raw", 3500): (60, 0.0922),
}


@needs_mails
@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_bytes"), FIGURES)
def test_errors_on_real_mails_are_those_that_are_published(name, n_bytes):
    """docs/mail.md has the table: each mail is answered before it is learned."""
    mails = corpus(name)
    model = Mail(bytes=n_bytes) | AdaptiveClassifier(hash_seed=1)
    n_wrong = 0
    for mail, label in mails:
        n_wrong += (model.predict_one(mail) or "ham") != label
        model.learn_one(mail, label)
    assert n_wrong <= FIGURES[name, n_bytes][0]
