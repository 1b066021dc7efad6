"""Files written for one test, and what a reader found wrong in them."""

import json

import pytest

from nuggetjudge.records import Problems


@pytest.fixture
def write(tmp_path):
    """write(text or rows, name) -> path; a row that is no text becomes a line of JSON."""

    def write_file(*rows, name="file.jsonl"):
        path = tmp_path / name
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def problems():
    return Problems()


@pytest.fixture
def kinds(problems):
    """What was noted, as (line, kind, action)."""
    return lambda: [(row.line, row.kind, row.action) for row in problems]
