"""`judge drift`: planted changes of judge and systems come out as such; too little is refused."""

import json
import random
from pathlib import Path

import pytest
from json_lines import read_rows, write_rows
from page_output import is_shown

from nuggetjudge.plugins.lab.drift import judge_drift
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

SUPPORT, NOT = "support", "not_support"
TOPICS = range(8)


def judged(label, runs=("anchor", "system"), version="1", topics=TOPICS, n=10):
    """Assignments; `label(topic, run, nugget)`. The system's texts are those of its version."""
    return [
        {"qid": f"t{t}", "query": "q", "run_id": run, "response_length": 1,
         "answer_text": f"{run} {version if run != 'anchor' else ''} on {t}",
         "nuggets": [
             {"id": f"n{i}", "text": f"fact {i}", "importance": "vital",
              "assignment": label(t, run, i)} for i in range(n)]}
        for t in topics for run in runs
    ]  # fmt: skip


def random_labels(share, seed=0):
    """People, and honest judges, find each nugget by chance, as often as `share(run)` says."""
    rng, known = random.Random(seed), {}

    def label(t, run, i):
        if (t, run, i) not in known:
            known[t, run, i] = SUPPORT if rng.random() < share(run) else NOT
        return known[t, run, i]

    return label


def kinder(label, rate, seed=1):
    """A judge that besides gives nuggets that are not there, so often."""
    rng = random.Random(seed)
    return lambda t, run, i: SUPPORT if rng.random() < rate else label(t, run, i)


@pytest.fixture
def people(tmp_path):
    """Labels of every nugget of the run that both versions judged."""
    truth = random_labels(lambda run: 0.5)
    rows = [
        {"topic_id": f"t{t}", "run_id": "anchor", "nugget_id": f"n{i}",
         "label": truth(t, "anchor", i)}
        for t in TOPICS for i in range(10)
    ]  # fmt: skip
    return truth, write_rows(tmp_path / "people.jsonl", rows)


def split(tmp_path, old, new, labels=None, **options):
    paths = [
        write_rows(tmp_path / f"{name}.jsonl", rows) for name, rows in (("old", old), ("new", new))
    ]
    (drift,) = judge_drift(*paths, Problems(), labels=labels, **options)
    return drift


def better(truth, rate):
    """The system found more since: its labels, not those of the anchors."""
    rng = random.Random(9)
    moved = {(t, i): rng.random() < rate for t in TOPICS for i in range(10)}
    return lambda t, run, i: SUPPORT if run == "system" and moved[t, i] else truth(t, run, i)


def test_a_kinder_judge_of_the_same_answers_is_a_moved_instrument(tmp_path, people):
    truth, labels = people
    drift = split(tmp_path, judged(truth), judged(kinder(truth, 0.4)), labels)
    assert drift["verdict"] == "the instrument moved"
    assert (drift["instrument"], drift["systems"], drift["are_same_items"]) == (
        "moved", "held", True
    )  # fmt: skip
    assert (drift["n_anchors"], drift["n_anchor_topics"]) == (80, 8)
    assert drift["runs"] == [["anchor", "system"], ["anchor", "system"]]
    old, new = (score_path(tmp_path / f"{name}.jsonl", Problems()) for name in ("old", "new"))
    for rows, side in ((old, "old"), (new, "new")):
        means = [r.value for r in rows if r.topic_id == "all" and r.measure == "V_strict"]
        assert drift["score"][side] == pytest.approx(sum(means) / 2)
    human = drift["judge_less_human"]
    assert human["old"]["value"] == 0
    assert human["new"]["value"] == pytest.approx(drift["instrument_change"]["value"])
    assert drift["equal_to_human"]["old"] == 1
    change = drift["equal_to_human"]["change"]["value"]
    assert drift["equal_to_human"]["new"] == pytest.approx(1 + change)
    assert drift["changed"] == pytest.approx(-change)


def test_a_better_system_under_a_steady_judge_is_a_moved_system(tmp_path, people):
    truth, labels = people
    after = judged(better(truth, 0.6), version="2")
    drift = split(tmp_path, judged(truth), after, labels)
    assert drift["verdict"] == "the systems moved"
    assert drift["runs"] == [["system"], ["system"]]
    assert (drift["n_other_texts"], drift["changed"]) == (80, 0)
    assert drift["systems_change"]["value"] == pytest.approx(drift["score"]["change"]["value"])
    unlabelled = split(tmp_path, judged(truth), after)
    assert unlabelled["verdict"] == "the systems moved"
    assert (unlabelled["n_anchors"], unlabelled["equal_to_human"]) == (80, None)
    assert unlabelled["judge_less_human"] == {"old": None, "new": None}


