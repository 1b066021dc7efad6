"""The sections on people and judge, disagreements, what is missing, and agents: their data."""

import base64
import gzip
import json
import shutil
from pathlib import Path

import pytest
from packed_columns import values_of
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.plugins.report.summary import make_boxes
from nuggetjudge.plugins.report.trust import (
    _choose_shown,
    make_agents,
    make_disagreements,
    make_people,
    make_unjudged,
)
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import InputError, Problems

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
NUGGETS, SUPPORT = DEMO / "labels" / "nuggets.jsonl", DEMO / "labels" / "support.jsonl"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Results of the example, of nuggets and support."""
    folder = tmp_path_factory.mktemp("trust") / "demo"
    nj.run(DEMO / "judge.yaml", nuggets=DEMO / "nuggets.jsonl", out=folder, limit=2)
    return folder


def of(*folders, labels=()):
    return Source(folders, Problems(), labels=labels)


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_every_figure_is_that_of_judge_agree(demo):
    sides = make_people(of(demo, labels=[NUGGETS, SUPPORT]))["sides"]
    assert [side["kind"] for side in sides] == ["nuggets", "support"]
    for side, labels in zip(sides, (NUGGETS, SUPPORT), strict=True):
        agreement = agree(labels, demo, Problems())
        figures = {row["name"]: row["judge"] for row in side["figures"]}
        assert figures["Cohen kappa"] == agreement["intervals"]["cohen_kappa"]["unweighted"]
        assert figures["Krippendorff alpha, ordinal"] == agreement["intervals"]["alpha"]["ordinal"]
        assert side["confusion"] == agreement["confusion"]
        assert (
            side["by_label"][0]["kappa"] == agreement["intervals"]["one_vs_rest"][side["scale"][0]]
        )
        assert sum(row["n"] for row in side["by_topic"]) == side["n"] == agreement["n"]
        assert {row["topic"] for row in side["by_topic"]} == set(agreement["by_topic"])


def test_the_condition_of_labels_is_named_and_two_of_them_are_not_pooled_unsaid(demo, tmp_path):
    """People agree with what they see: together the labels measure neither condition."""
    given = [json.loads(line) for line in SUPPORT.read_text("utf-8").splitlines()]
    ids = ("topic_id", "run_id", "sentence_id", "passage_id", "label", "condition")
    names = ("topic_id", "run_id", "sentence", "citation", "label")
    rows = [
        dict(zip(ids, [*(str(row[name]) for name in names), "from_scratch"], strict=True))
        for row in given
        if row["citation"]
    ]
    scratch = of(demo, labels=[lines(tmp_path / "one.jsonl", rows)])
    (side,) = make_people(scratch)["sides"]
    assert (side["given"], side["pooled"]) == ("from scratch", "")
    rows[0]["condition"] = rows[1]["condition"] = "post_edit"
    both = of(demo, labels=[lines(tmp_path / "both.jsonl", rows)])
    (side,) = make_people(both)["sides"]
    counts = f"{len(rows) - 2} from scratch, 2 with the judge's label shown"
    assert side["pooled"].startswith(f"both.jsonl pools labels of 2 conditions: {counts}.")
    assert "--where condition=from_scratch" in side["pooled"]
    trust, plain_trust = make_boxes(both)[1], make_boxes(scratch)[1]
    assert {"text": side["pooled"], "is_warning": True} in trust["lines"]
    assert not [one for one in plain_trust["lines"] if "pools labels" in one["text"]]
    (plain,) = make_people(of(demo, labels=[SUPPORT]))["sides"]
    assert (plain["given"], plain["pooled"]) == ("", "")


def test_kappa_by_topic_is_that_of_the_topic_alone(demo):
    side = make_people(of(demo, labels=[SUPPORT]))["sides"][0]
    row = side["by_topic"][0]
    alone = agree(SUPPORT, demo, Problems(), {"topic_id": [row["topic"]]})
    assert row["cohen_kappa"] == alone["cohen_kappa"]
    assert (row["n"], row["accuracy"]) == (alone["n"], alone["accuracy"])


def test_people_among_themselves_stand_beside_the_judge(demo, tmp_path):
    cells = [json.loads(line) for line in (demo / "support.jsonl").read_text().splitlines()]
    cells = [row for row in cells if row["label"] is not None][:4]
    given = [("full", "full"), ("none", "none"), ("full", "partial"), ("partial", "partial")]
    rows = [
        {"topic_id": cell["topic_id"], "run_id": cell["run_id"], "annotator": name, "label": label}
        | {"sentence_id": cell["sentence"], "passage_id": cell["citation"]}
        for cell, pair in zip(cells, given, strict=True)
        for name, label in zip(("ann", "bob"), pair, strict=True)
    ]
    labels = lines(tmp_path / "two.jsonl", rows)
    side = make_people(of(demo, labels=[labels]))["sides"][0]
    equal = next(row for row in side["figures"] if row["name"] == "share of equal labels")
    assert equal["people"]["value"] == 3 / 4  # they differ on one of four
    assert side["n"] == 3  # on which they have no majority
    assert [one["name"] for one in side["annotators"]["each"]] == ["ann", "bob"]
    assert side["annotators"]["n_labels"] == 8


def test_disagreements_are_the_cells_off_the_diagonal_the_furthest_apart_first(demo):
    source = of(demo, labels=[NUGGETS])
    one = make_disagreements(source)["compared"][0]
    confusion = make_people(source)["sides"][0]["confusion"]
    off = {(i, j): n for i, row in enumerate(confusion) for j, n in enumerate(row) if i != j and n}
    pairs = values_of(one["columns"]["pair"])
    scale = one["scale"]
    assert len(pairs) == one["n"] == sum(off.values())
    for (i, j), n in off.items():
        assert pairs.count(f"{scale[i]} → {scale[j]}") == n
    distances = values_of(one["columns"]["distance"])
    assert distances == sorted(distances, reverse=True)
    assert "nugget" in one["texts"]
    assert "answer_text" in one["texts"]
    judged = {
        (answer["qid"], answer["run_id"], nugget["id"]): nugget
        for answer in map(json.loads, (demo / "assignments.jsonl").read_text().splitlines())
        for nugget in answer["nuggets"]
    }
    cells = zip(*(values_of(one["columns"][name]) for name in one["keys"]), strict=True)
    labels, texts = (values_of(one["columns"][name]) for name in ("other_label", "nugget"))
    for cell, label, text in zip(cells, labels, texts, strict=True):
        assert (judged[cell]["assignment"], judged[cell]["text"]) == (label, text)


def test_a_run_has_the_name_of_the_results_where_people_left_its_team_out(demo, tmp_path):
    folder = tmp_path / "teams"
    forget_digests(shutil.copytree(demo, folder))
    for name in ("assignments.jsonl", "support.jsonl", "scores.jsonl"):
        text = (folder / name).read_text().replace('"run_id":"thin"', '"run_id":"team.thin"')
        (folder / name).write_text(text)
    source = of(folder, labels=[SUPPORT])
    one = make_disagreements(source)["compared"][0]
    assert set(values_of(one["columns"]["run"])) <= set(source.runs)
    nuggets = make_disagreements(of(folder, labels=[NUGGETS]))["compared"][0]
    assert "team.thin" in values_of(nuggets["columns"]["run"])


def test_without_labels_it_says_which_command_makes_a_sheet_for_people(demo):
    for make in (make_people, make_disagreements):
        shown = make(of(demo))
        assert "judge next" in shown["command"]
        assert str(demo) in shown["command"]
        assert shown["missing"]


def test_two_judges_of_the_same_answers_are_compared_without_people(demo, tmp_path):
    other = tmp_path / "other"
    forget_digests(shutil.copytree(demo, other))
    assert [one["n"] for one in make_disagreements(of(demo, other))["compared"]] == [0, 0]
    rows = [json.loads(line) for line in (other / "support.jsonl").read_text().splitlines()]
    flipped = next(row for row in rows if row["label"] == "full")
    flipped["label"] = "none"
    lines(other / "support.jsonl", rows)
    compared = make_disagreements(of(demo, other))["compared"]
    assert {one["kind"]: one["n"] for one in compared} == {"nuggets": 0, "support": 1}
    row = next(one for one in compared if one["kind"] == "support")["columns"]
    assert values_of(row["pair"]) == ["full → none"]
    assert values_of(row["run"]) == [f"{flipped['run_id']}@other"]  # both folders have that run


def test_labels_of_nothing_that_was_judged_are_refused(demo, tmp_path):
    row = {"topic_id": "other", "run_id": "r", "sentence_id": "0", "passage_id": "p"}
    labels = lines(tmp_path / "other.jsonl", [row | {"label": "full"}])
    with pytest.raises(InputError, match="no cell in common"):
        make_people(of(demo, labels=[labels]))


def test_nothing_missing_is_said_as_nothing(demo):
    section = make_unjudged(of(demo))
    assert (section["count"], section["reasons"], section["bounds"]["n"]) == (0, [], 0)
    assert section["n_judged"] == nj.Result(demo).n_judged > 0


def test_what_is_missing_is_counted_by_reason_and_its_reply_is_kept_as_it_came(demo, tmp_path):
    folder = tmp_path / "part"
    forget_digests(shutil.copytree(demo, folder))
    row = {"stage": "support", "topic_id": "t", "run_id": "thin", "sentence": 0, "citation": "p"}
    raws = ["</script><b>\u202e\x1b[2J", "", "{"]
    missing = [
        {**row, "n": n, "reason": reason, "detail": "d", "raw": raw}
        for n, reason, raw in zip((1, 3, 1), ("bad", "bad", "refused"), raws, strict=True)
    ]
    lines(folder / "unjudged.jsonl", missing)
    lines(folder / "problems.jsonl", [{"kind": "k", "action": "kept", "at": "f:1", "what": "w"}])
    section = make_unjudged(of(folder))
    assert section["reasons"] == [
        {"stage": "support", "reason": "bad", "rows": 2, "n": 4},
        {"stage": "support", "reason": "refused", "rows": 1, "n": 1},
    ]
    assert values_of(section["columns"]["raw"]) == [raws[0], None, "{"]
    assert values_of(section["columns"]["item"]) == ["0 p"] * 3
    assert (section["count"], section["n_problems"]) == (3, 1)


def test_bounds_show_the_runs_that_the_missing_could_move_most_first(demo, tmp_path):
    folder = tmp_path / "bounds"
    forget_digests(shutil.copytree(demo, folder))
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    measure = of(demo).measures[0]
    for run, low, high in (("thin", 0.1, 0.4), ("complete", 0.2, 0.9)):
        mine = {"run_id": run, "topic_id": "all", "measure": measure}
        score = next(row for row in rows if row.items() >= mine.items())
        score |= {"low": low, "high": high, "n_unjudged": 2}
    lines(folder / "scores.jsonl", rows)
    bounds = make_unjudged(of(folder))["bounds"]
    assert [(row["run"], row["low"], row["high"]) for row in bounds["runs"]] == [
        ("complete", 0.2, 0.9),
        ("thin", 0.1, 0.4),
    ]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Results of agents that look for evidence, on one topic."""
    folder = tmp_path_factory.mktemp("agents") / "evidence"
    nj.run(DEMO / "evidence.yaml", out=folder, limit=1)
    return folder


