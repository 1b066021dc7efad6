"""Generated runs: what each answer was written from, counted by hand, and what is missing."""

import json
import shutil
from functools import partial

import pytest
from json_lines import read_rows, write_rows
from mock_server import MockServer, Refusal, input_of

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.generate import answer_counts, generate, plan_generate
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.answers import read_answers
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.topics import read_topics

TOPICS = {"tide": "what makes the tides", "kelp": "where does kelp grow"}
PASSAGES = {
    "p1": "The moon pulls the sea.", "p2": "Bays make tides higher.",
    "p3": "Kelp grows on rocks.", "p4": "Cold water suits kelp.",
}  # fmt: skip
RUNS = {
    "bm25": {"tide": ["p1", "p2", "p3"], "kelp": ["p4", "p3", "p1"]},
    "dense": {"tide": ["p2", "p1"], "kelp": ["p3"]},
}
FIRST_TWO = {  # the answers of `echo` for k = 2
    "bm25": {"tide": ["p1", "p2"], "kelp": ["p4", "p3"]},
    "dense": {"tide": ["p2", "p1"], "kelp": ["p3"]},
}


def echo(body):
    """Says every passage, citing it, and then that this is all."""
    passages = input_of(body)["passages"].items()
    sentences = [{"text": text, "citations": [int(number)]} for number, text in passages]
    return {"answer": [*sentences, {"text": "That is all.", "citations": []}]}


def about_kelp(index, body):
    return Refusal() if "kelp" in input_of(body)["question"] else None


@pytest.fixture
def server():
    with MockServer(brain=echo) as up:
        yield up


@pytest.fixture
def write(tmp_path):
    """Writes topics, passages and retrieval runs; the settings that name them."""

    def files(topics=TOPICS, passages=PASSAGES, runs=RUNS):
        folder = tmp_path / "data"
        folder.mkdir(exist_ok=True)
        lines = [f"{name}\t{text}\n" for name, text in topics.items()]
        (folder / "topics.tsv").write_text("".join(lines), encoding="utf-8")
        rows = [json.dumps({"docid": n, "text": text}) + "\n" for n, text in passages.items()]
        (folder / "passages.jsonl").write_text("".join(rows), encoding="utf-8")
        shutil.rmtree(folder / "runs", ignore_errors=True)
        (folder / "runs").mkdir()
        for run_id, of in runs.items():
            ranked = [
                f"{topic} Q0 {name} {rank} {100 - rank} {run_id}\n"
                for topic, names in of.items()
                for rank, name in enumerate(names, 1)
            ]
            (folder / "runs" / f"{run_id}.run").write_text("".join(ranked), encoding="utf-8")
        return {
            "data.topics": folder / "topics.tsv",
            "data.passages": [folder / "passages.jsonl"],
            "data.retrieval": [str(folder / "runs")],
        }

    return files


@pytest.fixture
def made(server, write, tmp_path):
    """Generates in `out`; each folder has a cache of its own, so that nothing hides in it."""

    def run(out="out", model="hosted_vllm/mock", data=None, **settings):
        given = {"run.out": tmp_path / out, "run.cache": tmp_path / f"cache-{out}"}
        given |= {"generate.k": 2, **(data or write()), **settings}
        sets = [f"models.default.api_base={server.base_url}"] if model != "lexical" else []
        return generate(load_config(None, given, sets, model))

    return run


def read_answer_views(folder):
    """Run -> topic -> the answer as it is read back, without a problem."""
    problems, answers = Problems(), {}
    for path in sorted((folder / "answers").iterdir()):
        for answer in read_answers(path, problems):
            assert path.name == f"{answer.run_id}.jsonl"
            answers.setdefault(answer.run_id, {})[answer.topic_id] = answer
    assert not list(problems)
    return answers


def files_of(folder):
    paths = [*(folder / "answers").iterdir(), *folder.iterdir()]
    records = ("manifest.json", "spend.jsonl")  # of times and costs
    return {p.name: p.read_bytes() for p in paths if p.is_file() and p.name not in records}


def test_a_passage_that_two_sentences_cite_counts_once():
    answer = [{"text": "The moon.", "citations": [1, 0]}, {"text": "Tides.", "citations": [1]}]
    counts = answer_counts(["p1", "p2", "p3"], answer)
    assert (counts["citations"], counts["passages"], counts["cited_passages"]) == (3, 3, 2)


