"""Each format is read as those who made it read it."""

import io

import pytest

from streamptron import AdaptiveClassifier
from streamptron.files import LineError, read
from tests.support.event_files import events, problems, record


def test_plain_is_a_label_a_tab_and_a_text():
    data = b"ham\thello\tyou \r\nnot spam\t\nham\t\xff\0\xc3\xa9\nham\ta\rb\n"
    with pytest.warns(UserWarning, match="1 of 4 texts have bytes that are not UTF-8"):
        found = events(data, "plain")
    assert found == [
        ("hello\tyou ", "ham"),
        ("", "not spam"),
        ("\ufffd\0é", "ham"),
        ("a\rb", "ham"),
    ]
    assert events(b"ham\t\xff\r\n", "plain", raw=True) == [(b"\xff", "ham")]
    assert problems(b"\tx\n \n\xff\tx\n\n\r\n", "plain") == {
        1: "the label is empty; give each line one",
        2: "no TAB; write label<TAB>text",
        3: "not UTF-8 ('utf-8' codec can't decode byte 0xff in position 0: invalid start byte); "
        "give the file's encoding, or convert it",
    }


def test_fasttext_has_one_label_anywhere():
    data = (
        b"__label__a hello you\r\nhello __label__b you\n__label__c\nx__label__d __label__e y\n \n"
    )
    assert events(data + b" \n", "fasttext") == [
        ("hello you", "a"),
        ("hello you", "b"),
        ("", "c"),
        ("x__label__d y", "e"),
    ]
    assert events(b"__label__a \xff", "fasttext", raw=True) == [(b"\xff", "a")]
    assert events(b"#a #lang=b c", "fasttext", prefix="#lang=") == [("#a c", "b")]
    found = problems(b"hello\n__label__a __label__b x\n__label__ x\n__label__\xff x\n", "fasttext")
    assert found[1].startswith("no labels; a line must have exactly one word that")
    assert found[2].startswith("2 labels")
    assert found[3] == "the label is empty; give each line one"
    assert found[4].startswith("not UTF-8")
    assert list(found) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("line", "x", "y", "w", "tag"),
    [
        (b"1 | a b:2", {"a": 1.0, "b": 2.0}, 1, 1.0, None),
        (b"-1.5 0.5 'id |ns a:-1e-3", {"ns^a": -0.001}, -1.5, 0.5, "id"),
        (
            b"1 2 zebra|m:3 h:1.5 l |o n:4",
            {"m^h": 4.5, "m^l": 3.0, "o^n": 4.0},
            1,
            2.0,
            "zebra",
        ),
        (b"| a a:2 |n a |n a:0", {"a": 3.0, "n^a": 1.0}, None, 1.0, None),
        (b"'t| a", {"a": 1.0}, None, 1.0, "t"),
        (b"1.0\t|a\tb\tc:0\r", {"a^b": 1.0, "a^c": 0.0}, 1, 1.0, None),
        (b"1 |", {}, 1, 1.0, None),
        (b"2 |ns", {}, 2, 1.0, None),
        ("1 |é ж:2\u00a0".encode()[:-2], {"é^ж": 2.0}, 1, 1.0, None),
        ("1 | a\u00a0b".encode(), {"a\u00a0b": 1.0}, 1, 1.0, None),
    ],
)
def test_vw_is_read_as_vowpal_wabbit_reads_it(line, x, y, w, tag):
    found = record(line, "vw")
    assert found.x == x
    assert list(found.x) == list(x)
    assert found[1:5] == (y, w, None, tag)


def test_vw_labels_may_be_text():
    assert events(b"dog | a\n1 | a\n", "vw", label_type="text") == [
        ({"a": 1.0}, "dog"),
        ({"a": 1.0}, "1"),
    ]