def test_steps_of_agents_are_those_of_the_trace(evidence):
    section = make_agents(of(evidence))
    trace = [json.loads(line) for line in (evidence / "trace.jsonl").read_text().splitlines()]
    assert section["count"] == sum(step["path"] == "0" for step in trace)
    assert sum(end["n"] for end in section["ends"]) == section["count"]
    opened = [json.loads(gzip.decompress(base64.b64decode(text))) for text in section["steps"]]
    assert [len(steps) for steps in opened] == values_of(section["columns"]["steps"])
    assert [steps[-1]["name"] for steps in opened] == values_of(section["columns"]["outcome"])
    first = [step for step in trace if step["item"] == trace[0]["item"]][1:]
    for step, shown in zip(first, opened[0], strict=True):
        assert shown == {k: v for k, v in step.items() if k in shown}
        assert "replies" not in shown


def test_sentences_are_counted_by_outcome_as_in_their_file(evidence):
    rows = [json.loads(line) for line in (evidence / "evidence.jsonl").read_text().splitlines()]
    for run in make_agents(of(evidence))["evidence"]["runs"]:
        own = [row["outcome"] for row in rows if row["run_id"] == run["run"]]
        assert run["n"] == len(own) == sum(run["counts"].values())
        assert run["counts"]["not_sought"] == own.count("not_sought")


def test_steps_that_do_not_fit_are_left_out_and_failures_are_kept_first():
    rows = [{"reason": None}, {"reason": "budget"}, {"reason": None}]
    assert _choose_shown(rows, ["aaaa", "bbbb", "c"], most=5) == [False, True, True]


def test_where_no_agent_was_at_work_there_is_no_section(demo):
    assert make_agents(of(demo)) is None
