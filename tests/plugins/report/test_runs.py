"""Sections that set runs against each other: their numbers are those of the commands, by hand."""

import base64
import gzip
import json
import shutil
from array import array
from pathlib import Path

import pytest
from json_lines import read_rows, write_rows
from packed_columns import values_of
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins.report.coverage import make_coverage
from nuggetjudge.plugins.report.packing import UNANSWERED, UNDEFINED, UNJUDGED, pack_cells
from nuggetjudge.plugins.report.runs import (
    make_leaderboard,
    make_length,
    make_pairs,
    make_scale,
    make_topics,
)
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
from nuggetjudge.programs.analysis.compare_runs import compare_runs, front
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

MOON, KELP, OTHER = "The moon pulls the sea.", "Kelp bends with the tide.", "Nothing of that kind."


# What each run says on t1 to t5; nobody asks for a fact on t5, and `gone` cites a text not there.
ANSWERS = {
    "both": ([MOON, KELP], [MOON, KELP], [MOON, KELP], None, [MOON]),
    "moon": ([MOON, KELP], [MOON], [MOON], [MOON], [MOON]),
    "gone": ([MOON], [OTHER], [OTHER], [OTHER], [OTHER]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two vital facts on each of four topics, and three runs; one has no judged citation."""
    home = tmp_path_factory.mktemp("runs")

    def put(name, rows):
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return home / name

    facts = [{"text": text, "importance": "vital"} for text in (MOON, KELP)]
    named = [f"t{i}" for i in range(1, 6)]
    runs = [
        put(f"{run}.jsonl", (
            {"run_id": run, "topic_id": topic, "references": ["q" if run == "gone" else "p"],
             "answer": [{"text": text, "citations": [0]} for text in texts]}
            for topic, texts in zip(named, answered, strict=True) if texts
        ))
        for run, answered in ANSWERS.items()
    ]  # fmt: skip
    (home / "topics.tsv").write_text("".join(f"{topic}\twhy tides\n" for topic in named))
    return nj.run(
        program="nuggets,support",
        model="lexical",
        topics=home / "topics.tsv",
        runs=runs,
        passages=put("passages.jsonl", [{"docid": "p", "text": f"{MOON} {KELP}"}]),
        nuggets=put("nuggets.jsonl", ({"qid": t, "query": "why tides", "nuggets": facts}
                                      for t in named[:4])),
        out=home / "out",
    ).folder  # fmt: skip


def of(*folders, labels=()):
    return Source(folders, Problems(), labels=labels)


def rows_of(section, measure):
    return {row["run_id"]: row for row in section["measures"][measure]["rows"]}


def cell(source, measure, run, topic):
    """A value, or less the code of why there is none."""
    packed = pack_cells(source)[measure]
    numbers = array("B" if packed["bytes"] == 1 else "H", base64.b64decode(packed["cells"]))
    at = source.runs.index(run) * len(source.topics) + source.topics.index(topic)
    top, number = 256 ** packed["bytes"], numbers[at]
    return packed["values"][number] if number < len(packed["values"]) else number - top


def test_means_are_those_counted_by_hand_with_what_they_rest_on(folder):
    rows = rows_of(make_leaderboard(of(folder)), "V_strict")
    assert [(run, row["mean"]) for run, row in rows.items()] == [
        ("both", 0.75), ("moon", 0.625), ("gone", 0.125),
    ]  # fmt: skip
    assert [row["n_unanswered"] for row in rows.values()] == [1, 0, 0]
    assert [row["n"] for row in rows.values()] == [6, 8, 8]  # nuggets of the topics it answered
    assert all(row["bounds"] is None for row in rows.values())


def test_what_is_unjudged_widens_bounds_and_is_no_score(folder):
    row = rows_of(make_leaderboard(of(folder)), "support_precision")["gone"]
    assert (row["mean"], row["n"], row["n_unjudged"], row["bounds"]) == (None, 0, 5, [0.0, 1.0])


def test_intervals_and_tests_are_those_of_judge_compare(folder):
    source = of(folder)
    board, tested = make_leaderboard(source), make_pairs(source)["measures"]
    assert tested.keys() == set(source.measures) - {"length"}
    for measure in tested:
        comparison = compare_runs([folder], Problems(), measures=[measure])["measures"][measure]
        rows = rows_of(board, measure)
        for run in comparison["runs"]:
            assert {name: rows[run["run_id"]][name] for name in run} == run
        marks = {True: "1", False: "0", None: "?"}
        apart = "".join(marks[pair["is_significant"]] for pair in comparison["pairs"])
        assert tested[measure]["is_significant"] == board["measures"][measure]["apart"] == apart
        for name in ("difference", "p", "p_holm", "p_hsd"):
            expected = [pair[name] for pair in comparison["pairs"]]
            assert tested[measure][name] == pytest.approx(expected, abs=5e-5), (measure, name)


def test_means_of_all_rows_are_those_of_judge_score(folder):
    board = make_leaderboard(of(folder))
    for row in score_path(folder, Problems()):
        if row.topic_id == "all":
            shown = rows_of(board, row.measure)[row.run_id]
            assert shown["mean"] == pytest.approx(row.value), row
            assert (shown["n"], shown["n_unjudged"]) == (row.n, row.n_unjudged), row


def test_a_pair_counts_topics_won_tied_and_lost(folder):
    compared = make_pairs(of(folder))["measures"]["V_strict"]
    assert compared["runs"] == ["both", "moon", "gone"]
    # On t1 equal, on t2 and t3 the first, on t4, which it did not answer, the second.
    assert [compared[name][0] for name in ("wins", "ties", "losses")] == [2, 1, 1]
    assert compared["difference"][0] == 0.125


def test_no_answer_no_judgement_and_no_meaning_are_three_things(folder):
    source = of(folder)
    assert cell(source, "V_strict", "both", "t1") == 1.0
    assert cell(source, "V_strict", "moon", "t2") == 0.5
    assert cell(source, "V_strict", "gone", "t2") == 0.0
    assert cell(source, "V_strict", "both", "t4") == -UNANSWERED
    assert cell(source, "support_precision", "gone", "t1") == -UNJUDGED
    assert cell(source, "V_strict", "both", "t5") == -UNDEFINED
    assert make_topics(source)["unjudged"]["support_precision"] == dict.fromkeys(source.topics, 1)
    assert make_topics(source)["questions"]["t1"] == "why tides"


def test_many_distinct_values_are_packed_without_loss(folder):
    source = of(folder)
    rows = source.scores.rows["A"]["moon"]
    many = {f"x{i}": rows["t1"].model_copy(update={"value": i / 999}) for i in range(1000)}
    source.scores.rows["A"]["moon"] = rows | many
    source.scores.topics["A"] += many
    source.topics = [*source.topics, *many]
    assert pack_cells(source)["A"]["bytes"] == 2
    assert cell(source, "A", "moon", "x7") == round(7 / 999, 6)
    assert cell(source, "A", "both", "x7") == -UNANSWERED


def test_a_longer_run_that_is_no_better_is_not_on_the_line(folder):
    plotted = make_length(of(folder))["measures"]["A"]
    points = {point["run"]: point for point in plotted["points"]}
    assert points["gone"]["words"] == (5 + 3 * 4) / 4  # t5 has no nuggets
    assert points["both"]["words"] == 10  # of what it answered
    assert [plotted["points"][i]["run"] for i in plotted["front"]] == ["gone", "moon", "both"]
    assert plotted["spearman"] == pytest.approx(1.0)
    assert front([(5, 0.5), (5, 0.7), (9, 0.7), (4, 0.1)]) == [3, 1]


def test_three_folders_stand_side_by_side_under_names_of_their_own(folder, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(folder, tmp_path / name)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["judges"]["support"]["version"] = "other"
    (tmp_path / "two" / "manifest.json").write_text(json.dumps(manifest))
    source = of(folder, tmp_path / "one", tmp_path / "two")
    rows = rows_of(make_leaderboard(source), "V_strict")
    assert len(rows) == 9
    assert rows["both@out"]["mean"] == rows["both@one"]["mean"] == rows["both@two"]["mean"] == 0.75
    assert rows["both@two"]["n"] == 6
    row = rows_of(make_leaderboard(source), "support_precision")["gone@one"]
    assert (row["n_unjudged"], row["bounds"]) == (5, [0.0, 1.0])
    listed = [(p.kind, p.file) for p in source.problems.rows]
    assert listed == [("other_judge", str(tmp_path / "two"))]  # once, for the one that differs


def test_one_run_alone_has_a_leaderboard_and_no_pairs(folder, tmp_path):
    alone = tmp_path / "alone"
    forget_digests(shutil.copytree(folder, alone))
    kept = [row for row in (alone / "scores.jsonl").read_text().splitlines() if '"moon"' in row]
    (alone / "scores.jsonl").write_text("\n".join(kept) + "\n")
    source = of(alone)
    assert rows_of(make_leaderboard(source), "V_strict")["moon"]["mean"] == 0.625
    assert make_pairs(source) is None
    assert make_length(source) is None


def test_only_what_leaderboards_go_by_is_tested_where_all_would_take_minutes(folder, monkeypatch):
    monkeypatch.setattr("nuggetjudge.plugins.report.source._FEW", 10)
    source = of(folder)
    measures = make_leaderboard(source)["measures"]
    assert make_pairs(source)["measures"].keys() == {"V_strict", "support_precision"}
    assert measures["A"]["apart"] == ""
    assert measures["V_strict"]["apart"]
    expected = compare_runs([folder], Problems(), measures=["A"])["measures"]["A"]["runs"]
    assert [row["low"] for row in measures["A"]["rows"]] == [row["low"] for row in expected]


def test_a_measure_beyond_one_has_a_scale_of_its_own():
    def row(mean, low=None, high=None):
        return {"mean": mean, "low": low, "high": high, "bounds": None}

    assert make_scale([row(0.2), row(None)]) == [0.0, 1.0]
    assert make_scale([row(1.04, 0.9, 1.23)]) == [0.0, 1.3]
    assert make_scale([row(279, 250, 376.2)]) == [0.0, 400.0]


# What a report says of retrieval: ratings, who retrieved what, and coverage by rank.
PASSAGES = [f"t:0#{i}" for i in range(3)]


@pytest.fixture(scope="module")
def coverage_section_folder(tmp_path_factory):
    """Two contexts of two passages; the third question is answered by no passage of them."""
    home = tmp_path_factory.mktemp("retrieval")

    def rows(name, *objects):
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in objects))
        return str(home / name)

    asked = rows("questions.jsonl", {"id": "t", "subquestions": ["Who?", "When?", "Where?"]})
    given = {PASSAGES[0]: [5, 0, 0], PASSAGES[1]: [4, 3, 0], PASSAGES[2]: [0, 2, 5]}
    rated = rows(
        "ratings.jsonl", *({"id": "t", "docid": name, "rating": r} for name, r in given.items())
    )
    retrieval = []
    for run, order in (("one", (0, 1)), ("two", (0,))):
        path = home / f"{run}.run"
        path.write_text(
            "".join(f"t Q0 {PASSAGES[i]} {n} {-n} {run}\n" for n, i in enumerate(order))
        )
        retrieval.append(str(path))
    given = {"questions": asked, "ratings": [rated], "retrieval": retrieval}
    nj.run(program="coverage", model="lexical", out=home / "out", **given, **{"coverage.k": 2})
    return home / "out"


def test_the_matrix_has_every_rating_and_what_no_run_retrieved_is_counted(coverage_section_folder):
    section = make_coverage(Source([coverage_section_folder], Problems()))["covered"][0]
    topic = section["topics"]["t"]
    assert topic["passages"] == PASSAGES
    assert topic["ratings"] == ["500", "430", "025"]
    assert topic["answerable"] == [1, 1, 1]  # from rating 3 on
    assert (topic["n_runs"], topic["n_answering"]) == (2, [2, 1, 0])
    assert topic["n_missing"] == 0


def test_curves_are_the_steps_of_ranks(coverage_section_folder):
    runs = make_coverage(Source([coverage_section_folder], Problems()))["covered"][0]["runs"]
    one = runs["one"]["t"]
    assert one["coverage"] == [0.3333, 0.6667]
    assert one["passages"] == PASSAGES[:2]
    assert runs["two"]["t"]["coverage"] == [0.3333]


def test_a_rating_that_is_missing_is_no_number(coverage_section_folder, tmp_path):
    part = tmp_path / "part"
    forget_digests(shutil.copytree(coverage_section_folder, part))
    text = (part / "ratings.jsonl").read_text().replace("[0,2,5]", "[0,-1,-2]")
    (part / "ratings.jsonl").write_text(text)
    topic = make_coverage(Source([part], Problems()))["covered"][0]["topics"]["t"]
    assert topic["ratings"][2] == "0??"
    assert topic["n_missing"] == 2
    assert topic["answerable"][2] is None  # nobody can say


# The sections on people and judge, disagreements, what is missing, and agents: their data.
DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
NUGGETS, SUPPORT = DEMO / "labels" / "nuggets.jsonl", DEMO / "labels" / "support.jsonl"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Results of the example, of nuggets and support."""
    folder = tmp_path_factory.mktemp("trust") / "demo"
    nj.run(DEMO / "judge.yaml", nuggets=DEMO / "nuggets.jsonl", out=folder, limit=2)
    return folder


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
    given = read_rows(SUPPORT)
    ids = ("topic_id", "run_id", "sentence_id", "passage_id", "label", "condition")
    names = ("topic_id", "run_id", "sentence", "citation", "label")
    rows = [
        dict(zip(ids, [*(str(row[name]) for name in names), "from_scratch"], strict=True))
        for row in given
        if row["citation"]
    ]
    scratch = of(demo, labels=[write_rows(tmp_path / "one.jsonl", rows)])
    (side,) = make_people(scratch)["sides"]
    assert (side["given"], side["pooled"]) == ("from scratch", "")
    rows[0]["condition"] = rows[1]["condition"] = "post_edit"
    both = of(demo, labels=[write_rows(tmp_path / "both.jsonl", rows)])
    (side,) = make_people(both)["sides"]
    counts = f"{len(rows) - 2} from scratch, 2 with the judge's label shown"
    assert side["pooled"].startswith(f"both.jsonl mixes labels of 2 conditions: {counts}.")
    assert "--where condition=from_scratch" in side["pooled"]
    trust, plain_trust = make_boxes(both)[1], make_boxes(scratch)[1]
    assert {"text": side["pooled"], "is_warning": True} in trust["lines"]
    assert not [one for one in plain_trust["lines"] if "mixes labels" in one["text"]]
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
    labels = write_rows(tmp_path / "two.jsonl", rows)
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
    write_rows(other / "support.jsonl", rows)
    compared = make_disagreements(of(demo, other))["compared"]
    assert {one["kind"]: one["n"] for one in compared} == {"nuggets": 0, "support": 1}
    row = next(one for one in compared if one["kind"] == "support")["columns"]
    assert values_of(row["pair"]) == ["full → none"]
    assert values_of(row["run"]) == [f"{flipped['run_id']}@other"]  # both folders have that run


def test_labels_of_nothing_that_was_judged_are_refused(demo, tmp_path):
    row = {"topic_id": "other", "run_id": "r", "sentence_id": "0", "passage_id": "p"}
    labels = write_rows(tmp_path / "other.jsonl", [row | {"label": "full"}])
    with pytest.raises(InputError, match="no item in common"):
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
    write_rows(folder / "unjudged.jsonl", missing)
    write_rows(
        folder / "problems.jsonl", [{"kind": "k", "action": "kept", "at": "f:1", "what": "w"}]
    )
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
    write_rows(folder / "scores.jsonl", rows)
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
