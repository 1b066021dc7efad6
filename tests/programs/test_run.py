"""What one failed stage does to those after it, and to whom a results folder belongs."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.results import Results
from nuggetjudge.programs.partial import OtherFolder, open_finished_or_partial, results_at
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"
LOST = "demo-tides"
QUESTION = "what causes tides and why do they differ from place to place"


def brain(body):
    asked = input_of(body)
    if "limit" in asked:
        return {"updated": ["one fact", "another fact"]}
    if "answer" in asked:
        return {"verdicts": dict.fromkeys(asked["nuggets"], "support")}
    if "nuggets" in asked:
        return {"importance": dict.fromkeys(asked["nuggets"], "vital")}
    return {"grade": 2} if "question" in asked else {"verdict": "full"}


@pytest.fixture
def server():
    with MockServer(brain=brain) as up:
        yield up


@pytest.fixture
def run(server, tmp_path):
    def judged(program, out="out", **settings):
        given = {"run.out": tmp_path / out, "program": program, "run.cache": tmp_path / "cache"}
        api_base = f"models.default.api_base={server.base_url}"
        config = load_config(
            DEMO / "judge.yaml", given | settings, [api_base], "hosted_vllm/mock"
        )  # fmt: skip
        return nj.run(config)

    return judged


def rescored(result):
    return score_path(result.folder, Problems())


def test_a_topic_whose_nuggets_were_not_made_is_bounded_and_the_others_are_scored(server, run):
    def no_tides(index, body):
        asked = input_of(body)
        return Refusal() if "limit" in asked and asked["question"] == QUESTION else None

    server.faults = no_tides
    result = run(["nuggets"])
    assert not result.is_complete
    (lost,) = result.unjudged
    assert (lost["stage"], lost["topic_id"], lost["reason"]) == ("nuggets", LOST, "refused")
    cells = {(r.run_id, r.topic_id): r for r in result.scores if r.measure == "V_strict"}
    row, mean = cells["complete", LOST], cells["complete", "all"]
    assert (row.value, row.n, row.low, row.high) == (None, 0, 0.0, 1.0)
    assert row.n_unjudged > 0
    assert (mean.value, mean.low, mean.high) == (1.0, 0.8, 1.0)  # 4 topics of 5 judged, all 1
    # `thin` did not answer the lost topic, which is a 0 of its own making, unless no nugget of it
    # is vital: then it counts for nobody.
    thin = cells["thin", "all"]
    assert (thin.value, thin.low, thin.high) == (pytest.approx(0.8), 0.8, 1.0)
    assert rescored(result) == result.scores

    server.faults = None
    n = len(server.requests)
    assert run(["nuggets"]).is_complete
    asked = [input_of(request.body) for request in server.requests[n:]]
    assert {row["question"] for row in asked} == {QUESTION}


def test_without_grades_the_relevance_judge_is_asked_before_nuggets_are_made(server, run):
    result = run(["nuggets"], **{"data.qrels": None})
    assert result.is_complete
    assert len(result.judgements["relevance"]) == 50
    assert len(result.judgements["nuggets"]) == 5
    assert not any(row.measure.startswith("nDCG") for row in result.scores)
    assert rescored(result) == result.scores


def test_a_passage_whose_grade_is_missing_makes_the_run_incomplete(server, run):
    server.faults = lambda index, body: Refusal() if index == 0 else None
    result = run(["relevance"])
    assert not result.is_complete
    (lost,) = result.unjudged
    assert lost["stage"] == "relevance"
    means = {r.measure: r for r in result.scores if r.topic_id == "all"}
    assert all((row.n, row.n_unjudged) == (49, 1) for row in means.values())
    assert all(row.low < row.high for row in means.values())


def test_a_topic_without_any_grade_is_bounded_and_not_without_nuggets(server, run):
    def no_tides(index, body):
        asked = input_of(body)
        return Refusal() if "passage" in asked and asked.get("question") == QUESTION else None

    server.faults = no_tides
    result = run(["nuggets"], **{"data.qrels": None})
    assert not result.is_complete
    cells = {(r.run_id, r.topic_id): r for r in result.scores if r.measure == "V_strict"}
    row, mean = cells["complete", LOST], cells["complete", "all"]
    assert (row.value, row.low, row.high) == (None, 0.0, 1.0)
    assert (mean.value, mean.low, mean.high) == (1.0, 0.8, 1.0)
    assert rescored(result) == result.scores


def test_a_topic_without_a_relevant_passage_has_no_nuggets_and_no_score(server, run, tmp_path):
    qrels = tmp_path / "qrels.txt"
    lines = (DEMO / "qrels.txt").read_text(encoding="utf-8").splitlines()
    graded = [f"{line[:-1]}0" if line.startswith(LOST) else line for line in lines]
    qrels.write_text("\n".join(graded) + "\n", encoding="utf-8")
    result = run(["nuggets"], **{"data.qrels": qrels})
    assert result.is_complete
    means = {r.run_id: r for r in result.scores if (r.topic_id, r.measure) == ("all", "A")}
    assert {row.n_topics for row in means.values()} == {4}
    assert means["thin"].value == 1.0  # it answered those four, and all nuggets are supported
    kinds = [
        json.loads(line)["kind"]
        for line in (result.folder / "problems.jsonl").open(encoding="utf-8")
    ]
    assert kinds.count("no_nuggets") == 1
    assert rescored(result) == result.scores


@pytest.mark.parametrize(
    "program", [["relevance"], ["support"], ["relevance", "nuggets", "support"]]
)
@pytest.mark.parametrize("citations", ["first", "all"])
def test_scores_are_made_again_from_the_folder_alone(program, citations, server, run):
    result = run(program, **{"support.citations": citations})
    assert rescored(result) == result.scores


def test_a_folder_with_files_of_ones_own_is_not_written_to(server, run, tmp_path):
    (tmp_path / "mine").mkdir()
    own = tmp_path / "mine" / "nuggets.jsonl"
    own.write_text("a bank written by hand\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine: has a nuggets\.jsonl that no run wrote"):
        run(["nuggets"], out="mine")
    assert server.requests == []
    assert run(["support"], out="mine").is_complete  # which writes no such file
    with pytest.raises(InputError, match=r"mine: has a nuggets\.jsonl that no run wrote"):
        run(["nuggets", "support"], out="mine")
    assert own.read_text(encoding="utf-8") == "a bank written by hand\n"


def test_two_runs_never_write_one_folder_at_the_same_time(run, tmp_path):
    with (
        Results(tmp_path / "out", ()) as results,
        pytest.raises(InputError, match="another run is writing there"),
    ):
        run(["support"])
    assert results.n_judged == {}
    assert run(["support"]).is_complete


def test_the_manifest_says_what_ran_on_what(server, run):
    result = run(["nuggets", "support"])
    manifest = json.loads((result.folder / "manifest.json").read_bytes())
    assert manifest["data"]["topics"] == 5
    assert manifest["data"]["answers"] == 19
    assert len(manifest["inputs"]) == 8  # topics, candidates, qrels, passages and four runs
    assert all(len(digest) == 64 for digest in manifest["inputs"].values())
    assert set(manifest["judges"]) == {"nuggetizer", "importance", "assigner", "support"}
    for judge in manifest["judges"].values():
        assert judge["model"]["endpoint"] == server.base_url
        assert all(len(digest) == 16 for digest in judge["prompts"].values())
    assert manifest["answered_by"] == ["mock"]
    assert manifest["this_time"]["requests"] == len(server.requests)


def test_a_changed_input_is_judged_anew_and_the_rest_is_kept(server, run, tmp_path):
    topics = tmp_path / "topics.tsv"
    topics.write_bytes((DEMO / "topics.tsv").read_bytes())
    changed = {"data.topics": topics, "data.nuggets": DEMO / "nuggets.jsonl"}
    run(["nuggets"], **changed)
    n = len(server.requests)
    topics.write_text(
        topics.read_text(encoding="utf-8").replace(QUESTION, "what causes tides"), encoding="utf-8"
    )
    run(["nuggets"], **changed)
    asked = [input_of(request.body)["question"] for request in server.requests[n:]]
    assert set(asked) == {"what causes tides"}


# A stopped run's folder as results: what the journals hold, and nothing that they do not.
@pytest.fixture
def whole(tmp_path):
    return nj.run(DEMO / "judge.yaml", program=["support"], out=tmp_path / "out")


def stop(folder, n_kept):
    """As if the run had been killed after so many judgements, the first lost by an error."""
    (journal,) = (folder / "journal").glob("support-*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    first = orjson.loads(lines[0])
    lost = {"d": first["d"], "u": ["error", "no reply", ""], "p": []}
    journal.write_bytes(b"".join([orjson.dumps(lost) + b"\n", *lines[1:n_kept]]) + lines[-1][:9])
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()


def test_what_was_not_judged_is_not_asked_for_even_of_the_lexical_judge(whole):
    n, (folder, manifest) = whole.n_judged, (whole.folder, whole.manifest)
    assert whole.scores  # read before they go
    stop(folder, 11)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with open_finished_or_partial(folder) as (made, is_partial):
        partial = nj.Result(made)
        assert (is_partial, partial.manifest["partial"], made.name) == (True, True, folder.name)
        assert partial.manifest["fingerprint"] == manifest["fingerprint"]
        assert partial.manifest["config"]["run"] == manifest["config"]["run"]
        assert (partial.n_judged, partial.n_unjudged) == (10, n - 10)
        reasons = partial.manifest["unjudged_by_reason"]
        assert reasons == {"error": 1, "budget": n - 11}
        assert not partial.is_complete
        for row in partial.scores:
            value = whole.score(row.run_id, row.measure, row.topic_id)
            assert row.low is None or row.low - 1e-9 <= value <= row.high + 1e-9
    assert not made.exists()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    again = nj.run(DEMO / "judge.yaml", program=["support"], out=folder)
    assert again.n_judged == n
    assert again.scores == whole.scores


def test_finished_results_and_files_are_given_back_as_they_are(whole):
    for path in (whole.folder, whole.folder / "support.jsonl", whole.folder.parent):
        with open_finished_or_partial(path) as results:
            assert results == (path, False)


def test_a_folder_that_a_package_knows_is_read_as_results(whole, tmp_path, monkeypatch):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "verdicts.xml").write_text("<verdicts/>", encoding="utf-8")

    def write_results(made):
        shutil.copytree(whole.folder, made)
        return None

    def find(path):
        known = OtherFolder(path, [path / "verdicts.xml"], write_results)
        return known if (path / "verdicts.xml").is_file() else None

    entry = SimpleNamespace(load=lambda: find)
    monkeypatch.setattr("nuggetjudge.programs.partial.entry_points", lambda group: [entry])
    with results_at(theirs) as opened:
        assert (opened.path.name, opened.is_of) == ("theirs", "verdicts.xml")
        assert nj.Result(opened.path).scores == whole.scores
    with results_at(whole.folder) as opened:
        assert (opened.path, opened.is_of) == (whole.folder, "")
