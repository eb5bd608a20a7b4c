"""How long the run will take, said when it begins, and again once its first claims tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from recall_claims.plugin.item import ClaimItem
from recall_claims.plugin.session import ClaimSession
from recall_reports import phrases

ENOUGH = 15.0
"""Expected seconds of finished blocks after which a run is compared with what was expected."""
NOTED = 1.25
"""Factor from which the comparison is worth a line."""


class Outlook:
    """Speaks in the process that has the terminal; the work of the claims may be elsewhere."""

    def __init__(self, session: ClaimSession, config: pytest.Config) -> None:
        self._session, self._config = session, config
        self._compared = self._begun = False

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> str | None:
        """The line when this process has collected what it will run."""
        line = self._begin([item.name for item in items if isinstance(item, ClaimItem)])
        return None if self._config.get_verbosity() < 0 else line

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The line when pytest-xdist's first worker has collected what all of them will run."""
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
                f"blocks so far took {factor:.2g} times what was expected here: about "
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
            line += f", without {unknown} of {len(found)} claims, whose cost is unknown"
        return f"{line} ({forecast.grounds()})"

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.verbosity >= 0:
            reporter.ensure_newline()
            reporter.write_line(line)
