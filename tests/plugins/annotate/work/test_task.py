"""Each kind of what was judged can be labelled, with its texts and without the judge's words."""

import json
from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from json_lines import write_rows

import nuggetjudge as nj
from nuggetjudge.judges.table import find_judge
from nuggetjudge.plugins.annotate.store.kinds import Kind
from nuggetjudge.plugins.annotate.work.answers import group_items
from nuggetjudge.plugins.annotate.work.guidelines import guidelines_sha256, read_guidelines
from nuggetjudge.plugins.annotate.work.next_labels import choose, influence, next_labels
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.queue import make_queue
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.wording import (
    cannot_tell_key,
    find_variant,
    get_question,
    get_words,
    make_practice,
    show_labels,
    write_guidelines,
)
from nuggetjudge.plugins.trec.narratives.whole import NarrativeRelevanceJudge
from nuggetjudge.plugins.trec.settings import GAINS
from nuggetjudge.records.judgements import text_hash
from nuggetjudge.records.reading.problems import InputError, Problems

KINDS = {  # how many, the judge's names of what is shown
    "nuggets": (380, ["question", "answer", "nugget"]),
    "support": (100, ["question", "sentence", "title", "passage"]),
    "relevance": (50, ["question", "title", "passage"]),
    "ratings": (38, ["question", "context"]),
    "keypoints": (38, ["key_point", "response"]),
    "verify": (20, ["question", "text", "spans"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_its_items_texts_guidelines_and_practice(folder, kind):
    task = read_task([folder], kind, Problems())
    n, names = KINDS[kind]
    assert len(task.cells) == len(set(task.cells)) == n
    shown = task.show_texts(task.cells[0])
    assert [text.of for text in shown] == names
    assert all(text.text and text.sha256 == text_hash(text.text) for text in shown)
    assert task.guidelines == read_guidelines(kind)
    assert "{" not in task.guidelines
    practice = make_practice(kind, task.scale)
    assert len(practice) == 5
    assert {text.of for one in practice for text in one.texts} <= set(names) | {"question"}
    assert task.number(task.cells[7]) == 7
    labels = show_labels(kind, task.scale)
    told = [one.meaning for one in show_labels(kind, task.scale, task.guidelines)]
    assert all(told) if kind != "verify" else not any(told)  # yes and no mean two things there
    keys = [one.key for one in labels] + [cannot_tell_key(task.scale)]
    assert len(set(keys)) == len(keys)


def test_texts_are_those_that_were_judged_and_titles_only_where_there_are_some(folder):
    task = read_task([folder], "support", Problems())
    cell = ("demo-bees", "complete", "0", "bees-01")
    texts = task.texts(cell)
    assert set(texts) == {"question", "sentence", "title", "passage"}  # nothing that the judge said
    assert texts["question"] == "how do honey bees survive the winter"
    assert texts["sentence"].startswith("Honey bees neither hibernate nor migrate")
    assert texts["passage"].startswith("Honey bees do not hibernate, nor do they")
    assert task.get_first_label(cell) in task.scale


def test_what_a_judge_wrote_beside_its_label_is_never_among_the_texts(tmp_path):
    row = {"topic_id": "t", "run_id": "r", "sentence_id": "0", "passage_id": "p", "label": "full"}
    row |= {
        "question": "q",
        "sentence": "s",
        "passage": "d",
        "rationale": "SECRET",
        "raw": "SECRET",
    }
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    task = read_task([path], "support", Problems())
    assert task.texts(("t", "r", "0", "p")) == {"question": "q", "sentence": "s", "passage": "d"}


def test_an_item_without_its_texts_is_refused_by_its_ids(tmp_path):
    row = {"topic_id": "t", "run_id": "r", "sentence_id": "0", "passage_id": "p", "label": "full"}
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    task = read_task([path], "support", Problems())
    with pytest.raises(InputError, match="item t r 0 p comes without its sentence and passage"):
        task.texts(("t", "r", "0", "p"))
    with pytest.raises(InputError, match=r"has labels of support, wanted nuggets \(--kind\)"):
        read_task([path], "nuggets", Problems())


def test_a_batch_of_texts_is_read_once_for_all_that_are_expected(folder, monkeypatch):
    from nuggetjudge.plugins.annotate.work import texts

    read = []
    plain = texts.cell_texts
    monkeypatch.setattr(texts, "MAX_CELLS", 10)
    monkeypatch.setattr(
        texts, "cell_texts", lambda *given: (read.append(given[2]), plain(*given))[1]
    )
    task = read_task([folder], "support", Problems())
    queue = [entry.cell for entry in make_queue(task, "ann", Plan(n=25))]
    task.expect(queue)
    assert all(task.texts(cell)["sentence"] for cell in queue)
    assert len(read) <= 4  # 24 items, and a repeat of the first ten
    assert list(read[0]) == list(dict.fromkeys(queue))[:10]
    other = next(cell for cell in task.cells if cell not in set(queue))
    assert task.texts(other)["sentence"]


def test_the_items_of_an_answer_stand_together_without_repeats(folder):
    task = read_task([folder], "nuggets", Problems())
    queue = make_queue(task, "ann", Plan())
    groups = group_items(task, queue)
    assert len(groups) == 19  # 4 runs x 5 topics, and one that was not answered
    positions = [position for group in groups for position in group.positions]
    assert sorted(positions) == [at for at, entry in enumerate(queue) if not entry.repeat]
    for group in groups:
        items = [queue[position].cell for position in group.positions]
        assert len({cell[:2] for cell in items}) == 1
        assert items == sorted(items)
        assert len({task.texts(cell)[group.of] for cell in items}) == 1
    assert group_items(read_task([folder], "relevance", Problems()), queue) == []


def test_verify_asks_both_questions_of_a_key_point_one_after_the_other(folder):
    task = read_task([folder], "verify", Problems())
    queue = make_queue(task, "ann", Plan(n=6))
    assert len(queue) == 12
    for first, second in zip(queue[::2], queue[1::2], strict=True):
        assert first.cell[:2] == second.cell[:2]
        assert (first.cell[2], second.cell[2]) == ("grounded", "key_point")
        assert first.probability == second.probability
    for plan in (Plan(how="next"), Plan(condition="post_edit")):
        with pytest.raises(InputError, match="has no judge's label"):
            make_queue(task, "ann", plan)


def test_guidelines_of_a_file_are_its_plain_text(tmp_path):
    path = tmp_path / "rules.md"
    path.write_text("# Ours\n<b>not</b> markup", encoding="utf-8")
    assert read_guidelines("support", path) == "# Ours\n<b>not</b> markup"
    assert len(guidelines_sha256("x")) == 16
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8"):
        read_guidelines("support", path)
    path.write_text(" \n", encoding="utf-8")
    with pytest.raises(InputError, match="is empty"):
        read_guidelines("support", path)
    with pytest.raises(InputError, match="cannot be read"):
        read_guidelines("support", tmp_path / "none.md")


def test_grades_are_their_own_keys_and_then_cannot_tell_is_another():
    grades = [str(grade) for grade in range(6)]
    assert [one.key for one in show_labels("ratings", grades)] == grades
    assert cannot_tell_key(grades) == "-"
    assert [one.key for one in show_labels("relevance", grades[:4])] == ["1", "2", "3", "4"]
    assert cannot_tell_key(grades[:4]) == "0"
    many = [str(grade) for grade in range(101)]
    assert [one.key for one in show_labels("items", many)][9:] == [""] * 92


@pytest.mark.parametrize("kind", get_args(Kind))
def test_each_kind_has_a_title_a_question_and_guidelines_of_its_own(kind):
    words = get_words(kind)
    assert words.title
    assert words.guidelines
    assert get_question(kind)


EXAMPLES = Path(__file__).resolve().parents[4] / "examples"


def test_a_penalty_asks_for_its_fault_and_has_words_of_its_own(tmp_path):
    """ "All of it" of a fault that is not there was read as praise."""
    given = EXAMPLES / "keypoints"
    data = {f"data.{name}": given / f"{name}.jsonl" for name in ("topics", "rubrics")}
    runs = {"data.runs": [given / "answers"]}
    nj.run(program="rubric", model="lexical", out=tmp_path / "out", **data, **runs)
    task = read_task([tmp_path / "out"], "rubric", Problems())
    weights = {}
    for line in (given / "rubrics.jsonl").read_text("utf-8").splitlines():
        rubric = json.loads(line)
        for one in rubric["criteria"]:
            weights[rubric["qid"], one["id"]] = one["weight"]
    penalties = [cell for cell in task.cells if weights[cell[0], cell[2]] < 0]
    assert penalties
    assert len(penalties) < len(task.cells)
    assert set(penalties) == task.penalties
    fault = {"not_met": "does not", "partly": "in part", "met": "has this fault"}
    for cell in task.cells:
        is_penalty = cell in task.penalties
        assert task.label_words(cell) == (fault if is_penalty else {})
        assert ("have this fault" in task.question(cell)) is is_penalty
    words = [one.word for one in show_labels("rubric", task.scale)]
    assert words == ["not met", "partly met", "met"]


def test_items_are_asked_what_their_judge_is_asked_with_its_definitions(tmp_path):
    collection = EXAMPLES.parent / "tests" / "collection"
    given = {"items": collection / "labels/grounded.jsonl", "judge": collection / "grounded.yaml"}
    nj.run(program="items", model="lexical", out=tmp_path / "out", **given)
    task = read_task([tmp_path / "out"], "items", Problems())
    said = "Decide how much of the claim the source states, in any wording."
    assert task.question(task.cells[0]) == task.question() == said
    labels = show_labels("items", task.scale, task.guidelines)
    assert {one.label: one.meaning for one in labels} == {
        "no": "none of it, or the source says otherwise.",
        "partly": "some of it.",
        "yes": "all of it.",
    }


# What is chosen for labelling: a fair sample within topics, and the cells that tell most.
TOPICS = np.repeat([0, 1, 2], [8, 4, 20])
RUNS = np.arange(32) % 4
NOTHING = {"margin": np.zeros(32)}


def chosen(values=NOTHING, n=12, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return choose(values, TOPICS, RUNS, n=n, random_share=share, rng=rng)


def test_within_a_topic_every_cell_is_drawn_equally_often_whatever_else_is_chosen():
    values = {"margin": np.where(np.arange(32) % 2, 1.0, 0.0)}
    drawn = Counter()
    for seed in range(600):
        choices = chosen(values, n=18, share=0.5, seed=seed)
        drawn.update(c.index for c in choices if c.chosen_by == "random")
    # 9 of 18 at random are 3 a topic: 3/8, 3/4 and 3/20 of its cells, which is `probability`.
    for topic, p in ((0, 3 / 8), (1, 3 / 4), (2, 3 / 20)):
        rates = [drawn[i] / 600 for i in np.flatnonzero(topic == TOPICS)]
        assert np.mean(rates) == pytest.approx(p, abs=1e-9)
        assert max(abs(rate - p) for rate in rates) < 4.5 * (p * (1 - p) / 600) ** 0.5
    for choice in choices:
        p = {0: 3 / 8, 1: 3 / 4, 2: 3 / 20}[int(TOPICS[choice.index])]
        assert choice.probability == (p if choice.chosen_by == "random" else None)


def test_no_cell_is_chosen_twice_and_the_number_is_kept():
    values = {"margin": np.linspace(0, 1, 32), "influence": np.linspace(1, 0, 32)}
    for n in (1, 7, 32, 50):
        choices = chosen(values, n=n)
        assert len({c.index for c in choices}) == len(choices) == min(n, 32)


def test_where_the_criteria_ask_for_few_cells_more_are_drawn_at_random():
    values = {"disagreement": np.eye(32)[5] + np.eye(32)[9]}
    by = Counter(c.chosen_by for c in chosen(values, n=12))
    assert by["random"] == 10
    assert by.total() == 12
    assert set(by) <= {"random", "disagreement", "rest"}


def test_each_criterion_takes_its_best_cell_in_turn():
    values = {"margin": np.eye(32)[3] * 0.9, "influence": np.eye(32)[20] * 0.1}
    choices = chosen(values, n=2, share=0)
    assert [(c.index, c.chosen_by) for c in choices] == [(3, "margin"), (20, "influence")]


def test_of_equal_cells_those_of_topics_and_runs_without_one_come_first():
    choices = chosen({"margin": np.ones(32)}, n=3, share=0)
    assert {int(TOPICS[c.index]) for c in choices} == {0, 1, 2}
    assert len({int(RUNS[c.index]) for c in choices}) == 3


def test_the_same_seed_gives_the_same_cells_and_another_one_others():
    values = {"margin": np.linspace(0, 1, 32)}
    assert chosen(values, seed=3) == chosen(values, seed=3)
    assert chosen(values, seed=3) != chosen(values, seed=4)


def assignments(path, table, scores=None):
    """{run: {topic: labels}} of nuggets n0 (vital), n1 (okay), n2 (vital) ..."""
    with path.open("w", encoding="utf-8") as stream:
        for run, topics in table.items():
            for topic, labels in topics.items():
                nuggets = [
                    {"id": f"n{i}", "text": f"fact {i}", "assignment": label}
                    | {"importance": "okay" if i == 1 else "vital"}
                    | ({"score": scores[i]} if scores else {})
                    for i, label in enumerate(labels)
                ]
                row = {"qid": topic, "query": f"why {topic}", "run_id": run}
                row |= {"answer_text": f"answer of {run}", "response_length": 3}
                stream.write(json.dumps(row | {"nuggets": nuggets}) + "\n")
    return path


YES, PART, NO = "support", "partial_support", "not_support"


def by_cell(sheet):
    return {(r["topic_id"], r["run_id"], r["nugget_id"]): r["chosen_by"] for r in sheet.rows}


def test_what_judges_label_furthest_apart_is_asked_first(tmp_path):
    one = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES, YES, YES, NO]}})
    other = assignments(tmp_path / "2.jsonl", {"a": {"t1": [YES, PART, NO, NO]}})
    sheet = next_labels([one, other], 1, Problems(), random_share=0)
    assert by_cell(sheet) == {("t1", "a", "n2"): "disagreement"}