@pytest.mark.parametrize("layout", ["rag24", "rag25"])
def test_an_answer_is_written_from_the_first_passages_and_read_back_without_a_problem(
    layout, made, tmp_path
):
    manifest = made(**{"generate.layout": layout})
    answers = read_answer_views(tmp_path / "out")
    assert {run: {t: list(a.references) for t, a in of.items()} for run, of in answers.items()} == (
        FIRST_TWO
    )
    for run_id, of in answers.items():
        for topic_id, answer in of.items():
            names = FIRST_TWO[run_id][topic_id]
            cited = [(s.text, [c.passage_id for c in s.citations]) for s in answer.sentences]
            assert cited == [*((PASSAGES[n], [n]) for n in names), ("That is all.", [])]
    assert manifest["statistics"]["runs"] == {
        "bm25": {
            "topics": 2, "answers": 2, "words": (5 + 4 + 3) + (4 + 4 + 3), "sentences": 6,
            "cited_sentences": 4, "citations": 4, "passages": 4, "cited_passages": 4,
        },
        "dense": {
            "topics": 2, "answers": 2, "words": (4 + 5 + 3) + (4 + 3), "sentences": 5,
            "cited_sentences": 3, "citations": 3, "passages": 3, "cited_passages": 3,
        },
    }  # fmt: skip
    assert manifest["program"] == "generate"
    assert manifest["share_missing"] == 0


def test_the_rows_have_the_fields_of_their_track(made, tmp_path):
    made("a", **{"generate.layout": "rag24"})
    made("b", **{"generate.layout": "rag25"})
    answer = [
        {"text": "Kelp grows on rocks.", "citations": [0]},
        {"text": "That is all.", "citations": []},
    ]
    assert read_rows(tmp_path / "a" / "answers" / "dense.jsonl")[1] == {
        "run_id": "dense", "topic_id": "kelp", "topic": TOPICS["kelp"], "references": ["p3"],
        "response_length": 7, "answer": answer,
    }  # fmt: skip
    assert read_rows(tmp_path / "b" / "answers" / "dense.jsonl")[1] == {
        "metadata": {
            "team_id": "nuggetjudge", "run_id": "dense", "type": "automatic",
            "narrative_id": "kelp", "narrative": TOPICS["kelp"],
        },
        "references": ["p3"],
        "answer": answer,
    }  # fmt: skip


def test_answers_for_trec_2026_are_read_back_without_a_problem(made, write, tmp_path):
    data = write({"rag2026-7": TOPICS["kelp"]}, runs={"bm25": {"rag2026-7": ["p3", "p4"]}})
    made(data=data, **{"generate.layout": "rag25"})
    assert len(read_answer_views(tmp_path / "out")["bm25"]["rag2026-7"].sentences) == 3


def test_the_writer_is_told_the_question_and_the_limits(server, made):
    made(**{"generate.words": 50, "generate.citations": 1})
    asked = [input_of(request.body) for request in server.requests]
    assert {row["question"] for row in asked} == set(TOPICS.values())
    assert {(row["words"], row["citations"]) for row in asked} == {(50, 1)}


@pytest.mark.parametrize("layout", ["rag24", "rag25"])
def test_in_the_place_of_an_answer_that_was_not_made_stands_why_and_it_is_made_later(
    layout, server, made, tmp_path
):
    server.faults = about_kelp
    made = partial(made, **{"generate.layout": layout})
    manifest = made()
    out = tmp_path / "out"
    answers = read_answer_views(out)
    assert {run: {t: a.failed for t, a in of.items()} for run, of in answers.items()} == {
        run: {"tide": None, "kelp": "refused"} for run in RUNS
    }
    assert answers["bm25"]["kelp"].references == ("p4", "p3")
    lines = read_rows(out / "answers" / "bm25.jsonl")
    assert (lines[1]["answer"], lines[1]["failed"]) == ([], "refused")  # empty for other tools
    assert manifest["unjudged_by_reason"] == {"refused": 2}
    assert manifest["share_missing"] == 0.5
    assert manifest["statistics"]["runs"]["dense"]["answers"] == 1
    assert [
        (r["stage"], r["run_id"], r["topic_id"]) for r in read_rows(out / "unjudged.jsonl")
    ] == [
        ("answers", "bm25", "kelp"),
        ("answers", "dense", "kelp"),
    ]
    assert "2 answers were not made (refused)" in (out / "DATASHEET.md").read_text(encoding="utf-8")

    server.faults = None
    n = len(server.requests)
    assert made()["share_missing"] == 0
    assert len(server.requests) == n + 2
    made("undisturbed")
    assert files_of(out) == files_of(tmp_path / "undisturbed")


