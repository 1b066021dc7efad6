"""Tables of labels, and `judge` as a user runs it."""

import json

import pytest
from cli_fixtures import environment, judge

__all__ = ["environment", "judge"]


@pytest.fixture
def write(tmp_path):
    """`write("labels.jsonl", rows)`: the rows as a file; returns its path."""

    def write_rows(name, rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write_rows
