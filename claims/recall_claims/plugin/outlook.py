"""Say how long the run will take: at its start, and again once its first claims are timed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import pytest

from recall_claims.plugin.item import ClaimItem
from recall_claims.plugin.session import ClaimSession
from recall_reports import phrases

ENOUGH = 15.0
"""Expected seconds of finished blocks after which a run is compared with what was expected."""
NOTED = 1.25
"""Factor from which the comparison is worth a line."""


def folded(text: str, width: int) -> list[str]:
    """The text in lines of at most this width, but for words that are longer."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


class Outlook:
    """Speaks in the process that has the terminal; the work of the claims may be elsewhere."""

    def __init__(self, session: ClaimSession, config: pytest.Config) -> None:
        self._session, self._config = session, config
        self._compared = self._begun = False

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """The line when this process has collected what it will run."""
        untouched = self._session.baseline.untouched
        claims = [item.claim for item in items if isinstance(item, ClaimItem)]
        line = self._begin([claim.id for claim in claims if untouched(claim) is None])
        width = self._config.get_terminal_writer().fullwidth
        return folded(line, width) if line and self._config.get_verbosity() >= 0 else []

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The line when pytest-xdist's first worker has collected what all of them will run."""
        if self._session.baseline.changes is not None:
            return  # which of them keep their record, only the workers know
        line = self._begin([name.rpartition("::")[2] for name in ids])
        if line:
            self._write(line)

    def pytest_runtest_logreport(self) -> None:
        """Compare the blocks that have run with what was expected of them, once."""
        costs, left = self._session.costs, self._session.seconds_left()
        if self._compared or left is None or costs.measured < ENOUGH:
            return
        self._compared = True
        factor = costs.factor
        if left * self._session.workers > ENOUGH * factor and not 1 / NOTED < factor < NOTED:
            self._write(
                f"the blocks so far took {factor:.2g} times as long as expected: about "
                f"{phrases.seconds(left)} left"
            )

    def _begin(self, names: Iterable[str]) -> str | None:
        if self._begun or self._config.option.collectonly or self._session.dry_run:
            return None
        self._begun = True
        forecast, names = self._session.forecast, list(names)
        self._session.costs.compare(names)
        found = {name: forecast.ahead(name) for name in names}
        expected = {name: left for name, left in found.items() if left is not None}
        if not expected:
            return None
        self._session.costs.expect(expected)
        left, workers = sum(expected.values()), self._session.workers
        unknown = len(found) - len(expected)
        line = f"simulation is expected to take about {phrases.seconds(left / workers)} here"
        if workers > 1:
            line += f", {phrases.seconds(left)} of one core"
        if unknown:
            line += f", plus {unknown} of {len(found)} claims whose time is unknown"
        return f"{line} ({forecast.grounds()})"

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.verbosity >= 0:
            reporter.ensure_newline()
            for part in folded(line, reporter._tw.fullwidth):
                reporter.write_line(part)
