"""examples/filing.py: documents are filed, and a document that is moved by hand teaches."""

import subprocess
import sys

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.service.test_guard import at_a_port
from tests.support.project import ROOT

pytest.importorskip("starlette")

pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers


def looked(folder, port, *words):
    """What the example says in one look at a folder."""
    command = [sys.executable, ROOT / "examples" / "filing.py", folder]
    address = f"http://127.0.0.1:{port}"
    done = subprocess.run(
        [*command, "--service", address, *words], capture_output=True, text=True, timeout=60
    )
    return done.stdout, done.stderr, done.returncode


def test_documents_are_filed_and_moving_one_by_hand_corrects_the_lesson(tmp_path):
    (Tokenizer() | AdaptiveClassifier()).save(tmp_path / "documents.model")
    folder = tmp_path / "documents"
    for name, text in {
        "invoices/march.txt": "invoice number 12 please pay the sum",
        "school/report.txt": "report of the class and the teacher",
        "inbox/letter.txt": "please pay this invoice",
        "inbox/note.txt": "weather",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with at_a_port(tmp_path / "documents.model", "--learn") as port:
        said, _, code = looked(folder, port, "--sure", ".6")
        lines = [line.split()[:3] for line in said.splitlines()]
        assert lines[:3] == [
            ["learned", "invoices", "march.txt"],
            ["learned", "school", "report.txt"],
            ["filed", "invoices", "letter.txt"],
        ]
        assert lines[3][0] == "unsure"
        assert code == 0
        (folder / "invoices" / "letter.txt").rename(folder / "school" / "letter.txt")
        assert looked(folder, port, "--sure", "1")[0].startswith("learned    school       letter")
        (folder / "school" / "letter.txt").rename(folder / "invoices" / "letter.txt")
        said = looked(folder, port, "--sure", "1")[0]
        assert said.startswith("corrected  invoices     letter.txt")
        assert looked(folder, port, "--sure", "1")[0].startswith("unsure")  # all else is known
    (folder / "inbox" / "note.txt").unlink()
    assert looked(folder, 1)[2] == 1  # nothing is there
    assert "has no folder inbox" in looked(tmp_path, 1)[1]