def test_vw_lines_that_are_bad_say_why():
    data = b"""1 a:2
dog | a
1 2 3 | a
1 -1 | a
1 x | a
1 | a:b
1 | a:1:2
1 | :2
1 |ns:x a
1 | a:nan
1 | a:1e400
1 | a:1_0
1 | a:
1 | \xff
1 | a:\xd9\xa1
1 |n:1e200 a:1e200
"""
    assert problems(data, "vw") == {
        1: "no bar; write label | name:value ...",
        2: "the label 'dog' is not a finite number; "
        "for labels that are text give label_type='text'",
        3: "'3' after label and importance; only a 'tag may follow",
        4: "the importance -1 is negative; write 0 or more",
        5: "the importance 'x' is not a finite number; write one",
        8: "':2'; write name:value, a finite number or a text for it",
        9: "ns: the scale 'x' is not a finite number; write one",
        10: "'a:nan'; write name:value, a finite number or a text for it",
        11: "'a:1e400'; write name:value, a finite number or a text for it",
        13: "'a:'; write name:value, a finite number or a text for it",
        14: "not UTF-8 ('utf-8' codec can't decode byte 0xff in position 4: invalid start byte); "
        "give the file's encoding, or convert it",
        16: "n^a comes to inf; scale it down",
    }


def test_a_text_of_vw_is_a_category_as_everywhere():
    data = b"1 |  city:paris price:3\n1 |a city:paris:x:2 t:12:30 t:12:30 n:1_0\n"
    assert events(data, "vw") == [
        ({"city=paris": 1.0, "price": 3.0}, 1),
        ({"a^city=paris:x:2": 1.0, "a^t=12:30": 2.0, "a^n=1_0": 1.0}, 1),
    ]


@pytest.mark.parametrize("options", [{}, {"label_type": "text"}])
@pytest.mark.parametrize("label", ["1:2", "2:0.5:0.1", "3:-1e-2:.5 4:1", "0:1."])
def test_vw_labels_with_costs_are_bad_and_the_form_that_is_read_is_said(label, options):
    first = label.partition(" ")[0]
    assert problems(f"{label} |a b\n".encode(), "vw", **options) == {
        1: f"'{first}' is a label with a cost, as for cost-sensitive and bandit learners, "
        "which is not supported; write label importance 'tag| name:value ..."
    }


def test_vw_labels_of_text_may_have_colons():
    labels = ["error:disk", "1:a", "a:1", "1:2:3:4", ":1"]
    data = "".join(f"{label} | a\n" for label in labels).encode()
    assert [y for _, y in events(data, "vw", label_type="text")] == labels


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**30 + 1])
@pytest.mark.parametrize("form", ["svmlight", "vw"])
def test_an_int_that_no_float64_holds_is_a_bad_line_where_a_format_makes_floats(form, value):
    line = {"svmlight": "1 2:1 7:%s\n", "vw": "1 | a 7:%s\n"}[form]
    with pytest.raises(LineError, match=rf"1: 7: the value {value} is an int .* exactly; scale it"):
        events((line % value).encode(), form)
    for good in (value - 1, f"{value}.0", float(value)):
        if good != 10**30:
            [(x, _)] = events((line % good).encode(), form)
            assert x[7 if form == "svmlight" else "7"] == float(good)


def test_svmlight_is_label_qid_features_and_comment():
    data = b"+1 3:1 1:0.5 # a b\n-0.5 qid:7 2:0\n# nothing\n2.0\t0:1e3\r\n 9007199254740993 1:1\n\n"
    found = list(read(io.BytesIO(data), "svmlight").records())
    assert [r[:5] for r in found] == [
        ({3: 1.0, 1: 0.5}, 1, 1.0, None, "a b"),
        ({2: 0.0}, -0.5, 1.0, 7, None),
        ({0: 1000.0}, 2, 1.0, None, None),
        ({1: 1.0}, 9007199254740993, 1.0, None, None),
    ]
    assert [type(r.y) for r in found] == [int, float, int, int]
    assert [r.line for r in found] == [1, 2, 4, 5]
    assert events(b"1 1:1e308 2:1e308", "svmlight") == [({1: 1e308, 2: 1e308}, 1)]
    assert events(b"1 +1:1e308 %d:1e308" % 10**20, "svmlight") == [({1: 1e308, 10**20: 1e308}, 1)]


