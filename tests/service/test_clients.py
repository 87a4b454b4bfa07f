"""The clients of docs/serving.md, each with the real thing: what they print is what it shows."""

import re
import shutil
import subprocess
import sys

import pytest

from streamptron import AdaptiveClassifier, Tokenizer
from tests.service.test_guard import at_a_port
from tests.support.project import ROOT

pytest.importorskip("starlette")
pytest.importorskip("httpx")

PAGE = (ROOT / "docs" / "serving.md").read_text("utf-8")
CLIENTS = {
    "python": [sys.executable],
    "javascript": ["node", "--input-type=module"],
    "php": ["php"],
    "ruby": ["ruby"],
}


pytestmark = pytest.mark.once  # another Python would say the same


def shown(language):
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    return code


@pytest.mark.parametrize("language", CLIENTS)
def test_a_client_asks_and_teaches_as_the_page_shows(language, tmp_path):
    command = CLIENTS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    pipeline = Tokenizer() | AdaptiveClassifier()
    for text, label in [("a late goal", "sport"), ("the court has ruled", "politics")]:
        pipeline.learn_one(text, label)
    pipeline.save(tmp_path / "news.model")
    code = shown(language)
    assert code.count("8080") == 1
    with at_a_port(tmp_path / "news.model", "--learn") as port:
        done = subprocess.run(
            command,
            input=code.replace("8080", str(port)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.stdout, done.stderr) == ("sport\nlearned\n", "")