def test_a_score_near_the_cut_between_two_labels_is_asked_first(tmp_path):
    labels, scores = [NO, NO, YES, YES], [0.1, 0.45, 0.75, 0.9]  # the cut is half-way: 0.6
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": labels}}, scores)
    sheet = next_labels([judged], 2, Problems(), random_share=0)
    assert by_cell(sheet) == {("t1", "a", "n1"): "margin", ("t1", "a", "n2"): "margin"}


def test_the_judgement_with_the_highest_entropy_is_asked_first(tmp_path):
    """By hand, in nats: .33, .95, .61, .69; the two likeliest labels are nearest in the last."""
    chances = (
        {"0": 0.1, "1": 0.9},
        {"0": 0.2, "1": 0.6, "2": 0.2},
        {"1": 0.7, "2": 0.3},
        {"0": 0.5, "1": 0.5},
    )
    rows = [
        {"topic_id": "t1", "passage_id": f"p{i}", "grade": 1, "probabilities": p}
        for i, p in enumerate(chances)
    ]
    judged = tmp_path / "relevance.jsonl"
    write_rows(judged, rows)
    (row,) = next_labels([judged], 1, Problems(), random_share=0).rows
    assert (row["passage_id"], row["chosen_by"]) == ("p1", "entropy")


def test_influence_is_by_hand_the_weight_against_the_gap_to_the_neighbour(tmp_path):
    # V_strict over 2 topics: a 1.0, b 0.5, c 0.25; a vital nugget moves a mean by 1/2 x 1/2.
    table = {
        "a": {"t1": [YES, NO, YES], "t2": [YES, NO, YES]},
        "b": {"t1": [YES, NO, YES], "t2": [NO, NO, NO]},
        "c": {"t1": [YES, NO, NO], "t2": [NO, NO, NO]},
    }
    judged = assignments(tmp_path / "1.jsonl", table)
    cells = [("t1", "a", "n0"), ("t1", "b", "n2"), ("t2", "c", "n0"), ("t1", "b", "n1")]
    influences = influence(judged, "nuggets", cells)
    assert influences == pytest.approx([0.25 / (0.25 + 0.5), 0.5, 0.5, 0.0])  # okay weighs nothing