def test_svmlight_lines_that_are_bad_say_why():
    data = b"""3:1
1,2 3:1
dog 3:1
1 3
1 a:1
1 -3:1
1 3:x
1 3:inf
1 3:1 3:2
1 1_0:1
1 3:1_0
1 3:
1 qid:x 3:1
1 3:1:2
1 3:\xff
1\x003:1
nan 3:1
"""
    assert problems(data, "svmlight") == {
        1: "'3:1' in the label's place; write label index:value ...",
        2: "several labels, '1,2'; write one, or read with several=True (--learner multilabel)",
        3: "the label 'dog' is not a finite number; write one",
        4: "'3' has no colon; write index:value",
        5: "the index 'a'; write an int from 0",
        6: "the index '-3'; write an int from 0",
        7: "3: the value 'x' is not a finite number; write one",
        8: "3: the value 'inf' is not a finite number; write one",
        9: "the index 3 occurs twice; write it once",
        10: "the index '1_0'; write an int from 0",
        11: "3: the value '1_0' is not a finite number; write one",
        12: "3: the value '' is not a finite number; write one",
        13: "the qid 'x'; write an int from 0",
        14: "3: the value '1:2' is not a finite number; write one",
        15: "3: the value '\ufffd' is not a finite number; write one",
        16: "'1\\x003:1' in the label's place; write label index:value ...",
        17: "the label 'nan' is not a finite number; write one",
    }


def test_json_fields_are_named_with_dots():
    line = (
        b'{"a": {"b": "spam"}, "n": 2, "t": true, "z": null, "s": "x=y", "a.b": 1, "d": {"e": 0}}\n'
    )
    features = ["n", "t", "z", "s", ("a.b",), "d.e", "n.o", "missing"]
    with pytest.warns(UserWarning, match=r"no event has 'missing', 'n\.o', 'z'; check the names"):
        found = events(line, "jsonl", label=("a", "b"), features=features)
    assert found == [({"n": 2, "t": 1, "s=x=y": 1, "a.b": 1, "d.e": 0}, "spam")]
    assert list(map(type, found[0][0].values())) == [int] * 5
    assert events(line, "jsonl", label=None, text="s") == [("x=y", None)]
    assert events(line, "jsonl", label="t", text=("a", "b")) == [("spam", True)]
    assert events(b'{"y": %d}' % 10**400, "jsonl", label="y", features=[]) == [({}, 10**400)]
    assert events(b' {"y": 1, "x": "\\ud800\\u00e9"} \r\n\n', "jsonl", label="y", text="x") == [
        ("\ufffdé", 1)
    ]


def test_json_fields_that_are_seen_later_do_not_warn():
    data = b'{"y": 1}\n{"y": 1, "a": 2}\n{"y": 1, "b": "c"}\n'
    found = events(data, "jsonl", label="y", features=["a", "b"])
    assert found == [({}, 1), ({"a": 2}, 1), ({"b=c": 1}, 1)]


