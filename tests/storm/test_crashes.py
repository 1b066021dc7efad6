"""A share of the ends at every write: one of each kind of a command."""

import pytest

from .crashes import WORKS, _end, _go_on, _steps, site
from .table import Row

SEED = 14


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [False, True], ids=["ended", "full disk"])
def test_a_run_goes_on_from_a_write_of_each_kind(is_full, tmp_path):
    [work] = [work for work in WORKS if work.name == "run in place of results"]
    steps, whole = _steps(tmp_path / "whole", work, SEED)
    kinds: dict[str, int] = {}
    for number, step in enumerate(steps, 1):  # the first of each: more follows
        kinds.setdefault(step.split("\t")[0], number)
    assert kinds.keys() >= {"write", "commit", "open", "rename", "remove"}
    row = Row(work.name, SEED)
    for kind, number in kinds.items():
        with site(tmp_path / kind, work) as here:
            _end(row, here, number, whole, is_full=is_full)
    assert row.broken == []
    assert row.judged == len(kinds)


@pytest.mark.slow
def test_what_is_judged_twice_and_other_files_are_seen(tmp_path):
    work = WORKS[1]
    row = Row(work.name, SEED)
    with site(tmp_path / "site", work) as here:
        assert here.whole(row).code == 0
        [journal] = here.out.glob("journal/relevance-*.jsonl")
        journal.write_bytes(journal.read_bytes() * 2)
        _go_on(row, here, {}, "planted")
    assert ["then other files" in row.other[0], "judged twice" in row.other[1]] == [True, True]
