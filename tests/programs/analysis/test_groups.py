"""Means by group of topics: counted by hand, in the leaderboard, the figure and the page."""

import json
import math
import xml.etree.ElementTree as ElementTree

import pytest
from json_lines import write_rows

import nuggetjudge as nj
from nuggetjudge.programs.analysis.groups import (
    compute_group_means,
    get_mean,
    group_by_length,
    make_group_table,
    read_group_means,
)
from nuggetjudge.programs.scoring.topic_scores import TopicScores
from nuggetjudge.records import ScoreRow
from nuggetjudge.records.reading.problems import InputError, Problems

POINTS = ["the dam broke", "the mill burned"]
STATED = {  # run -> topic -> key points that its answer states; the rest is not answered
    "good": {"t1": 2, "t2": 1, "t3": 2, "t4": 1},
    "poor": {"t1": 1, "t2": 0, "t3": 1},
}
TOPICS = [
    ("t1", "law", "why", 10),
    ("t2", "law", "how", 20),
    ("t3", "art", "why", 30),
    ("t4", "", "who", 40),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs on four topics, judged by word overlap; t4 has no domain."""
    home = tmp_path_factory.mktemp("groups")
    named = [
        {"id": name, "title": f"What happened at {name}?", "domain": domain, "category": category}
        for name, domain, category, _ in TOPICS
    ]
    texts = [
        {"topic_id": name, "docid": f"{name}-{i}", "text": "word " * (n // 2)}
        for name, _, _, n in TOPICS
        for i in range(2)
    ]
    points = [{"id": f"k{i}", "text": text} for i, text in enumerate(POINTS)]
    answers = [
        {"run_id": run, "topic_id": topic, "references": [],
         "answer": [{"text": f"{text}.", "citations": []} for text in [*POINTS[:n], "Nothing."]]}
        for run, by_topic in STATED.items() for topic, n in by_topic.items()
    ]  # fmt: skip
    files = {"topics": named, "documents": texts, "runs": answers}
    files["keypoints"] = [
        {"qid": name, "query": "What?", "key_points": points} for name, *_ in TOPICS
    ]
    for name, rows in files.items():
        write_rows(home / f"{name}.jsonl", rows)
    given = {name: home / f"{name}.jsonl" for name in files}
    config = {"program": ["keypoints"], "data": {n: str(p) for n, p in given.items()}}
    config |= {"keypoints": {"precision": False}}
    (home / "judge.yaml").write_text(json.dumps(config))
    return nj.run(home / "judge.yaml", out=home / "judged", model="lexical").folder


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("domain", {"art": (1, 1, 0.5), "law": (2, 0.75, 0.25), "": (1, 0.5, 0)}),
        ("category", {"how": (1, 0.5, 0), "who": (1, 0.5, 0), "why": (2, 1, 0.5)}),
        ("documents:20", {"10-20": (2, 0.75, 0.25), "30-40": (2, 0.75, 0.25)}),
        ("documents", {"10-10": (1, 1, 0.5), "20-20": (1, 0.5, 0), "30-30": (1, 1, 0.5),
                       "40-40": (1, 0.5, 0)}),
    ],
)  # fmt: skip
def test_a_group_averages_its_topics_and_one_not_answered_scores_0(folder, by, expected):
    (means,) = read_group_means([folder], by, None, Problems())
    assert dict(means.groups) == {name: n for name, (n, _, _) in expected.items()}
    assert list(means.groups) == list(expected)
    for i, run in enumerate(["good", "poor"], 1):
        found = {name: get_mean(of) for name, of in means.runs[run][1].items()}
        assert found == {name: values[i] for name, values in expected.items()}
    assert [means.runs[run][0][0].value for run in means.runs] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("categry", "did you mean category?"),
        ("domain:3", "wanted domain, category, documents or documents:WORDS,WORDS"),
        ("documents:9,3", "increasing numbers of words above 0"),
        ("documents:many", "increasing numbers of words above 0"),
    ],
)
def test_groups_that_cannot_be_made_are_refused(folder, by, message):
    with pytest.raises(InputError, match="--by") as caught:
        read_group_means([folder], by, None, Problems())
    assert message in str(caught.value)


def test_a_mean_of_nothing_judged_is_no_zero_and_missing_judgements_are_told():
    ids = {"run_id": "r", "measure": "KPR"}
    lost = ScoreRow(**ids, topic_id="t1", value=None, n=0, n_unjudged=3, low=0, high=1)
    known = ScoreRow(**ids, topic_id="t2", value=0.5, n=2, n_unjudged=0, low=0.5, high=0.5)
    rows = {"KPR": {"r": {"t1": lost, "t2": known}}}
    scores = TopicScores({"KPR": {"r": {"t1": None, "t2": 0.5}}}, {"KPR": ["t1", "t2"]}, rows)
    groups = {"t1": "law", "t2": "art"}, ["art", "law"]
    means = compute_group_means(scores, groups, "domain", "KPR")
    assert [get_mean(of) for of in means.runs["r"][1].values()] == [0.5, None]
    assert "3 judgements are missing" in " ".join(make_group_table(means).notes)
    assert [row["n_unjudged"] for row in means.rows()] == [3, 0, 3]


def test_equal_lengths_are_one_group():
    assert group_by_length(dict.fromkeys("abcde", 7))[1] == ["7-7"]


@pytest.mark.whole
def test_the_radar_names_each_group_and_run_and_lines_take_lengths(folder, tmp_path):
    pytest.importorskip("matplotlib")
    from nuggetjudge.plugins.figures.panels import draw_radar

    result = nj.Result(folder)
    for by, names in (("category", ["how", "who", "why"]), ("documents", ["10-10", "40-40"])):
        caption = result.figure("groups", tmp_path / "it.svg", by=by)
        tree = ElementTree.parse(tmp_path / "it.svg")
        texts = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
        assert {*names, "good", "poor"} <= set(texts)
        assert "4 topics" in caption
    with pytest.raises(InputError, match="1 length in all topics, wanted two or more"):
        result.figure("groups", tmp_path / "no.svg", by="documents:99")
    drawn = draw_radar(["a", "b", "c"], {"r": [0.5, math.nan, 1.0]}, "KPR", 3.3)
    line = drawn.axes[0].lines[0]
    assert math.isnan(line.get_ydata()[1])  # a gap, where a 0 would be a score


@pytest.mark.whole
def test_the_page_has_the_same_means(folder):
    from nuggetjudge.plugins.report.groups import make_groups
    from nuggetjudge.plugins.report.source import Source

    by = make_groups(Source([folder], Problems()))["by"]
    assert list(by) == ["domain", "category", "documents"]
    found = by["category"]["KPR"]
    assert found["groups"] == [["how", 1], ["who", 1], ["why", 2]]
    assert {row["run"]: [mean[0] for mean in row["means"]] for row in found["runs"]} == {
        "good": [0.75, 0.5, 0.5, 1],
        "poor": [0.25, 0, 0, 0.5],
    }