def test_json_lines_that_are_bad_say_why():
    data = (
        b'[1]\n{"x": "a"}\n{"y": null, "x": "a"}\n{"y": [1], "x": "a"}\n{"y": "", "x": "a"}\n'
        b'{"y": 1}\n{"y": 1, "x": 2}\n{"y": 1, "y": 2}\n{"y": NaN}\n{"y": 1e400}\n{"y": 1\n'
        b'{"y": "\xff"}\n' + b"[" * 200_000 + b'\n{"y": "\\udc00", "x": "a"}\n'
        b'{"y": ' + b"1" * 5000 + b"}\n" + b'{"y": 1, "x": "a\0"}\n'
    )
    found = problems(data, "jsonl", label="y", text="x")
    assert list(found) == list(range(1, 17))
    label = "it must be a text, a number or true or false, and not missing"
    for line, reason in {
        1: "JSON, but not an object: [1]; write one object per line",
        2: f"the label None; {label}",
        3: f"the label None; {label}",
        4: f"the label [1]; {label}",
        5: "the label is empty",
        6: "the text None; it must be a text, and not missing",
        7: "the text 2; it must be a text",
        8: "the key 'y' occurs twice; write it once",
        9: "NaN is not JSON; write a finite number, or null",
        10: f"the label inf; {label}",
        11: "not JSON (Expecting ',' delimiter: line 1 column 8",
        12: "not UTF-8",
        13: "JSON that is nested too deeply",
        14: "the label '\\udc00' is not UTF-8",
        15: "not JSON (Exceeds the limit",
        16: "not JSON (Invalid control character",
    }.items():
        assert found[line].startswith(reason)
    data = b'{"a": [1]}\n{"a": {}}\n{"a": 1e999}\n{"a": "\\ud800"}\n{"a": 1}\n'
    found = problems(data, "jsonl", label=None, features=["a"])
    assert found[1] == "a: [1]; a feature must be a finite number, a text, true or false"
    assert list(found) == [1, 2, 3, 4]


def test_csv_cells_have_types():
    data = b'city,n,y,"a ""b""",z\r\nParis,3,yes,1.5,\r\n\r\n"New\nYork",007,no,NA,0\r\n'
    found = list(read(io.BytesIO(data), "csv", label="y").records())
    assert [(r.x, r.y, r.line) for r in found] == [
        ({"city=Paris": 1, "n": 3, 'a "b"': 1.5}, "yes", 2),
        ({"city=New\nYork": 1, "n": 7, 'a "b"=NA': 1, "z": 0}, "no", 4),
    ]
    types = {"n": "category", "city": "ignore"}
    assert events(data, "csv", label="y", types=types, features=["n", "city", "z"]) == [
        ({"n=3": 1}, "yes"),
        ({"n=007": 1, "z": 0}, "no"),
    ]
    assert events(data, "csv", label="n", types={"n": "number"}, text="city") == [
        ("Paris", 3),
        ("New\nYork", 7),
    ]
    assert events(data, "csv", label=None, features=["n"]) == [({"n": 3}, None), ({"n": 7}, None)]
    data = b"1;a\n2;b\xff\n"
    with pytest.warns(UserWarning, match="1 of 2 texts have .*; the first: <BytesIO>:2"):
        found = events(data, "csv", label="y", text="x", columns=["y", "x"], delimiter=";")
    assert found == [("a", "1"), ("b\ufffd", "2")]


def test_a_csv_cell_that_is_not_finite_is_bad_unless_its_column_is_a_category():
    cells = ["nan", "-Inf", "infinity", "1e400", "9" * 400, " NaN "]
    names = ["NA", "1_0e400", "in", "nano", "#1"]
    data = "".join(f"{cell},1\n" for cell in cells + names).encode()
    data = b"a,y\n" + data
    found = problems(data, "csv", label="y")
    assert list(found) == list(range(2, 2 + len(cells)))
    assert found[2] == (
        "a: the cell 'nan' is not a finite number; leave it empty if the value is missing, or make "
        "the column a category"
    )
    assert events(data, "csv", label="y", on_error=lambda error: None) == [
        ({f"a={name}": 1}, "1") for name in names
    ]
    types = {"a": "category"}
    assert events(data, "csv", label="y", types=types)[0] == ({"a=nan": 1}, "1")


@pytest.mark.parametrize(
    ("data", "format", "options"),
    [
        (b'y,c,g,h\na,1,"",\n', "csv", {}),
        (b'{"y": "a", "c": 1, "g": ""}\n', "jsonl", {"features": ["c", "g"]}),
    ],
)
def test_an_empty_text_is_a_gap_in_every_format_as_in_a_dict(data, format, options):
    ((x, y),) = events(data, format, label="y", **options)
    assert (x, y) == ({"c": 1}, "a")
    model = AdaptiveClassifier()
    model.learn_one({"c": 1, "g": "", "h": None}, "a")
    assert list(model.weights) == list(x)


