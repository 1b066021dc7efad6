"""Titles of passages reach the judges of support and relevance, unless they are switched off."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from json_lines import write_rows
from mock_server import MockServer, input_of

import nuggetjudge as nj
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.calibration.prompts.tasks import tasks
from nuggetjudge.judges import NuggetAssigner, RelevanceJudge, SupportJudge
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.analysis.cell_texts import read_judge_items
from nuggetjudge.programs.analysis.compare import compare_judges
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import DataConfig
from nuggetjudge.programs.engine.judge_set import JudgeSet, make_budget
from nuggetjudge.programs.inputs import Collection
from nuggetjudge.programs.protocols.judged_files import are_ordered
from nuggetjudge.programs.protocols.nuggets import LOOK
from nuggetjudge.programs.protocols.reference_items import check_topics
from nuggetjudge.records import Answer, Nugget, Sentence, Topic
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
        "passages": write_rows(tmp_path / "passages.jsonl", PASSAGES),
        "runs": str(write_rows(tmp_path / "r.jsonl", [run])),
        "candidates": write_rows(tmp_path / "pool.jsonl", [{"topic_id": "t1", "docids": ids}]),
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
        InputError, match=r"assigner.titles: only support and relevance can have this setting"
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
    return write_rows(tmp_path / "labels.jsonl", rows)


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
    path = write_rows(tmp_path / "labels.jsonl", rows)
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
    write_rows(data["passages"], [{**row, "title": ""} for row in PASSAGES])
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
    path = write_rows(tmp_path / "items.jsonl", rows)
    model = {"model": "openai/mock", "api_base": server.base_url}
    nj.run(program="items", items=path, judge="relevance", model=model, out=tmp_path / "out")
    asked = [input_of(request.body) for request in server.requests]
    assert {a["passage"]: a.get("title") for a in asked} == {"p0": "T", "p1": None, "p2": None}


# Labels without an order: what goes by how far apart two of them are is left alone.
LABELS = ("linear", "ordinal", "other")  # names that kinds of kappa and alpha have too


def labels_file(path, labels, **more):
    """A row for each label, on the questions q0, q1, ... of two topics; lists are by field."""
    rows = [
        {"topic_id": f"t{i % 2}", "question_id": f"q{i}", "label": label}
        | {name: values[i] for name, values in more.items()}
        for i, label in enumerate(labels)
    ]
    write_rows(path, rows)
    return path


def folder(path, labels, *, is_ordered, **more):
    """What `judge run` leaves of items with these labels."""
    path.mkdir()
    labels_file(path / "labels.jsonl", labels, **more)
    items = {"labels": LABELS, "is_ordered": is_ordered, "key": ["topic_id", "question_id"]}
    items |= {"judge": "j", "inputs": ["text"], "gains": {}, "measure": "mean_gain"}
    known = {"fingerprint": "", "judged": {}, "unjudged": {}, "share_missing": 0.0}
    known |= {"config": {"program": ["items"]}, "data": {"topic_ids": [], "run_ids": []}}
    known |= {"cells_without_bank": [], "topics_without_nuggets": [], "items": items}
    known |= {"tokens": {}, "this_time": {}, "limit_reached": None}
    (path / "manifest.json").write_text(json.dumps(known), encoding="utf-8")
    return path


def test_labels_have_an_order_if_their_judge_or_their_scale_says_so(tmp_path):
    yes = folder(tmp_path / "yes", LABELS, is_ordered=True)
    no = folder(tmp_path / "no", LABELS, is_ordered=False)
    plain = labels_file(tmp_path / "plain.jsonl", LABELS)
    assert are_ordered("other", LABELS, plain, yes)
    assert not are_ordered("other", LABELS, plain, no)
    assert not are_ordered("other", ("no", "yes"), no)
    assert not are_ordered("other", ("average", "good", "poor"), plain)
    assert are_ordered("other", ("no", "neutral", "yes"), plain)
    assert are_ordered("relevance", ("0", "1", "2", "3"), plain)


@pytest.fixture(params=["sorted by name", "names of a judge"])
def pair(request, tmp_path):
    """Two judges: q0 is linear and ordinal, q1 linear and other; q2 to q5 they agree on."""
    same = ["linear", "ordinal", "other", "other"]
    one, other = ["linear", "linear", *same], ["ordinal", "other", *same]
    scores = {"score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    paths = tmp_path / "one", tmp_path / "other"
    if request.param == "sorted by name":
        return [labels_file(p, x, **scores) for p, x in zip(paths, (one, other), strict=True)]
    return [
        folder(p, x, is_ordered=False, **scores) for p, x in zip(paths, (one, other), strict=True)
    ]


def test_flips_of_labels_without_order_come_by_their_ids(pair):
    one, other = pair
    other = other / "labels.jsonl" if other.is_dir() else other  # no costs to compare
    flips = compare_judges(one, other, Problems())["flips"]
    assert [row["question_id"] for row in flips] == ["q0", "q1"]


@pytest.mark.whole
def test_of_labels_without_order_all_that_differ_are_equally_worth_asking(pair):
    from nuggetjudge.plugins.annotate.work.next_labels import next_labels

    first = set()
    for seed in range(12):
        sheet = next_labels(pair, 1, Problems(), random_share=0, seed=seed)
        (row,) = sheet.rows
        assert row["chosen_by"] == "disagreement"
        first.add(row["question_id"])
    assert first == {"q0", "q1"}
    assert next_labels(pair, 3, Problems(), random_share=0).n_by["margin"] == 0


def test_labels_ordered_by_name_alone_have_no_figure_of_distance(tmp_path):
    words = ["good", "poor", "average", "good", "poor", "average"]
    labels = ["good", "average", "average", "good", "poor", "poor"]
    human = labels_file(tmp_path / "human.jsonl", words)
    agreement = agree(human, labels_file(tmp_path / "judged.jsonl", labels), Problems())
    assert agreement["is_ordered"] is False
    # 4 of 6 agree; by chance 1/3, as both gave each label twice.
    kappa = pytest.approx((4 / 6 - 1 / 3) / (2 / 3))
    assert agreement["cohen_kappa"] == {"unweighted": kappa, "linear": None, "quadratic": None}
    assert agreement["intervals"]["alpha"]["ordinal"]["value"] is None
    assert agreement["intervals"]["alpha"]["nominal"]["value"] is not None
    named = [
        labels_file(tmp_path / n, x, annotator=[n] * 6) for n, x in (("a", words), ("b", labels))
    ]
    human.write_text("".join(path.read_text(encoding="utf-8") for path in named), encoding="utf-8")
    alone = agree(human, None, Problems())
    among = alone["annotators"]["among"]
    assert alone["is_ordered"] is False
    assert among["pairwise_kappa"]["unweighted"] == kappa
    assert (among["pairwise_kappa"]["linear"], among["alpha"]["interval"]) == (None, None)
    assert among["intervals"]["pairwise_kappa"]["quadratic"]["value"] is None


def test_labels_of_a_known_scale_keep_their_figures_of_distance(tmp_path):
    paths = [
        labels_file(tmp_path / name, labels)
        for name, labels in (("human", [2, 3, 3, 2, 2, 3]), ("judged", [1, 2, 2, 2, 1, 2]))
    ]
    agreement = agree(*paths, Problems())
    assert (agreement["is_ordered"], agreement["scale"]) == (True, ["1", "2", "3"])
    agreement = agree(*paths[::-1], Problems())
    assert agreement["scale"] == ["1", "2", "3"]  # and not 2, 3, 1
    assert agreement["cohen_kappa"]["linear"] is not None


def test_names_of_labels_and_annotators_do_not_take_figures_away(tmp_path):
    truth = [*LABELS, *LABELS]
    names = {"annotator": ["quadratic"] * 6}
    human = labels_file(tmp_path / "human.jsonl", truth, **names)
    second = labels_file(tmp_path / "more.jsonl", truth, annotator=["interval"] * 6)
    human.write_text(
        human.read_text(encoding="utf-8") + second.read_text(encoding="utf-8"), encoding="utf-8"
    )
    labels = ["linear", "ordinal", "linear", "linear", "ordinal", "other"]
    agreement = agree(human, folder(tmp_path / "judged", labels, is_ordered=False), Problems())
    # Of 3 judged linear 2 are, and both that are were found.
    assert agreement["precision"] == {"linear": pytest.approx(2 / 3), "ordinal": 1.0, "other": 1.0}
    assert agreement["recall"]["linear"] == 1.0
    assert agreement["truth_counts"]["ordinal"] == 2
    assert agreement["one_vs_rest"]["ordinal"] == 1.0
    assert agreement["intervals"]["one_vs_rest"]["ordinal"]["value"] == 1.0
    # 5 of 6 agree; by chance 2/6 (3 + 2 + 1)/6 = 1/3.
    kappa = pytest.approx((5 / 6 - 1 / 3) / (2 / 3))
    assert agreement["cohen_kappa"] == {"unweighted": kappa, "linear": None, "quadratic": None}
    lost = agreement["intervals"]["cohen_kappa"]["linear"]
    assert (lost["value"], lost["low"], lost["high"], lost["n_topics"]) == (None, None, None, 2)
    assert agreement["alpha"]["ordinal"] is agreement["alpha"]["interval"] is None
    assert agreement["alpha"]["nominal"] is not None
    among, judge = agreement["annotators"]["among"], agreement["annotators"]["judge"]
    assert (among["pairwise_kappa"]["unweighted"], among["pairwise_kappa"]["linear"]) == (1, None)
    assert among["alpha"] == {"nominal": 1.0, "ordinal": None, "interval": None}
    assert (judge["unweighted"], judge["quadratic"], judge["n_pairs"]) == (kappa, None, 2)
    assert judge["intervals"]["linear"]["value"] is None
    for name in ("quadratic", "interval"):
        assert judge["by_annotator"][name]["unweighted"] == kappa
        assert judge["by_annotator"][name]["linear"] is None


# Points that are looked for: how many calls that takes, and which topics of a file are known.
TOPICS = {"t": Topic(id="t", text="What?")}


class Answers(Collection):
    def answers(self, topic_id=None):
        for run in ("a", "b"):
            yield Answer(run_id=run, topic_id="t", sentences=(Sentence(id=0, text="So."),))


@pytest.mark.parametrize("n_points", [0, 1, 2, 3, 4])
def test_a_stage_has_as_many_items_as_its_bar_says(n_points):
    points = {"t": [Nugget(id=f"n{i}", text=f"Fact {i}.") for i in range(n_points)]}
    data = Answers(TOPICS, [], n_with_text=Counter(t=2))
    run = SimpleNamespace(judge_set={"assigner": NuggetAssigner(window=2)}, collection=data)
    stage = LOOK.of(run, points)
    assert len(list(stage.items())) == stage.total == 2 * [0, 1, 1, 2, 2][n_points]


def test_a_topic_beyond_the_limit_is_no_problem_of_a_file_and_an_unknown_one_is():
    data = Collection(TOPICS, [], beyond_limit={"later"})
    check_topics(["t", "later", "other"], Path("nuggets.jsonl"), data)
    (problem,) = data.problems.rows
    assert (problem.kind, "topic 'other' is not judged" in problem.what) == ("unknown_topic", True)


# `judges.NAME.example` turns a worked example off, and a run's identity says what was sent.
def judge_of(name, **settings):
    """The judge as a config makes it, and its identity."""
    config = load_config(None, {"models.default.model": "openai/mock", **settings})
    judge_set = JudgeSet(config, cache=None, budget=make_budget(config), asks=False)
    judge = judge_set[name]
    asyncio.run(judge_set.aclose())
    return judge, judge_set.identities()[name]


@pytest.mark.parametrize(
    "name",
    [
        "nuggetizer",
        "subquestions",
        "keypoint_extractor",
        "keypoint_merger",
        pytest.param("request", marks=pytest.mark.whole),
    ],
)
def test_a_config_turns_the_example_off_which_makes_it_another_judge(name):
    shown, with_example = judge_of(name)
    plain, without = judge_of(name, **{f"judges.{name}.example": False})
    assert [len(p.fixed) for p in shown.prompts().values()] == [3]
    assert [len(p.fixed) for p in plain.prompts().values()] == [1]
    assert with_example["prompts"] != without["prompts"]


def test_a_judge_without_an_example_has_no_such_setting():
    with pytest.raises(InputError, match=r"judges.assigner.example: only nuggetizer, subquestions"):
        load_config(None, {"judges.assigner.example": False})


def test_the_manifest_has_the_temperature_that_was_sent():
    assert judge_of("subquestions")[1]["model"]["temperature"] == 0.7
    assert judge_of("answerability")[1]["model"]["temperature"] == 0
    _, chosen = judge_of("subquestions", **{"models.default.temperature": 0})
    assert (chosen["model"]["temperature"], chosen["model"]["top_p"]) == (0, None)