def test_both_neither_and_what_cannot_be_told(tmp_path, people):
    truth, labels = people
    before = judged(truth)
    both = split(tmp_path, before, judged(kinder(better(truth, 0.7), 0.4), version="2"), labels)
    assert both["verdict"] == "both moved"
    # A kinder judge alone, on other texts of the same worth: nothing is the system's.
    judge = judged(kinder(truth, 0.4), version="2")
    alone = split(tmp_path, before, judge, labels, margin=0.3)
    assert alone["verdict"] == "the instrument moved"
    assert alone["score"]["change"]["low"] > 0
    still = split(tmp_path, before, judged(truth, version="2"), labels)
    assert still["verdict"] == "neither moved"
    close = split(tmp_path, before, judged(truth, version="2"), labels, margin=0.01)
    assert close["verdict"] == "cannot tell"


def test_a_system_under_another_name_is_held_against_the_one_before(tmp_path, people):
    truth, labels = people
    v1, v2 = judged(truth, ("anchor", "v1")), judged(better(truth, 0), ("anchor", "v2"))
    drift = split(tmp_path, v1, v2, labels)
    assert drift["runs"] == [["v1"], ["v2"]]
    assert drift["n_anchors"] == 80
    more = split(tmp_path, judged(truth, ("anchor",)), v2, labels)
    assert (more["runs"], more["are_same_items"]) == ([["anchor"], ["anchor"]], True)


def test_without_texts_ids_are_believed_and_nothing_is_taken_for_the_same(tmp_path):
    rows = [
        {"topic_id": f"t{t}", "passage_id": f"p{i}", "label": str((t + i) % 4)}
        for t in TOPICS for i in range(10)
    ]  # fmt: skip
    problems = Problems()
    old, new = (write_rows(tmp_path / f"{name}.jsonl", rows) for name in ("a", "b"))
    (drift,) = judge_drift(old, new, problems)
    assert (drift["n_anchors"], drift["are_same_items"]) == (80, False)
    assert drift["verdict"] == "neither moved"
    assert problems.counts()["no_texts"] == 1


def test_what_one_version_left_unjudged_is_no_anchor_and_counted(tmp_path, people):
    truth, labels = people
    new = judged(truth)
    for row in new:
        row["nuggets"][0]["assignment"] = None
    drift = split(tmp_path, judged(truth), new, labels)
    assert (drift["n_anchors"], drift["n_unjudged"]) == (72, [0, 16])
    assert (drift["n_judged"], drift["instrument_change"]["value"]) == ([160, 144], 0)
    left = [nugget["assignment"] for row in new for nugget in row["nuggets"][1:]]
    assert drift["score"]["new"] == pytest.approx(left.count(SUPPORT) / 144)
    for row in new[1::2]:
        for nugget in row["nuggets"]:
            nugget["assignment"] = None
    with pytest.raises(InputError, match="run 'system' has no judgements"):
        split(tmp_path, judged(truth), new, labels)


def test_too_few_anchors_or_topics_are_refused_with_the_counts(tmp_path, people):
    truth, labels = people
    some = read_rows(labels)
    few = write_rows(tmp_path / "few.jsonl", some[:10] + some[10::9])
    with pytest.raises(InputError, match=r"18 anchors on 8 topics; wanted at least 20 on 5 topics"):
        split(tmp_path, judged(truth), judged(truth), few)
    narrow = write_rows(tmp_path / "narrow.jsonl", some[:40])
    with pytest.raises(InputError, match="40 anchors on 4 topics"):
        split(tmp_path, judged(truth), judged(truth), narrow)
    other = r"0 anchors on 0 topics.*both have 0 items .* 160 more have different texts"
    renamed = judged(truth, version="2")
    for row in renamed:
        row["answer_text"] += " again"
    with pytest.raises(InputError, match=other):
        split(tmp_path, judged(truth), renamed)


def test_what_is_not_alike_or_not_there_is_refused(tmp_path, people):
    truth, labels = people
    with pytest.raises(InputError, match="--measure nDCG: wanted one of A, A_strict, V, V_strict"):
        split(tmp_path, judged(truth), judged(truth), labels, measures=["nDCG"])
    with pytest.raises(InputError, match=r"--margin 0: wanted a number between"):
        split(tmp_path, judged(truth), judged(truth), labels, margin=0)
    old = write_rows(tmp_path / "old.jsonl", judged(truth))
    pool = write_rows(tmp_path / "p.jsonl", [{"topic_id": "t", "passage_id": "p", "label": "1"}])
    with pytest.raises(InputError, match="no kind of judgements in common"):
        judge_drift(old, pool, Problems())


