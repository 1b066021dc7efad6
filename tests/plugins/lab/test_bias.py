"""Judges whose errors go with length, place, rank or run: found, sized, and held apart."""

import json
import random

import pytest
from truescore.bias import judge_error_regression

from nuggetjudge.plugins.lab.bias import find_bias, judge_errors
from nuggetjudge.records.reading.problems import InputError, Problems

GAINS = {"not_support": 0.0, "partial_support": 0.5, "support": 1.0}
LABELS = list(GAINS)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def answers(n_topics, runs, n_nuggets, words, label):
    """Assignments; `words(topic, run)` and `label(topic, run, nugget)` say what is in them."""
    return [
        {"qid": f"t{t}", "query": "q", "run_id": run, "answer_text": "word " * words(t, run),
         "response_length": 1, "nuggets": [
             {"id": f"n{i}", "text": f"fact {i}", "importance": "vital",
              "assignment": label(t, run, i)} for i in range(n_nuggets)]}
        for t in range(n_topics) for run in runs
    ]  # fmt: skip


@pytest.fixture
def long_is_good(tmp_path):
    """People give no nugget to anybody; the judge gives half of one for each 100 words over 100."""

    def words(t, run):
        return {"brief": 100, "middling": 200, "long": 300}[run]

    runs = ("brief", "middling", "long")
    human = answers(6, runs, 4, words, lambda t, run, i: LABELS[i % 2])  # both kinds of label

    def judged(t, run, i):
        return LABELS[min(2, i % 2 + runs.index(run))] if i % 2 == 0 else LABELS[1]

    return (
        write(tmp_path / "human.jsonl", human),
        write(tmp_path / "judged.jsonl", answers(6, runs, 4, words, judged)),
    )


def rows_of(errors):
    return {row["by"]: row for row in errors["by"]}


def test_a_judge_that_is_kinder_to_long_answers_shows_it_by_length_and_by_run(long_is_good):
    errors = judge_errors(*long_is_good, ["length", "run", "position"], Problems())
    assert (errors["n"], errors["n_topics"], errors["n_unjudged"]) == (6 * 3 * 4, 6, 0)
    # Errors of two nuggets in four: 0, 0.5 and 1.
    assert errors["error"]["value"] == pytest.approx(0.25)
    rows = rows_of(errors)
    length = rows["length"]
    assert (length["unit"], length["n"], length["n_unknown"]) == (100.0, 72, 0)
    assert length["alone"]["value"] == pytest.approx(0.25)
    assert [(g["group"], g["n"]) for g in length["groups"]] == [("up to 200", 48), ("over 200", 24)]
    assert [g["error"]["value"] for g in length["groups"]] == pytest.approx([0.125, 0.5])
    groups = {g["group"]: g["error"]["value"] for g in rows["run"]["groups"]}
    assert groups == pytest.approx({"brief": 0, "middling": 0.25, "long": 0.5})
    assert rows["run"]["alone"] is None
    # Of four places the odd ones err: 1 and 3 by 0.5 each on average.
    assert rows["position"]["alone"]["value"] == pytest.approx(-0.1)
    # A run has one length here, so that nothing tells them apart.
    assert errors["is_separable"] is False
    assert {row["together"] for row in errors["by"]} == {None}


def test_errors_of_a_group_that_are_all_the_same_have_no_bounds(long_is_good):
    errors = judge_errors(*long_is_good, ["run"], Problems())
    brief = rows_of(errors)["run"]["groups"][0]
    assert (brief["group"], brief["error"]["value"], brief["error"]["low"]) == ("brief", 0, None)


def test_independent_items_give_the_values_of_truescore_alone_and_together(tmp_path):
    rng = random.Random(2)
    words = {t: rng.randint(20, 400) for t in range(60)}
    runs = {t: rng.choice(["one", "two"]) for t in range(60)}
    rows = {"human": [], "judged": []}
    for t in range(60):
        truth = rng.choice(LABELS)
        given = rng.choice(LABELS) if rng.random() < 0.3 + words[t] / 800 else truth
        for name, label in (("human", truth), ("judged", given)):
            rows[name] += answers(
                1, [runs[t]], 1, lambda *at, t=t: words[t], lambda *at, x=label: x
            )
            rows[name][-1]["qid"] = f"t{t}"
    human, judged = (write(tmp_path / f"{name}.jsonl", rows[name]) for name in rows)
    errors = judge_errors(human, judged, ["length", "run:two"], Problems())
    gains = [[GAINS[row["nuggets"][0]["assignment"]] for row in rows[name]] for name in rows]
    length = [words[t] / 100 for t in range(60)]
    second = [float(runs[t] == "two") for t in range(60)]
    theirs = judge_error_regression(gains[1], gains[0], {"length": length, "two": second})
    assert errors["error"]["value"] == pytest.approx(theirs.mean_error)
    for row, effect in zip(errors["by"], theirs.effects, strict=True):
        assert row["together"]["value"] == pytest.approx(effect.effect)
        (alone,) = judge_error_regression(
            gains[1], gains[0], {"x": length if effect.name == "length" else second}
        ).effects
        assert row["alone"]["value"] == pytest.approx(alone.effect)
        assert row["alone"]["low"] < alone.low < alone.high < row["alone"]["high"]
        assert row["alone"]["high"] == pytest.approx(alone.high, abs=0.05 * alone.std_error)