def test_a_single_run_has_nobody_to_overtake(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES, NO, YES]}})
    assert influence(judged, "nuggets", [("t1", "a", "n0")]).tolist() == [0.0]
    sheet = next_labels([judged], 3, Problems())
    assert {row["chosen_by"] for row in sheet.rows} == {"random"}


def test_labelled_cells_are_left_out_with_or_without_team_prefix(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"team.a": {"t1": [YES, NO, YES]}})
    human = tmp_path / "human.csv"
    human.write_text(
        "topic_id,run_id,nugget_id,label\nt1,a,n0,support\nt1,team.a,n1,\n", encoding="utf-8"
    )
    sheet = next_labels([judged], 9, Problems(), labels=human)
    assert {cell[2] for cell in by_cell(sheet)} == {"n1", "n2"}  # n1 has no label yet
    assert (sheet.n_cells, sheet.n_labelled) == (3, 1)


def test_labels_of_judges_are_hidden(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES]}})
    (row,) = next_labels([judged], 1, Problems()).rows
    assert list(row) == [
        "topic_id", "run_id", "nugget_id", "question", "answer_text", "nugget",
        "label", "annotator", "rationale", "chosen_by", "probability",
    ]  # fmt: skip
    assert (row["question"], row["nugget"], row["label"]) == ("why t1", "fact 0", None)


