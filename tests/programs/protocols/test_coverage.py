"""The coverage program on one topic that can be counted by hand."""

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest
from json_lines import read_rows
from losing import CONTEXTS, World
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.judges.lexical import questions
from nuggetjudge.programs.analysis.agree import agree_scores
from nuggetjudge.programs.analysis.cell_texts import read_judge_items
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import Config, CoverageConfig
from nuggetjudge.programs.protocols.coverage.files import read_coverage
from nuggetjudge.programs.protocols.coverage.topic import CoverageData, TopicView
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.questions import NOT_JUDGED
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import QuestionSet, SubQuestion

# t:0#0 and t:1#2 are required; t:0#1 adds nothing; the last question has no answer in the pool.
QUESTIONS = ["Who struck?", "For how long?", "What for?", "Who won?"]
PASSAGES = {
    "t:0#0": "dockers struck nine days",
    "t:0#1": "nine days",
    "t:1#2": "the dockers wanted pay and rest",
    "x:0#0": "a strike for pay",
}
RATINGS = {
    "t:0#0": [5, 4, 0, 0],
    "t:0#1": [0, 4, 2, 0],
    "t:1#2": [0, 0, 3, 2],
    "x:0#0": [0, 4, 3, 5],
    "t:report": [5, 5, 0, 5],
    "t:report:a": [3, 2, 0, 0],
}
ANSWER = "dockers struck for pay now"  # 5 words


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def rating_lines(ratings):
    return rows(*({"id": "t", "docid": name, "rating": given} for name, given in ratings.items()))


@pytest.fixture
def files(tmp_path):
    """Writes the inputs; `files(ratings=...)` with other ratings."""

    def write(ratings=RATINGS):
        put = {
            "topics.jsonl": rows({"id": "t", "request": "Report on the strike."}),
            "questions.jsonl": rows({"id": "t", "subquestions": QUESTIONS}),
            "passages.jsonl": rows(*({"id": n, "text": text} for n, text in PASSAGES.items())),
            "reference.jsonl": rows({"id": "t", "report": "The dockers struck for nine days."}),
            "ratings.jsonl": rating_lines(ratings),
            "foreign.jsonl": rows({"id": "x:0#0", "text": PASSAGES["x:0#0"]}),
            "a.run": "t Q0 t:0#1 1 2 a\nt Q0 t:1#2 2 1 a\nt Q0 t:0#0 3 0 a\n",
            "b.run": "t Q0 t:0#0 1 2 b\nt Q0 x:0#0 2 1 b\n",
            "answers.jsonl": rows(
                {
                    "run_id": "a",
                    "topic_id": "t",
                    "topic": "strike",
                    "references": ["t:0#0", "t:1#2", "t:0#1"],
                    "response_length": 5,
                    "answer": [{"text": ANSWER, "citations": [0]}],
                }
            ),
        }
        for name, text in put.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


GIVEN = ("topics", "questions", "passages", "ratings", "retrieval", "runs")


def config_of(folder, *given, model="lexical", sets=(), **settings):
    paths = {
        "topics": folder / "topics.jsonl", "questions": folder / "questions.jsonl",
        "passages": [folder / "passages.jsonl"], "ratings": [folder / "ratings.jsonl"],
        "reference": folder / "reference.jsonl",
        "retrieval": [str(folder / "a.run"), str(folder / "b.run")],
        "runs": [str(folder / "answers.jsonl")],
    }  # fmt: skip
    named = {f"data.{name}": paths[name] for name in given or GIVEN}
    fixed = {"program": ["coverage"], "coverage.k": 2, "run.out": folder / "out"}
    return load_config(None, fixed | named | settings, ["run.cache=false", *sets], model)


def judged(folder, *given, **settings):
    return nj.run(config_of(folder, *given, **settings))


def scores(result):
    return {(r.run_id, r.measure): r.value for r in result.scores if r.topic_id == "t"}


