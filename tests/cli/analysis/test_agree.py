"""`judge agree` as a user runs it: readable in 80 columns, quick, and as the page shows it."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "trust" / "agreement.md").read_text(encoding="utf-8")


def commands_of_the_page():
    """(arguments, what it shows) of each `$ judge …` in the page's blocks."""
    for block in re.findall(r"^```\n(\$ judge .*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ judge ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command.split(), shown


def rows_of(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def annotated(tmp_path):
    items = [(t, q) for t in range(4) for q in range(6)]
    label = {"a": lambda t, q: q % 3, "b": lambda t, q: (q + (t == q)) % 3, "c": lambda t, q: 1}
    rows = [
        {"topic_id": t, "passage_id": q, "annotator": name, "label": of(t, q)}
        for t, q in items
        for name, of in label.items()
    ]
    judged = [{"topic_id": t, "passage_id": q, "label": (q * t) % 3} for t, q in items]
    rows_of(tmp_path / "judged.jsonl", judged)
    return rows_of(tmp_path / "human.jsonl", rows)


def test_calls_are_those_of_a_model(judge, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    labels = "examples/demo/labels/grounded.jsonl"
    own = ("--judge", "examples/demo/grounded.yaml")
    ran = judge("run", "items", "--items", labels, *own, "--out", "out", "--quiet")
    assert ran.code == 0, ran.err
    compared = ("agree", labels, "out", "--resamples", "0")
    assert "Model calls" not in judge(*compared).out  # word overlap asked nobody
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "answered_by": ["gpt"]}), encoding="utf-8")
    n = sum(manifest["judged"].values())
    assert f"Model calls: {n}, 1.00 per judgement." in judge(*compared).out


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(judge, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    n_shown = 0
    for arguments, shown in commands_of_the_page():
        into = arguments.index(">") if ">" in arguments else len(arguments)
        ran = judge(*arguments[:into])
        assert ran.code == 0, ran.err
        if into < len(arguments):
            (tmp_path / arguments[into + 1]).write_text(ran.out, encoding="utf-8")
        else:
            head, dots, _ = shown.partition("...\n")
            assert ran.out.startswith(head) if dots else ran.out == shown
            n_shown += 1
    assert n_shown >= 2


def test_one_file_shows_its_annotators(judge, annotated):
    ran = judge("agree", annotated)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("The annotators agree with each other ")
    assert "3 annotators, 24 items on 4 topics, 72 labels" in ran.out
    assert "Fleiss kappa" not in ran.out
    assert "Fleiss kappa" in judge("agree", annotated, "--all").out
    assert max(map(len, ran.out.splitlines())) <= 80
    alone = judge("agree", "judged.jsonl")
    assert alone.code == 2
    assert "several annotators" in alone.err


def test_scores_fit_in_80_columns(judge, tmp_path):
    rows = [
        {"run_id": f"r{r}", "topic_id": t, "measure": "V", "value": (r * 7 + t * 3 + r * t) % 11}
        for r in range(25)
        for t in range(5)
    ]
    human = rows_of(tmp_path / "human.jsonl", rows)
    judged = [{**row, "value": (row["value"] * 5) % 11} for row in rows]
    rows_of(tmp_path / "judged.jsonl", judged)
    ran = judge("agree", human, "judged.jsonl")
    assert ran.code == 0, ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "tau-b, top 20" not in ran.out
    ran_all = judge("agree", human, "judged.jsonl", "--all").out
    assert max(map(len, ran_all.splitlines())) <= 80
    assert "tau-b, top 20" in ran_all
