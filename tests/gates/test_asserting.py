"""`nuggetjudge.assert_judged`: what holds, what does not, and what the message names."""

import json
import math
import shutil

import numpy as np
import pytest
from mock_server import MockServer, Status, input_of
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge import assert_judged
from nuggetjudge.gates.baseline import (
    Pair,
    check_not_worse,
    check_pair,
    count_needed_questions,
    pair_runs,
)
from nuggetjudge.metrics.inference import compare_pairs
from nuggetjudge.programs.scoring.topic_scores import TopicScores
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import ScoreRow


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
            samples(stated["main"]), "nuggets", model=model,
            out=tmp_path_factory.mktemp("lacking") / "out", **{"judges.assigner.window": 2},
        )  # fmt: skip


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
    with pytest.raises(TypeError, match="path of its folder, not 3"):
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


# Non-inferiority by question: what passes, what fails, and what a failure says.
def check(results, new, **options):
    folders = results[new].folder, results["main"].folder
    (only,) = check_not_worse(*folders, **{"measures": ["V_strict"], **options}).checks
    return only


def pair_of(after, before, measure="V_strict", **fields):
    topics = [f"t{n}" for n in range(len(after))]
    given = {"only_after": [], "only_before": [], "unbounded": [], "n_unjudged": 0, **fields}
    return Pair("system", measure, topics, after, before, **given)


def test_the_interval_is_that_of_compare(results, stated):
    checked = check(results, "broken")
    one, other = results["broken"], results["main"]
    (pair,) = nj.compare(one, other, measures=["V_strict"])["measures"]["V_strict"]["pairs"]
    assert (checked.value, checked.low, checked.high) == (
        pair["difference"], pair["low"], pair["high"],
    )  # fmt: skip
    by_hand = (sum(stated["broken"]) - sum(stated["main"])) / 4 / 8
    assert checked.value == pytest.approx(by_hand)


def test_it_passes_exactly_as_long_as_the_lower_end_is_within_the_margin(results):
    low = check(results, "tuned").low
    assert low < 0
    assert check(results, "tuned", by=-low).is_passed
    assert not check(results, "tuned", by=-low - 1e-6).is_passed


def test_questions_that_got_worse_are_named_the_worst_first_from_what_to_what(results):
    checked = check(results, "broken")
    assert not checked.is_passed
    assert [q.topic_id for q in checked.questions] == ["t3", "t0", "t1", "t7", "t5"]
    assert (checked.questions[0].before, checked.questions[0].after) == (1.0, 0.0)
    assert (checked.questions[4].before, checked.questions[4].after) == (0.5, 0.25)


def test_too_few_questions_cannot_pass_though_nothing_changed():
    same = [0.5, 1.0, 0.25, 0.0, 0.75]
    five = check_pair(pair_of(same, same), 0.02, 0.95)
    assert not five.is_passed
    assert "5 questions" in five.found
    assert "wanted 6" in five.found
    assert check_pair(pair_of(same, same), 0.02, 0.9).is_passed
    assert check_pair(pair_of([*same, 0.5], [*same, 0.5]), 0.0, 0.95).is_passed


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_the_least_number_of_questions_is_where_p_of_all_wins_falls_below_the_level(level):
    n = count_needed_questions(level)
    for size, can_tell in ((n, True), (n - 1, False)):
        (test,) = compare_pairs([[0.5] * size], level=level)
        assert (test.p < 1 - level) == can_tell


def test_what_is_not_shown_is_told_apart_from_what_is_worse():
    rng = np.random.default_rng(1)
    before = rng.uniform(0.3, 0.7, 40)
    noise = rng.normal(0, 0.1, 40)
    open_ = check_pair(pair_of(list(before + noise - noise.mean()), list(before)), 0.02, 0.95)
    assert not open_.is_passed
    wanted = int(open_.found.split("about ")[1].split()[0].replace(",", ""))
    # The interval shrinks with the root of n; it is to reach from 0 to -0.02.
    assert wanted == math.ceil(40 * (open_.low / 0.02) ** 2)
    what = f"could be worse by more than .02. About {wanted} questions would be needed "
    what += "for an even chance to pass"
    assert (open_.outcome, open_.sentence) == ("inconclusive", f"V_strict of system {what}")
    worse = check_pair(pair_of(list(before - 0.2), list(before)), 0.02, 0.95)
    assert "worse by more than 0.02" in worse.found
    assert worse.outcome == "failed"
    # Every question fell by .2, and so did each sample of them.
    assert worse.sentence.endswith("by more than .02: -.200 [-.200, -.200]")
    assert "would tell" not in worse.found


def test_where_less_is_better_more_is_worse():
    low, high = [0.0, 0.1] * 5, [0.5, 0.6] * 5
    assert check_pair(pair_of(low, high, "contradicted"), 0.02, 0.95).is_passed
    more = check_pair(pair_of(high, low, "contradicted"), 0.02, 0.95)
    assert not more.is_passed
    assert len(more.questions) == 10
    assert not check_pair(pair_of(low, high), 0.02, 0.95).is_passed


