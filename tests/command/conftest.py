"""What the tests of the commands share."""

import pytest

from streamptron.cli import main
from tests.support.commands import SEEDED, random_mail, written


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """A file of mail with many lines, and a model that has learned it."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "mail.tsv").write_bytes(written(random_mail(7, 2000)))
    words = ["train", str(folder / "mail.tsv"), "-m", str(folder / "mail.model"), "-q", *SEEDED]
    assert main(words) == 0
    return folder / "mail.tsv", folder / "mail.model"
