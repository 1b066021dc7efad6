"""Labels of any layout become items with texts; labels that cannot be used are refused by line.

And the examples in the docstrings of what fitting uses.
"""

import json

import pytest
from graded_labels import LABELS, support_rows
from json_lines import write_rows

from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.judges import RelevanceJudge, SupportJudge
from nuggetjudge.programs.config.sections import DataConfig
from nuggetjudge.records.reading.problems import InputError, Problems

ROWS = support_rows()
FOUR_AS_TWO = {"0": "no", "1": "no", "2": "yes", "3": "yes"}
TEXTS = ("sentence", "passage")


@pytest.fixture
def judge():
    return SupportJudge(model="lexical")


@pytest.fixture
def read(tmp_path, judge):
    """Reads rows, or a file, as labels for the support judge."""

    def examples(rows_or_path, judge=judge, problems=None, **options):
        problems = problems if problems is not None else Problems()
        path = rows_or_path
        if isinstance(path, list):
            path = write_rows(tmp_path / "labels.jsonl", path)
        return read_examples(path, judge, problems, **options)

    return examples


def without(names, rows=ROWS):
    return [{name: row[name] for name in row if name not in names} for row in rows]


def but(index, rows=ROWS, **changes):
    """The rows, one of which is changed."""
    return [*rows[:index], {**rows[index], **changes}, *rows[index + 1 :]]


def test_rows_become_items_in_the_order_of_their_cells(read):
    examples = read(ROWS)
    assert len(examples.items) == 72
    assert examples.topics == ("t00", "t01", "t02", "t03", "t04", "t05")
    assert examples.scale == LABELS
    cells = [item.cell for item in examples.items]
    assert cells == sorted(cells)
    row = next(row for row in ROWS if (row["topic_id"], row["sentence_id"]) == ("t03", 7))
    item = next(item for item in examples.items if item.cell == ("t03", "r", "7", "p7"))
    assert (item.topic_id, item.label) == ("t03", row["label"])
    assert item.inputs == {name: row[name] for name in TEXTS}


@pytest.mark.parametrize(
    "scale",
    [
        {"none": "none", "partial": "none", "full": "full"},
        {"0": "none", "1": "none", "2": "full"},
        {"None": "none", " PARTIAL ": "none", "Full": "Full"},
    ],
)
def test_neighbouring_labels_may_be_made_one(read, scale):
    examples = read(ROWS, scale=scale)
    assert examples.scale == ("none", "full")
    assert [item.label == "full" for item in examples.items] == [
        item.label == "full" for item in read(ROWS).items
    ]
    assert examples.judge_labels == {"none": "none", "partial": "none", "full": "full"}


@pytest.mark.parametrize(
    ("scale", "ours"),
    [
        (None, {"0": "0", "1": "1", "2": "2", "3": "3"}),
        # People's own names: those of two neighbours, by people's map.
        (FOUR_AS_TWO, FOUR_AS_TWO),
        # Two labels that say nothing of the judge's others: the best one against the rest.
        ({"0": "no", "1": "yes"}, {"0": "no", "1": "no", "2": "no", "3": "yes"}),
        ({"0": "0", "1": "3"}, {"0": "0", "1": "0", "2": "0", "3": "3"}),
        # Three labels, and no telling what the judge's four are among them.
        ({"0": "a", "1": "b", "2": "c"}, None),
    ],
)  # fmt: skip
def test_what_the_judges_labels_are_on_the_scale_of_people(read, scale, ours):
    n = len(scale or "0123")
    rows = [{"topic_id": f"t{i % 5}", "passage_id": i, "label": i % n} for i in range(40)]
    rows = [{**row, "question": "why", "passage": "thus"} for row in rows]
    examples = read(rows, RelevanceJudge(model="lexical"), scale=scale)
    assert examples.judge_labels == ours


def test_the_majority_of_annotators_counts_and_their_reasons_are_kept(read):
    labels = {"a": "none", "b": "full", "c": "full"}
    rows = [
        {**row, "annotator": name, "label": label, "rationale": f"as {name} sees it"}
        for row in without(["label"])
        for name, label in labels.items()
    ]
    rows = but(0, rows, label="full")  # the first item: three times full
    rows = but(5, rows, label="partial")  # the second: one for each label
    rows += [{**ROWS[-1], "topic_id": "t09", "annotator": "a", "label": "none"}]
    examples = read(rows)
    assert {item.label for item in examples.items if item.topic_id != "t09"} == {"full"}
    assert len(examples.items) == 72
    assert examples.n_unlabelled == 1
    assert examples.items[0].rationale == "as a sees it\nas b sees it\nas c sees it"