# The pages on errors by covariate and on drift show what their commands print; refusals.
ROOT = Path(__file__).resolve().parents[3]
LABELS = ROOT / "tests" / "collection" / "labels"
BIAS, DRIFT = ("bias", 2), ("drift", 1)


def blocks(page):
    """The fenced blocks of a page, commands and what the last of them prints by turns."""
    parts = (
        (ROOT / "docs" / "trust" / f"{page}.md").read_text(encoding="utf-8").split("```\n")[1::2]
    )
    return list(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize(("page", "n"), [BIAS, DRIFT])
def test_the_pages_show_what_their_commands_print(judge, page, n):
    pairs = blocks(page)
    assert len(pairs) == n
    for commands, shown in pairs:
        for command in commands.splitlines():
            ran = judge(*command.split()[1:])
            assert ran.code == 0, ran.err
        assert is_shown(ran.out, shown)
        if "judge score" not in commands:  # whose tables are as wide as they are
            assert max(map(len, shown.splitlines())) <= 100


@pytest.fixture
def lexical(judge, tmp_path):
    """The demo judged without a model."""
    run = ("run", "nuggets,support", "--topics", LABELS.parent / "topics.tsv", "--passages",
           LABELS.parent / "passages.jsonl", "--nuggets", LABELS.parent / "nuggets.jsonl",
           "--runs", LABELS.parent / "runs", "--out", "lexical", "--quiet")  # fmt: skip
    assert judge(*run).code == 0
    return tmp_path / "lexical"


def test_errors_and_slices_are_rows_for_machines_too(judge, lexical):
    ran = judge("bias", LABELS / "support.jsonl", lexical, "--by", "citations,run:c*", "--json")
    assert ran.code == 0, ran.err
    (row,) = ran.rows
    assert [each["by"] for each in row["by"]] == ["citations", "run:c*"]
    assert row["n"] == sum(group["n"] for group in row["by"][0]["groups"]) == 100
    ran = judge("score", lexical, "--labels", LABELS / "nuggets.jsonl", "--measures", "A",
                "--by", "length,run:c*", "--json")  # fmt: skip
    assert ran.code == 0, ran.err
    assert [(row["row"], row["by"], row["run_id"]) for row in ran.rows] == [
        ("corrected", "length", "length over 159"),
        ("corrected", "length", "length up to 159"),
        ("difference", "length", ran.rows[2]["run_id"]),
        ("corrected", "run:c*", "c*"),
        ("corrected", "run:c*", "other runs"),
        ("difference", "run:c*", "other runs"),
    ]
    ran = judge("drift", lexical, lexical, "--kind", "support", "--json")
    assert ran.code == 0, ran.err
    assert (ran.rows[0]["verdict"], ran.rows[0]["n_anchors"]) == ("neither moved", 100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bias", "LABELS", "lexical", "--by", "weather"), "--by weather: wanted some of"),
        (("agree", "LABELS", "lexical", "--by", "run"), "judge bias HUMAN JUDGED --by NAMES"),
        (("score", "lexical", "--by", "run"), "--by run: only for corrected scores"),
        (("score", "lexical", "--labels", "LABELS", "--by", "run"), "give a group, run:PATTERN"),
        (
            ("drift", "lexical", "lexical", "--where", "a=b"),
            "--where: only for labels of people; give --labels too",
        ),
        (
            ("drift", "lexical", "LABELS", "--kind", "keypoints"),
            "has no judgements of keypoints (entailments.jsonl)",
        ),
        (("drift", "lexical", "lexical", "--margin", "2"), "--margin 2.0: wanted a number between"),
    ],
)
def test_what_cannot_be_told_ends_with_2_and_one_line(judge, lexical, arguments, message):
    given = [LABELS / "nuggets.jsonl" if each == "LABELS" else each for each in arguments]
    ran = judge(*given)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_citations_of_files_that_changed_since_are_not_counted(judge, lexical, tmp_path):
    manifest = json.loads((lexical / "manifest.json").read_bytes())
    manifest["inputs"] = {**manifest["inputs"], str(tmp_path / "gone.jsonl"): "0"}
    (lexical / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    ran = judge("bias", LABELS / "nuggets.jsonl", lexical, "--by", "citations")
    assert ran.code == 2
    assert "gone.jsonl: is missing; --by citations needs the answers" in ran.err
