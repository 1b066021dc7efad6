"""A results folder holds one whole run, or the one before it; nothing else is touched."""

import json
import os

import pytest
from mock_server import MockServer, Status

import nuggetjudge as nj
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.records.reading.problems import InputError


def answer(run_id, text):
    return {
        "run_id": run_id, "topic_id": "t1", "topic": "-", "references": ["p1"],
        "response_length": len(text.split()), "answer": [{"text": text, "citations": [0]}],
    }  # fmt: skip


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "topics.tsv").write_text("t1\twhy tides\n", encoding="utf-8")
    rows = [answer("good", "The moon pulls."), answer("bad", "The sea is green.")]
    (tmp_path / "run.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    (tmp_path / "passages.jsonl").write_text(
        '{"docid": "p1", "text": "The moon pulls the sea."}\n', encoding="utf-8"
    )
    bank = {"qid": "t1", "query": "-", "nuggets": [{"text": "moon pulls", "importance": "vital"}]}
    (tmp_path / "bank.jsonl").write_text(json.dumps(bank) + "\n", encoding="utf-8")
    return {
        "program": "nuggets,support",
        "topics": tmp_path / "topics.tsv",
        "runs": str(tmp_path / "run.jsonl"),
        "passages": tmp_path / "passages.jsonl",
        "nuggets": tmp_path / "bank.jsonl",
        "out": tmp_path / "out",
        "run.cache": False,
    }


def files(folder):
    paths = [p for p in folder.iterdir() if p.is_file() and p.name != "spend.jsonl"]
    return {p.name: p.read_bytes() for p in paths}


def test_inputs_that_change_during_a_run_end_it_without_results(settings, tmp_path):
    run = tmp_path / "run.jsonl"

    def brain(body):
        run.write_text(
            "".join(sorted(run.read_text(encoding="utf-8").splitlines(keepends=True))),
            encoding="utf-8",
        )
        return {"verdict": "full"} if "pulls." in str(body) else {"verdict": "none"}

    with MockServer(brain=brain) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        with pytest.raises(InputError, match=r"run\.jsonl: changed while the run went on"):
            nj.run(**{**settings, "program": "support", "model": model})
        assert files(tmp_path / "out") == {}
        result = nj.run(**{**settings, "program": "support", "model": model})
    scores = {r: result.score(r, "support_precision") for r in ("good", "bad")}
    assert scores == {"good": 1.0, "bad": 0.0}


def test_a_run_that_fails_leaves_the_results_before_it(settings, tmp_path):
    nj.run(**settings)
    before = files(tmp_path / "out")
    bank = tmp_path / "bank.jsonl"
    bank.write_text(
        bank.read_text(encoding="utf-8").replace("moon pulls", "sea is blue"), encoding="utf-8"
    )
    with MockServer(faults=lambda index, body: Status(401)) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        extra = {"models.strict": model, "judges.support": {"model": "strict"}}
        with pytest.raises(EndpointUnusable):
            nj.run(**settings, **extra, force=True)
    assert files(tmp_path / "out") == before


def test_files_that_are_not_ours_stay(settings, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.part").write_text("keep", encoding="utf-8")
    with MockServer(faults=lambda index, body: Status(401)) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        with pytest.raises(EndpointUnusable):
            nj.run(**settings, model=model)
    assert files(tmp_path / "out") == {"mine.part": b"keep"}


def test_a_run_does_not_write_over_what_it_reads(settings, tmp_path):
    nj.run(**settings)
    with pytest.raises(InputError, match="is read by this run, which writes that file"):
        nj.run(**{**settings, "nuggets": tmp_path / "out" / "nuggets.jsonl"})


def test_results_of_another_program_are_not_removed(settings):
    nj.run(**{**settings, "program": "nuggets"})
    with pytest.raises(InputError, match=r"holds results of nuggets.*run nuggets,support together"):
        nj.run(**{**settings, "program": "support"})
    assert set(nj.run(**settings).judgements) == {"nuggets", "assignments", "support"}


def test_a_changed_recording_is_read_anew(settings, tmp_path):
    from nuggetjudge.judges import SupportJudge

    prompt = SupportJudge("lexical").prompt("judge")
    recording = tmp_path / "recording.jsonl"

    def record(verdict):
        rows = []
        for sentence in ("The moon pulls.", "The sea is green."):
            inputs = {"passage": "The moon pulls the sea.", "sentence": sentence}
            text = json.dumps({"verdict": verdict})
            rows.append({"messages": prompt.messages(inputs), "text": text})
        recording.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    model = {"model": "any", "engine": "recorded", "recording": str(recording)}
    scores = []
    for verdict in ("full", "none"):
        record(verdict)
        result = nj.run(**{**settings, "program": "support", "model": model})
        scores.append(result.score("good", "support_precision"))
    assert scores == [1.0, 0.0]


def test_a_folder_without_a_manifest_has_no_results(settings, tmp_path):
    whole = nj.run(**settings)
    os.remove(tmp_path / "out" / "manifest.json")
    with pytest.raises(InputError, match="manifest"):
        nj.Result(tmp_path)
    with pytest.warns(UserWarning, match="partial"):  # as a run that was stopped at its end
        again = nj.Result(tmp_path / "out")
    assert (again.manifest["partial"], again.scores) == (True, whole.scores)
