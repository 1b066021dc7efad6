"""The packaged collection through every command: the leaderboard, and what else is printed."""

import json
import re
import sqlite3
from pathlib import Path

import pytest
from json_lines import write_rows
from mock_server import MockServer, Refusal, Reply, input_of, schema_of
from page_output import is_shown

FOLDER = Path(__file__).resolve().parents[3] / "tests" / "collection"
DEMO = FOLDER / "judge.yaml"
BANK = ["--nuggets", FOLDER / "nuggets.jsonl"]


def means(rows, measure):
    return {
        row["run_id"]: row["value"]
        for row in rows
        if row["topic_id"] == "all" and row["measure"] == measure
    }


@pytest.fixture
def demo(judge, tmp_path):
    """The finished demo, judged on the hand-made nuggets."""
    ran = judge("run", DEMO, *BANK, "--json", "--quiet")
    assert ran.code == 0, ran.err
    return ran


def test_the_four_systems_come_out_as_they_were_built_to(demo):
    v_strict = means(demo.rows, "V_strict")
    assert max(v_strict, key=v_strict.get) == "complete"
    assert min(v_strict, key=v_strict.get) == "thin"
    precision, recall = (means(demo.rows, f"support_{name}") for name in ("precision", "recall"))
    assert min(precision, key=precision.get) == "miscited"
    assert sorted(recall, key=recall.get, reverse=True) == [
        "complete", "thin", "miscited", "factdump",
    ]  # fmt: skip


def test_nuggets_made_from_the_passages_rank_the_same_systems_first_and_last(judge):
    ran = judge("run", DEMO, "--json", "--quiet")
    assert ran.code == 0, ran.err
    v_strict = means(ran.rows, "V_strict")
    assert max(v_strict, key=v_strict.get) == "complete"
    assert min(v_strict, key=v_strict.get) == "thin"


def test_a_topic_that_a_run_did_not_answer_counts_zero(demo):
    cells = {r["topic_id"]: r["value"] for r in demo.rows
             if r["run_id"] == "thin" and r["measure"] == "A"}  # fmt: skip
    mean = cells.pop("all")
    assert "demo-tides" not in cells
    assert len(cells) == 4
    assert mean == pytest.approx(sum(cells.values()) / 5)
    lengths = {r["topic_id"]: r["value"] for r in demo.rows
               if r["run_id"] == "thin" and r["measure"] == "length"}  # fmt: skip
    assert lengths.pop("all") == pytest.approx(sum(lengths.values()) / 4)


# The table of the collection's README, counted there from the hand labels.
HAND = {
    "complete": (0.942, 0.865, 0.978, 0.957), "miscited": (0.855, 0.846, 0.160, 0.160),
    "factdump": (0.626, 0.684, 0.800, 0.085), "thin": (0.095, 0.118, 0.800, 0.800),
}  # fmt: skip


def test_scores_of_the_hand_labels_are_those_of_the_readme(judge):
    topics = ["--topics", FOLDER / "topics.tsv", "--json"]
    nuggets = judge("score", FOLDER / "labels" / "nuggets.jsonl", *topics).rows
    support = judge("score", FOLDER / "labels" / "support.jsonl", *topics).rows
    columns = [means(nuggets, "V_strict"), means(nuggets, "A")]
    columns += [means(support, "support_precision"), means(support, "support_recall")]
    for run_id, expected in HAND.items():
        assert [column[run_id] for column in columns] == pytest.approx(expected, abs=5e-4)


