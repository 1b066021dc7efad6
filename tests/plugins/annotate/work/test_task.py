"""Each kind of what was judged can be labelled, with its texts and without the judge's words."""

import json
from pathlib import Path
from typing import get_args

import pytest

import nuggetjudge as nj
from nuggetjudge.plugins.annotate.store.kinds import Kind
from nuggetjudge.plugins.annotate.work.answers import group_items
from nuggetjudge.plugins.annotate.work.guidelines import guidelines_sha256, read_guidelines
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.queue import make_queue
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.wording import (
    cannot_tell_key,
    get_question,
    get_words,
    make_practice,
    show_labels,
)
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
    with pytest.raises(InputError, match="item t r 0 p comes without its question and sentence"):
        task.texts(("t", "r", "0", "p"))
    with pytest.raises(InputError, match=r"it holds labels of support, wanted nuggets \(--kind\)"):
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
