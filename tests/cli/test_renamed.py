"""Options and settings of before: the error names the new one, and CHANGELOG.md says the same."""

import json
import re
from pathlib import Path

import pytest

from nuggetjudge.programs.config import renamed
from nuggetjudge.programs.config.reading import config_before, load_config
from nuggetjudge.programs.config.renamed import (
    REMOVED_OPTIONS,
    REMOVED_SETTINGS,
    RENAMED_SETTINGS,
    in_new_words,
)
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.records.reading.problems import InputError

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CHANGES = Path(__file__).resolve().parents[2] / "CHANGELOG.md"


def test_the_changelog_has_the_table_that_errors_read():
    text = CHANGES.read_text(encoding="utf-8").split("### Renamed and removed")[1]
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", text.split("\n### ")[0], re.M)
    wanted = {f"judge {old}": new for old, new in REMOVED_OPTIONS.items()}
    wanted |= {old: f"`{new}`" for old, new in RENAMED_SETTINGS.items()}
    assert dict(rows) == {**wanted, **REMOVED_SETTINGS}


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("run --retrieval x.run", "--set data.retrieval=VALUE"),
        ("run --explain", "--set run.explain=true"),
        ("run --temperature 0.5", "--set models.default.temperature=VALUE"),
        ("generate --citations 2", "--set generate.citations=VALUE"),
        ("retrieve --hits 10", "--pipeline 'bm25 100, cut 10'"),
        pytest.param("build crux --n-questions 4", "--set coverage.n=N", marks=pytest.mark.whole),
        ("cascade fit --seed 1", "1,000 times by the same seed"),
    ],
)
def test_an_option_of_before_ends_with_the_way_that_there_is(judge, line, instead):
    ran = judge(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert instead in " ".join(ran.err.split())


def test_an_option_that_never_was_is_told_as_ever(judge):
    ran = judge("run", "--tides", "x")
    assert (ran.code, "setting" in ran.err) == (2, False)
    assert "--tides" in ran.err
    assert "setting" not in judge("score", "--retrieval", "x").err  # it takes no --set


def test_settings_of_before_are_told_with_their_line(tmp_path, monkeypatch):
    monkeypatch.setattr(renamed, "RENAMED_SETTINGS", {"pipelines.*.*.deep": "pipelines.*.*.depth"})
    path = tmp_path / "judge.yaml"
    path.write_text(
        "models:\n  mine: {model: lexical, tokens_per_s: {prompt: 1, reply: 2}}\n"
        "pipelines:\n  a:\n  - {step: bm25}\n  - {step: mmr, deep: 5}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as error:
        load_config(path, {})
    first, second = str(error.value).splitlines()
    assert first == f"{path}:6: pipelines.a.1.deep: is now pipelines.a.1.depth"
    assert second.startswith(f"{path}:2: models.mine.tokens_per_s: was removed: ")


def test_a_finished_folder_of_before_is_read_in_new_words(monkeypatch):
    monkeypatch.setattr(renamed, "RENAMED_SETTINGS", {"pipelines.*.*.deep": "pipelines.*.*.depth"})
    data = Config().model_dump(mode="json", by_alias=True)
    steps = [{"step": "bm25", "hits": 9}, {"step": "mmr", "deep": 5}]
    data |= {"pipelines": {"a": steps}, "models": {"m": {"model": "lexical", "tokens_per_s": None}}}
    config = config_before(data)
    assert config.pipelines["a"][1].depth == 5
    assert "deep" in steps[1]  # what was read is as it was
    assert in_new_words({"run": {"limit": 3}}) == {"run": {"limit": 3}}


def test_the_whole_config_of_a_folder_of_before_is_read():
    """Every setting at its default, as version 0.1.0 of 24 November 2026 wrote it."""
    written = json.loads((GOLDEN / "config_before.json").read_bytes())
    config = config_before(written)
    assert config.program == ("nuggets", "support", "coverage", "keypoints")
    assert config.coverage.alpha == written["coverage"]["alpha"]
    assert config.models["default"].concurrency == written["models"]["default"]["concurrency"]


def test_a_search_that_was_called_hunt_is_read_and_named(tmp_path):
    """The whole section, its removed settings, and `nuggets.how`."""
    old = {"nuggets": {"how": "hunt"}, "hunt": {"rounds": 7, "facets": 8}}
    config = config_before(old)
    assert (config.nuggets.how, config.nugget_search.rounds) == ("search", 7)
    path = tmp_path / "judge.yaml"
    path.write_text("nuggets: {how: hunt}\nhunt: {rounds: 7}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_config(path, {})
    assert f"{path}:1: nuggets.how: hunt is now search" in str(error.value)
    assert f"{path}:2: hunt: is now nugget_search" in str(error.value)