@pytest.mark.parametrize(
    ("data", "format", "features"),
    [
        (b"y,a,a=x\ns,x,2\n", "csv", None),
        (b"y,a=x,a\ns,2,x\n", "csv", ["a", "a=x"]),
        (b"y,a=b,a\ns,c,b=c\n", "csv", None),
        (b'{"y":"s","a":"x","a=x":2}\n', "jsonl", ["a", "a=x"]),
        (b'{"y":"s","a.b":1,"a":{"b":2}}\n', "jsonl", [("a.b",), "a.b"]),
    ],
)
def test_a_feature_that_an_event_has_twice_makes_a_bad_line(data, format, features):
    options = {} if features is None else {"features": features}
    found = problems(data, format, label="y", **options)
    assert len(found) == 1
    assert (
        "is there twice, by name and as a category; leave one of the two out" in found.popitem()[1]
    )


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_feature_that_is_asked_for_twice_is_refused_at_once(format):
    with pytest.raises(ValueError, match="features has 'a' twice; give it once"):
        read(io.BytesIO(b""), format, label="y", features=["a", "b", "a"])


def test_a_header_in_the_middle_of_a_csv_file_is_a_bad_line():
    data = b"y,a\ns,1\ny,a\nt,2\n"
    assert problems(data, "csv", label="y") == {
        3: "the row repeats the header, as when files are joined; remove it"
    }
    assert events(data, "csv", label="y", on_error=lambda e: None) == [
        ({"a": 1}, "s"),
        ({"a": 2}, "t"),
    ]
    assert list(problems(b"y,a\ns,1\n", "csv", label="y", columns=["y", "a"])) == [1]


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        (b"kind;size", "Give delimiter=';'"),
        (b"kind\tsize", "Give delimiter='\\t'"),
        (b"size|kind", "Give delimiter='|'"),
        (b"spam,1", "if the file has no header, name its columns by columns"),
    ],
)
def test_a_column_that_is_not_there_says_what_may_be_wrong(header, hint):
    with pytest.raises(LineError) as raised:
        events(header + b"\n", "csv", label="kind")
    assert raised.value.reason.startswith("in the header, no column 'kind'; there are [")
    assert hint in raised.value.reason


def test_ints_that_are_too_long_for_a_float_say_what_to_do_with_ids():
    number = 1234567890123456789
    found = problems(b"y,id\na,%d\na,%d\n" % (number, 2**60), "csv", label="y")
    assert found == {
        2: f"id: {number} is an int that a float64 cannot hold exactly, as ids are; leave the "
        "column out by types['id']='ignore', or make it names by 'category'"
    }
    data = b'{"id": %d}\n{"id": %d}\n{"id": 1%b}\n' % (number, 2**60, b"0" * 400)
    found = problems(data, "jsonl", label=None, features=["id"])
    assert list(found) == [1, 3]
    assert "leave it out of the features, or write it as a text" in found[1]
    types = {"id": "category"}
    data = b"y,id\na,%d\n" % number
    assert events(data, "csv", label="y", types=types) == [({f"id={number}": 1}, "a")]


def test_a_date_is_its_month_its_weekday_and_its_hour():
    data = b"y,t\na,2026-01-31\na,2026-02-01 00:05:07.25\na,2026-12-06T23:59Z\na,\na,31.1.2026\n"
    found = []
    problem = {}
    reader = read(
        io.BytesIO(data),
        "csv",
        label="y",
        types={"t": "date"},
        on_error=lambda error: problem.update({error.line: error.reason}),
    )
    found = [sorted(x) for x, _ in reader]
    assert found == [
        ["t.month=Jan", "t.weekday=Sat"],
        ["t.hour=0", "t.month=Feb", "t.weekday=Sun"],
        ["t.hour=23", "t.month=Dec", "t.weekday=Sun"],
        [],
    ]
    assert problem == {
        6: "t: the cell '31.1.2026' is not a date; write it as 2026-01-31, or as 2026-01-31 "
        "09:30:00"
    }


