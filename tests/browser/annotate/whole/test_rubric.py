"""Criteria are labelled by keys alone at a real server, and commands read what is exported."""

import json

import pytest
from browser.annotate.whole.conftest import COLLECTION, judge, rows_of
from labelling import Server

KEYPOINTS = COLLECTION.parents[1] / "examples" / "keypoints"
N = 30  # a run is corrected by 20 labels or more


def graded(home):
    """One run's answers, judged without a model, by three times as many criteria as the example."""
    rubrics = rows_of(KEYPOINTS / "rubrics.jsonl")
    for rubric in rubrics:
        rubric["criteria"] = [
            one | {"id": f"{one['id']}-{i}", "text": f"{one['text']} ({i})"}
            for one in rubric["criteria"]
            for i in range(3)
        ]
    lines = "".join(json.dumps(rubric) + "\n" for rubric in rubrics)
    (home / "rubrics.jsonl").write_text(lines, "utf-8")
    (run,) = (KEYPOINTS / "answers").glob("thorough*")
    given = (
        "--topics", KEYPOINTS / "topics.jsonl", "--set", "data.rubrics=rubrics.jsonl", "--runs",
        run,
    )  # fmt: skip
    judge("run", "rubric", *given, "--model", "lexical", "--out", "results", cwd=home)
    return home / "results"


def test_criteria_are_labelled_by_keys_undone_reloaded_and_read_by_commands(at_work, tmp_path):
    results = graded(tmp_path)
    server = Server(results, "rubric", tmp_path / "labels", "ann", "--n", N, "--overlap", 0)
    kinds = {
        (row["topic_id"], row["run_id"], row["criterion_id"]): (row["kind"], row["label"])
        for row in rows_of(results / "verdicts.jsonl")
    }
    person = at_work(server, "ann", {"not_met": "1", "partly": "2", "met": "3", None: "0"})
    page, press = person.page, person.page.keyboard.press
    texts = person.reads()
    assert {*texts} == {"question", "Answer", "Criterion"}

    def decide(click):
        click.label = None if click.n % 9 == 5 else ("met", "not_met", "partly")[click.n % 3]

    for _ in range(3):
        assert person.labels(decide)
    press("u")
    page.locator(".reading[data-n='2']").wait_for()
    press("c")
    page.keyboard.insert_text("only half of it")
    page.reload()
    page.locator(".reading[data-n='2']").wait_for()
    assert page.locator("textarea:visible").input_value() == "only half of it"
    person.clicks.pop()
    while person.labels(decide):
        pass
    server.ends()

    for out in ("human.csv", "human.jsonl"):
        judge("annotate", "export", server.folder, "--out", out, cwd=tmp_path)
    rows = rows_of(tmp_path / "human.jsonl")
    queue = enumerate(server.queue("ann"))
    positions = {tuple(row["cell"]): n for n, row in queue if not row.get("repeat")}
    labels = {(row["topic_id"], row["run_id"], row["criterion_id"]): row["label"] for row in rows}
    clicked = {click.n: click.label for click in person.clicks}
    assert labels == {cell: clicked[n] for cell, n in positions.items()}
    assert [row["rationale"] for row in rows if row["rationale"]] == ["only half of it"]

    decided = {cell: label for cell, label in labels.items() if label is not None}
    agreed = json.loads(
        judge("agree", "human.csv", results, "--kind", "rubric", "--json", cwd=tmp_path)
    )
    assert agreed["n"] == len(decided)
    right = sum(kinds[cell][1] == label for cell, label in decided.items())
    assert agreed["accuracy"] == pytest.approx(right / len(decided))
    scores = judge("score", results, "--labels", "human.csv", "--json", cwd=tmp_path)
    corrected = [row for row in map(json.loads, scores.splitlines()) if "n_labels" in row]
    assert {row["measure"] for row in corrected} == {"rubric_earned"}
