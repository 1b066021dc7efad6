"""The lexical judge of battles against the preferences of people, of real pairs of answers."""

import json

import pytest

import nuggetjudge as nj
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems


def preferred(overall):
    """RAGChecker's scale: above 0 the second answer is better."""
    return "b" if overall > 0 else "a" if overall < 0 else "tie"


def test_the_lexical_judge_agrees_with_people_as_the_page_says(shared_data, tmp_path):
    path = shared_data / "ragchecker_meta" / "pairs.jsonl"
    items, labels = [], []
    for pair in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        first, second = pair["model1"], pair["model2"]
        topic = f"{pair['dataset']}-{pair['query_id']}"
        ids = {"topic_id": topic, "run_id": first["name"], "opponent_id": second["name"]}
        texts = {"answer_a": first["response"], "answer_b": second["response"]}
        items.append({**ids, "question": pair["query"], **texts})
        labels += [
            {**ids, "label": preferred(human["overall"]), "annotator": f"p{n}"}
            for n, human in enumerate(pair["human"])
        ]
    for name, rows in (("items", items), ("people", labels)):
        lines = [json.dumps(row) + "\n" for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    given = {"program": ["items"], "items.judge": "battle", "run.out": tmp_path / "out"}
    given["data.items"] = tmp_path / "items.jsonl"
    result = nj.run(load_config(None, given, (), "lexical"))
    agreement = agree(tmp_path / "people.jsonl", result.folder, Problems())
    assert (agreement["kind"], agreement["n"], agreement["is_ordered"]) == ("battles", 111, False)
    assert agreement["accuracy"] == pytest.approx(0.559, abs=5e-4)
    assert agreement["cohen_kappa"]["unweighted"] == pytest.approx(0.332, abs=5e-4)
    assert agreement["annotators"]["among"]["pairwise_kappa"]["unweighted"] == pytest.approx(
        0.492, abs=5e-4
    )