def scores(values, measure="V_strict", **rows):
    given = {t: ScoreRow(run_id="r", topic_id=t, measure=measure, value=v, n=1, n_unjudged=0,
                         low=v, high=v) for t, v in values.items()}  # fmt: skip
    given |= rows
    cells = {topic: row.value for topic, row in given.items()}
    return TopicScores({measure: {"r": cells}}, {measure: list(given)}, {measure: {"r": given}})


def test_what_is_not_judged_counts_as_worst_now_and_as_best_before():
    whole = scores({"a": 0.5, "b": 0.5})
    row = ScoreRow(run_id="r", topic_id="a", measure="V_strict", value=0.5, n=2, n_unjudged=2,
                   low=0.25, high=0.75)  # fmt: skip
    part = scores({"b": 0.5}, a=row)
    for new, before, difference in ((part, whole, -0.25), (whole, part, -0.25)):
        pairs = pair_runs(new, before, "V_strict", "r", "r")
        assert {t: b - a for t, a, b in pairs.both} == {"a": difference, "b": 0.0}
        assert pairs.n_unjudged == 2
    unbounded = scores({"b": 0.5}, a=row.model_copy(update={"low": None, "high": None}))
    pairs = pair_runs(unbounded, whole, "V_strict", "r", "r")
    assert pairs.unbounded == ["a"]
    same = [0.5] * 10
    assert not check_pair(pair_of(same, same, unbounded=["a"]), 0.02, 0.95).is_passed


def test_questions_of_one_side_are_named_and_unanswered_ones_count_as_0():
    new, before = scores({"a": 0.5, "b": 0.5, "new": 1.0}), scores({"a": 0.5, "b": 1.0, "old": 0.0})
    del new.values["V_strict"]["r"]["b"]
    del new.rows["V_strict"]["r"]["b"]  # asked still, as `topics` says
    pairs = pair_runs(new, before, "V_strict", "r", "r")
    assert pairs.both == [("a", 0.5, 0.5), ("b", 1.0, 0.0)]
    assert (pairs.only_after, pairs.only_before) == (["new"], ["old"])
    assert any("new" in note for note in pairs.notes)
    assert any("old" in note for note in pairs.notes)


def test_another_judge_is_no_baseline(results, tmp_path, samples, stated):
    window = {"judges.assigner.window": 1}
    given = samples(stated["main"])
    other = nj.evaluate(given, "nuggets", model="lexical", out=tmp_path / "other", **window)
    (checked,) = check_not_worse(other.folder, results["main"].folder, measures=["V_strict"]).checks
    assert not checked.is_passed
    assert "assigner.window is 1, was 10" in checked.found


def test_other_nuggets_are_no_baseline(results, tmp_path, samples, stated):
    given = [one | {"nuggets": FEWER} for one in samples(stated["main"])]
    other = nj.evaluate(given, "nuggets", model="lexical", out=tmp_path / "other")
    (checked,) = check_not_worse(other.folder, results["main"].folder, measures=["V_strict"]).checks
    assert not checked.is_passed
    assert "8 topics have other nuggets" in checked.found


FEWER = ["the moon pulls the sea", "bays funnel water"]


def test_not_worse_names_that_are_not_there_are_told_with_the_nearest(results):
    with pytest.raises(InputError, match="did you mean V_strict"):
        check(results, "tuned", measures=["V_strct"])
    with pytest.raises(InputError, match="no run 'tned'; known: tuned; did you mean tuned"):
        check(results, "tuned", run="tned")
    with pytest.raises(InputError, match="length"):
        check(results, "tuned", measures=["length"])
    with pytest.raises(InputError, match=r"level 1\.5"):
        check(results, "tuned", level=1.5)


def test_a_margin_of_0_passes_what_did_not_change(results):
    assert check(results, "main", by=0.0).is_passed
    assert not check(results, "broken", by=0.0).is_passed


def test_a_measure_that_only_the_baseline_has_is_listed(results, tmp_path):
    folder = forget_digests(shutil.copytree(results["main"].folder, tmp_path / "new"))
    lines = (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["measure"] == "length"]
    (folder / "scores.jsonl").write_text("".join(kept), encoding="utf-8")
    with pytest.raises(InputError, match="no measure in common"):
        check_not_worse(folder, results["main"].folder)
    baseline = forget_digests(shutil.copytree(results["main"].folder, tmp_path / "baseline"))
    rows = [json.loads(line) for line in lines if json.loads(line)["measure"] == "V_strict"]
    with_support = [*rows, *({**row, "measure": "support_precision"} for row in rows)]
    text = "".join(json.dumps(row) + "\n" for row in with_support)
    (baseline / "scores.jsonl").write_text(text, encoding="utf-8")
    notes = check_not_worse(results["main"].folder, baseline).notes
    assert "measures only in the baseline, not compared: support_precision" in notes