def test_scores_of_contexts_and_reports_come_out_as_counted_by_hand(files):
    result = judged(files())
    assert result.is_complete
    values = scores(result)
    wanted = {
        ("a", "coverage"): 2 / 3,
        ("a", "alpha_ndcg@2"): (1 + 1 / log2(3)) / (2 + 1.5 / log2(3)),  # best: t:0#0, x:0#0
        ("a", "alpha_ndcg_required@2"): (1 + 1 / log2(3)) / (2 + 1 / log2(3)),
        ("a", "density"): ((2 / 8) / (3 / 10)) ** 0.5,
        ("a", "redundancy"): 0.0,
        ("b", "coverage"): 1.0,
        ("b", "density"): ((3 / 8) / (3 / 10)) ** 0.5,
        ("b", "redundancy"): 1 / 4,
        ("Z*", "coverage"): 1.0,
        ("Z*", "density"): 1.0,
        ("Z*", "alpha_ndcg_required@2"): 1.0,
        ("a", "report_coverage"): 1 / 3,
        ("a", "report_density"): ((1 / 5) / (3 / 10)) ** 0.5,
        ("y*", "report_coverage"): 2 / 3,
    }
    assert {cell: values[cell] for cell in wanted} == pytest.approx(wanted)
    assert score_path(result.folder, Problems()) == result.scores


def test_files_say_what_is_required_what_is_redundant_and_what_each_rank_adds(files):
    folder = judged(files()).folder
    qrels = (folder / "qrels.txt").read_text(encoding="utf-8").splitlines()
    assert qrels == ["t 0 t:0#0 3", "t 0 t:0#1 1", "t 0 t:1#2 3"]
    diverse = (folder / "diversity_qrels.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in diverse if line.endswith(" 1")] == [
        "t 0 t:0#0 1", "t 1 t:0#0 1", "t 1 t:0#1 1", "t 1 x:0#0 1", "t 2 t:1#2 1", "t 2 x:0#0 1",
    ]  # fmt: skip
    steps = read_rows(folder / "ranks.jsonl")
    second = next(s for s in steps if s["run_id"] == "b" and s["rank"] == 2)
    assert (second["n_answered"], second["n_new"], second["redundancy"]) == (2, 1, 0.5)
    data, settings = read_coverage(Folder(folder, Problems()))
    assert data.rankings["a"]["t"] == ("t:0#1", "t:1#2")
    assert settings.k == 2


def test_passages_of_other_topics_answer_nothing_when_own_only(files):
    values = scores(judged(files(), **{"coverage.own_only": True}))
    assert values["b", "coverage"] == pytest.approx(2 / 3)
    assert values["b", "redundancy"] == 0.0


def test_a_context_may_be_as_long_as_the_required_passages(files):
    values = scores(judged(files(), **{"coverage.k": "required"}))
    assert values["a", "coverage"] == pytest.approx(2 / 3)
    assert ("a", "alpha_ndcg@required") in values


def test_what_an_answer_names_can_be_its_context(files):
    given = ("topics", "questions", "passages", "ratings", "runs")
    values = scores(judged(files(), *given, **{"coverage.contexts": "answers"}))
    assert values["a", "coverage"] == 1.0


def brain(body):
    """Answers a question about pay with 3, all others with 0."""
    assert "What for?" in input_of(body)["question"]
    return {"grade": 3}


def missing_one():
    gap = {"t:1#2": [0, 0, -1, 2], "x:0#0": [0, 4, -2, 5]}
    return {**RATINGS, **gap}


def test_only_missing_ratings_are_asked_for(files):
    with MockServer(brain=brain) as server:
        base = f"models.default.api_base={server.base_url}"
        model = {"model": "hosted_vllm/mock", "sets": [base]}
        (estimate,) = plan(config_of(files(missing_one()), **model))
        result = judged(files(missing_one()), **model)
        assert len(server.requests) == estimate.calls == 2
    assert scores(result) == scores(judged(files(), **{"run.out": result.folder.parent / "all"}))


def test_an_unreadable_rating_bounds_the_scores_and_is_not_0(files):
    broken = {**RATINGS, "t:1#2": [0, 0, -1, 2]}
    given = ("topics", "questions", "ratings", "retrieval")  # no text, so that nothing is asked
    result = judged(files(broken), *given)
    assert not result.is_complete
    cells = {(r.run_id, r.measure, r.topic_id): r for r in result.scores}
    row = cells["a", "coverage", "t"]
    assert row.n_unjudged > 0
    # Rated 3 and more the passage would make it 2 of 3, rated lower 1 of 2.
    assert row.low <= 1 / 2
    assert row.high == pytest.approx(2 / 3)
    assert {r["reason"] for r in result.unjudged} == {"no_passage"}