def test_items_without_a_text_are_left_out_and_listed(read):
    problems = Problems()
    examples = read(but(7, passage="  "), problems=problems)
    assert (len(examples.items), examples.n_without_text) == (71, 1)
    assert problems.counts() == {"no_text": 1}
    assert ":8: item t00 r 7 p7 has a label, but no text of its passage" in str(
        next(iter(problems))
    )


def test_other_names_of_fields_and_rows_of_some_values(read):
    rows = [
        {"claim": r["sentence"], "text": r["passage"], "by": i % 2, **r} for i, r in enumerate(ROWS)
    ]
    fields = {"sentence": "claim", "passage": "text", "label": "label"}
    examples = read(without(TEXTS, rows), fields=fields)
    assert [item.inputs for item in examples.items] == [item.inputs for item in read(ROWS).items]
    assert len(read(rows, where={"by": ["1"]}).items) == 36
    assert len(read(rows, where={"topic_id": ["t01", "t02"]}).items) == 24


def test_a_limit_takes_from_each_topic_alike_and_the_same_each_time(read):
    examples = read(ROWS, limit=30)
    assert [
        sum(item.topic_id == topic for item in examples.items) for topic in examples.topics
    ] == [5] * 6
    assert read(ROWS, limit=30) == examples
    assert read(ROWS, limit=30, seed=1) != examples
    assert len(read(ROWS, limit=1000).items) == 72


@pytest.fixture
def collection(tmp_path):
    """The texts of ROWS in files of their own, as judge run takes them."""
    topics = sorted({row["topic_id"] for row in ROWS})
    (tmp_path / "topics.tsv").write_text(
        "".join(f"{topic}\twhy {topic}\n" for topic in topics), encoding="utf-8"
    )
    passages = [
        {"docid": f"{row['topic_id']}-{row['passage_id']}", "text": row["passage"]} for row in ROWS
    ]
    write_rows(tmp_path / "passages.jsonl", passages)
    answers = []
    for topic in topics:
        own = [row for row in ROWS if row["topic_id"] == topic]
        answer = [{"text": row["sentence"], "citations": [i]} for i, row in enumerate(own)]
        references = [f"{topic}-{row['passage_id']}" for row in own]
        about = {"run_id": "team.r", "topic_id": topic, "topic": f"why {topic}"}
        answers.append({**about, "references": references, "response_length": 9, "answer": answer})
    write_rows(tmp_path / "run.jsonl", answers)
    return DataConfig(
        topics=tmp_path / "topics.tsv",
        runs=[str(tmp_path / "run.jsonl")],
        passages=[tmp_path / "passages.jsonl"],
    )


IDS = [{**row, "passage_id": f"{row['topic_id']}-{row['passage_id']}"} for row in without(TEXTS)]


def test_texts_come_from_the_files_that_a_run_takes(read, collection):
    examples = read(IDS, data=collection)
    assert [item.inputs for item in examples.items] == [item.inputs for item in read(ROWS).items]


@pytest.mark.parametrize(
    ("name", "value"),
    [("topic_id", "t77"), ("run_id", "other"), ("sentence_id", "99"), ("passage_id", "t01-p0x")],
)
def test_an_id_that_the_data_do_not_know_is_an_error_with_its_line(read, collection, name, value):
    rows = but(40, IDS, **{name: value})
    wrong = name if name != "topic_id" else "topic_id"
    with pytest.raises(
        InputError, match=rf"labels.jsonl:41: {wrong} '{value}' of item .* not in the"
    ):
        read(rows, data=collection)


