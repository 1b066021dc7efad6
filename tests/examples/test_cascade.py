"""The demo's cascade, as docs/agents.md runs it: fitted, run, and left to people."""

import json
import shutil
from pathlib import Path

import nuggetjudge as nj
from nuggetjudge.calibration.cascades import Wanted, make_fit_report
from nuggetjudge.calibration.stored import read_stored
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"


def test_what_the_lexical_judge_is_not_sure_of_is_left_to_people(tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder)
    alone = {"program": "support", "run.out": tmp_path / "support"}
    before = nj.run(load_config(folder / "judge.yaml", alone)).folder
    human = folder / "labels" / "support.jsonl"
    stored = read_stored(human, [before], Problems(), to_people=True)
    assert stored.has_texts
    assert stored.models == {"": "lexical"}
    state, report = make_fit_report(stored, "calibrated", Wanted(share=0.25))
    assert report["auroc"] > 0.75
    assert report["kept_right"] > report["right"] + 0.1
    (folder / "cascade.json").write_text(state.text(), encoding="utf-8")

    result = nj.run(load_config(folder / "cascade.yaml", {"run.out": tmp_path / "cascade"}))
    lines = (result.folder / "unjudged.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["reason"] for line in lines} == {"abstained"}
    assert 20 <= len(lines) <= 60