def test_a_rule_that_every_repair_broke_is_in_the_cache_and_asked_anew_without_it(
    server, made, tmp_path
):
    server.brain = lambda body: {"answer": [{"text": "Kelp.", "citations": [9]}]}
    assert made()["unjudged_by_reason"] == {"unparseable": 4}
    n = len(server.requests)
    assert n <= 4 * 3  # the call and two repairs
    (row, *_) = read_rows(tmp_path / "out" / "unjudged.jsonl")
    assert "cites 9, which is not the number of a passage" in row["detail"]
    server.brain = echo
    assert made()["unjudged_by_reason"] == {"unparseable": 4}
    assert len(server.requests) == n
    assert made(**{"run.cache": False})["share_missing"] == 0


def test_a_topic_for_which_nothing_was_retrieved_costs_no_call(server, made, write, tmp_path):
    manifest = made(data=write(runs={"bm25": {"tide": ["p1"]}}))
    assert len(server.requests) == 1
    assert manifest["unjudged_by_reason"] == {"no_passage": 1}
    assert list(read_answer_views(tmp_path / "out")["bm25"]) == ["tide"]


def test_direct_prompting_asks_the_question_alone_and_differs_from_finding_nothing(
    server, write, tmp_path
):
    """kelp is to have no passages, of tide nothing was found: one answer, from no passage."""
    server.brain = lambda body: {"answer": ["Kelp grows."]}
    data = write(runs={"none": {"kelp": ["no-passages"]}})
    given = {"run.out": tmp_path / "out", "run.cache": False, **data}
    sets = [f"models.default.api_base={server.base_url}"]
    generate(load_config(None, given, sets, "hosted_vllm/mock"))
    assert [input_of(request.body) for request in server.requests] == [
        {"question": TOPICS["kelp"], "words": 400, "rejected": [], "faults": []}
    ]
    [(topic, answer)] = read_answer_views(tmp_path / "out")["none"].items()
    assert (topic, answer.references, answer.text) == ("kelp", (), "Kelp grows.")


def test_answers_as_long_as_the_required_passages_are_asked_for_by_topic(
    server, made, write, tmp_path
):
    """tide: p1 alone (5 words). kelp: p4 answers 0 and p3 answers 1, so both (4 + 4 words)."""
    data = write(runs={"bm25": RUNS["bm25"]})
    rows = {"tide": {"p1": [5, 4], "p2": [0, 3]}, "kelp": {"p3": [0, 5], "p4": [3, 0]}}
    questions = [{"id": topic, "subquestions": ["a?", "b?"]} for topic in rows]
    ratings = [
        {"id": topic, "docid": name, "rating": rating}
        for topic, of in rows.items()
        for name, rating in of.items()
    ]
    write_rows(tmp_path / "questions.jsonl", questions)
    write_rows(tmp_path / "ratings.jsonl", ratings)
    (tmp_path / "pool.qrels").write_text(
        "".join(f"{r['id']} 0 {r['docid']} 1\n" for r in ratings), encoding="utf-8"
    )
    data |= {
        "data.questions": tmp_path / "questions.jsonl",
        "data.ratings": [tmp_path / "ratings.jsonl"],
        "data.pool": tmp_path / "pool.qrels",
    }
    server.brain = lambda body: {"answer": [{"text": "Sea.", "citations": [1]}]}
    made(data=data, **{"generate.words": "required"})
    asked = {
        input_of(request.body)["question"]: input_of(request.body)["words"]
        for request in server.requests
    }
    assert asked == {TOPICS["tide"]: 5, TOPICS["kelp"]: 8}
    ratings[0]["rating"] = [-1, 4]  # what tide requires is open
    write_rows(tmp_path / "ratings.jsonl", ratings)
    manifest = made("open", data=data, **{"generate.words": "required"})
    assert manifest["unjudged_by_reason"] == {"incomplete": 1}


def test_a_passage_without_text_is_listed_and_none_moves_up_in_its_place(made, write, tmp_path):
    manifest = made(data=write(runs={"bm25": {"tide": ["p1", "lost", "p2"]}}))
    assert read_answer_views(tmp_path / "out")["bm25"]["tide"].references == ("p1",)
    assert manifest["problems"] == {"no_passage": 1}
    (row,) = read_rows(tmp_path / "out" / "problems.jsonl")
    assert row["what"] == "'lost', retrieved by bm25 for topic tide, has no text"