def test_qrels_take_question_and_passage_from_other_files(read, tmp_path):
    (tmp_path / "qrels.txt").write_text(
        "".join(f"t{i % 4} 0 p{i} {i % 4}\n" for i in range(40)), encoding="utf-8"
    )
    (tmp_path / "topics.tsv").write_text(
        "".join(f"t{i}\twhy {i}\n" for i in range(4)), encoding="utf-8"
    )
    texts = [{"docid": f"p{i}", "text": f"thus {i}"} for i in range(30)]
    data = DataConfig(
        topics=tmp_path / "topics.tsv", passages=[write_rows(tmp_path / "p.jsonl", texts)]
    )
    examples = read(tmp_path / "qrels.txt", RelevanceJudge(model="lexical"), data=data)
    assert (len(examples.items), examples.n_without_text) == (30, 10)
    assert examples.items[0].inputs == {"question": "why 0", "passage": "thus 0"}


# What is wrong -> the rows, and what the error says.
BAD_ROWS = {
    "a label off the scale": (but(4, label="maybe"), ":5: field 'label' is 'maybe', wanted one"),
    "a cell with two labels": (
        [*ROWS, {**ROWS[5], "label": "partial" if ROWS[5]["label"] != "partial" else "none"}],
        ":73: item t00 r 5 p5 has",
    ),
    "an annotator twice": (
        [{**row, "annotator": "ann"} for row in [*ROWS, ROWS[5]]],
        ":73: annotator 'ann' labels item t00 r 5 p5 twice, wanted once",
    ),
    "an annotator off the scale": (
        [{**row, "annotator": name} for row in ROWS for name in "abc"]
        + [{**ROWS[0], "annotator": "d", "label": 7}],
        ":217: field 'label' is 7, wanted one of none",
    ),
    "two texts for one item": (
        [*ROWS, {**ROWS[5], "passage": "something else"}],
        ":73: item t00 r 5 p5 has a different passage in line 6",
    ),
    "no texts": (without(TEXTS), ":1: item t00 r 0 p0 has no text of its sentence and pass"),
    "one without a text": (but(6, without([], ROWS), passage=None), ":7: item t00 r 6 p6 has no"),
    "no topic": (without(["topic_id"]), ": the labels name no topic_id"),
    "one without a topic": (but(8, topic_id=None), ":9: field 'topic_id' or 'qid' or 'query"),
    "one without a label": (
        [*ROWS[:3], *without(["label"], ROWS[3:4]), *ROWS[4:]], ":4: field 'label' is missing"
    ),
    "no label at all": ([{**row, "label": None} for row in ROWS], ": no label in it"),
    "one topic": (
        [{**row, "topic_id": "t", "sentence_id": i} for i, row in enumerate(ROWS)],
        ": all labels are of topic 't', wanted 2 or more topics",
    ),
    "a single class": ([{**row, "label": "full"} for row in ROWS], ": all 72 labels are 'full'"),
    "fewer than 20": (ROWS[:19], ": 19 labelled items, wanted 20 or more"),
    "fewer than 20 with texts": (
        [{**row, "passage": "" if i > 18 else row["passage"]} for i, row in enumerate(ROWS)],
        ": 19 labelled items, and 53 without a text",
    ),
    "labels of another judge": (
        [{**row, "label": 3} for row in ROWS], ":1: field 'label' is 3, wanted one of none"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "what"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_labels_are_refused_with_file_and_line(read, tmp_path, rows, what):
    with pytest.raises(InputError) as error:
        read(rows)
    assert str(error.value).startswith(f"{tmp_path / 'labels.jsonl'}{what}")


BAD_FILES = {
    "empty": (b"", ":1: the file is empty"),
    "neither JSON nor CSV": (b"hello\nworld\n", ":1: 'hello' is of no known kind"),
    "torn": (json.dumps(ROWS[0]).encode() + b'\n{"topic_id": ', ":2: not JSON"),
    "no text": (b"\x89PNG\r\n\x1a\n\x00\x00", ":1: not a table in UTF-8, UTF-16 or cp1252"),
    "a header only": (b"topic_id,label\n", ":1: a header without rows"),
    "a short row": (b"topic_id,label\nt1\n", ":2: cells in the row: 1, in the header: 2"),
    "qrels": (b"t1 0 p1 2\nt1 0 p2 0\n", ": labels of relevance, which support does not judge"),
    "topics": (b"t1\twhy\n", ": it holds topics, wanted labels"),
}


@pytest.mark.parametrize(("content", "what"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_holds_no_such_labels_is_refused(read, tmp_path, content, what):
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(InputError) as error:
        read(tmp_path / "labels")
    assert str(error.value).startswith(f"{tmp_path / 'labels'}{what}")
