"""The journal survives kills, is read again by content, and refuses what it did not write."""

import errno
import json
import os
import random
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from crash_points import crash_at
from mock_batches import MockBatches

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.journal import MAX_WAITING, Journal, verdicts_on
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.judgements import Judged, Provenance, Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError

CALL = Provenance("mock", "stop", 100, 20, 7, 2, False)
FULL, NONE = Judged({"label": "full"}, (CALL,)), Judged({"label": "none"})
BIG, SMALL = 2**64 - 1, 0  # the ends of the range of digests


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal" / "support.jsonl"


@pytest.fixture
def written(path):
    def write(*outcomes):
        journal = Journal(path)
        for number, (digest, outcome) in enumerate(outcomes):
            journal.write(number, digest, outcome)
        journal.close()
        return path

    return write


def test_outcomes_are_found_again_by_their_digest_wherever_the_item_now_stands(written, path):
    refused = Unjudged(Reason.REFUSED, "declined", "I cannot", (CALL,))
    written((5, FULL), (BIG, refused), (SMALL, NONE))
    journal = Journal(path)
    recalled = [journal.recall(number, digest) for number, digest in enumerate((SMALL, 7, 5, BIG))]
    assert recalled == [True, False, True, True]
    assert [journal.outcome(n) for n in (0, 2, 3)] == [NONE, FULL, refused]
    journal.close()


def test_outcomes_from_the_cache_wait_for_others_and_are_never_missing(path):
    hit = Judged({"label": "full"}, (CALL._replace(cache_hit=True),))
    both = Judged({"label": "full"}, (CALL, CALL._replace(cache_hit=True)))
    journal = Journal(path)
    journal.write(0, 1, hit)
    assert path.read_bytes() == b""
    assert journal.outcome(0) == hit  # writes it
    journal.write(1, 2, hit)
    journal.write(2, 3, both)  # asked for, so it and those before it must not be lost
    assert len(path.read_bytes().splitlines()) == 3
    for number in range(3, 3000):
        journal.write(number, number + 1, hit)
    n_waiting = 3000 - len(path.read_bytes().splitlines())
    assert 0 < n_waiting < 1000
    journal.close()
    again = Journal(path)
    assert all(again.recall(number, number + 1) for number in range(3000))
    assert {again.outcome(number).values["label"] for number in range(3000)} == {"full"}
    again.close()


def test_an_item_that_was_never_reached_is_unjudged(written, path):
    journal = Journal(written((1, FULL)))
    assert not journal.recall(0, 2)
    for number in (0, 1, 99):
        outcome = journal.outcome(number)
        assert isinstance(outcome, Unjudged)
        assert outcome.reason is Reason.BUDGET
    journal.close()


def test_one_judgement_shows_that_the_model_gives_some_whatever_stands_behind_it(written, path):
    lost = Unjudged(Reason.ERROR, "gone")
    for outcomes, has_judged in (((lost,), False), ((lost, FULL, lost), True)):
        path.unlink(missing_ok=True)
        journal = Journal(written(*enumerate(outcomes)))
        assert journal.has_judged is has_judged
        journal.close()


@pytest.mark.parametrize("kept", range(1, 40, 3))
def test_a_torn_last_line_is_dropped_and_the_journal_goes_on(kept, written, path):
    whole = written((1, FULL)).read_bytes()
    path.write_bytes(whole + whole[:kept])
    journal = Journal(path)
    assert journal.recall(0, 1)
    assert not journal.recall(1, 2)
    journal.write(1, 2, NONE)
    journal.close()
    again = Journal(path)
    assert [again.recall(0, 1), again.recall(1, 2)] == [True, True]
    assert [again.outcome(0), again.outcome(1)] == [FULL, NONE]
    again.close()


@pytest.mark.parametrize("reason", [Reason.ERROR, Reason.BUDGET])
def test_what_was_not_asked_is_asked_again(reason, written, path):
    written((1, Unjudged(reason, "no reply")))
    journal = Journal(path)
    assert not journal.recall(0, 1)
    journal.close()


@pytest.mark.parametrize("reason", [Reason.REFUSED, Reason.UNPARSEABLE, Reason.TRUNCATED])
def test_what_the_model_failed_at_is_asked_again_only_on_retry(reason, written, path):
    written((1, Unjudged(reason, "no label")))
    for retry in (False, True):
        journal = Journal(path, retry=retry)
        assert journal.recall(0, 1) is not retry
        journal.close()


