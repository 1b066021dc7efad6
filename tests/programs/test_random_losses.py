"""Whatever judgements are lost, the scores without the loss lie within the bounds with it."""

import json
import random

import pytest
from losing import SETTINGS, World

from nuggetjudge.programs.analysis.coverage_tables import by_eta, by_k
from nuggetjudge.programs.protocols.coverage.files import read_coverage
from nuggetjudge.programs.protocols.coverage.topic import relevance_rows
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.protocols.scoreboard import find_range
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import Problems

FEW = 2  # losses of each kind of run, always
WORLDS, LOSSES = 7, 3  # by `make test-slow`: collections of each kind of run, and losses in each


@pytest.mark.parametrize("seed", range(FEW))
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_loss_leaves_every_score_within_its_bounds(settings, seed, tmp_path):
    list(lose(tmp_path, settings, seed))


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_three_hundred_losses_leave_every_score_within_its_bounds(settings, tmp_path):
    first = FEW + WORLDS * list(SETTINGS.values()).index(settings)  # no collection is drawn twice
    lost = [
        n
        for seed in range(first, first + WORLDS)
        for n in lose(tmp_path / str(seed), settings, seed, LOSSES)
    ]
    assert len(lost) == WORLDS * LOSSES
    assert sum(n > 0 for n in lost) > len(lost) / 3


def losses(seed):
    """One item, or a share of all, of one stage or of all of them."""
    dice = random.Random(seed)
    share, of_stage = dice.choice((0.03, 0.1, 0.3, 0.8)), dice.random()

    def lost(stage, item):
        of_item = random.Random(f"{seed} {stage} {item.digest()}").random()
        is_stage = of_stage < 0.5 or random.Random(f"{seed} {stage}").random() < 0.4
        return is_stage and of_item < share

    return lost


def check(rows, whole, names):
    """Rows with losses against those without; `names` are the fields that name a row."""
    part_rows = {tuple(row[name] for name in names): row for row in rows}
    for wanted in whole:
        at, value = tuple(wanted[name] for name in names), wanted["value"]
        if (row := part_rows.get(at)) is None:  # 0/0 there, or no probability of any label is left
            assert value is None or wanted["measure"].endswith("_expected"), wanted
        elif not row["n_unjudged"]:
            assert row["value"] == pytest.approx(value, abs=1e-12), (row, wanted)
        elif row["low"] is None:
            assert find_range(row["measure"]) is None, (row, wanted)
        elif value is not None:
            assert row["low"] - 1e-9 <= value <= row["high"] + 1e-9, (row, wanted)


def lose(folder, settings, seed, n=1):
    """Judge a collection without losses and n times with some; how much was lost each time."""
    folder.mkdir(exist_ok=True)
    world = World(folder, seed)
    whole = Tables(world.judged("whole", settings), settings)
    for number in range(n):
        part = world.judged(f"part{number}", settings, losses(f"{seed}.{number}"))
        assert score_path(part.folder, Problems()) == part.scores
        assert part.is_complete == (not part.n_unjudged and not part.missing_points)
        tables = Tables(part, settings)
        check(tables.scores, whole.scores, ("run_id", "topic_id", "measure"))
        check(tables.groups, whole.groups, ("run_id", "by", "group", "measure"))
        check(tables.coverage, whole.coverage, ("table", "run_id", "measure"))
        yield part.n_unjudged


class Tables:
    """All rows of a run: its scores, means of groups, and the tables of `judge coverage`."""

    def __init__(self, result, settings):
        self.scores = [row.model_dump() for row in result.scores]
        has_groups = (result.folder / "groups.jsonl").exists()
        self.groups = group_means(result) if has_groups else []
        self.coverage = list(coverage_tables(result)) if "coverage" in settings["program"] else []


def group_means(result):
    lines = (result.folder / "groups.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["by"] != "length"]


def coverage_tables(result):
    """The rows of the tables of `judge coverage`."""
    data, settings = read_coverage(Folder(result.folder, Problems()))
    for variant in [*by_eta(data, settings), *by_k(data, settings, [1, 2])]:
        name = f"eta {variant.settings.eta}, k {variant.settings.k}"
        for row in (*variant.contexts.values(), *variant.reports.values()):
            yield row.model_dump() | {"table": name}
    for row in relevance_rows(data, settings):
        yield row.model_dump() | {"table": f"relevance of {row.topic_id}"}
