"""Whatever judgements are lost, the scores without the loss lie within the bounds with it."""

import json
import random

import pytest
from losing import SETTINGS, World

from nuggetjudge.programs.analysis.coverage_tables import by_eta, by_k
from nuggetjudge.programs.protocols.coverage.files import read_coverage
from nuggetjudge.programs.protocols.coverage.scores import relevance_rows
from nuggetjudge.programs.protocols.measure_values import range_of
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import Problems

FEW, MANY = 2, 20  # losses of each kind of run: always, and by `make test-slow`


@pytest.mark.parametrize("seed", range(FEW))
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_loss_leaves_every_score_within_its_bounds(settings, seed, tmp_path):
    lose(tmp_path, settings, seed)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_two_hundred_losses_leave_every_score_within_its_bounds(settings, tmp_path):
    n_lost = sum(lose(tmp_path / str(seed), settings, seed) > 0 for seed in range(FEW, FEW + MANY))
    assert n_lost > MANY / 3


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
    found = {tuple(row[name] for name in names): row for row in rows}
    for wanted in whole:
        at, value = tuple(wanted[name] for name in names), wanted["value"]
        if (row := found.get(at)) is None:  # 0/0 there, or no probability of any label is left
            assert value is None or wanted["measure"].endswith("_expected"), wanted
        elif not row["n_unjudged"]:
            assert row["value"] == pytest.approx(value, abs=1e-12), (row, wanted)
        elif row["low"] is None:
            assert range_of(row["measure"]) is None, (row, wanted)
        elif value is not None:
            assert row["low"] - 1e-9 <= value <= row["high"] + 1e-9, (row, wanted)


def lose(folder, settings, seed):
    """Judge a collection with losses and without, and compare all rows; how much was lost."""
    folder.mkdir(exist_ok=True)
    world = World(folder, seed)
    whole = world.judged("whole", settings)
    part = world.judged("part", settings, losses(seed))
    assert score_path(part.folder, Problems()) == part.scores
    assert part.is_complete == (part.n_unjudged == 0)
    results = (part, whole)
    rows = [[row.model_dump() for row in result.scores] for result in results]
    check(*rows, ("run_id", "topic_id", "measure"))
    if (whole.folder / "groups.jsonl").exists():
        check(*map(group_means, results), ("run_id", "by", "group", "measure"))
    if "coverage" in settings["program"]:
        check(*map(coverage_tables, results), ("table", "run_id", "measure"))
    return part.n_unjudged


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