def test_topics_of_a_score_are_those_that_runs_must_answer(judge, tmp_path):
    labels = (
        (FOLDER / "labels" / "nuggets.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    )
    thin = [line for line in labels if json.loads(line)["run_id"] == "thin"]
    (tmp_path / "thin.jsonl").write_text("".join(thin), encoding="utf-8")
    alone = means(judge("score", "thin.jsonl", "--json").rows, "A")["thin"]
    ran = judge("score", "thin.jsonl", "--topics", FOLDER / "topics.tsv", "--json")
    assert means(ran.rows, "A")["thin"] == pytest.approx(0.118, abs=5e-4)
    assert alone == pytest.approx(0.118 * 5 / 4, abs=1e-3)  # it answered four of the five


def test_the_ir_measures_file_holds_the_same_values(demo, tmp_path):
    lines = (tmp_path / "results/demo/scores.eval.txt").read_text(encoding="utf-8").splitlines()
    values = {tuple(line.split("\t")[:3]): float(line.split("\t")[3]) for line in lines}
    rows = {
        (r["run_id"], r["topic_id"], r["measure"]): r["value"]
        for r in demo.rows
        if r["value"] is not None
    }
    assert values == pytest.approx(rows)


def test_without_a_model_the_lexical_judge_answers_and_the_command_says_so(judge):
    data = ["--topics", FOLDER / "topics.tsv", "--runs", FOLDER / "runs", *BANK]
    ran = judge("run", "nuggets", *data, "--out", "out", "--json")
    assert ran.code == 0, ran.err
    assert "lexical" in ran.err
    assert {r["run_id"] for r in ran.rows} == {"complete", "factdump", "miscited", "thin"}


def test_relevance_grades_the_candidates_and_scores_their_ranking(judge, tmp_path, rows_of):
    ran = judge("run", DEMO, "--set", "program=relevance", "--out", "out", "--json", "--quiet")
    assert ran.code == 0, ran.err
    grades = rows_of(tmp_path / "out" / "relevance.jsonl")
    assert len(grades) == 50
    assert {r["measure"] for r in ran.rows} == {"nDCG@10", "P(rel=2)@10", "AP(rel=2)"}
    assert all(0 <= r["value"] <= 1 for r in ran.rows)
    agreed = judge("agree", FOLDER / "qrels.txt", "out", "--json")
    assert agreed.code == 0, agreed.err
    assert agreed.rows[0]["n"] == 50


# `judge run --explain`, and the quoted cells below a leaderboard.
DATA = ["--topics", FOLDER / "topics.tsv", "--runs", FOLDER / "runs" / "thin.jsonl",
        "--passages", FOLDER / "passages.jsonl"]  # fmt: skip


@pytest.fixture
def server():
    def brain(body):
        first = input_of(body)["passage"].split(",")[0]
        quotes = {"passage_quotes": [first, "It rained figs."], "sentence_quotes": []}
        known = {"reasoning": "It \x1b[2J does.", "verdict": "full", **quotes}
        return {name: known[name] for name in schema_of(body)["properties"]}

    with MockServer(brain) as up:
        yield up


def test_explain_asks_every_judge_of_the_run_and_rows_say_why(judge, server, tmp_path):
    model = ["--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}"]
    ran = judge(
        "run", "support", *DATA, *model, "--set", "run.explain=true", "--out", "why", "--quiet",
        "-v",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "quotes that are not in the judged text" in ran.err
    assert any(line.startswith("support, thin, demo-bridges, 0") for line in ran.err.splitlines())
    lines = (tmp_path / "why" / "support.jsonl").read_text(encoding="utf-8").splitlines()
    cited = [row for row in map(json.loads, lines) if row["citation"]]
    assert all(row["rationale"] == "It \x1b[2J does." for row in cited)
    assert all("evidence" in row for row in cited)
    compared = judge("compare", "why", "why", "--as", "judges")
    assert compared.code == 0, compared.err


def test_quoted_words_cannot_steer_a_terminal(judge, tmp_path):
    (tmp_path / "topics.tsv").write_text("t\twhy\n")
    evil = "The moon \x1b[2Jmakes\u202e the tides."
    rows = {
        "passages.jsonl": {"docid": "p", "text": evil},
        "run.jsonl": {
            "run_id": "r", "topic_id": "t", "references": ["p"],
            "answer": [{"text": "The moon makes the tides.", "citations": [0]}],
        },
    }  # fmt: skip
    for name, row in rows.items():
        (tmp_path / name).write_text(json.dumps(row) + "\n")
    data = ["--topics", "topics.tsv", "--passages", "passages.jsonl", "--runs", "run.jsonl"]
    ran = judge("run", "support", *data, "--model", "lexical", "--out", "out", "-v")
    assert ran.code == 0, ran.err
    assert r"\x1b[2Jmakes\u202e" in ran.err
    assert "\x1b" not in ran.out + ran.err


# `judge run items`, and what docs/protocols/own-judges.md shows of it.
ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "protocols" / "own-judges.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\w*\n(.*?)```", PAGE, re.DOTALL)
OWN = """\
name: grounded
question: Does the source state the claim?
inputs: {claim: a statement, source: a text}
labels: [no, yes]
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.jsonl"
    rows = [
        {"topic_id": "t1", "run_id": run, "sentence_id": i, "sentence": f"claim {i}", "source": "s"}
        for run, i in (("one", 0), ("one", 1), ("two", 0))
    ]
    write_rows(path, rows)
    return path


def test_flags_name_items_judge_and_fields(judge, own, items):
    with MockServer(brain=lambda body: {"label": "yes"}) as server:
        model = ["--model", "hosted_vllm/mock", "--set"]
        model += [f"models.default.api_base={server.base_url}"]
        data = ["--items", items, "--judge", own, "--set", "items.fields.claim=sentence"]
        ran = judge("run", "items", *data, *model, "--out", "out", "--json")
        asked = [input_of(request.body) for request in server.requests]
    assert ran.code == 0, ran.err
    assert {row["claim"] for row in asked} == {"claim 0", "claim 1"}
    means = {
        (row["run_id"], row["measure"]): row["value"]
        for row in ran.rows
        if row["topic_id"] == "all"
    }
    assert means["one", "mean_gain"] == means["two", "share_yes"] == 1.0


def test_a_judge_that_gives_everything_one_label_is_said(judge, own, tmp_path):
    path = tmp_path / "many.jsonl"
    rows = [{"topic_id": f"t{i}", "claim": f"claim {i}", "source": "s"} for i in range(15)]
    write_rows(path, rows)
    with MockServer(brain=lambda body: {"label": "no"}) as server:
        model = ["--model", "hosted_vllm/mock", "--api-base", server.base_url]
        ran = judge("run", "items", "--items", path, "--judge", own, *model, "--quiet")
    (line,) = [line for line in ran.err.splitlines() if "labels of the item" in line]
    assert (ran.code, line.startswith("All 15 labels of the item are `no`")) == (
        0,
        True,
    )


def test_the_page_shows_the_demos_judge_and_what_the_commands_print(judge, tmp_path):
    assert BLOCKS[0] == (ROOT / "examples" / "demo" / "grounded.yaml").read_text(encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ran = judge(*BLOCKS[1].split()[1:], "--quiet")
    assert is_shown(ran.out, BLOCKS[2]), ran.out
    command = next(b for b in BLOCKS if b.startswith("judge agree")).splitlines()[0]
    printed = judge(*command.split()[1:]).out
    shown = next(b for b in BLOCKS if b.startswith("The judge agrees"))
    assert set(shown.splitlines()) < set(printed.splitlines())


# Labels that came without the probabilities that were asked for are counted, and said.
SHARES = {"full": 0.5, "partial": 0.3, "none": 0.2}
WHAT = "labels without probabilities, although asked for"


def test_labels_without_probabilities_are_counted_in_summary_and_manifest(
    judge, tiny, tmp_path, monkeypatch
):
    import mock_api

    tell = mock_api.logprobs_of
    silent = iter([True, False, True, False, False, False])
    monkeypatch.setattr(mock_api, "logprobs_of", lambda *a: None if next(silent) else tell(*a))
    with MockServer(brain=lambda _: Reply('{"verdict": "full"}', probabilities=SHARES)) as server:
        ran = judge(
            *("run", "support", "--topics", tiny / "topics.tsv", "--passages"),
            *(tiny / "passages.jsonl", "--runs", tiny / "one.jsonl", "--runs", tiny / "two.jsonl"),
            *("--model", "hosted_vllm/mock", "--set", f"models.default.api_base={server.base_url}"),
            *("--set", "models.default.logprobs=true", "--out", "out"),
        )
    assert ran.code == 0, ran.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"][WHAT] == 2
    assert f"2 {WHAT}" in " ".join((ran.out + ran.err).split())


# `--offline`, the shared reply cache, and the same bytes whatever the concurrency.
@pytest.fixture
def baselines(tiny):
    """The tiny collection, where both runs gave the same answer."""
    text = (tiny / "one.jsonl").read_text("utf-8").replace('"run_id": "one"', '"run_id": "two"')
    (tiny / "two.jsonl").write_text(text, "utf-8")
    return tiny


ONE_BY_ONE = ("--set", "run.concurrency=1", "--set", "models.default.retries=0", "--quiet")


def replies_of(environment):
    return environment["XDG_CACHE_HOME"] + "/nuggetjudge/replies/cache.db"


def test_a_finished_run_replays_to_the_same_bytes_with_the_server_down(
    tide_brain, run_tiny, tmp_path, files_of, environment, rows_of
):
    with MockServer(brain=tide_brain) as server:
        url = server.base_url
        assert run_tiny(url, "nuggets,support", "--quiet").code == 0
    replayed = run_tiny(url, "nuggets,support", "--offline", "--quiet", out="again")
    assert replayed.code == 0, replayed.err
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")

    with sqlite3.connect(replies_of(environment)) as replies:
        (one,) = replies.execute("SELECT rowid FROM Cache LIMIT 1").fetchone()
        replies.execute("DELETE FROM Cache WHERE rowid = ?", (one,))
    short = run_tiny(url, "nuggets,support", "--offline", "--quiet", out="short")
    assert short.code == 3, short.err
    (lost,) = rows_of(tmp_path / "short" / "unjudged.jsonl")
    assert lost["reason"] == "error"
    assert "offline" in lost["detail"]
    # It is the cache that answers, not the journal of an earlier run in the same folder.
    assert run_tiny(url, "nuggets,support", "--offline", "--quiet").code == 3


def test_a_finished_run_started_again_asks_nothing(tide_server, run_tiny, tmp_path, files_of):
    without_cache = ["--quiet", "--set", "run.cache=false"]
    assert run_tiny(tide_server, "support", *without_cache).code == 0
    before = files_of(tmp_path / "out")
    assert run_tiny(tide_server, "support", *without_cache).code == 0
    assert len(tide_server.requests) == 6
    assert files_of(tmp_path / "out") == before


def test_two_servers_with_one_model_name_never_share_a_reply(tide_brain, run_tiny):
    with MockServer(brain=tide_brain) as one, MockServer(brain=tide_brain) as other:
        assert run_tiny(one, "support", "--quiet").code == 0
        assert run_tiny(other, "support", "--quiet", out="other").code == 0
        assert (len(one.requests), len(other.requests)) == (6, 6)


def test_a_question_that_failed_before_a_kill_and_was_answered_after_it_replays(
    baselines, tide_brain, run_tiny, tmp_path, files_of
):
    with MockServer(brain=tide_brain, faults=[Refusal()]) as server:
        assert run_tiny(server, "support", *ONE_BY_ONE, "--set", "run.max_calls=1").code == 3
        for path in (tmp_path / "out").iterdir():  # as a kill would leave the folder
            if path.is_file():
                path.unlink()
        assert run_tiny(server, "support", *ONE_BY_ONE).code == 0
        url = server.base_url
    assert run_tiny(url, "support", "--offline", "--quiet", out="again").code == 0
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_a_question_that_is_never_answered_is_asked_once_more_by_no_run(
    baselines, tide_brain, run_tiny, tmp_path, rows_of
):
    """Both runs lack the label; the others are not asked about again."""
    with MockServer(brain=tide_brain, faults=[Refusal(), None, None, Refusal()]) as server:
        assert run_tiny(server, "support", *ONE_BY_ONE).code == 3
        assert len(server.requests) == 4
    lost = rows_of(tmp_path / "out" / "unjudged.jsonl")
    assert [(row["run_id"], row["reason"]) for row in lost] == [
        ("one", "refused"),
        ("two", "refused"),
    ]
