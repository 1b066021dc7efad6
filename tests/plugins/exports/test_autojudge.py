"""`judge export autojudge` and `judge verify`: what a track re-runs, with every endpoint down."""

import json
import shutil
import socket

import pytest
import yaml
from mock_server import MockServer

import nuggetjudge.plugins.exports.replay as verifying
from nuggetjudge.plugins.exports.replay import NetworkUsedError, no_network
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.scores import read_scores

TEAM, RUNS = "Quillfeather", {"one": "qf-dense-1", "two": "qf-sparse-2"}


@pytest.fixture
def team(tiny, rows_of):
    """The tiny collection with runs in the layout of 2025, which say whose they are."""
    for name, run_id in RUNS.items():
        path = tiny / f"{name}.jsonl"
        [row] = rows_of(path)
        about = {"team_id": TEAM, "run_id": run_id, "narrative_id": "t1", "type": "automatic"}
        about["description"] = f"the best of {TEAM}"
        answer = {name: row[name] for name in ("references", "answer")}
        path.write_text(json.dumps({"metadata": about, **answer}) + "\n", encoding="utf-8")
    return tiny


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where the export of this module's tests is, once it is made."""
    return tmp_path_factory.mktemp("export") / "aj"


@pytest.fixture
def exported(kept, run_tiny, tide_brain, judge, tmp_path):
    """An export of nuggets and support; its server, results and kept replies are gone."""
    if not kept.exists():
        with MockServer(brain=tide_brain) as server:
            assert run_tiny(server, "nuggets,support", "--quiet").code == 0
            url = server.base_url
        ran = judge("export", "autojudge", "out", kept)
        assert ran.code == 0, ran.err
        assert "Replies by endpoint: default 8" in ran.err
        for name in ("tiny", "out", "home/cache"):
            shutil.rmtree(tmp_path / name)
        texts = b"".join(path.read_bytes() for path in kept.rglob("*") if path.is_file())
        assert url.encode() not in texts  # neither where the endpoint was
        assert str(tmp_path).encode() not in texts  # nor where anything lay
    return shutil.copytree(kept, tmp_path / "aj")


