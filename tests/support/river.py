"""Where River is not installed, what needs it is skipped."""

import doctest

import pytest

from streamptron.common.river import INSTALLED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    try:
        return (yield)
    except Exception as error:
        if not INSTALLED and lacks_river(error):
            pytest.skip("needs River")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A file that imports River."""
    report = yield
    if not INSTALLED and report.failed and "No module named 'river'" in report.longreprtext:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, "needs River")
    return report


def lacks_river(error):
    """Whether an error is that River is missing; or, of a docstring, what its examples raise."""
    errors = [
        each.exc_info[1] if isinstance(each, doctest.UnexpectedException) else each
        for each in getattr(error, "failures", [error])
    ]
    return any(isinstance(each, ModuleNotFoundError) and each.name == "river" for each in errors)


def scaler():
    """A step of River's."""
    from river import preprocessing

    return preprocessing.StandardScaler()
