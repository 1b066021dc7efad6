"""A share of the storm of faults, and that a storm sees what a tool may do wrong."""

import itertools
import json
import random
import shutil
from pathlib import Path

import pytest
from mock_server import MockServer
from processes import JUDGE, run

from nuggetjudge.records.reading.problems import InputError

from . import fuzz as fuzzing
from .brain import storm_brain
from .checks import check_run, check_scored_again, outside_bounds
from .crashes import WORKS, _end, _go_on, _steps, site
from .faults import kind_by_kind, storm_job
from .fuzz import fuzz
from .kinds import KEY, KINDS
from .mutations import mutated
from .plan import Plan
from .readers import Target, targets, write_samples
from .runs import Ended, Home, rows_of
from .table import Row, text_of, total_broken
from .world import jobs, write_config, write_world

SEED = 16
BY_NAME = {job.name: job for job in jobs()}
QUICK = ("closed loop, some missing",)  # the others in `make test-slow`


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in BY_NAME]
)
def test_no_fault_makes_a_zero_a_traceback_or_a_wait(name, tmp_path):
    row = storm_job(tmp_path / "storm", BY_NAME[name], SEED, 5)
    assert row.broken == []
    assert row.cases > 2
    assert row.judged


@pytest.mark.slow
def test_each_kind_of_fault_ends_as_it_must(tmp_path):
    rows = kind_by_kind(tmp_path, SEED, 1)
    assert total_broken(rows) == []
    assert len(rows) == len(KINDS) >= 36


