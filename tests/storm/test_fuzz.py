"""A share of the broken files, and that what a reader may do wrong is seen."""

import itertools
import random

import pytest

from nuggetjudge.records.reading.problems import InputError

from . import fuzz as fuzzing
from .fuzz import fuzz
from .mutations import mutated
from .readers import Target, targets, write_samples
from .table import Row

SEED, CASES = 14, 2_000


@pytest.mark.slow
def test_two_thousand_broken_files_are_read_or_refused_with_their_place(tmp_path):
    write_samples(tmp_path, with_results=False)
    of_reader = {}
    for target in targets(tmp_path):
        of_reader.setdefault(target.reader, []).append(target)
    assert len(of_reader) > 25
    each = CASES // len(of_reader) + 1
    rows = []
    for name, chosen in of_reader.items():
        row = Row(name, SEED)
        fuzz(row, tmp_path, chosen, range(each), tmp_path)
        assert row.judged > 0  # some are harmless
        assert row.unjudged["refused"] > 0  # and others not
        rows.append(row)
    assert [what for row in rows for what in row.broken] == []
    assert sum(row.cases for row in rows) >= CASES


def never_ends(path, problems):
    for _ in itertools.count():
        pass


def of_a_crash(path, problems):
    raise KeyError("x")


def without_a_place(path, problems):
    raise InputError("something is wrong")


def on_two_lines(path, problems):
    problems.rows.append(None)


PLANTED = {
    "tracebacks": of_a_crash,
    "hangs": never_ends,
    "other": without_a_place,
}


@pytest.mark.parametrize(("kind", "read"), PLANTED.items(), ids=PLANTED)
def test_what_a_reader_does_wrong_is_seen(kind, read, tmp_path, monkeypatch):
    if kind == "hangs":
        monkeypatch.setattr(fuzzing, "WITHIN_S", 0.05)
    sample = tmp_path / "sample.jsonl"
    sample.write_text('{"a": 1}\n', encoding="utf-8")
    row = Row("planted", SEED)
    fuzz(row, tmp_path, [Target("planted", sample, "broken.jsonl", read)], range(2), tmp_path)
    assert len(getattr(row, kind)) == len(row.broken) == 2
    assert (tmp_path / f"planted-{SEED}-1.jsonl").is_file()  # to look at


def test_a_reader_that_takes_all_memory_is_stopped(tmp_path):
    sample = tmp_path / "sample.jsonl"
    sample.write_text("1\n", encoding="utf-8")

    def takes_all(path, problems):
        list(range(900_000_000))

    row = Row("planted", SEED)
    fuzz(row, tmp_path, [Target("planted", sample, "broken.jsonl", takes_all)], [0], tmp_path)
    assert "MemoryError" in row.tracebacks[0]


def test_the_same_seed_breaks_a_file_in_the_same_way():
    raw = b'{"a": [1, 2], "b": {"c": "d"}}\n' * 3
    several = [mutated(raw, random.Random(f"1:{number}")) for number in range(200)]
    assert several == [mutated(raw, random.Random(f"1:{number}")) for number in range(200)]
    assert len(set(several)) > 100