def test_a_judge_that_fails_leaves_ratings_out_and_is_listed(files):
    with MockServer(brain=brain) as server:
        server.faults = lambda index, body: Refusal()
        base = f"models.default.api_base={server.base_url}"
        result = judged(files(missing_one()), model="hosted_vllm/mock", sets=[base])
    assert [row["reason"] for row in result.unjudged] == ["refused", "refused"]
    ratings = {row["docid"]: row["rating"] for row in result.judgements["ratings"]}
    assert ratings["t:1#2"] == [0, 0, -2, 2]


def test_questions_are_made_from_the_reference_report(files):
    given = ("topics", "reference", "passages", "retrieval", "runs")
    result = judged(files(), *given, **{"coverage.n": 2})
    (row,) = result.judgements["questions"]
    assert len(row["subquestions"]) == 1  # the report states one thing
    assert result.manifest["counts"]["fewer questions than requested"] == 1
    assert scores(result)["y*", "report_coverage"] == 1.0


def test_a_topic_without_questions_is_left_out_and_listed(files):
    folder = files()
    with (folder / "topics.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(rows({"id": "u", "request": "Report on nothing."}))
    result = judged(folder)
    assert result.manifest["problems"]["no_questions"] == 1
    assert result.score("a", "coverage") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("given", "settings", "says"),
    [
        (("topics", "retrieval"), {}, "coverage needs sub-questions"),
        (("topics", "questions"), {}, "nothing to judge"),
        (("topics", "questions", "retrieval"), {}, "no passage has a text"),
        (
            ("topics", "questions", "retrieval", "runs"),
            {"coverage.k": "required", "data.passages": "foreign.jsonl"},
            "wanted ratings or a pool",
        ),
        (("topics", "questions", "runs"), {}, "cannot tell which questions are answerable"),
        (("topics", "reference", "ratings", "retrieval"), {}, "the rated questions are missing"),
        (GIVEN, {"coverage.k": 0}, "wanted 1 to 10,000, or required"),
        (
            ("topics", "questions", "ratings"),
            {"coverage.contexts": "answers"},
            "coverage.contexts: answers, but there are no answers",
        ),
        (GIVEN, {"coverage.tokenizer": "letters"}, "coverage.tokenizer"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_asked(files, given, settings, says):
    folder = files()
    if "data.passages" in settings:
        settings = {**settings, "data.passages": [folder / settings["data.passages"]]}
    with pytest.raises(InputError, match=says):
        judged(folder, *given, **settings)


def test_a_pool_passage_that_no_run_found_is_rated_too(files):
    result = judged(files({}), "topics", "questions", "passages", "retrieval")
    ratings = {row["docid"]: row["rating"] for row in result.judgements["ratings"]}
    assert ratings.keys() == PASSAGES.keys()  # t:0#0 to t:1#2 are the topic's own, b found x:0#0
    pool = json.loads((result.folder / "pools.jsonl").read_text(encoding="utf-8"))["passage_ids"]
    assert pool == ["t:0#0", "t:0#1", "t:1#2"]


def test_without_a_pool_all_questions_can_count(files):
    result = judged(files(), "topics", "questions", "runs", **{"coverage.answerable": "all"})
    assert result.n_judged == len(QUESTIONS)
    given = ("topics", "questions", "ratings", "runs", "retrieval")
    settings = {"coverage.answerable": "all", "run.out": result.folder.parent / "all"}
    values = scores(judged(files(), *given, **settings))
    assert values["a", "coverage"] == 2 / 4
    assert values["a", "report_coverage"] == 1 / 4


def test_an_answer_that_names_nothing_has_an_empty_context_in_every_command(files):
    folder = files()
    row = json.loads((folder / "answers.jsonl").read_text(encoding="utf-8"))
    row |= {"references": [], "answer": [{"text": ANSWER, "citations": []}]}
    (folder / "answers.jsonl").write_text(rows(row), encoding="utf-8")
    given = ("topics", "questions", "passages", "ratings", "runs")
    result = judged(folder, *given, **{"coverage.contexts": "answers"})
    assert scores(result)["a", "coverage"] == 0.0
    assert score_path(result.folder, Problems()) == result.scores


def test_a_run_that_is_to_have_no_passages_has_a_report_and_no_context_to_score(files):
    folder = files()
    (folder / "a.run").write_text("t Q0 no-passages 1 1 a\n", encoding="utf-8")
    values = scores(judged(folder, *GIVEN))
    assert values["a", "report_coverage"] == 1 / 3
    assert ("a", "coverage") not in values
    assert ("b", "coverage") in values


def test_an_undecided_question_is_no_subtopic_though_a_foreign_passage_answers_it(files):
    ratings = {"t:0#0": [5, -1, 0, 0], "x:0#0": [0, 5, 0, 0], "t:0#1": [0] * 4, "t:1#2": [0] * 4}
    result = judged(files(ratings), "topics", "questions", "ratings", "retrieval")
    cells = {(r.run_id, r.measure, r.topic_id): r for r in result.scores}
    row = cells["b", "alpha_ndcg@2", "t"]  # t:0#0, then x:0#0, by the known ratings
    assert row.value == 1.0
    assert row.low <= 1 / (1 + 1 / log2(3))
    assert row.n_unjudged > 0


def two_topics(folder):
    """Topic u, of which only run b ranks a passage, and topic v without questions."""
    more = {
        "topics.jsonl": rows({"id": "u", "request": "More."}, {"id": "v", "request": "None."}),
        "questions.jsonl": rows({"id": "u", "subquestions": ["Who?"]}),
        "ratings.jsonl": rows(*({"id": "u", "docid": f"u:0#{i}", "rating": [5]} for i in range(2))),
        "b.run": "u Q0 u:0#0 1 2 b\nu Q0 u:0#1 2 1 b\n",
    }
    for name, text in more.items():
        with (folder / name).open("a", encoding="utf-8") as stream:
            stream.write(text)
    return judged(folder, "topics", "questions", "ratings", "retrieval")


def test_a_topic_that_a_run_did_not_rank_is_no_context_without_repetition(files):
    result = two_topics(files())
    assert result.score("a", "coverage") == pytest.approx((2 / 3 + 0) / 2)
    assert result.score("a", "redundancy") == 0.0  # of t alone, where nothing is repeated
    assert result.score("b", "redundancy") == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_runs_are_compared_on_topics_with_questions_and_without_the_oracles(files):
    result = two_topics(files())
    comparison = compare_runs([result.folder], Problems())["measures"]["coverage"]
    assert {row["run_id"]: row["mean"] for row in comparison["runs"]} == {
        "a": pytest.approx(1 / 3),
        "b": 1.0,
    }
    assert comparison["runs"][0]["n_topics"] == 2
    path = result.folder / "scores.jsonl"
    both = agree_scores(path, path, Problems(), {"resamples": 0, "seed": 0, "level": 0.95})
    assert both["measures"]["coverage"]["run_scores"].keys() == {"a", "b"}


def test_a_fitted_judge_that_can_answer_nothing_is_refused(files, tmp_path):
    folder = files(missing_one())
    state = {
        "format": "nuggetjudge-judge-1", "judge": "answerability",
        "version": nj.judges.AnswerabilityGrader.version, "scale": ["0", "1", "2", "3", "4", "5"],
        "model": "lexical", "correction": {"cuts": [0.5], "labels": ["0", "1"]},
    }  # fmt: skip
    path = tmp_path / "fitted.json"
    path.write_text(json.dumps(state), encoding="utf-8")
    with pytest.raises(InputError, match="its best label is 1, so no label would reach eta 3"):
        judged(folder, **{"judges.answerability.state": path})
    path.write_text(
        json.dumps(state | {"correction": {"cuts": [0.5], "labels": ["0", "5"]}}), encoding="utf-8"
    )
    ratings = judged(folder, **{"judges.answerability.state": path}).judgements["ratings"]
    assert {row["rating"][2] for row in ratings if row["docid"] == "t:1#2"} <= {0, 5}
    path.write_text(
        json.dumps({**json.loads(path.read_text(encoding="utf-8")), "window": 15}), encoding="utf-8"
    )
    with pytest.raises(InputError, match="calls of up to 15 items; this judge's window is 1"):
        judged(folder, **{"judges.answerability.state": path})


def test_a_probe_asks_the_sub_question_and_not_the_request(files):
    result = judged(files(), "topics", "questions", "passages", "retrieval")
    judge = nj.judges.AnswerabilityGrader(model="lexical")
    items = read_judge_items(result.folder, judge, Config(), Problems())
    assert {item.inputs["question"] for item in items} <= set(QUESTIONS)


def test_a_topic_whose_questions_were_not_made_is_unjudged_and_moves_no_mean(tmp_path):
    def lost(stage, item):
        return stage == "questions" and item.ids["topic_id"] == "t1"

    world = World(tmp_path, seed=3)
    whole, part = world.judged("whole", CONTEXTS), world.judged("part", CONTEXTS, lost)
    assert part.manifest["topics_without_questions"] == ["t1"]
    assert not part.is_complete
    cells = [
        {(r.run_id, r.measure, r.topic_id): r for r in result.scores} for result in (whole, part)
    ]
    for run, measure in {(run, measure) for run, measure, topic in cells[0] if topic == "t1"}:
        row, mean = cells[1][run, measure, "t1"], cells[1][run, measure, "all"]
        of_others = [
            cell.value
            for (one, name, topic), cell in cells[0].items()
            if (one, name) == (run, measure) and topic not in ("t1", "all")
        ]
        assert (row.value, row.n_unjudged) == (None, 1)
        known = [value for value in of_others if value is not None]
        if measure in ("coverage", "report_coverage"):
            assert (row.low, row.high) == (0.0, 1.0)
            assert mean.high - mean.low > 0
        assert known or mean.value is None
    assert score_path(part.folder, Problems()) == part.scores


def test_the_row_of_what_is_required_is_bounded_while_a_missing_rating_leaves_it_open(files):
    """t:1#2 is required for the third question alone, whose rating is missing."""
    given = ("topics", "questions", "ratings", "retrieval")  # no text, so that nothing is asked
    result = judged(files({**RATINGS, "t:1#2": [0, 0, -1, 2]}), *given)
    rows = {r.measure: r for r in result.scores if (r.run_id, r.topic_id) == ("Z*", "t")}
    assert (rows["coverage"].value, rows["coverage"].low, rows["coverage"].high) == (1.0, 0.0, 1.0)
    assert rows["coverage"].n_unjudged > 0
    assert (rows["alpha_ndcg_required@2"].low, rows["alpha_ndcg_required@2"].high) == (None, None)
    known = (result.folder / "qrels.txt").read_text(encoding="utf-8").split()
    assert "t:1#2" not in known


def test_contexts_as_long_as_required_have_the_widest_bounds_while_that_is_open(files):
    given = ("topics", "questions", "ratings", "retrieval")
    broken = {**RATINGS, "t:1#2": [0, 0, -1, 2]}
    result = judged(files(broken), *given, **{"coverage.k": "required"})
    rows = {r.measure: r for r in result.scores if (r.run_id, r.topic_id) == ("a", "t")}
    assert (rows["coverage"].low, rows["coverage"].high) == (0.0, 1.0)
    assert rows["alpha_ndcg_required@required"].high is None


def test_a_context_that_was_not_made_opens_its_topic_for_all(files):
    folder = files()
    (folder / "b.run").write_text("t Q0 failed:error 1 1 b\n", encoding="utf-8")
    result = judged(folder, "topics", "questions", "passages", "ratings", "retrieval")
    assert result.manifest["unjudged"] == {"contexts": 1}
    assert not result.is_complete
    rows = {(r.run_id, r.measure): r for r in result.scores if r.topic_id == "t"}
    lost, other = rows["b", "coverage"], rows["a", "coverage"]
    assert (lost.value, lost.low, lost.high) == (None, 0.0, 1.0)
    assert (other.value, other.low, other.high, other.n_unjudged) == (
        pytest.approx(2 / 3), 0.0, 1.0, 1,
    )  # fmt: skip
    assert score_path(result.folder, Problems()) == result.scores


def test_a_context_of_which_no_answer_is_known_may_have_no_redundancy_at_all(files):
    """Both ratings are missing: 0/0, or up to a half; then the mean may be that of other topics."""
    ratings = {"t:0#0": [5, 0, 0, 0], "t:0#1": [-2] * 4, "t:1#2": [-2] * 4}
    given = ("topics", "questions", "ratings", "retrieval")
    result = judged(files(ratings), *given)
    [row] = [
        r for r in result.scores if (r.run_id, r.measure, r.topic_id) == ("a", "redundancy", "t")
    ]
    assert (row.value, row.low, row.high) == (None, 0.0, 1.0)


# Sub-questions that no passage answers are counted and score nobody; a failure is neither.
REQUEST = "why do bridges sway and how do engineers keep bridges steady and who painted the wind"
RESEARCH_PASSAGES = {
    "deck": "Gusts of wind make long bridges sway.",
    "damp": "Engineers keep bridges steady by heavy dampers.",
    "wind": "The wind turned.",
}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def run(folder: Path, model: Any = "lexical", **settings: Any) -> nj.Result:
    folder.mkdir(exist_ok=True)
    files = {
        "topics.jsonl": lines({"id": "t", "request": REQUEST}),
        "passages.jsonl": lines(
            *({"id": n, "text": text} for n, text in RESEARCH_PASSAGES.items())
        ),
        "a.run": "t Q0 deck 1 2 a\nt Q0 wind 2 1 a\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    given = {
        "program": ["coverage"], "questions.method": "research",
        "data.topics": folder / "topics.jsonl", "data.passages": [folder / "passages.jsonl"],
        "data.retrieval": [str(folder / "a.run")], "run.out": folder / "out", "run.cache": False,
    }  # fmt: skip
    if isinstance(model, dict):
        given["models.default"], model = model, None
    return nj.run(load_config(None, given | settings, [], model))


def test_what_no_passage_answers_is_out_of_the_denominator_and_counted(tmp_path: Path) -> None:
    result = run(tmp_path / "d")
    researched = read_rows(result.folder / "research.jsonl")
    assert [(row["question_id"], row["answered_by"]) for row in researched] == [
        ("0", "deck"), ("1", "damp"), (None, None),
    ]  # fmt: skip
    counted = result.manifest["counts"]
    assert [n for name, n in counted.items() if "unanswerable_in_corpus" in name] == [1]
    assert read_rows(result.folder / "pools.jsonl")[0]["passage_ids"] == ["damp", "deck"]
    scores = {(r.run_id, r.measure): r.value for r in result.scores if r.topic_id == "t"}
    assert scores["a", "coverage"] == 0.5  # one of the two that can be answered
    assert result.is_complete
    assert score_path(result.folder, Problems()) == result.scores


def test_a_grade_that_is_missing_makes_the_topic_unjudged(tmp_path: Path) -> None:
    def brain(body: dict[str, Any]) -> Any:
        asked = input_of(body)
        if "context" not in asked:
            return questions.split_question(asked)
        return questions.grade_answer(asked)

    def refuse(index: int, body: dict[str, Any]) -> Any:
        return Refusal() if input_of(body).get("context") == RESEARCH_PASSAGES["wind"] else None

    with MockServer(brain, faults=refuse) as server:
        model = {"model": "openai/mock", "api_base": server.base_url}
        result = run(tmp_path / "d", model)
    assert result.manifest["topics_without_questions"] == ["t"]
    assert result.manifest["unjudged_by_reason"]["refused"] >= 1
    [value] = [r.value for r in result.scores if (r.run_id, r.measure) == ("a", "coverage")
               and r.topic_id == "t"]  # fmt: skip
    assert value is None


def test_research_wants_passages(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="add passage files"):
        run(tmp_path / "d", **{"data.passages": []})


# The density of a context, where ratings are missing that say how long P** is.
TOPIC_QUESTIONS = tuple(SubQuestion(id=str(i), text=f"Question {i}?") for i in range(3))
TOKENS = {"t:0#0": 10, "t:1#0": 5, "t:2#0": 40}


def view(last, **settings):
    """Three passages; the first answers two questions, the others are short and long and open."""
    asked = QuestionSet(topic_id="t", questions=TOPIC_QUESTIONS, n_columns=3)
    ratings = {"t:0#0": (5, 5, 0), "t:1#0": (0, 0, last[0]), "t:2#0": (0, 0, last[1])}
    data = CoverageData({"t": asked}, {"t": ratings}, pools={"t": tuple(ratings)}, tokens=TOKENS)
    return TopicView(data, "t", CoverageConfig(weight=1.0, k=1, **settings))


def test_a_missing_rating_of_the_pool_leaves_the_density_without_bounds():
    value = view((NOT_JUDGED, NOT_JUDGED)).context_values(["t:0#0"])["density"]
    assert (value.value, value.low, value.high) == (1.0, None, None)
    assert value.n_unjudged > 0


def test_there_is_no_density_where_all_questions_count():
    assert "density" in view((0, 5)).context_values(["t:0#0"])
    assert "density" not in view((0, 5), answerable="all").context_values(["t:0#0"])
