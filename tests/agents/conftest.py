"""The program of tests/seeking.py, known while a test runs."""

from collections.abc import Iterator

import pytest

from nuggetjudge.programs.config.base import BUILT_IN
from nuggetjudge.programs.protocols import table


@pytest.fixture
def with_seek(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(BUILT_IN, "seek", "seeking:Seek")
    table.program.cache_clear()
    yield
    table.program.cache_clear()
