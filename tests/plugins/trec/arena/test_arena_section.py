"""The section on battles: its data, and that it is not there without any."""

import json
from pathlib import Path

import nuggetjudge as nj
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.plugins.trec.arena.arena import make_battles
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems

DEMO = Path(__file__).resolve().parents[3] / "collection"


def judged(tmp_path, program):
    given = {"program": [program], "run.out": tmp_path / "out", "run.cache": False}
    return nj.run(load_config(DEMO / "judge.yaml", given, (), "lexical")).folder


def test_the_section_has_the_standings_and_who_beat_whom(tmp_path):
    folder = judged(tmp_path, "arena")
    section = make_battles(Source([folder], Problems()))
    (one,) = section["folders"]
    assert section["count"] == one["n"] == 30  # 6 pairs of 4 runs on 5 topics
    names = [row["run"] for row in one["runs"]]
    assert names == ["factdump", "complete", "miscited", "thin"]
    # What the files say: of the five battles of the first two, by hand from battles.jsonl.
    rows = [json.loads(line) for line in (folder / "battles.jsonl").open(encoding="utf-8")]
    both = [r["label"] for r in rows if (r["run_id"], r["opponent_id"]) == ("complete", "factdump")]
    wins = both.count("loss") + both.count("tie") / 2
    assert one["won"][0][1] == (wins, 5)
    assert one["won"][1][0] == (5 - wins, 5)
    assert one["position"]["n_first"] == one["position"]["n_second"]
    assert one["runs"][3]["forfeits"] == 3


def test_without_battles_there_is_no_section(tmp_path):
    assert make_battles(Source([judged(tmp_path, "support")], Problems())) is None
