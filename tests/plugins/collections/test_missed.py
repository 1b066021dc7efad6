"""Key points that answers miss: which are exported, and why they are missed, by run."""

from collections import Counter

import pytest
from json_lines import read_rows, write_rows
from mock_server import MockServer, input_of
from typer.testing import CliRunner

import nuggetjudge as nj
from nuggetjudge.cli import app
from nuggetjudge.plugins.collections.missed import MissedPointJudge
from nuggetjudge.plugins.exports.missed import write_missed
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError, Problems

POINT = "Between 1961 and 1998 the depth of the lagoon fell from 3.4 to 1.5 metres."


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The example of key points, judged by word overlap."""
    home = tmp_path_factory.mktemp("missed")
    named = {
        "data.topics": "examples/keypoints/topics.jsonl",
        "data.keypoints": "examples/keypoints/keypoints.jsonl",
        "data.runs": ["examples/keypoints/answers"],
        "program": ["keypoints"],
        "keypoints.precision": False,
        "run.out": home / "judged",
    }
    return nj.run(load_config(None, named, [], "lexical")).folder


def test_what_is_not_stated_is_exported_with_the_answer_and_labelled_by_run(judged, tmp_path):
    missed, out = tmp_path / "missed.jsonl", tmp_path / "why"
    ran = CliRunner().invoke(app.app, ["export", "missed", str(judged), "--out", str(missed)])
    assert ran.exit_code == 0, ran.output
    rows, ids = read_rows(missed), ("topic_id", "run_id", "key_point_id")
    labels = {tuple(r[n] for n in ids): r["label"] for r in read_rows(judged / "entailments.jsonl")}
    wanted = {cell for cell, label in labels.items() if label != "yes"}
    assert {tuple(row[name] for name in ids) for row in rows} == wanted
    assert len(rows) == len(wanted)
    assert all(row["response"] and row["key_point"] for row in rows)

    def reason(body):  # the first key point that is asked about is general, others are missing
        return {"verdict": "general" if input_of(body)["key_point"] == first else "missing"}

    first = rows[0]["key_point"]
    with MockServer(brain=reason) as server:
        sets = ["run.cache=false", f"models.default.api_base={server.base_url}"]
        fixed = {"program": ["items"], "data.items": missed, "run.out": out}
        fixed |= {"items.judge": "missed_point"}
        result = nj.run(load_config(None, fixed, sets, "hosted_vllm/mock"))
    counts = Counter(row["run_id"] for row in rows if row["key_point"] == first)
    shares = {r.run_id: r.value for r in result.scores
              if (r.measure, r.topic_id) == ("share_general", rows[0]["topic_id"])}  # fmt: skip
    of_topic = Counter(row["run_id"] for row in rows if row["topic_id"] == rows[0]["topic_id"])
    assert shares == {run: pytest.approx(counts[run] / n) for run, n in of_topic.items()}
    people = [{**{n: row[n] for n in ids}, "label": "missing"} for row in rows]
    write_rows(tmp_path / "people.jsonl", people)
    ran = CliRunner().invoke(app.app, ["agree", str(tmp_path / "people.jsonl"), str(out), "--json"])
    assert ran.exit_code == 0, ran.output


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("Bees dance on the comb.", "missing"),
        ("The lagoon lost depth over the years.", "general"),
        ("From 1961 the depth of the lagoon fell to 1.5 metres.", "incomplete"),
    ],
)
def test_word_overlap_tells_the_three_reasons(response, label):
    judge = MissedPointJudge("lexical")
    assert judge(response=response, key_point=POINT).verdict == label


def test_results_without_reference_items_have_nothing_to_export(judged, tmp_path):
    rows = [
        {"topic_id": "t", "run_id": "r", "key_point_id": "k", "key_point": "a", "response": "b"}
    ]
    write_rows(tmp_path / "items.jsonl", rows)
    fixed = {"program": ["items"], "data.items": tmp_path / "items.jsonl"}
    fixed |= {"items.judge": "missed_point", "run.out": tmp_path / "out"}
    folder = nj.run(load_config(None, fixed, [], "lexical")).folder
    with pytest.raises(InputError, match="has no judgements of key points or nuggets"):
        write_missed(folder, tmp_path / "missed.jsonl", Problems())
    assert not (tmp_path / "missed.jsonl").exists()