def test_csv_rows_that_are_bad_say_why_and_the_line_where_they_begin():
    data = (
        b'x,y\n1\n1,2,3\n"a\nb",\n"a"b,1\n\xff,1\n1,\xff\n"1\n\n",2\n,3\na\rb,1\n'
        b'2,c\nabc,d\n"never closed,e\nf\n'
    )
    errors = {}
    reader = read(
        io.BytesIO(data), "csv", label="y", on_error=lambda e: errors.update({e.line: e.reason})
    )
    found = [(r.x, r.y, r.line) for r in reader.records()]
    assert found == [
        ({"x": 1}, "2", 9),
        ({}, "3", 12),
        ({"x": 2}, "c", 14),
        ({"x=abc": 1}, "d", 15),
    ]
    assert list(errors) == [2, 3, 4, 6, 7, 8, 13, 16]
    assert errors[2] == "1 cells, and 2 columns; quote a cell that holds the delimiter"
    assert errors[3].startswith("3 cells, and 2 columns")
    assert errors[4] == "the label is empty; give each row one"
    assert errors[6].startswith("not CSV (',' expected after '\"')")
    assert errors[7] == "x '\\udcff' is not UTF-8; give the file's encoding, or convert it"
    assert errors[8] == "the label '\\udcff' is not UTF-8; give the file's encoding, or convert it"
    assert errors[13].startswith("not CSV (new-line character seen in unquoted field")
    assert errors[16].startswith("not CSV (unexpected end of data); close quotes")
    assert reader.n_lines == 4 + 8
    found = problems(b"a,y\n1,1\nx,1\n", "csv", label="y", types={"a": "number"})
    assert found == {3: "a: the value 'x' is not a finite number; write one"}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"a,b", "in the header, no column 'y'; there are ['a', 'b']"),
        (b"a,y,a", "in the header, two columns 'a'; rename one"),
        (
            b"\xff,y",
            "in the header, the column '\\udcff' is not UTF-8; give the file's encoding, or "
            "convert it",
        ),
        (b'"a"a,y', "in the header, not CSV (',' expected after '\"'); close quotes"),
    ],
)
def test_a_csv_header_that_cannot_be_used_raises_whatever_on_error_says(header, message):
    with pytest.raises(LineError) as caught:
        events(b"\n" + header + b"\n1,2\n", "csv", label="y", on_error="skip")
    assert str(caught.value).startswith(f"<BytesIO>:2: {message}")


def test_each_csv_file_has_its_own_header():
    files = [io.BytesIO(b"y,a\n1,2\n"), io.BytesIO(b"b,y\n3,4\n")]
    assert list(read(files, "csv", label="y")) == [({"a": 2}, "1"), ({"b": 3}, "4")]


@pytest.mark.parametrize("open_row", [b"", b'"1\n'])
def test_a_csv_file_ends_at_a_line_that_is_too_long_since_a_quote_may_be_open_there(open_row):
    data = b"a,y\n5,6\n" + open_row + b"z" * 100 + b'\n3",4\n5,6\n'
    errors = []
    reader = read(io.BytesIO(data), "csv", label="y", max_line=60, on_error=errors.append)
    assert list(reader) == [({"a": 5}, "6")]
    assert "longer than 60 bytes" in errors[0].reason
    assert "the rest of the file is left out" in errors[1].reason
    assert len(errors) == 2


def test_a_csv_row_that_is_too_long_is_left_out_up_to_its_last_quote():
    data = b'a,y\n"' + b"1,23456\n" * 20 + b'"",1",1\n5,6\n'
    reader = read(io.BytesIO(data), "csv", label="y", max_line=60, on_error=lambda error: None)
    assert list(reader) == [({"a": 5}, "6")]
    assert [error.line for error in reader.errors] == [2]
    assert "a row of more than 60 bytes" in reader.errors[0].reason


