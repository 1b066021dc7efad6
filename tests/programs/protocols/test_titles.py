"""Titles of passages reach the judges of support and relevance, unless they are switched off."""

import asyncio
import json

import pytest
from graded_labels import write_jsonl
from mock_server import MockServer, input_of

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.calibration.prompts.tasks import tasks
from nuggetjudge.judges import RelevanceJudge, SupportJudge
from nuggetjudge.programs.analysis.cell_texts import read_judge_items
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import DataConfig
from nuggetjudge.records.reading.problems import InputError, Problems

WITH, WITHOUT = "Moon and sea", ""
PASSAGES = [
    {"docid": "p1", "text": "It pulls the sea.", "title": WITH},
    {"docid": "p2", "text": "Kelp bends."},
    {"docid": "p3", "text": "Wind blows.", "title": " "},
]
SENTENCES = ["The moon pulls the sea.", "Kelp bends.", "Wind blows."]


@pytest.fixture
def data(tmp_path):
    """One answer, whose sentences cite a passage with a title and two without."""
    (tmp_path / "topics.tsv").write_text("t1\twhat moves the sea\n", encoding="utf-8")
    answer = [{"text": text, "citations": [i]} for i, text in enumerate(SENTENCES)]
    ids = [row["docid"] for row in PASSAGES]
    run = {"run_id": "r", "topic_id": "t1", "topic": "what", "response_length": 9}
    run |= {"references": ids, "answer": answer}
    return {
        "topics": tmp_path / "topics.tsv",
        "passages": write_jsonl(tmp_path / "passages.jsonl", PASSAGES),
        "runs": str(write_jsonl(tmp_path / "r.jsonl", [run])),
        "candidates": write_jsonl(tmp_path / "pool.jsonl", [{"topic_id": "t1", "docids": ids}]),
        "out": tmp_path / "out",
    }


@pytest.fixture
def server():
    with MockServer() as up:
        yield up


@pytest.fixture
def run(data, server, tmp_path):
    """Runs a program; gives what it asked, by the text of the passage."""

    def judged(program, **settings):
        named = {name: data[name] for name in ("topics", "passages", "candidates", "runs", "out")}
        if program != "support":
            del named["runs"]
        if program == "support":
            del named["candidates"]
        n = len(server.requests)
        model = {"model": "openai/mock", "api_base": server.base_url}
        nj.run(program=program, model=model, cache=False, **named, **settings)
        bodies = [request.body for request in server.requests[n:]]
        return {input_of(body)["passage"]: body for body in bodies}

    return judged


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("support", ["passage", "title", "sentence"]),
        ("relevance", ["question", "passage", "title"]),
    ],
)
def test_a_title_is_shown_where_there_is_one_and_nothing_is_said_of_it_elsewhere(
    run, program, inputs
):
    asked = run(program)
    untitled_inputs = [name for name in inputs if name != "title"]
    assert {text: list(input_of(body)) for text, body in asked.items()} == {
        "It pulls the sea.": inputs,
        "Kelp bends.": untitled_inputs,
        "Wind blows.": untitled_inputs,
    }
    assert input_of(asked["It pulls the sea."])["title"] == WITH
    system = {text: body["messages"][0]["content"] for text, body in asked.items()}
    assert "- title: " in system["It pulls the sea."]
    assert "title" not in system["Kelp bends."]
    off = run(program, force=True, **{f"judges.{program}.titles": False})
    assert "title" not in json.dumps(off["It pulls the sea."])
    for untitled in ("Kelp bends.", "Wind blows."):  # the same bytes as without the feature
        assert off[untitled] == asked[untitled]


def test_titles_switched_off_are_another_judge_and_shared_by_no_journal(run, data):
    def judge():
        manifest = json.loads((data["out"] / "manifest.json").read_text(encoding="utf-8"))
        return manifest["judges"]["support"]["prompts"]

    assert len(run("support")) == 3
    with_titles = judge()
    assert len(run("support")) == 0
    assert len(run("support", force=True, **{"judges.support.titles": False})) == 3
    assert judge() != with_titles


def test_only_judges_that_are_shown_titles_have_the_setting():
    with pytest.raises(
        InputError, match=r"assigner.titles: a setting of support and relevance alone"
    ):
        load_config(None, {"judges.assigner.titles": False})