def test_the_same_seed_gives_each_request_the_same_faults():
    bodies = [{"messages": [{"role": "user", "content": f"{i}"}]} for i in range(100)]

    def met(seed, order):
        plan = Plan(seed, KINDS, 0.3)
        for body in [*order, *order]:
            plan(0, body)
        return {key: [name for name, _ in met] for key, met in plan.met.items()}

    assert met(1, bodies) == met(1, bodies[::-1])
    assert met(1, bodies) != met(2, bodies)
    assert 40 < sum(bool(name) for names in met(3, bodies).values() for name in names) < 80


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A finished run, with nothing wrong, in `whole`."""
    folder = tmp_path_factory.mktemp("sound")
    write_world(folder, 1)
    with MockServer(storm_brain, api_key=KEY) as server:
        write_config(folder / "judge.yaml", jobs()[0], server.base_url, 9.0)
        home = Home(folder)
        ran = run(*JUDGE, "run", "judge.yaml", "--out", "whole", "--quiet", cwd=folder,
                  env=home.environment)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return home


@pytest.fixture
def copy(sound):
    """Another folder of the same results, to be spoilt."""
    folder = sound.folder / "stormy"
    shutil.copytree(sound.folder / "whole", folder)
    yield folder
    shutil.rmtree(folder)


def checked(sound, copy, code=0):
    row = Row("planted", SEED)
    check_run(row, copy, sound.folder / "whole", Ended(code, "", "", 0.0), is_fixed=True)
    return row


def rewritten(path: Path, change):
    rows = [change(row) for row in rows_of(path)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row), encoding="utf-8")


def test_a_run_that_nothing_happened_to_is_sound(sound, copy):
    row = checked(sound, copy)
    assert row.broken == []
    check_scored_again(row, sound, "stormy", 60)
    assert row.broken == []


def test_an_unjudged_citation_that_counts_as_zero_is_seen(sound, copy):
    def lost(row):
        if row["measure"] != "support_recall" or not row["value"]:
            return row
        return row | {"value": 0.0, "low": 0.0, "high": 0.0}

    rewritten(copy / "scores.jsonl", lost)
    row = checked(sound, copy)
    assert len(row.silent) >= 2  # of topic and mean
    assert "support_recall" in row.silent[0]
    check_scored_again(row, sound, "stormy", 60)
    assert "not the scores of the run" in row.other[-1]


def test_bounds_that_hold_the_value_are_no_zero_and_bounds_beside_it_are(tmp_path):
    names = {"run_id": "r", "topic_id": "t", "measure": "V"}
    true = {**names, "value": 0.5, "low": 0.5, "high": 0.5, "n": 4, "n_unjudged": 0}
    cases = {
        (0.4, 0.3, 0.6, 1): 0,
        (0.4, 0.3, 0.45, 1): 1,  # beside it
        (0.0, 0.0, 0.0, 1): 1,
        (0.4, 0.3, 0.6, 0): 1,  # bounds, and nothing is missing
        (0.5, 0.5, 0.5, 0): 0,
        (None, None, None, 2): 0,  # says so
        (None, None, None, 0): 1,
        (None, 0.0, 1.0, 4): 0,
    }
    for values, n_silent in cases.items():
        row = names | dict(zip(("value", "low", "high", "n_unjudged"), values, strict=True))
        for name, of in (("found", row | {"n": 3}), ("whole", true)):
            (tmp_path / name).write_text(json.dumps(of) + "\n", encoding="utf-8")
        assert len(outside_bounds(tmp_path / "found", tmp_path / "whole")) == n_silent, values
    (tmp_path / "found").write_text("", encoding="utf-8")
    assert "no row" in outside_bounds(tmp_path / "found", tmp_path / "whole")[0]


def test_another_label_in_a_journal_is_seen(sound, copy):
    [path] = copy.glob("journal/support-*.jsonl")
    text = path.read_text("utf-8")
    label = "full" if '"full"' in text else "partial"
    path.write_text(text.replace(f'"{label}"', '"none"', 1), encoding="utf-8")
    [silent] = checked(sound, copy).silent
    assert "without faults" in silent


def test_a_judgement_that_is_gone_and_a_wrong_exit_code_are_seen(sound, copy):
    path = copy / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["judged"]["support"] -= 1
    path.write_text(json.dumps(manifest), encoding="utf-8")
    row = checked(sound, copy, code=3)
    assert any("judgements" in what for what in row.silent)
    assert any("exit 3" in what for what in row.other)


def test_a_key_in_a_file_a_traceback_and_a_hang_are_seen(sound, copy):
    row = Row("planted", SEED)
    (copy / "note.txt").write_text(f"the key is {KEY}", encoding="utf-8")
    sound.check_no_key(row)
    assert len(row.other) == 1
    sound.python(row, "raise KeyError('x')", within_s=60)
    assert "KeyError" in row.tracebacks[0]
    sound.python(row, "import time; time.sleep(60)", within_s=0.3)
    assert len(row.hangs) == 1
    sound.python(row, f"print('\\x1b[2J', {KEY!r})", within_s=60)
    assert [what.split(": ")[1] for what in row.other[1:]] == [
        "prints control characters ['\\x1b']",
        "prints the key",
    ]
    text = text_of([row])
    assert (
        "| planted | 0     | 0      | -                 | 1          | 1     | 0            |"
        in text
    )
    assert text.count("BROKEN planted: ") == 5


# A share of the ends at every write: one of each kind of a command.
CRASHES_SEED = 14


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [False, True], ids=["ended", "full disk"])
def test_a_run_goes_on_from_a_write_of_each_kind(is_full, tmp_path):
    [work] = [work for work in WORKS if work.name == "run in place of results"]
    steps, whole = _steps(tmp_path / "whole", work, CRASHES_SEED)
    kinds: dict[str, int] = {}
    for number, step in enumerate(steps, 1):  # the first of each: more follows
        kinds.setdefault(step.split("\t")[0], number)
    assert kinds.keys() >= {"write", "commit", "open", "rename", "remove"}
    row = Row(work.name, CRASHES_SEED)
    for kind, number in kinds.items():
        with site(tmp_path / kind, work) as here:
            _end(row, here, number, whole, is_full=is_full)
    assert row.broken == []
    assert row.judged == len(kinds)


@pytest.mark.slow
def test_what_is_judged_twice_and_other_files_are_seen(tmp_path):
    work = WORKS[1]
    row = Row(work.name, CRASHES_SEED)
    with site(tmp_path / "site", work) as here:
        assert here.whole(row).code == 0
        [journal] = here.out.glob("journal/relevance-*.jsonl")
        journal.write_bytes(journal.read_bytes() * 2)
        _go_on(row, here, {}, "planted")
    assert ["then other files" in row.other[0], "judged twice" in row.other[1]] == [True, True]


# A share of the broken files, and that what a reader may do wrong is seen.
FUZZ_SEED, CASES = 14, 2_000


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
        row = Row(name, FUZZ_SEED)
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
    "tracebacks": of_a_crash, "hangs": never_ends, "other": without_a_place,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "read"), PLANTED.items(), ids=PLANTED)
def test_what_a_reader_does_wrong_is_seen(kind, read, tmp_path, monkeypatch):
    if kind == "hangs":
        monkeypatch.setattr(fuzzing, "WITHIN_S", 0.05)
    sample = tmp_path / "sample.jsonl"
    sample.write_text('{"a": 1}\n', encoding="utf-8")
    row = Row("planted", FUZZ_SEED)
    fuzz(row, tmp_path, [Target("planted", sample, "broken.jsonl", read)], range(2), tmp_path)
    assert len(getattr(row, kind)) == len(row.broken) == 2
    assert (tmp_path / f"planted-{FUZZ_SEED}-1.jsonl").is_file()  # to look at


def test_a_reader_that_takes_all_memory_is_stopped(tmp_path):
    sample = tmp_path / "sample.jsonl"
    sample.write_text("1\n", encoding="utf-8")

    def takes_all(path, problems):
        list(range(900_000_000))

    row = Row("planted", FUZZ_SEED)
    fuzz(row, tmp_path, [Target("planted", sample, "broken.jsonl", takes_all)], [0], tmp_path)
    assert "MemoryError" in row.tracebacks[0]


def test_the_same_seed_breaks_a_file_in_the_same_way():
    raw = b'{"a": [1, 2], "b": {"c": "d"}}\n' * 3
    several = [mutated(raw, random.Random(f"1:{number}")) for number in range(200)]
    assert several == [mutated(raw, random.Random(f"1:{number}")) for number in range(200)]
    assert len(set(several)) > 100