def test_a_csv_cell_beyond_the_limit_of_the_csv_module_says_how_to_raise_it():
    data = b'x,y\n"' + b"a,1\n" * 50_000 + b'",1\nb,2\n'
    assert events(data, "csv", label="y", text="x", on_error=lambda error: None) == [("b", "2")]
    found = problems(data, "csv", label="y", text="x")
    assert found == {
        2: "field larger than field limit (131072); close quotes, or raise it by "
        "csv.field_size_limit()"
    }


# --- Several labels a line


@pytest.mark.parametrize(
    ("format", "lines", "found", "options"),
    [
        ("plain", b"a,b\tx\n\ty\nc\tz,z\n", [("x", ["a", "b"]), ("y", []), ("z,z", ["c"])], {}),
        (
            "fasttext",
            b"__label__a __label__b x y\nx __label__c y __label__d\nnone at all\n",
            [("x y", ["a", "b"]), ("x y", ["c", "d"]), ("none at all", [])],
            {},
        ),
        (
            "svmlight",
            b"1,3 5:1 # t\n5:2\n2 5:3\n",
            [({5: 1}, [1, 3]), ({5: 2}, []), ({5: 3}, [2])],
            {},
        ),
        (
            "vw",
            b"1,2 | a\n| b\n3 2 | c\n",
            [({"a": 1}, [1, 2]), ({"b": 1}, []), ({"c": 1}, [3])],
            {},
        ),
        ("vw", b"a,b | a\n", [({"a": 1}, ["a", "b"])], {"label_type": "text"}),
        (
            "jsonl",
            b'{"y": ["a", 2], "t": "x"}\n{"y": [], "t": "z"}\n{"y": [0], "t": ""}\n',
            [("x", ["a", 2]), ("z", []), ("", [0])],
            {"label": "y", "text": "t"},
        ),
        (
            "jsonl",
            b'{"y": {"a": true, "b": false}, "t": "x"}\n{"y": {}, "t": "z"}\n'
            b'{"y": {"b": 1, "a": 0.0}, "t": ""}\n',
            [("x", {"a": True, "b": False}), ("z", {}), ("", {"b": True, "a": False})],
            {"label": "y", "text": "t"},
        ),
        ("csv", b'y,t\n"a,b",x\n,z\n', [("x", ["a", "b"]), ("z", [])], {"label": "y", "text": "t"}),
    ],
)
def test_a_line_may_have_several_labels(format, lines, found, options):
    assert events(lines, format, several=True, **options) == found


@pytest.mark.parametrize(
    ("format", "line", "says", "options"),
    [
        ("plain", b"a,a\tx\n", "the label 'a' occurs twice", {}),
        ("plain", b"a,\tx\n", "the label is empty", {}),
        ("fasttext", b"__label__a __label__a\n", "the label 'a' occurs twice", {}),
        ("svmlight", b"1,x 3:1\n", "the label 'x' is not a finite number", {}),
        ("svmlight", b"1,1 3:1\n", "the label 1 occurs twice", {}),
        ("vw", b"1, | a\n", "is not a finite number", {}),
        ("vw", b"a,,b | a\n", "the label is empty", {"label_type": "text"}),
        ("jsonl", b'{"y": "a", "t": ""}\n', "must be a list", {"label": "y", "text": "t"}),
        ("jsonl", b'{"t": ""}\n', "must be a list", {"label": "y", "text": "t"}),
        ("jsonl", b'{"y": [null], "t": ""}\n', "it must be a text", {"label": "y", "text": "t"}),
        ("jsonl", b'{"y": [[]], "t": ""}\n', "it must be a text", {"label": "y", "text": "t"}),
        *(
            ("jsonl", b'{"y": {"a": %b}, "t": ""}\n' % value, says, {"label": "y", "text": "t"})
            for value, says in [
                (b"null", "the label 'a' has None; it must be true if the event has the label"),
                (b"2", "the label 'a' has 2; it must be true"),
                (b'"no"', "the label 'a' has 'no'; it must be true"),
                (b"[true]", "the label 'a' has [True]; it must be true"),
                (b'true, "a": false', "the key 'a' occurs twice"),
                (b'true, "": true', "the label is empty"),
                (b'true, "\\ud800": true', "the label"),
            ]
        ),
    ],
)
def test_labels_that_cannot_be_make_a_bad_line(format, line, says, options):
    assert says in problems(line, format, several=True, **options)[1]