@pytest.mark.parametrize("kind", [SupportJudge, RelevanceJudge])
def test_the_lexical_judge_goes_by_the_passage_alone(kind):
    asked = {"sentence" if kind is SupportJudge else "question": "moon and sea", "passage": "Sea."}
    judge = kind("lexical")
    assert judge(**asked, title="The moon and the sea").score == judge(**asked).score < 1


def test_a_judge_in_python_takes_a_title_or_none(server):
    model = ModelConfig(model="openai/mock", api_base=server.base_url)
    asked = {"sentence": "s", "passage": "p"}
    for judge, title in ((SupportJudge(model), "T"), (SupportJudge(model), "")):
        judge(**asked, title=title)
    SupportJudge(model, titles=False)(**asked, title="T")
    shown = [input_of(request.body).get("title") for request in server.requests]
    assert shown == ["T", None, None]


def labelled(tmp_path, **titles):
    rows = [
        {"topic_id": f"t{i % 2}", "sentence_id": str(i), "passage_id": "p1", "run_id": "r",
         "sentence": f"s{i}", "passage": "p", "label": ("none", "full")[i % 3 == 0]}
        for i in range(20)
    ]  # fmt: skip
    for i, title in titles.items():
        rows[int(i[1:])]["title"] = title
    return write_jsonl(tmp_path / "labels.jsonl", rows)


def test_label_files_may_have_a_column_of_titles(tmp_path):
    path = labelled(tmp_path, s3="A title", s4="")
    judge = SupportJudge("lexical")
    items = {item.ids["sentence_id"]: item for item in read_examples(path, judge, Problems()).items}
    assert items["3"].inputs == {"sentence": "s3", "passage": "p", "title": "A title"}
    assert items["4"].inputs == {"sentence": "s4", "passage": "p"}
    asked = {task.inputs["sentence"]: task.inputs for task in tasks(judge, [*items.values()])}
    assert asked["s3"]["title"] == "A title"
    assert "title" not in asked["s4"]
    off = SupportJudge("lexical", titles=False)
    assert not any("title" in i.inputs for i in read_examples(path, off, Problems()).items)


def test_titles_come_from_the_data_where_labels_have_ids_alone(tmp_path, data):
    rows = [
        {"topic_id": f"t{i % 2}", "passage_id": f"p{1 + i % 3}", "label": str(i % 4), "run_id": i,
         "question": f"q{i}"} for i in range(24)
    ]  # fmt: skip
    path = write_jsonl(tmp_path / "labels.jsonl", rows)
    given = DataConfig(passages=[data["passages"]])
    examples = read_examples(path, RelevanceJudge("lexical"), Problems(), data=given)
    titles = {item.ids["passage_id"]: item.inputs.get("title") for item in examples.items}
    assert titles == {"p1": WITH, "p2": None, "p3": None}


@pytest.mark.whole
def test_a_sheet_for_people_shows_titles_where_there_are_some(run, data):
    from nuggetjudge.plugins.annotate.work.next_labels import next_labels

    run("support")
    rows = next_labels([data["out"]], 3, Problems()).rows
    assert {row["passage"]: row["title"] for row in rows} == {
        "It pulls the sea.": WITH, "Kelp bends.": "", "Wind blows.": "",
    }  # fmt: skip
    write_jsonl(data["passages"], [{**row, "title": ""} for row in PASSAGES])
    run("support")
    assert not any("title" in row for row in next_labels([data["out"]], 3, Problems()).rows)


def test_a_probe_asks_with_the_titles_of_the_run(run, data):
    run("support")
    judge = SupportJudge("lexical")
    items = read_judge_items(data["out"], judge, load_config(None, {}), Problems())
    assert [item.inputs.get("title") for item in items] == [WITH, None, None]
    asyncio.run(judge.verdicts([items[0].inputs]))


def test_items_of_a_file_may_have_titles(server, tmp_path):
    about = {"topic_id": "t", "question": "q"}
    titles = enumerate(["T", "", None])
    rows = [{**about, "passage_id": f"i{i}", "passage": f"p{i}", "title": t} for i, t in titles]
    path = write_jsonl(tmp_path / "items.jsonl", rows)
    model = {"model": "openai/mock", "api_base": server.base_url}
    nj.run(program="items", items=path, judge="relevance", model=model, out=tmp_path / "out")
    asked = [input_of(request.body) for request in server.requests]
    assert {a["passage"]: a.get("title") for a in asked} == {"p0": "T", "p1": None, "p2": None}