def test_two_items_with_one_digest_share_an_outcome(written, path):
    journal = Journal(written((1, FULL)))
    assert journal.recall(0, 1)
    assert journal.recall(1, 1)
    assert journal.outcome(0) == journal.outcome(1) == FULL
    journal.close()


@pytest.mark.parametrize(
    "line",
    [b"garbage\n", b"{}\n", b"[]\n", b"3\n", b'{"d": "xyz"}\n', b'{"d": 5, "v": {}}\n', b"\n",
     b'{"d": "0000000000000001"}\n', b'{"d": "0000000000000001", "v": {}}\n',
     b'{"d": "1ffffffffffffffff", "v": {}, "p": []}\n', b'{"d": "-1", "v": {}, "p": []}\n',
     b'{"d": "0000000000000001", "u": 3}\n', b"\xff\xfe\n",
     b'{"d": "0000000000000001", "v": {}, "u": ["error", "", ""], "p": []}\n',
     b'{"d": "0000000000000001", "u": ["lost", "", ""], "p": []}\n',
     b'{"d": "0000000000000001", "v": {}, "p": [["m", "stop", 1, 1]]}\n',
     b'{"d": "0000000000000001", "v": {}, "p": [["m", "stop", "1", 0, 1, 1, false]]}\n',
     b'{"d": "0000000000000001", "v": {}, "p": [["m", "stop", -1, 0, 1, 1, false]]}\n',
     b'{"d": "0000000000000001", "v": {}, "p": [["m", "stop", 1, 0, 1, 1, "no"]]}\n'],
)  # fmt: skip
def test_a_line_of_something_else_is_named(line, written, path):
    whole = written((1, FULL)).read_bytes()
    path.write_bytes(whole + line + whole)
    with pytest.raises(InputError, match=r"support\.jsonl:2: not a journal line"):
        Journal(path)


@pytest.mark.parametrize(
    ("values", "what"),
    [({"verdicts": [{"label": "ful"}]}, "verdicts.0.label: wanted one of no, yes, got 'ful'"),
     ({"verdicts": [{"label": 3}]}, "verdicts.0.label: Input should be a valid string, got 3"),
     ({"verdicts": [{"label": "yes", "score": "high"}]}, "verdicts.0.score: .* got 'high'"),
     ({"verdicts": [{"label": "yes", "notes": ""}]}, "verdicts.0.notes: no such setting"),
     ({"verdicts": {}}, "verdicts: Input should be a valid list"),
     ({"label": "yes"}, "verdicts: Field required")],
)  # fmt: skip
def test_values_of_another_stage_or_scale_are_named_with_what_was_wanted(
    values, what, written, path
):
    written((1, Judged({"verdicts": [{"label": "yes", "score": 1}]}, (CALL,))), (2, Judged(values)))
    with pytest.raises(InputError, match=rf"support\.jsonl:2: not a journal line \({what}"):
        Journal(path, values=verdicts_on(("no", "yes")))


def test_half_a_write_of_a_full_disk_ruins_nothing_that_is_written_later(path, monkeypatch):
    write, journal = os.write, Journal(path)
    journal.write(0, 1, FULL)
    monkeypatch.setattr(os, "write", half := Half(write))
    with pytest.raises(InputError, match=r"support\.jsonl: cannot be written \(No space left"):
        journal.write(1, 2, NONE)
    assert half.n == 2  # some of it was taken, and then nothing
    monkeypatch.setattr(os, "write", write)
    journal.write(2, 3, FULL)
    assert [journal.outcome(n) for n in range(3)] == [FULL, NONE, FULL]
    journal.close()
    again = Journal(path)
    assert [again.recall(n, digest) for n, digest in enumerate((1, 2, 3))] == [True] * 3
    assert [again.outcome(n) for n in range(3)] == [FULL, NONE, FULL]
    again.close()


