"""Result files that somebody edited: `file:line` and what was wanted, never another number."""

import json
import re
import shutil
from pathlib import Path

import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
COLLECTION, POINTS = EXAMPLES.parent / "tests" / "collection", EXAMPLES / "keypoints"
SUMMARIES = EXAMPLES / "summaries"


pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A finished folder of each program, by its name, as of an earlier version."""
    folder = tmp_path_factory.mktemp("results")
    free = {"run.cache": False}
    nj.run(COLLECTION / "judge.yaml", out=folder / "judged", **free)
    for name in ("nuggets", "support"):
        (folder / name).symlink_to(folder / "judged")
    nj.run(
        program="relevance", topics=COLLECTION / "topics.tsv", out=folder / "relevance",
        candidates=COLLECTION / "candidates.jsonl", **free,
        passages=[COLLECTION / "passages.jsonl"],
    )  # fmt: skip
    nj.run(
        program="keypoints", topics=POINTS / "topics.jsonl", keypoints=POINTS / "keypoints.jsonl",
        runs=str(POINTS / "answers"), out=folder / "keypoints", **free,
    )  # fmt: skip
    nj.run(
        program="items", items=COLLECTION / "labels" / "grounded.jsonl", out=folder / "items",
        judge=COLLECTION / "grounded.yaml", **free,
    )  # fmt: skip
    from nuggetjudge.plugins.collections.crux import build_crux

    news = folder / "news"
    build_crux(SUMMARIES / "summaries.jsonl", load_config(None, {"run.out": news} | free))
    nj.run(
        program="coverage", topics=news / "topics.jsonl", questions=news / "questions.jsonl",
        passages=[news / "passages.jsonl"], ratings=[news / "ratings.jsonl"], **free,
        retrieval=str(SUMMARIES / "runs"), runs=str(SUMMARIES / "answers"),
        out=folder / "coverage",
    )  # fmt: skip
    for name in ("judged", "relevance", "keypoints", "items", "coverage"):
        forget_digests(folder / name)
    return folder


def changed(**values):
    return lambda row: row | values


def without(name):
    return lambda row: {key: value for key, value in row.items() if key != name}


def nugget(**values):
    return lambda row: row | {"nuggets": [row["nuggets"][0] | values, *row["nuggets"][1:]]}


EDITS = {  # program, file, how a row is edited (None: torn), what the error says
    "a topic of no ranking": ("relevance", "relevance.jsonl", changed(topic_id="x"), "candid"),
    "a passage of no ranking": ("relevance", "relevance.jsonl", changed(passage_id="x"), "candid"),
    "no grade": ("relevance", "relevance.jsonl", without("grade"), "'grade'"),
    "a torn grade": ("relevance", "relevance.jsonl", None, "not JSON"),
    "a topic that is a list": ("relevance", "relevance.jsonl", changed(topic_id=[1]), "an id"),
    "a torn assignment": ("nuggets", "assignments.jsonl", None, "not JSON"),
    "nuggets that are a text": ("nuggets", "assignments.jsonl", changed(nuggets="x"), "a list"),
    "a nugget without text": ("nuggets", "assignments.jsonl", nugget(text=3), "text"),
    "a sentence that is no place": ("support", "support.jsonl", changed(sentence="x"), "position"),
    "no run": ("support", "support.jsonl", without("run_id"), "run_id"),
    "a rating too many": ("coverage", "ratings.jsonl", changed(rating=[0] * 99), "99 ratings"),
    "a rating of a billion": ("coverage", "ratings.jsonl", changed(rating=[10**9] * 10), "0 to 5"),
    "questions of a number": ("coverage", "questions.jsonl", changed(subquestions=3), "a list"),
    "a pool that is a text": ("coverage", "pools.jsonl", changed(passage_ids="x"), "a list"),
    "tokens that are texts": ("coverage", "contexts.jsonl", changed(tokens=["x"] * 4), "number"),
    "a point without id": ("keypoints", "entailments.jsonl", without("key_point_id"), "key_point"),
    "claims that are a text": ("keypoints", "claims.jsonl", changed(claims="x"), "a list"),
    "a label of no scale": ("items", "labels.jsonl", changed(label="ful"), "wanted one of"),
    "an item without topic": ("items", "labels.jsonl", without("topic_id"), "topic_id"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_result_is_named_by_its_line(name, results, tmp_path):
    program, file, edit, what = EDITS[name]
    folder = shutil.copytree(results / program, tmp_path / "out")
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    lines[1] = json.dumps(edit(json.loads(lines[1]))) if edit else lines[1][: len(lines[1]) // 2]
    (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"^{re.escape(str(folder / file))}:2: .*{what}"):
        score_path(folder, Problems())


MANIFESTS = {  # where, the value, what the error says
    "run ids": (("data", "run_ids"), ["a", 3], r":\d+: data\.run_ids\.1: .*string, got 3"),
    "data": (("data",), 3, r":\d+: data: "),
    "programs": (("config", "program"), "nuggets", r":\d+: config\.program: .* list"),
    "counts": (("judged", "support"), "many", r":\d+: judged\.support: .*got 'many'"),
    "cells": (("cells_without_bank",), [["a"]], r":\d+: cells_without_bank\.0\."),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_an_edited_manifest_is_named_by_its_line(name, results, tmp_path):
    (*parents, last), value, what = MANIFESTS[name]
    folder = shutil.copytree(results / "nuggets", tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    inner = manifest
    for key in parents:
        inner = inner[key]
    inner[last] = value
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    with pytest.raises(InputError, match=rf"manifest\.json{what}") as error:
        score_path(folder, Problems())
    number = int(str(error.value).split(":")[1])
    shown = (folder / "manifest.json").read_text(encoding="utf-8").splitlines()[number - 1]
    assert f'"{last}"' in shown or "a" not in shown


def test_an_edited_manifest_that_is_json_and_no_yaml_is_refused_all_the_same(results, tmp_path):
    text = (results / "judged" / "manifest.json").read_text(encoding="utf-8")
    spoilt = text.replace('"share_missing": 0.0', '\t"share_missing":"none"')
    assert json.loads(spoilt)["share_missing"] == "none"
    (tmp_path / "manifest.json").write_text(spoilt, encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json:1: share_missing: "):
        score_path(tmp_path, Problems())
