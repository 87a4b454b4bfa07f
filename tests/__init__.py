"""The tests, a folder or file for each thing that is promised.

`twin/` has what the library is held against, in plain Python; `support/` what several tests share.
"""

import pytest

# so that an assertion in a helper says what it has compared, as one in a test does
pytest.register_assert_rewrite("tests.support")