def test_what_cannot_be_chosen_from_is_refused(tmp_path):
    judged = assignments(tmp_path / "1.jsonl", {"a": {"t1": [YES]}})
    with pytest.raises(InputError, match="all 1 judged cells have a label already"):
        next_labels([judged], 1, Problems(), labels=judged)
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("t1 0 p1 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="labels of different kinds of items"):
        next_labels([judged, qrels], 1, Problems())
    with pytest.raises(InputError, match="wanted --n of at least 1, and a share from 0 to 1"):
        next_labels([judged], 1, Problems(), random_share=1.5)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"has none of relevance\.jsonl, assignments\.jsonl"):
        next_labels([tmp_path / "empty"], 1, Problems())


def test_real_judgements_are_spread_over_all_topics_and_most_runs(shared_data):
    judged = shared_data / "rag24_nuggets" / "nugget_assignments.jsonl"
    sheet = next_labels([judged], 120, Problems())
    topics = Counter(row["topic_id"] for row in sheet.rows)
    assert len(topics) == 12
    assert max(topics.values()) <= 2 * min(topics.values())
    assert len({row["run_id"] for row in sheet.rows}) > 35
    assert sheet.n_by["random"] == sheet.n_by["influence"] == 60


# People and the judge read the same meaning of every label.
NARRATIVES = "narratives"
JUDGES = {
    "support": "support", "nuggets": "assigner", "ratings": "answerability",
    "relevance": "relevance", "keypoints": "entailment", "rubric": "criterion", NARRATIVES: "",
}  # fmt: skip


@pytest.mark.parametrize("kind", JUDGES)
def test_guidelines_prompt_and_reply_schema_say_the_same_of_each_label(kind):
    made = NarrativeRelevanceJudge if kind == NARRATIVES else find_judge(JUDGES[kind]).load()
    judge = made("lexical")
    prompt = judge.prompt(judge.predictor)
    system, schema = prompt.fixed[0]["content"], prompt.schema()
    described = json.loads(json.dumps(schema))["properties"][judge.output]["description"]
    variant = find_variant("relevance", list(GAINS))
    guidelines = (
        write_guidelines("relevance", variant) if kind == NARRATIVES else read_guidelines(kind)
    )
    lines = [line for line in system.split("\n\n")[1].splitlines() if line.startswith("- ")]
    assert [line[2:].partition(": ")[0] for line in lines] == list(judge.scale)
    for label, _, meaning in (line[2:].partition(": ") for line in lines):
        assert f": {meaning}.\n" in f"{guidelines}\n"
        assert f"{label}: {meaning}" in described
