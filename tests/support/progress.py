"""--one-line: how far a run is, in one line instead of a line of dots for each second.

At a terminal the line is written anew; in a log it grows by each tenth of the tests.
"""

import pytest


class OneLine:
    """Takes the place of pytest's dots; failures are shown at the end, as always."""

    def __init__(self, reporter):
        self._reporter = reporter
        self._done = self._failed = 0
        self._last = ""

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self._failed += 1
        if report.when == "teardown":
            self._done += 1
            self._show(self._reporter._session.testscollected)

    def _show(self, total):
        failed = f", {self._failed} failed" if self._failed else ""
        if self._reporter.isatty:
            text = f"   {self._done} of {total}{failed}"
            self._reporter._tw.write(f"\r{text}", flush=True)
        else:
            text = f"{10 * self._done // total}0 %{failed}"
            if text[: text.index("%")] != self._last[: self._last.find("%")]:
                self._reporter._tw.write(f" {text}" if self._last else f"   {text}", flush=True)
        self._last = text

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report):
        """No letter; the word of a failure is for the list at the end."""
        category, _, word = yield
        return category, "", word if report.failed else ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        if self._last:
            self._reporter._tw.line()
