"""Answers with their judgements: every one that was asked for, under its answer, with its words."""

import json
import shutil
from pathlib import Path

import pytest
from json_lines import write_rows
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.programs.analysis.answers.answer_text import find_lexical_judges
from nuggetjudge.programs.analysis.answers.summaries import (
    read_topics_of_answers,
    summarise_folder,
    summarise_run,
)
from nuggetjudge.programs.analysis.answers.views import read_answer_views
from nuggetjudge.records.reading.problems import InputError, Problems

COLLECTION = Path(__file__).resolve().parents[3] / "tests" / "collection"
TEXTS = {
    "one": ["The mill burned in 1904.", "Rents fell after the fire."],
    "two": ["Nobody knows when it burned."],
}


def write(path, *rows):
    write_rows(path, rows)
    return path


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Nuggets and support of the packaged collection, judged by common words."""
    data = tmp_path_factory.mktemp("demo")
    shutil.copytree(COLLECTION, data / "in")
    files = {name: data / "in" / f"{name}.jsonl" for name in ("passages", "nuggets")}
    topics, runs = data / "in" / "topics.tsv", str(data / "in" / "runs")
    program = ["nuggets", "support"]
    return nj.run(program=program, topics=topics, runs=runs, out=data / "out", **files)


@pytest.fixture
def mill(tmp_path):
    """One topic, and two answers to it that cite a passage."""
    write(tmp_path / "topics.jsonl", {"id": "t", "text": "What became of the mill?"})
    write(tmp_path / "passages.jsonl", {"docid": "p", "text": TEXTS["one"][0], "title": "News"})
    for run, texts in TEXTS.items():
        answer = [{"text": text, "citations": [0]} for text in texts]
        row = {"run_id": run, "topic_id": "t", "topic": "x", "references": ["p"], "answer": answer}
        write(tmp_path / f"{run}.jsonl", row)
    names = {name: tmp_path / f"{name}.jsonl" for name in ("topics", "passages")}
    return names | {"runs": [str(tmp_path / f"{run}.jsonl") for run in TEXTS]}


def of(folder, **what):
    problems = Problems()
    views = list(read_answer_views(Path(folder), problems, **what))
    return views, [row.kind for row in problems]


def test_all_that_was_judged_stands_under_its_answer(demo):
    views, problems = of(demo.folder)
    assert len(views) == demo.manifest["data"]["answers"] == 19
    assert not problems
    nuggets = [each for view in views for each in view.judged if each.unit == "nugget"]
    cited = [each for view in views for each in view.judged if each.unit == "citation"]
    assert len(nuggets) == demo.manifest["judged"]["assignments"]
    assert len(cited) == demo.manifest["judged"]["support"]
    uncited = demo.manifest["counts"]["sentences without citation (no support)"]
    assert sum(each.unit == "sentence" for view in views for each in view.judged) == uncited
    for view in views:
        text = " ".join(sentence.text for sentence in view.sentences)
        for each in view.judged:
            if each.unit == "citation":
                assert each.text == view.sentences[each.sentence].text
                assert each.docid in view.sentences[each.sentence].citations
                assert all(
                    one.stands_in(each.passage) for one in each.evidence if one.of != "sentence"
                )
            elif each.unit == "nugget":
                assert all(one.stands_in(text) for one in each.evidence)
    assert find_lexical_judges(demo.manifest) == {"nuggets": ["assigner"], "support": ["support"]}


def test_scores_are_those_of_the_answer_with_what_they_rest_on(demo):
    [view], _ = of(demo.folder, run="thin", topic="demo-bees")
    assert view.scores["V_strict"] == demo.score("thin", "V_strict", "demo-bees")
    n_vital = sum(each.importance == "vital" for each in view.judged)
    assert [row.n for row in view.score_rows if row.measure == "V_strict"] == [n_vital]
    assert view.length == view.scores["length"]


def test_topics_come_one_after_the_other_and_filters_leave_the_rest_out(demo):
    views, _ = of(demo.folder)
    topics = [view.topic_id for view in views]
    assert topics == sorted(topics, key=demo.manifest["data"]["topic_ids"].index)
    assert {v.run_id for v in of(demo.folder, run="thin")[0]} == {"thin"}
    assert len(of(demo.folder, topic="demo-bees")[0]) == 4


def test_an_unknown_name_is_refused_with_the_nearest(demo):
    with pytest.raises(InputError, match="has no run 'thn'; nearest: thin"):
        of(demo.folder, run="thn")
    with pytest.raises(InputError, match="has no topic 'bees'; nearest: demo-bees"):
        of(demo.folder, topic="bees")


def test_a_changed_run_file_gives_no_sentence_and_is_said_once(demo, tmp_path):
    data = tmp_path / "moved"
    shutil.copytree(demo.folder.parent, data)
    run = next(path for path in (data / "in" / "runs").iterdir() if "thin" in path.name)
    run.write_text(run.read_text().replace("bees", "wasps"))
    shutil.move(demo.folder.parent, tmp_path / "hidden")  # only what moved along is there
    try:
        views, problems = of(data / "out")
    finally:
        shutil.move(tmp_path / "hidden", demo.folder.parent)
    assert problems == ["no_texts"]
    for view in views:
        if view.run_id == "thin":
            assert (view.is_split, len(view.sentences)) == (False, 1)  # what assignments hold
            assert "wasps" not in view.sentences[0].text
        else:
            assert view.is_split
            assert len(view.sentences) > 1


def test_points_are_counted_over_all_runs(demo):
    for topic in read_topics_of_answers(demo.folder, Problems()):
        n = len(topic.answered)
        assert all(sum(point.n.values()) == n for point in topic.points.values())
        rows = [row for row in demo.judgements["assignments"] if row["qid"] == topic.topic_id]
        for point in topic.points.values():
            labels = [
                nugget["assignment"]
                for row in rows
                for nugget in row["nuggets"]
                if nugget["id"] == point.item
            ]
            assert point.n["stated"] == labels.count("support")
            assert point.n["partly"] == labels.count("partial_support")


def test_a_summary_has_the_leaderboards_means_and_0_for_no_answer(demo):
    summary = summarise_folder(demo.folder, Problems())
    means = {row["run_id"]: row["value"] for row in summary["runs"]}
    assert means == {run: demo.score(run, "V_strict") for run in means}
    of_run = summarise_run(demo.folder, "thin", Problems())
    [missing] = [row for row in of_run["topics"] if not row["is_answered"]]
    assert (missing["value"], missing["n"]) == (0.0, None)
    values = [row["value"] for row in of_run["topics"]]
    assert values == sorted(values)
    assert sum(values) / len(values) == pytest.approx(means["thin"])


def test_an_unknown_measure_is_refused_with_those_that_are_there(demo):
    with pytest.raises(InputError, match=r"has no measure 'recall'; wanted one of .*V_strict"):
        summarise_folder(demo.folder, Problems(), "recall")


def test_key_points_and_claims(mill, tmp_path):
    points = {"qid": "t", "query": "q", "key_points": [{"id": "fire", "text": TEXTS["one"][0]}]}
    bank = write(tmp_path / "points.jsonl", points)
    result = nj.run(program="keypoints", keypoints=bank, out=tmp_path / "out", **mill)
    one, two = of(result.folder)[0]
    [point] = [each for each in one.judged if each.is_point]
    assert (point.item, point.text, point.label) == ("fire", TEXTS["one"][0], "yes")
    assert point.evidence[0].quote == TEXTS["one"][0]
    claims = [each for each in one.judged if each.unit == "claim"]
    assert len(claims) == len(result.judgements["claims"][0]["claims"]) > 0
    assert [each.label for each in two.judged if each.is_point] != ["yes"]


def test_sub_questions_of_reports_with_the_words_for_them(mill, tmp_path):
    questions = write(tmp_path / "q.jsonl", {"id": "t", "questions": ["When did the mill burn?"]})
    result = nj.run(
        program="coverage", questions=questions, out=tmp_path / "out", **mill,
        **{"coverage.contexts": "answers", "coverage.answerable": "all"},
    )  # fmt: skip
    one, _ = of(result.folder)[0]
    [asked] = [each for each in one.judged if each.is_point]
    rated = {row["docid"]: row["rating"] for row in result.judgements["ratings"]}
    assert asked.label == str(rated["t:report:one"][0]) != "0"
    assert asked.text == "When did the mill burn?"
    assert [each.quote for each in asked.evidence] == [TEXTS["one"][0]]


def test_people_stand_beside_the_judge_by_the_names_that_runs_have_there(mill, tmp_path):
    nuggets = {"qid": "t", "query": "q", "nuggets": [{"id": "n", "text": "Rents fell."}]}
    bank = write(tmp_path / "nuggets.jsonl", nuggets)
    result = nj.run(program="nuggets", nuggets=bank, out=tmp_path / "out", **mill)
    rows = [
        {"topic_id": "t", "run_id": "team.one", "nugget_id": "n", "annotator": who, "label": label}
        for who, label in (("ann", "support"), ("bob", "not_support"))
    ]
    labels = write(tmp_path / "labels.jsonl", *rows)
    one, two = of(result.folder, labels=labels)[0]
    assert one.judged[0].people == (("ann", "support", ""), ("bob", "not_support", ""))
    assert two.judged[0].people == ()
    cited = {"topic_id": "t", "run_id": "one", "sentence_id": 0, "passage_id": "p", "label": "full"}
    with pytest.raises(InputError, match="labels of support"):
        of(result.folder, labels=write(tmp_path / "others.jsonl", cited))


def test_judged_items_have_the_texts_that_the_judge_read(mill, tmp_path):
    row = {"topic_id": "t", "run_id": "one", "sentence_id": 0, "passage_id": "p"}
    file = write(tmp_path / "i.jsonl", {**row, "sentence": "It burned.", "passage": "It burned."})
    result = nj.run(program="items", items=file, judge="support", out=tmp_path / "out")
    [view] = of(result.folder)[0]
    [item] = view.judged
    assert (item.unit, item.label) == ("item", "full")
    assert item.text == "sentence: It burned.\npassage: It burned."


def test_what_an_agent_found_for_a_sentence_stands_at_the_sentence(mill, tmp_path):
    (tmp_path / "passages.jsonl").write_text(
        json.dumps({"docid": "p", "text": "Bees dance."})
        + "\n"
        + json.dumps({"docid": "q", "text": TEXTS["one"][0]})
        + "\n"
    )
    result = nj.run(program=["support", "evidence"], out=tmp_path / "out", **mill)
    one, _ = of(result.folder)[0]
    verdicts = [each for each in one.judged if each.program == "evidence" and each.sentence == 0]
    assert [(each.label, each.docid) for each in verdicts] == [("wrong_citation", "q")]


def test_a_window_that_came_back_as_no_judgement_says_so_at_each_nugget(mill, tmp_path):
    nuggets = [{"id": f"n{i}", "text": f"fact {i}"} for i in range(3)]
    bank = write(tmp_path / "nuggets.jsonl", {"qid": "t", "query": "q", "nuggets": nuggets})
    with MockServer(lambda body: {"verdicts": "perhaps"}) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        made = nj.run(program="nuggets", nuggets=bank, model=model, out=tmp_path / "out", **mill)
    for view in of(made.folder)[0]:
        assert [each.item for each in view.judged] == ["n0", "n1", "n2"]
        assert {(each.label, each.unjudged) for each in view.judged} == {(None, "unparseable")}
        assert all("perhaps" in each.raw for each in view.judged)
        assert find_lexical_judges(made.manifest) == {}


def test_nuggets_that_could_not_be_made_are_said_at_every_answer(mill, tmp_path):
    candidates = write(
        tmp_path / "candidates.jsonl",
        {
            "query": {"qid": "t", "text": "q"},
            "candidates": [{"docid": "p", "doc": {"segment": "It burned."}}],
        },
    )
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("t 0 p 3\n")
    with MockServer(lambda body: {"nuggets": 7}) as server:
        made = nj.run(
            program="nuggets", candidates=candidates, qrels=qrels,
            model={"model": "openai/mock", "api_base": server.base_url}, out=tmp_path / "out",
            **mill,
        )  # fmt: skip
    views, _ = of(made.folder)
    assert [view.run_id for view in views] == ["one", "two"]
    for view in views:
        assert [(e.program, e.item, e.unjudged) for e in view.judged] == [
            ("nuggets", "", made.unjudged[0]["reason"])
        ]
