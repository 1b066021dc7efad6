"""Tasks to draw queues of: one of labels without texts, and one folder of everything judged."""

import json
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.plugins.annotate.work.task import Task
from nuggetjudge.records.kinds import LabelFile
from nuggetjudge.records.support import SUPPORT_KIND

DEMO = Path(__file__).resolve().parents[4] / "tests" / "collection"
SIZES = {"t1": 8, "t2": 4, "t3": 20}  # items by topic


def made_task(sizes=None, kind="support"):
    """A task of items that are all `none` to the judge."""
    sizes = SIZES if sizes is None else sizes
    cells = {
        (topic, f"run{i % 3}", str(i), "p"): "none" for topic, n in sizes.items() for i in range(n)
    }
    return Task(
        results=(), kind=kind, scale=SUPPORT_KIND.labels, key_names=SUPPORT_KIND.key,
        inputs=("sentence", "passage"), cells=tuple(sorted(cells)), guidelines="",
        fingerprint="f",
        files=(LabelFile("support", SUPPORT_KIND.labels, cells, SUPPORT_KIND.key),),
    )  # fmt: skip


@pytest.fixture
def task():
    return made_task()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The demo, judged without a model by every program that has a kind of labels."""
    home = tmp_path_factory.mktemp("judged")
    topics = [line.split("\t") for line in (DEMO / "topics.tsv").read_text("utf-8").splitlines()]
    questions = [{"id": name, "questions": ["what is it", "why so"]} for name, _ in topics]
    points = [
        {"text": "Bees stay together", "spans": ["they cluster"]},
        {"text": "Decks bend", "spans": ["decks give"]},
    ]
    sets = [{"qid": name, "query": text, "key_points": points} for name, text in topics]
    for name, rows in (("questions", questions), ("points", sets)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (home / f"{name}.jsonl").write_text(text, encoding="utf-8")
    nj.run(
        DEMO / "judge.yaml",
        program=["nuggets", "support", "relevance", "coverage", "keypoints"],
        out=home / "out",
        **{
            "data.questions": home / "questions.jsonl",
            "data.keypoints": home / "points.jsonl",
            "coverage.answerable": "all",
        },
    )
    return home / "out"