class Half:
    """Takes half of the first write and nothing after it."""

    def __init__(self, write):
        self.write, self.n = write, 0

    def __call__(self, file, data):
        self.n += 1
        if self.n > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.write(file, bytes(data)[: len(data) // 2])


def test_items_may_come_in_any_order_and_the_last_outcome_of_one_counts(path):
    numbers = list(range(5, 3000, 3))
    random.Random(411).shuffle(numbers)
    journal = Journal(path)
    for number in numbers:
        journal.write(number, number, Judged({"label": str(number)}, (CALL,)))
    outcomes = [journal.outcome(number) for number in range(3010)]
    assert [number for number in range(3010) if isinstance(outcomes[number], Judged)] == sorted(
        numbers
    )
    assert all(outcomes[number].values == {"label": str(number)} for number in numbers)
    journal.write(5, 5, NONE)
    assert journal.outcome(5) == NONE
    assert journal.outcome(8).values == {"label": "8"}
    journal.close()


def test_a_journal_of_more_than_four_gigabytes_is_read_where_it_was_written(path):
    journal = Journal(path)
    journal.write(0, 1, FULL)
    os.truncate(path, 2**32 - 1)  # sparse
    journal._end = 2**32 - 1
    for number in (1, 2):
        journal.write(number, number + 1, NONE)
    assert [journal.outcome(number) for number in range(3)] == [FULL, NONE, NONE]
    assert isinstance(journal.outcome(3), Unjudged)
    journal.close()
    path.unlink()


@pytest.mark.slow
def test_many_judgements_take_a_few_bytes_each_in_memory(path):
    journal = Journal(path)
    hit = Judged({}, (CALL._replace(cache_hit=True),))
    tracemalloc.start()
    try:
        for number in range(100_000):
            journal.write(number, number, hit)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    journal.close()
    assert taken < 100_000 * 5 + 2 * MAX_WAITING


# Whatever write a run ends at, the same command continues, repeats nothing and changes no byte.
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DEMO = EXAMPLES.parent / "tests" / "collection" / "judge.yaml"
POINTS = 8  # of all writes, spread over the run


def files_of(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in ("manifest.json", "spend.jsonl", "DATASHEET.md")
    }


def judged(folder, **settings):
    given = {"run.out": folder, "run.limit": 1, "program": ["support", "nuggets"]}
    judge_collection(load_config(DEMO, given | settings))


def built(folder):
    from nuggetjudge.plugins.collections.crux import build_crux

    build_crux(EXAMPLES / "summaries" / "summaries.jsonl", load_config(None, {"run.out": folder}))


@pytest.mark.parametrize("work", [judged, pytest.param(built, marks=pytest.mark.whole)])
def test_a_run_or_build_goes_on_from_any_write(work, tmp_path, monkeypatch):
    with crash_at(None, tmp_path / "whole", monkeypatch) as writes:
        work(tmp_path / "whole")
    n = len(writes)
    for number in sorted({1, 2, n - 1, n, *range(1, n, max(1, n // POINTS))}):
        folder = tmp_path / f"crashed-{number}"
        with (
            pytest.raises(InputError, match="cannot be written"),
            crash_at(number, folder, monkeypatch),
        ):
            work(folder)
        assert not (folder / "manifest.json").exists()
        with crash_at(None, folder, monkeypatch) as again:
            work(folder)
        assert len(again) == n - (number - 1)  # nothing that was finished is judged again
        assert files_of(folder) == files_of(tmp_path / "whole")


@pytest.mark.slow
def test_a_run_by_batches_goes_on_from_any_write_to_its_ledger(tmp_path, monkeypatch):
    def run(server, folder):
        given = {"run.cache": tmp_path / f"cache-{folder.name}", "run.executor": "batch"}
        given |= {"run.batch.quiet_s": 0.1, "run.batch.poll_s": 0.02, "program": ["support"]}
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        judged(folder, **given | {"models.default": model})

    with MockBatches() as server, crash_at(None, tmp_path / "whole", monkeypatch) as writes:
        run(server, tmp_path / "whole")
    steps = [number for number, path in enumerate(writes, 1) if "batches-" in path]
    assert len(steps) >= 4  # planned, uploaded, asked, made, taken
    for number in steps:
        folder = tmp_path / f"crashed-{number}"
        with MockBatches() as server:
            with (
                pytest.raises(InputError, match="cannot be written"),
                crash_at(number, folder, monkeypatch),
            ):
                run(server, folder)
            run(server, folder)
            times = Counter(json.dumps(request.body) for request in server.requests)
        assert max(times.values()) == 1  # asked once
        assert files_of(folder) == files_of(tmp_path / "whole")
