"""`nuggetjudge.assert_judged`: what holds, what does not, and what the message names."""

import json
import shutil

import pytest
from mock_server import MockServer, Status, input_of
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge import assert_judged
from nuggetjudge.records.reading.problems import InputError


def failure_message(call, *arguments):
    with pytest.raises(AssertionError) as caught:
        call(*arguments)
    return str(caught.value)


def test_means_are_asserted_by_comparing_them(results, stated):
    mean = assert_judged(results["main"]).mean("V_strict")
    by_hand = sum(stated["main"]) / 32
    assert mean >= by_hand
    assert mean <= by_hand
    assert mean > 0.7
    assert mean < 0.8
    assert failure_message(lambda: mean > by_hand)
    assert failure_message(lambda: mean < by_hand)
    with pytest.raises(TypeError, match="compare"):
        bool(mean)


def test_a_mean_that_misses_its_bound_says_by_which_questions(results):
    lines = failure_message(
        lambda: assert_judged(results["main"]).mean("V_strict") >= 0.8
    ).splitlines()
    assert lines[0] == "main: V_strict >= 0.8"
    assert "0.7188" in lines[1]
    assert "8 questions" in lines[1]
    named = [line.split()[:2] for line in lines[2:-1]]
    assert named == [["t4", "0.250"], ["t2", "0.500"], ["t5", "0.500"], ["t1", "0.750"],
                     ["t6", "0.750"]]  # fmt: skip
    assert "What makes tides, part 4?" in lines[2]
    assert lines[-1].strip() == f"judge show {results['main'].folder} main t4"


def test_a_change_that_hurts_says_which_questions_from_what_to_what(results):
    judged = assert_judged(results["broken"])
    lines = failure_message(lambda: judged.not_worse_than(results["main"])).splitlines()
    assert lines[0] == "broken: V_strict not worse by more than 0.02"
    assert "0.3750, before (main) 0.7188: -0.3438" in lines[1]
    assert "t3  1.000 -> 0.000 (-1.000)" in lines[2]
    assert "What makes tides, part 3?" in lines[2]
    assert f"judge show {results['broken'].folder} broken t3" in lines[-1]


def test_names_that_are_not_there_are_told_with_the_nearest(results):
    judged = assert_judged(results["main"])
    with pytest.raises(InputError, match="did you mean V_strict"):
        judged.mean("V_strct")
    with pytest.raises(InputError, match="did you mean main"):
        judged.mean("V", run="mian")


@pytest.fixture(scope="module")
def lacking(tmp_path_factory, samples, stated):
    """The main system; the judge fails on question t2, by a window of two nuggets of four."""

    def brain(body):
        asked = input_of(body)
        answer = asked["answer"].lower()
        verdicts = {key: "support" if text in answer else "not_support"
                 for key, text in asked["nuggets"].items()}  # fmt: skip
        return {"verdicts": verdicts}

    def faults(index, body):
        text = json.dumps(body)
        return Status(400) if "part 2?" in text and "kelp" in text.split("nuggets")[-1] else None

    with MockServer(brain=brain) as server:
        server.faults = faults
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        return nj.evaluate(
            samples(stated["main"]),
            "nuggets",
            model=model,
            out=tmp_path_factory.mktemp("lacking") / "out",
            **{"judges.assigner.window": 2},
        )


def test_what_is_not_judged_never_passes_silently(lacking):
    assert lacking.n_unjudged == 2
    text = failure_message(assert_judged, lacking)
    assert "2 of 32 judgements missing" in text
    assert lacking.unjudged[0]["reason"] in text
    assert "out/t2" in text
    assert failure_message(lambda: assert_judged(lacking, allow_missing=0.06))
    assert assert_judged(lacking, allow_missing=0.07).mean("V_strict") >= 0


def test_what_may_be_missing_counts_as_worst(lacking, stated):
    # t2 states 2 of 4 nuggets, of which those that are judged; the other two may be stated or not.
    judged = assert_judged(lacking, allow_missing=0.1)
    worst, best = (sum(stated["main"]) + more for more in (0, 2))
    assert judged.mean("V_strict") >= worst / 32
    text = failure_message(lambda: judged.mean("V_strict") >= worst / 32 + 0.001)
    assert "2 of 32 judgements missing" in text
    assert judged.mean("V_strict") <= best / 32
    assert failure_message(lambda: judged.mean("V_strict") <= best / 32 - 0.001)


def test_what_is_no_result_is_said_to_be_none():
    with pytest.raises(TypeError, match="path of its folder is wanted, not 3"):
        nj.assert_judged(3)


def test_a_baseline_that_is_not_judged_fails_too(results, lacking):
    text = failure_message(assert_judged(results["main"]).not_worse_than, lacking)
    assert text.startswith("baseline unjudged")


def test_results_that_lost_their_means_pass_no_assertion(results, tmp_path):
    folder = forget_digests(shutil.copytree(results["main"].folder, tmp_path / "lost"))
    lines = (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    by_topic = [line for line in lines if json.loads(line)["topic_id"] != "all"]
    (folder / "scores.jsonl").write_text("".join(by_topic), encoding="utf-8")
    text = failure_message(lambda: assert_judged(folder).mean("V_strict", run="main") >= 0.1)
    assert "main has no mean of V_strict" in text