def test_the_order_of_replies_changes_no_byte(server, made, tmp_path):
    made("one", **{"run.concurrency": 1})
    server.latency_s = lambda index, body: (index * 7 % 5) / 100
    made("many", **{"run.concurrency": 16})
    assert server.max_in_flight > 1
    assert files_of(tmp_path / "one") == files_of(tmp_path / "many")


def test_a_budget_that_ends_leaves_answers_missing_and_the_next_call_asks_for_them(server, made):
    first = made(**{"run.max_calls": 3, "run.concurrency": 1})
    assert first["limit_reached"]
    assert first["unjudged_by_reason"] == {"budget": 1}
    assert made()["share_missing"] == 0
    assert len(server.requests) == 4


def test_the_limit_takes_the_first_topics(made, tmp_path):
    assert made(**{"run.limit": 1})["data"]["topic_ids"] == ["tide"]
    assert {run: list(of) for run, of in read_answer_views(tmp_path / "out").items()} == {
        "bm25": ["tide"],
        "dense": ["tide"],
    }


def test_a_run_can_be_given_a_name_which_with_several_runs_stands_before_theirs(
    made, write, tmp_path
):
    made("many", **{"generate.run_id": "gpt"})
    made("one", data=write(runs={"bm25": RUNS["bm25"]}), **{"generate.run_id": "gpt"})
    assert list(read_answer_views(tmp_path / "many")) == ["gpt-bm25", "gpt-dense"]
    assert list(read_answer_views(tmp_path / "one")) == ["gpt"]


def test_answers_that_a_new_call_does_not_write_go_and_other_files_stay(made, write, tmp_path):
    made()
    answers = tmp_path / "out" / "answers"
    (answers / "mine.jsonl").write_text("", encoding="utf-8")
    (answers / "torn.jsonl.part").write_text("", encoding="utf-8")
    made(data=write(runs={"bm25": RUNS["bm25"]}))
    assert {path.name for path in answers.iterdir()} == {"bm25.jsonl", "mine.jsonl"}


