"""Every form of a report says what is kept in `golden/`."""

import pytest

from tests.reports import golden


@pytest.mark.parametrize("name", [*golden.WHOLE, *golden.CASES])
def test_what_is_said_is_what_is_kept(name: str) -> None:
    assert not golden.difference(name), (
        "if this is what a user should read, run `python -m tests.reports.golden --write`"
    )


def test_each_text_that_is_kept_is_compared() -> None:
    assert {path.name for path in golden.FOLDER.iterdir()} == {*golden.WHOLE, *golden.CASES}
