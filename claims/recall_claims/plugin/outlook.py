"""How long the run will take, said when it begins, and again once its first claims tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from recall_claims.evidence import executors
from recall_claims.plugin.item import ClaimItem
from recall_claims.plugin.session import ClaimSession
from recall_reports import phrases

ENOUGH = 15.0
"""Expected seconds after which a run is compared with what was expected of it."""
NOTED = 1.25
"""Factor from which the comparison is worth a line."""


class Outlook:
    """Speaks in the process that has the terminal; the work of the claims may be elsewhere."""

    def __init__(self, session: ClaimSession, config: pytest.Config) -> None:
        self._session, self._config = session, config
        self._whole: dict[str, float] = {}
        self._expected: dict[str, float] = {}
        self._left = self._observed = self._of_observed = 0.0
        self._compared = self._begun = False

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> str | None:
        """The line when this process has collected what it will run."""
        if self._config.get_verbosity() < 0:
            return None
        return self._begin([item.name for item in items if isinstance(item, ClaimItem)])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The line when pytest-xdist's first worker has collected what all of them will run."""
        line = self._begin([name.rpartition("::")[2] for name in ids])
        if line:
            self._write(line)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Compare the claims that have run with what was expected of them, once."""
        entry = getattr(report, "claim_record", None)
        if entry is None or entry["id"] not in self._expected:
            return
        expected, blocks = self._expected[entry["id"]], entry["blocks"]
        self._left -= expected
        if not blocks["total"] or blocks.get("kept"):
            return
        drawn = 1 - blocks["reused"] / blocks["total"]
        self._observed += drawn * entry["seconds"]
        self._of_observed += drawn * self._whole[entry["id"]]
        if self._of_observed < ENOUGH or self._compared:
            return
        self._compared = True
        factor = self._observed / self._of_observed
        if self._left > ENOUGH and not 1 / NOTED < factor < NOTED:
            self._write(
                f"claims so far took {factor:.2g} times what was expected here: about "
                f"{self._wall(factor * self._left)} left"
            )

    def _begin(self, names: Iterable[str]) -> str | None:
        if self._begun or self._config.option.collectonly or self._session.dry_run:
            return None
        self._begun = True
        forecast, names = self._session.forecast, list(names)
        self._session.costs.compare(names)
        found = {name: forecast.ahead(name) for name in names}
        # As it is expected now: what is simulated from here on is known.
        self._whole = {name: forecast.whole(name) or 0.0 for name in names}
        self._expected = {name: left for name, left in found.items() if left is not None}
        if not self._expected:
            return None
        self._left = sum(self._expected.values())
        unknown = len(found) - len(self._expected)
        line = f"simulation is expected to take about {self._wall(self._left)} here"
        if self._workers > 1:
            line += f", {phrases.seconds(self._left)} of one core"
        if unknown:
            line += f", without {unknown} of {len(found)} claims, of which nothing is known"
        return f"{line} ({forecast.grounds()})"

    @property
    def _workers(self) -> int:
        spread = getattr(self._config.option, "numprocesses", None)
        return int(spread) if spread else executors.count(self._session.store.executor_name)

    def _wall(self, seconds: float) -> str:
        return phrases.seconds(seconds / self._workers)

    def _write(self, line: str) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.verbosity >= 0:
            reporter.ensure_newline()
            reporter.write_line(line)