def test_an_effect_of_length_is_told_from_one_of_runs_where_lengths_overlap(tmp_path):
    """The judge errs by run alone, and runs differ in length."""
    rng = random.Random(5)
    words = {(t, run): rng.randint(50, 150) + 100 * (run == "b") for t in range(30) for run in "ab"}

    def judged(t, run, i):
        return "support" if run == "b" and rng.random() < 0.5 else LABELS[i % 2]

    args = (30, "ab", 4, lambda t, run: words[t, run])
    human = write(tmp_path / "human.jsonl", answers(*args, lambda t, run, i: LABELS[i % 2]))
    other = write(tmp_path / "judged.jsonl", answers(*args, judged))
    length, _ = judge_errors(human, other, ["length", "run"], Problems())["by"]
    assert length["alone"]["low"] > 0.1
    assert length["together"]["low"] < 0 < length["together"]["high"]


def sentences(label, n_cited):
    """Support of three topics and two runs: 5 sentences of `n_cited` citations each."""
    return [
        {"run_id": run, "topic_id": f"t{t}", "sentences": [
            {"sentenceID": s, "text": "a claim " * (s + 1), "citations": [
                {"docid": f"d{c}", "label": label(s, c)} for c in range(n_cited(s))]}
            for s in range(5)]}
        for t in range(3) for run in ("x", "y")
    ]  # fmt: skip


def test_citations_are_told_by_place_rank_and_number(tmp_path):
    def number(s):
        return 1 + s % 3

    human = write(tmp_path / "human.jsonl", sentences(lambda s, c: "full" if c else "none", number))
    harsh = write(tmp_path / "judged.jsonl", sentences(lambda s, c: "none", number))
    errors = judge_errors(human, harsh, ["rank", "citations", "position", "length"], Problems())
    rows = rows_of(errors)
    # Each of 6 answers has 9 citations of ranks 1 1 2 1 2 3 1 1 2: the 4 later ones are full.
    assert (errors["n"], errors["error"]["value"]) == (54, pytest.approx(-4 / 9))
    assert [(g["group"], g["n"], g["error"]["value"]) for g in rows["rank"]["groups"]] == [
        ("up to 1", 30, 0), ("over 1", 24, -1)
    ]  # fmt: skip
    # Sentences with 1, 2 and 3 citations: none, half and two thirds of them full.
    groups = [(g["group"], g["n"]) for g in rows["citations"]["groups"]]
    assert groups == [("up to 2", 36), ("over 2", 18)]
    assert rows["citations"]["groups"][1]["error"]["value"] == pytest.approx(-2 / 3)
    assert rows["position"]["what"] == "place of the sentence in its answer"
    assert rows["length"]["unit"] == 10.0


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["weather"], "--by weather: wanted some of length, position, rank, citations, run"),
        (["length", "length"], "wanted each once"),
        (["length:x"], "--by length:x: wanted some of"),
        (["run:"], "--by run:: wanted some of"),
        (["rank"], "--by rank: nuggets have no citations that are judged"),
        (["citations"], "judged.jsonl has no answers, wanted a results folder"),
        (["run:nobody*"], r"--by run:nobody\*: it is the same for all items"),
    ],
)
def test_what_these_items_do_not_have_is_refused_by_name(long_is_good, by, message):
    with pytest.raises(InputError, match=message):
        judge_errors(*long_is_good, by, Problems())


def test_labels_of_items_without_texts_runs_or_order_are_refused(tmp_path):
    rows = [{"topic_id": f"t{i}", "passage_id": "p", "label": str(i % 4)} for i in range(30)]
    plain = write(tmp_path / "plain.jsonl", rows)
    for by, message in (
        ("length", r"neither .* has the texts \(words of the passage\)|has the texts \(passage\)"),
        ("position", "these items stand in no answer"),
        ("run", "these items belong to no run"),
    ):
        with pytest.raises(InputError, match=message):
            judge_errors(plain, plain, [by], Problems())
    words = [row | {"label": "good" if int(row["label"]) else "poor"} for row in rows]
    unordered = write(tmp_path / "words.jsonl", words)
    with pytest.raises(InputError, match="no label is better than another"):
        judge_errors(unordered, unordered, ["length"], Problems())


def test_a_human_label_of_what_was_not_judged_is_counted_and_no_error(tmp_path, long_is_good):
    human, judged = long_is_good
    rows = [json.loads(line) for line in judged.read_text(encoding="utf-8").splitlines()]
    rows[0]["nuggets"][0]["assignment"] = None
    errors = judge_errors(human, write(tmp_path / "part.jsonl", rows), ["length"], Problems())
    assert (errors["n"], errors["n_unjudged"]) == (71, 1)


def test_from_python_a_result_shows_what_the_command_prints(judge, tmp_path):
    """As tables, and as the same numbers."""
    ran = judge("init", "demo", "--demo")
    assert ran.code == 0, ran.err
    assert judge("run", "demo/judge.yaml", "--out", "out", "--quiet").code == 0
    labels, folder = tmp_path / "demo/labels/nuggets.jsonl", tmp_path / "out"
    found = find_bias(labels, folder, ["length", "run"])
    printed = judge("bias", labels, folder, "--by", "length,run", "--json")
    assert [dict(found)] == printed.rows
    assert str(found).startswith(("No bias by length is shown", "The judge is biased to "))
    assert "<table>" in found._repr_html_()
