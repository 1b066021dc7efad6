"""A leaderboard that one judge made is held against another's, on a sample of its topics."""

import json
from contextlib import ExitStack

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.plugins.lab.audit import _only, _top
from nuggetjudge.programs.scoring.topic_scores import TopicScores

# What each system's sentences are worth to the first judge: full once in so many sentences.
RUNS = {"best": 4, "second": 3, "third": 2, "last": 1}
MODELS = ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B")
TOPICS = [f"t{n}" for n in range(12)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def data(tmp_path):
    write(tmp_path / "topics.jsonl", [{"id": t, "title": f"question {t}"} for t in TOPICS])
    write(tmp_path / "passages.jsonl", [{"docid": f"p-{t}", "text": f"of {t}"} for t in TOPICS])
    for run, n_good in RUNS.items():
        rows = []
        for topic in TOPICS:
            texts = [f"{run} {topic} {'good' if i < n_good else 'bad'} {i}" for i in range(4)]
            answer = [{"text": text, "citations": [0]} for text in texts]
            row = {"run_id": run, "topic_id": topic, "references": [f"p-{topic}"]}
            rows.append({**row, "answer": answer})
        write(tmp_path / f"{run}.jsonl", rows)
    return tmp_path


@pytest.fixture
def judged(judge, data):
    """Judged by one model; gives what judges again by another, which is partial to one run."""
    with ExitStack() as stack:

        def served(loved):
            def brain(body):
                sentence = input_of(body)["sentence"]
                is_good = " good " in sentence or sentence.startswith(loved)
                return {"verdict": "full" if is_good else "none"}

            return stack.enter_context(MockServer(brain=brain, model_names=MODELS)).base_url

        runs = [word for run in RUNS for word in ("--runs", data / f"{run}.jsonl")]
        texts = ["--topics", data / "topics.jsonl", "--passages", data / "passages.jsonl"]
        model = ["--model", "hosted_vllm/Qwen/Qwen3-8B", "--api-base", served("nobody")]
        ran = judge("run", "support", *texts, *runs, *model, "--out", "first", "--quiet")
        assert ran.code == 0, ran.err

        def again(loved, *more, model="hosted_vllm/meta-llama/Llama-3.1-8B"):
            url = served(loved)
            return judge("audit", "first", "--model", model, "--api-base", url, *more)

        yield again


def test_a_judge_with_a_favourite_is_found_by_the_pairs_that_change_order(judged):
    ran = judged("last", "--json")
    assert ran.code == 0, ran.err
    (report,) = ran.rows
    assert report["families"] == [["Qwen"], ["Llama"]]
    assert report["warning"] == ""
    # By hand: `last` passes second and third, and ties with best, which kept all that it had.
    ranks = {row["run_id"]: (row["rank"], row["other_rank"]) for row in report["runs"]}
    assert ranks == {"best": (1, 1), "last": (4, 2), "second": (2, 3), "third": (3, 4)}
    (top,) = report["top"]
    assert (top["k"], top["n_pairs"], top["n_swapped"], top["most_places"]) == (4, 6, 2, 2)
    assert sorted(top["beyond_chance"]) == [["second", "last"], ["third", "last"]]
    assert top["n_beyond_chance"] == 2
    alike = {row["run_id"]: (row["n"], row["accuracy"]) for row in report["runs"]}
    assert alike["last"] == (48, 0.25)  # its three bad sentences of four
    assert {alike[run] for run in ("best", "second", "third")} == {(48, 1.0)}


def test_a_judge_that_agrees_changes_nothing_and_a_sample_is_what_it_says(judged, tmp_path):
    ran = judged("nobody", "--sample", "5", "--seed", "3", "--json")
    assert ran.code == 0, ran.err
    (report,) = ran.rows
    assert (report["n_topics"], report["tau_b"], report["agreement"]["n"]) == (5, 1.0, 80)
    assert report["top"][0]["n_swapped"] == 0
    lines = (tmp_path / "first-audit" / "sample" / "topics.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 5
    assert report["cost"]["other"]["calls"] == 80


def test_a_judge_of_the_same_family_is_no_second_opinion(judged):
    ran = judged("nobody", "--sample", "2", "--dry-run", model="hosted_vllm/Qwen/Qwen3-32B")
    assert ran.code == 0, ran.err
    assert "both judges are of the family Qwen" in ran.err


def test_the_table_names_who_moves_and_the_other_judge_must_be_named(judge, judged):
    ran = judged("last")
    verdict = " ".join(ran.out.partition("\n\n")[0].split())
    assert verdict == (
        "The other judge (Llama) orders the runs by support_precision differently than the first "
        "does: tau-b .18 over 4 runs; 2 of 6 pairs change order, 2 significantly."
    )
    [moved] = [line.split() for line in ran.out.splitlines() if line.startswith("last ")]
    assert moved[:4] == ["last", "4", "2", "+2"]
    assert "second before last by the first judge, after it by the other." in ran.out
    assert judge("audit", "first").code == 2


def test_of_the_top_five_it_says_who_leaves_and_which_swaps_a_judge_was_sure_of():
    first = {run: i for i, run in enumerate("abcdef", 1)}
    other = {**first, "e": 6, "f": 5, "a": 2, "b": 1}
    sure, unsure = {frozenset("ab"): True}, {frozenset("ef"): False}
    top = _top(5, list("abcdef"), [first, other], [unsure, sure])
    assert (top["leave"], top["enter"]) == (["e"], ["f"])
    assert (top["n_pairs"], top["n_swapped"], top["most_places"]) == (15, 2, 1)
    assert top["beyond_chance"] == [["a", "b"]]
    assert top["n_beyond_chance"] == 1


def test_a_run_is_ranked_by_both_judges_over_the_topics_that_both_judged_of_it():
    """The other judge failed on the run's best topic, so that one counts for neither."""
    first, other = (
        TopicScores({"V": {"r": values}}, {"V": ["t1", "t2"]}, {"V": {"r": {}}})
        for values in ({"t1": 1.0, "t2": 0.2}, {"t1": None, "t2": 0.2})
    )
    for one, two in ((first, other), (other, first)):
        compared = _only(one, two, "V", ["t1", "t2"], ["r"])
        assert compared.values["V"]["r"] == {"t1": None, "t2": 0.2}
