"""trace.jsonl: a broken file is named, never read as fewer steps."""

import json

import pytest

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.traces import read_folder_traces


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"path": "0.1", "agent": None}, "without its first"),
        ({"item": "t1"}, "an object of ids"),
        ({"path": "0.x"}, "wanted such as"),
        ({}, "do not end"),
        ({"kind": None}, "'kind' is missing"),
        ({"agent": None}, "'agent' is missing"),
        ({"tokens": [1, "2"]}, "two whole numbers"),
    ],
)
def test_a_broken_trace_is_named_by_file_and_line(tmp_path, change, says):
    row = {"stage": "s", "item": {"t": "1"}, "agent": "a", "path": "0", "kind": "agent"}
    row |= {"name": "finder", **change}
    row = {name: value for name, value in row.items() if value is not None}
    end = {**row, "path": "0.0", "kind": "end"} if change.keys() == {"agent"} else row
    rows = dict.fromkeys(map(json.dumps, (row, end)))
    (tmp_path / "trace.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    with pytest.raises(InputError, match=rf"trace\.jsonl:1: .*{says}"):
        list(read_folder_traces(tmp_path))