def test_each_of_several_labels_is_renamed():
    data = io.BytesIO(b"a,b\tx\n")
    assert list(read(data, "plain", several=True, labels={"a": 1, "b": 2})) == [("x", [1, 2])]
    with pytest.raises(LineError, match="'b' is not one of"):
        list(read(io.BytesIO(b"a,b\tx\n"), "plain", several=True, labels={"a": 1}))
    with pytest.raises(TypeError, match="several"):
        read(data, "plain", several="yes")


def test_labels_of_an_object_are_renamed_and_none_is_lost():
    def renamed(**labels):
        data = io.BytesIO(b'{"y": {"a": true, "b": false}, "t": "x"}\n')
        return list(read(data, "jsonl", several=True, label="y", text="t", labels=labels))

    assert renamed(a=1, b=2) == [("x", {1: True, 2: False})]
    with pytest.raises(LineError, match=":1: the label 'b' is not one of"):
        renamed(a=1)
    with pytest.raises(LineError, match=r":1: labels= gives 'a' and 'b' the same name, 1"):
        renamed(a=1, b=1)


@pytest.mark.parametrize(
    ("record", "field", "value"),
    [
        ('{"log.level": 1, "y": 0}', "log.level", 1),
        ('{"log": {"level": 2}, "y": 0}', "log.level", 2),
        ('{"log.level": 3, "log": {"level": 4}, "y": 0}', "log.level", 3),
        ('{"log.level": 3, "log": {"level": 4}, "y": 0}', ("log", "level"), 4),
        ('{"log.level": null, "log": {"level": 5}, "y": 0}', "log.level", 5),
    ],
)
def test_a_field_with_dots_is_a_key_or_a_path(record, field, value):
    data = record.encode()
    assert events(data, "jsonl", label="y", features=[field]) == [({"log.level": value}, 0)]
    assert events(data, "jsonl", label=field, features=["y"]) == [({"y": 0}, value)]


@pytest.mark.parametrize(
    ("line", "format"),
    [
        ("__label__spam win a prize", "fasttext"),
        ('{"y": 1, "x": "a"}', "jsonl"),
        ("1 |f a:2 b", "vw"),
        ("-1 'tag| a", "vw"),
        ("+1 3:1 17:0.5", "svmlight"),
        ("1,2 qid:3 4:1e-3 # tag", "svmlight"),
        ('spam,"win, now"', "csv"),
        ("no label", None),
    ],
)
def test_a_line_without_a_tab_says_which_format_it_looks_like(line, format):
    hint = f"; the line looks like another format: give format={format!r}" if format else ""
    assert problems(line.encode(), "plain") == {1: f"no TAB; write label<TAB>text{hint}"}


@pytest.mark.parametrize("by", ["folder", "index"])
def test_a_document_is_a_file_with_the_label_of_its_folder(by, tmp_path):
    texts = {"pos/1.txt": "great\n\nfilm", "pos/2.txt": "", "neg/1.txt": "awful\xff"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    sources = tmp_path
    if by == "index":
        (tmp_path / "index").write_text("".join(f"{name[:3]} {name}\n" for name in texts) + "\n")
        sources = tmp_path / "index"
    with pytest.warns(UserWarning, match="1 of 3 texts have bytes that are not UTF-8"):
        found = list(read(sources, "document", label_by=by))
    expected = [("great\n\nfilm", "pos"), ("", "pos"), ("awful\ufffd", "neg")]
    assert sorted(found) == sorted(expected)
    found = read(tmp_path / "pos", "document", labels_of={tmp_path: "any"}, several=True)
    assert [y for _, y in found] == [["any"], ["any"]]