def changed(path, old, new, n=1):
    """Write another text in a file; returns the number of the line."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, n), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_it_replays_to_the_same_bytes_with_nothing_but_itself(exported, judge):
    ran = judge("verify", "aj")
    assert (ran.code, ran.err) == (0, ""), ran.out
    assert ran.out.endswith("Identical: recomputed offline from 8 stored replies.\n")
    [report] = judge("verify", "aj", "--json").rows
    assert report["is_same"]
    names = {file["name"] for file in report["files"]}
    assert {"support.jsonl", "scores.jsonl", "nuggets-support.eval.txt", "workflow.yml"} <= names


def test_its_tables_are_what_the_tracks_tools_read(exported, judge):
    problems = Problems()
    board = read_scores(exported / "nuggets-support.eval.txt", problems, "ir_measures")
    # Run one: full, partial and none of its 3 sentences: 1.5 / 3; run two the same.
    cells = {
        (row.run_id, row.topic_id): row.value for row in board if row.measure == "support_precision"
    }
    assert cells == {(run, topic): 0.5 for run in ("one", "two") for topic in ("t1", "all")}
    [bank] = read_nugget_banks(exported / "nuggets-support.nuggets.jsonl", problems).values()
    assert [(n.text, n.importance) for n in bank.nuggets][:2] == [
        ("the moon pulls the sea", "vital"), ("the sun adds to it", "vital")
    ]  # fmt: skip
    assert not list(problems)
    flow = yaml.safe_load((exported / "workflow.yml").read_text(encoding="utf-8"))
    assert (flow["create_nuggets"], flow["create_qrels"], flow["judge"]) == (False, False, True)
    assert judge("score", "aj/results").code == 0  # and our own commands read its results
    assert judge("show", "aj/results", "one").code == 0


def test_a_reply_that_was_changed_is_found_with_its_line_and_what_follows(exported, judge):
    at = changed(exported / "cache/default.jsonl", r"\"partial\"", r"\"full\"")
    ran = judge("verify", "aj")
    assert ran.code == 1
    assert f"aj/cache/default.jsonl:{at}: the reply has changed" in ran.out
    assert "aj/cache/default.jsonl: has changed since the export (SHA-256)" in ran.out
    assert "support.jsonl, line " in ran.out  # the judgement that rests on it
    assert "nuggets-support.eval.txt, line " in ran.out  # and the score


def test_a_row_that_was_changed_is_found_with_its_line(exported, judge):
    at = changed(exported / "results/support.jsonl", '"none"', '"full"')
    of_table = changed(exported / "nuggets-support.eval.txt", "\t0.5\n", "\t0.9\n")
    changed(exported / "results/manifest.json", '"nuggetjudge": "', '"nuggetjudge": "0.0.0+')
    ran = judge("verify", "aj")
    assert ran.code == 1
    assert f"support.jsonl, line {at}: " in ran.out
    assert f"nuggets-support.eval.txt, line {of_table}: " in ran.out
    assert "exported by nuggetjudge 0.0.0+" in ran.out


def test_a_reply_that_is_missing_is_said_and_is_no_score(exported, judge):
    path = exported / "cache/default.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if r"\"none\"" not in line), encoding="utf-8")
    ran = judge("verify", "aj")
    assert ran.code == 1
    assert "6 replies, wanted +2" in ran.out
    assert "2 more judgements failed: 2 questions have no stored reply" in ran.out
    assert '"label":null' in ran.out  # as it is replayed


def test_an_input_that_was_changed_or_taken_away_is_found(exported, judge):
    changed(exported / "inputs/topics.tsv", "tides", "waves")
    (exported / "inputs/one.jsonl").unlink()
    ran = judge("verify", "aj")
    assert ran.code == 1
    assert "aj/inputs/topics.tsv: has changed since the export" in ran.out
    assert "aj/inputs/one.jsonl: is missing" in ran.out
    assert "not replayed" in ran.out


def test_names_of_runs_and_teams_are_nowhere_with_pseudonyms(
    team, run_tiny, tide_server, judge, tmp_path
):
    assert run_tiny(tide_server, "nuggets,support", "--quiet").code == 0
    ran = judge("export", "autojudge", "out", "aj", "--pseudonyms", "key.json")
    assert ran.code == 0, ran.err
    assert "Dropped fields that may contain names: description 2" in ran.err
    for path in (tmp_path / "aj").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for name in (TEAM, *RUNS.values()):
            assert name.lower() not in path.name.lower()
            assert name.lower().encode() not in content.lower(), path
    ran = judge("verify", "aj")
    assert ran.code == 0, ran.out
    key = json.loads((tmp_path / "key.json").read_text(encoding="utf-8"))
    assert set(key["runs"].values()) == set(RUNS.values())
    assert set(key["teams"].values()) == {TEAM}
    scores = [
        read_scores(tmp_path / f"{at}/scores.jsonl", Problems()) for at in ("out", "aj/results")
    ]
    values = [{(key["runs"].get(r.run_id, r.run_id), r.topic_id, r.measure): r.value for r in rows}
              for rows in scores]  # fmt: skip
    assert values[0] == values[1]


@pytest.mark.slow
def test_one_key_gives_the_same_bytes_again_and_another_other_names(
    team, run_tiny, tide_server, judge, tmp_path
):
    assert run_tiny(tide_server, "support", "--quiet").code == 0
    for out, key in (("a", "key.json"), ("b", "key.json"), ("c", "other.json")):
        ran = judge("export", "autojudge", "out", out, "--pseudonyms", key)
        assert ran.code == 0, ran.err
    boards = [(tmp_path / out / "support.eval.txt").read_bytes() for out in "abc"]
    assert boards[0] == boards[1] != boards[2]
    about = [(tmp_path / out / "export.json").read_bytes() for out in "ab"]  # has all hashes
    assert about[0] == about[1]


def test_what_was_not_judged_is_not_judged_in_the_export(run_tiny, tide_brain, judge, tmp_path):
    def brain(body):
        reply = tide_brain(body)
        return {"verdict": "perhaps"} if reply == {"verdict": "none"} else reply

    with MockServer(brain=brain) as server:
        assert run_tiny(server, "support", "--quiet").code == 3
    ran = judge("export", "autojudge", "out", "aj")
    assert ran.code == 0, ran.err
    assert "Failed judgements, also in the export: 2" in ran.err
    assert judge("verify", "aj").code == 0
    about = json.loads((tmp_path / "aj/export.json").read_text(encoding="utf-8"))
    assert about["unjudged_by_reason"] == {"unparseable": 2}
    assert about["replies"] == {"default": 4}


def test_what_cannot_be_exported_is_refused_and_leaves_nothing(
    run_tiny, tide_server, judge, tmp_path
):
    assert run_tiny(tide_server, "support", "--quiet").code == 0

    def refused(*arguments):
        ran = judge("export", "autojudge", "out", *arguments)
        assert ran.code == 2
        return ran.err

    assert "is in the results folder" in refused("out/aj")
    assert "would be inside the export" in refused("aj", "--pseudonyms", "aj/key.json")
    assert "is not empty" in refused("tiny")
    shutil.rmtree(tmp_path / "home/cache")
    assert "out: 6 of its judgements have no stored reply" in refused("aj")
    assert not (tmp_path / "aj").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"tiny", "home", "out"}
    assert "tiny: is not an export, export.json is missing" in judge("verify", "tiny").err


def test_an_input_that_names_runs_in_a_way_of_its_own_gets_no_pseudonyms(
    tide_server, judge, tmp_path
):
    item = {"topic_id": "t1", "run_id": "qf-dense-1", "question": "what makes the tides"}
    item |= {"sentence": "Lakes have large tides.", "passage": "The moon makes the tides."}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    model = ("--model", "hosted_vllm/mock", "--api-base", tide_server.base_url, "--out", "out")
    ran = judge("run", "items", "--judge", "support", "--items", "items.jsonl", *model, "--quiet")
    assert ran.code == 0, ran.err
    ran = judge("export", "autojudge", "out", "aj", "--pseudonyms", "key.json")
    assert (ran.code, ran.out) == (2, "")
    assert "items.jsonl:1: has 'run_id', and names in such a file" in ran.err
    assert judge("export", "autojudge", "out", "aj").code == 0
    assert judge("verify", "aj").code == 0


@pytest.mark.slow
def test_replicates_of_a_jury_and_a_second_endpoint_replay_each_by_its_own_replies(
    tiny, judge, tmp_path
):
    verdicts = iter(["full", "partial", "none"] * 100)
    with MockServer(brain=lambda body: {"verdict": next(verdicts)}) as server:
        (tmp_path / "jury.yaml").write_text(
            yaml.safe_dump({
                "program": "support",
                "data": {"topics": "tiny/topics.tsv", "passages": "tiny/passages.jsonl",
                         "runs": ["tiny/one.jsonl", "tiny/two.jsonl"]},
                "models": {name: {"model": "hosted_vllm/mock", "api_base": server.base_url}
                           for name in ("default", "other")},
                "judges": {"support": {"jury": {"members": [
                    {"name": "a", "replicates": 2, "temperature": 0.7}, "other"]}}},
                "run": {"out": "out"},
            }), encoding="utf-8",
        )  # fmt: skip
        ran = judge("run", "jury.yaml", "--quiet")
        assert ran.code == 0, ran.err
    ran = judge("export", "autojudge", "out", "aj")
    assert ran.code == 0, ran.err
    # Two replicates of six items, and the other member at its own temperature.
    assert "Replies by endpoint: default 12, other 6" in ran.err
    ran = judge("verify", "aj")
    assert ran.code == 0, ran.out
    assert "from 18 stored replies" in ran.out


def test_nothing_in_the_process_reaches_a_network_while_it_replays():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with no_network():
            for wanted in (
                lambda: socket.create_connection(address),
                lambda: socket.getaddrinfo("localhost", 80),
                lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"?", address),
            ):
                with pytest.raises(NetworkUsedError):
                    wanted()
        socket.create_connection(address).close()  # and afterwards all is as before


def test_a_replay_that_wanted_the_network_would_be_stopped(exported, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        monkeypatch.setattr(
            verifying, "judge_collection", lambda *_, **__: socket.create_connection(address)
        )
        with pytest.raises(NetworkUsedError, match="a replay must not use the network"):
            verifying.verify_folder(exported)