def test_ones_own_instructions_are_sent_and_ask_for_the_answers_anew(server, made, tmp_path):
    made()
    own = tmp_path / "rhymes.txt"
    own.write_text("Answer in rhymes.\n", encoding="utf-8")
    n = len(server.requests)
    made(**{"generate.instructions": own})
    sent = [r.body["messages"][0]["content"] for r in server.requests[n:]]
    assert len(sent) == 4
    assert all(text.startswith("Answer in rhymes.\n\n") for text in sent)
    assert "instructions: custom" in (tmp_path / "out" / "DATASHEET.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("content", "message"), [("\n", "is empty"), (None, "cannot be read")])
def test_instructions_that_say_nothing_are_an_input_error(content, message, made, tmp_path):
    own = tmp_path / "own.txt"
    if content is not None:
        own.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=rf"own\.txt: .*{message}"):
        made(**{"generate.instructions": own})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("answers", None, "has a answers/ that no build wrote"),
        ("manifest.json", '{"fingerprint": ""}', "results of judge run"),
    ],
)
def test_a_folder_of_something_else_is_left_alone(name, content, message, made, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    if content is None:
        (out / name).mkdir()
    else:
        (out / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        made(model="lexical")
    assert [path.name for path in out.iterdir()] == [name]


def test_what_was_generated_can_be_judged(made, tmp_path):
    made(model="lexical")
    data = {
        "program": "support", "data.topics": tmp_path / "data" / "topics.tsv",
        "data.passages": [tmp_path / "data" / "passages.jsonl"],
        "data.runs": [str(tmp_path / "out" / "answers")], "run.out": tmp_path / "judged",
    }  # fmt: skip
    result = judge_collection(load_config(None, data, (), "lexical"))
    means = {
        row.run_id: row.value
        for row in result.scores
        if row.topic_id == "all" and row.measure == "support_precision"
    }
    assert means == {"bm25": 1.0, "dense": 1.0}  # whole sentences of what they cite
    assert result.is_complete


def test_lexical_answers_to_real_topics_are_read_back_without_a_problem(
    made, shared_data, tmp_path
):
    folder = shared_data / "rag24_e2e"
    lines = []
    for row in read_rows(folder / "candidates.jsonl"):
        for rank, name in enumerate(row["docids"], 1):
            lines.append(f"{row['topic_id']} Q0 {name} {rank} {100 - rank} reference\n")
    (tmp_path / "reference.run").write_text("".join(lines), encoding="utf-8")
    data = {
        "data.topics": folder / "topics.tsv",
        "data.passages": [folder / "passages.jsonl"],
        "data.retrieval": [str(tmp_path / "reference.run")],
    }
    manifest = made(model="lexical", data=data, **{"generate.k": 20})
    answers = read_answer_views(tmp_path / "out")["reference"]
    assert list(answers) == list(read_topics(folder / "topics.tsv", Problems()))
    assert manifest["share_missing"] == 0
    assert all(len(answer.references) == 20 for answer in answers.values())


# What can be seen before an answer is paid for: calls, limits of the layout, names of runs.
@pytest.fixture
def planned(tmp_path):
    """The plan for two topics, of which one has two passages and the other none."""
    (tmp_path / "topics.tsv").write_text(
        "t1\twhat makes the tides\nt2\twhere does kelp grow\n", encoding="utf-8"
    )
    rows = [{"docid": n, "text": "The moon pulls the sea. " * 40} for n in ("p1", "p2")]
    write_rows(tmp_path / "passages.jsonl", rows)
    price = "models.default.price={input: 2.0, output: 8.0}"
    sets = ["models.default.api_base=http://127.0.0.1:9/v1", price]

    def plan(tag="bm25", topic="t1", **settings):
        lines = [f"{topic} Q0 p{n} {n} {9 - n} {tag}\n" for n in (1, 2)]
        (tmp_path / "r.run").write_text("".join(lines), encoding="utf-8")
        given = {
            "data.topics": tmp_path / "topics.tsv",
            "data.passages": [tmp_path / "passages.jsonl"],
            "data.retrieval": [str(tmp_path / "r.run")], "run.out": tmp_path / "out", **settings,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        return plan_generate(load_config(None, given, sets, "hosted_vllm/mock"))

    return plan


def test_a_plan_has_a_call_for_each_context_and_leaves_nothing(planned, tmp_path):
    (plan,) = planned(**{"generate.words": 100})
    assert (plan.judge, plan.calls) == ("answer_writer", 1)
    sentence = {"text": "The moon pulls the sea.", "citations": [1, 2]}  # of five words
    text = json.dumps({"answer": [sentence] * 20})
    size = len(text) + sum(map(text.count, '{}[]":,'))  # a mark is half a token
    assert plan.completion_tokens == size // 4 + 1
    texts = 2 * 40 * len("The moon pulls the sea. ") // 4  # 4 characters a token
    assert texts < plan.prompt_tokens < texts + 400
    assert plan.cost == pytest.approx((2 * plan.prompt_tokens + 8 * plan.completion_tokens) / 1e6)
    assert not (tmp_path / "out").exists()


def test_a_plan_counts_the_first_passages_only(planned):
    (two,), (one,) = planned(), planned(**{"generate.k": 1})
    assert two.prompt_tokens - one.prompt_tokens > 200


@pytest.mark.parametrize("name", ["topics", "passages", "retrieval"])
def test_what_is_not_named_is_told(name, planned):
    with pytest.raises(InputError, match=rf"no {name}: add a file \(data\.{name}, --{name}\)"):
        planned(**{f"data.{name}": None})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"generate.k": 21}, r"generate\.k: 21, wanted at most 20 \(TREC RAG 2024\)"),
        ({"generate.words": 401}, r"generate\.words: 401, wanted at most 400 \(TREC RAG 2024\)"),
        ({"generate.k": 101}, r"generate\.k"),
        ({"generate.layout": "rag23"}, r"generate\.layout"),
        ({"generate.run_id": "a b"}, "an id without white space"),
        ({"generate.run_id": "a/b"}, "run 'a/b' cannot name a file"),
        ({"generate.run_id": ".b"}, r"run '\.b' cannot name a file"),
        ({"generate.run_id": "x" * 250}, "cannot name a file"),
        ({"tag": "../b"}, r"run '\.\./b' cannot name a file"),
    ],
)
def test_settings_that_would_give_a_bad_run_are_refused(settings, message, planned):
    with pytest.raises(InputError, match=message):
        planned(**settings)


def test_the_layout_of_2025_takes_longer_answers_but_those_of_2026_have_limits(planned, tmp_path):
    long = {"generate.layout": "rag25", "generate.words": 1500, "generate.k": 100}
    assert planned(**long)[0].calls == 1
    (tmp_path / "topics.tsv").write_text("rag2026-1\twhat makes the tides\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"wanted at most 1024 \(TREC RAG 2026\)"):
        planned(topic="rag2026-1", **long)
    few = {"generate.layout": "rag25", "generate.citations": 4}
    with pytest.raises(InputError, match=r"generate\.citations: 4, wanted at most 3"):
        planned(topic="rag2026-1", **few)
