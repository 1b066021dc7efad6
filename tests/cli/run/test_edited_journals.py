"""A journal that somebody edited is named by its line, and all the others are kept."""

import json

import pytest


def relabelled(line):
    row = json.loads(line)
    row["v"]["verdicts"][0]["label"] = "ful"
    return json.dumps(row).encode() + b"\n"


def another_call(line):
    row = json.loads(line)
    row["p"][0][2] = "many"
    return json.dumps(row).encode() + b"\n"


def one_verdict_more(line):
    row = json.loads(line)
    row["v"]["verdicts"] *= 2
    return json.dumps(row).encode() + b"\n"


EDITS = {
    "a label of no scale": (relabelled, "label: wanted one of none, partial, full, got 'ful'"),
    "tokens that are none": (another_call, "p.0.2: wanted a whole number, got 'many'"),
    "a torn line": (lambda line: line[: len(line) // 2] + b"\n", "not JSON"),
    "a verdict too many": (one_verdict_more, "verdicts: 2 of them, wanted 1"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_line_is_named_and_without_it_only_that_item_is_asked_again(
    name, tide_server, run_tiny, tmp_path, files_of
):
    edit, what = EDITS[name]
    given = (tide_server, "support", "--set", "run.cache=false", "--quiet")
    assert run_tiny(*given).code == 0
    before, n_asked = files_of(tmp_path / "out"), len(tide_server.requests)
    (journal,) = (tmp_path / "out" / "journal").glob("support-*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], edit(lines[2]), *lines[3:]]))
    ran = run_tiny(*given)
    assert (ran.code, ran.out) == (2, "")
    prefix = f"judge: out/journal/{journal.name}:3: not a journal line ("
    assert ran.err.startswith(prefix), ran.err
    assert what in ran.err
    assert "delete this line and run again" in ran.err
    assert len(tide_server.requests) == n_asked
    journal.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    again = run_tiny(*given)
    assert again.code == 0, again.err
    assert len(tide_server.requests) == n_asked + 1
    assert files_of(tmp_path / "out") == before
