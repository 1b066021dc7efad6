import gzip
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetjudge.records import (
    InputError,
    Problems,
    file_kind,
    read_answers,
    read_assignments,
    read_candidates,
    read_claims,
    read_documents,
    read_entailments,
    read_key_point_sets,
    read_labels,
    read_nugget_banks,
    read_passages,
    read_qrels,
    read_question_sets,
    read_ratings,
    read_relevance,
    read_reports,
    read_scores,
    read_summaries,
    read_support,
    read_topic_documents,
    read_topics,
    read_trec_run,
)
from nuggetjudge.records.reading import fields
from nuggetjudge.records.reading.fields import LineIndex, as_int, read_lines
from nuggetjudge.records.reading.lines import has_lines, json_lines, json_records, text_lines
from nuggetjudge.records.reading.problems import need
from nuggetjudge.records.reading.settings import DEEPEST, NotYaml, find_line, read_yaml


def test_a_byte_that_is_not_utf8_is_placed_in_its_line_and_not_in_its_block(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n" * 49 + b"caf\xe9\n" + b"one\n" * 3)
    with pytest.raises(InputError, match=r"a\.txt:50: not UTF-8"):
        list(text_lines(path))


def test_blank_lines_and_a_byte_order_mark_are_no_content_but_count_as_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\n \t\ntwo")
    assert list(text_lines(path)) == [(1, "one"), (4, "two")]


def test_a_line_separator_inside_a_line_does_not_end_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\u2028b\x0cc\nd\n", encoding="utf-8")
    assert [number for number, _ in text_lines(path)] == [1, 2]


def test_gzip_is_known_by_what_the_file_holds_whatever_its_name(tmp_path):
    packed, plain = tmp_path / "topics.tsv", tmp_path / "topics.tsv.gz"
    packed.write_bytes(gzip.compress(b"1\twhy\n"))
    plain.write_bytes(b"1\twhy\n")
    assert list(text_lines(packed)) == list(text_lines(plain)) == [(1, "1\twhy")]
    assert not has_lines(packed)


def test_gzip_is_read_and_a_torn_gzip_file_is_an_input_error(tmp_path):
    whole = tmp_path / "a.jsonl.gz"
    whole.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert [line for _, line in text_lines(whole)] == ["one", "two"]
    torn = tmp_path / "b.jsonl.gz"
    torn.write_bytes(gzip.compress(b"line\n" * 10_000)[:-20])
    with pytest.raises(InputError, match=r"b\.jsonl\.gz"):
        list(text_lines(torn))
    damaged = bytearray(gzip.compress(bytes(range(256)) * 99))
    damaged[40:60] = b"\xff" * 20
    torn.write_bytes(bytes(damaged))
    with pytest.raises(InputError, match=r"b\.jsonl\.gz"):
        list(text_lines(torn))


def test_a_missing_file_and_a_folder_are_input_errors(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            list(text_lines(path))


def test_nan_is_null_and_other_broken_json_is_an_error_at_its_line(write, problems, kinds):
    deep = "[" * 100_000
    path = write(
        '{"a": NaN, "b": "NaN"}', "{torn", '["list"]', '{"a": "\\ud800"}', deep, '{"a": 1}'
    )
    assert list(json_lines(path, problems)) == [(1, {"a": None, "b": "NaN"}), (6, {"a": 1})]
    assert kinds() == [(number, "bad_json", "error") for number in (2, 3, 4, 5)]


@pytest.mark.parametrize("text", ['{\n "a": 1\n}', '[{"a": 1}]', '[\n {"a":\n 1}\n]'])
def test_one_document_over_several_lines_is_read_whole(text, write, problems):
    assert list(json_records(write(text), problems)) == [(1, {"a": 1})]
    assert len(problems) == 0


def test_a_document_that_is_no_list_of_objects_is_an_error(write, problems, kinds):
    assert list(json_records(write('[{"a": 1}, 2]'), problems)) == [(1, {"a": 1})]
    assert list(json_records(write("[1"), problems)) == []
    assert kinds() == [(1, "bad_json", "error"), (1, "bad_json", "error")]


def test_a_broken_line_is_told_once_though_the_file_was_read_twice(tmp_path):
    path, problems = tmp_path / "a.jsonl", Problems()
    path.write_text("{\n", encoding="utf-8")
    for _ in range(2):
        assert list(json_lines(path, problems)) == []
    with pytest.raises(InputError) as error:
        problems.raise_errors()
    assert str(error.value).count(f"{path}:1") == 1


def test_a_document_that_is_no_json_says_which_of_its_lines(tmp_path):
    path = tmp_path / "topics.json"
    path.write_text('[\n{"a": 1,}\n]\n', encoding="utf-8")
    problems = Problems()
    assert list(json_records(path, problems)) == []
    assert "at line 2 column 8)" in problems.rows[0].what


@given(st.integers(-(10**12), 10**12))
def test_a_whole_number_is_the_same_however_it_is_written(number):
    for written in (number, float(number), str(number), f" {number}.0 "):
        assert as_int(written) == number


@pytest.mark.parametrize(
    "value", [True, 1.5, "1.5", "1_000", "", "three", None, [], float("inf"), float("nan")]
)
def test_what_is_no_whole_number_is_none(value):
    assert as_int(value) is None


def test_where_compares_top_level_fields_as_text(write, problems):
    path = write({"n": 1, "c": "x"}, {"n": 2, "c": "x"}, {"n": 1})
    assert [line.number for line in read_lines(path, problems, {"n": "1"})] == [1, 3]
    assert [line.number for line in read_lines(path, problems, {"n": "1", "c": "x"})] == [1]


def test_an_envelope_gives_its_data_and_reports_what_stands_in_other_files(write, problems, kinds):
    row = {
        "schema_version": "castorini.cli.v1",
        "status": "failed",
        "artifacts": [
            {"name": "create-result", "kind": "data", "data": [{"qid": "1"}, {"qid": "2"}, 3]},
            {"name": "create-result", "kind": "data", "value": {"qid": "4"}},
            {"name": "create-result", "kind": "file", "path": "elsewhere.jsonl"},
        ],
    }
    assert [line.row["qid"] for line in read_lines(write(row), problems)] == ["1", "2", "4"]
    assert kinds() == [
        (1, "envelope_status", "kept"),
        (1, "bad_field", "error"),
        (1, "envelope_file", "skipped"),
    ]


def test_a_name_with_control_characters_is_told_on_one_line_without_them(write, problems):
    path = write({"answ\ner\x1b[2J": 1, "é\u202e": 2})
    for line in read_lines(path, problems):
        line.missing("answer")
    [problem] = problems
    assert str(problem).isprintable()
    assert "answ\\ner\\x1b[2J" in problem.what
    assert "é\\u202e" in problem.what


def test_what_is_not_installed_is_named_with_the_extra_that_brings_it():
    with pytest.raises(InputError) as caught:
        need("no_such_library.part", "dense")
    assert str(caught.value) == (
        "no_such_library is not installed: "
        "pip install '.[dense]' in the folder of nuggetjudge's source"
    )


def test_a_library_that_lacks_one_of_its_own_is_told_by_the_one_that_is_missing(
    tmp_path, monkeypatch
):
    (tmp_path / "half_installed.py").write_text("import its_missing_half\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"its_missing_half is not installed: .*\[lucene\]"):
        need("half_installed", "lucene")


ROWS = [{"k": "a", "n": 0}, {"k": "b", "n": 1}, {"k": "a", "n": 2}, {"k": "b", "n": "Wellenhöhe"}]


def index_of(*paths):
    index = LineIndex()
    for path in paths:
        for line in read_lines(path, Problems()):
            index.note(line, line.row["k"])
    return index


def lines_of(index, key):
    return [(line.path.name, line.number, line.row["n"]) for line in index.lines(key)]


def jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_bytes(jsonl(ROWS))
    return path


def test_lines_come_key_by_key_in_the_order_of_files_and_lines(plain, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(jsonl(ROWS[:1]))
    index = index_of(plain, other)
    assert lines_of(index, "b") == [("plain.jsonl", 2, 1), ("plain.jsonl", 4, "Wellenhöhe")]
    assert lines_of(index, "a") == [
        ("plain.jsonl", 1, 0),
        ("plain.jsonl", 3, 2),
        ("other.jsonl", 1, 0),
    ]
    assert lines_of(index, "c") == []


def test_blank_lines_byte_order_mark_nan_and_a_missing_last_line_end_do_not_shift_places(tmp_path):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"k": "a", "n": 0}\r\n\n \t\n'
        b'{"k": "b", "n": NaN}\n{"k": "a", "n": "\xc3\xb6"}'
    )
    index = index_of(path)
    assert lines_of(index, "a") == [("odd.jsonl", 1, 0), ("odd.jsonl", 5, "ö")]
    assert lines_of(index, "b") == [("odd.jsonl", 4, None)]


def test_compressed_files_documents_and_envelopes_are_read_in_the_same_order(plain, tmp_path):
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(jsonl(ROWS)))
    array = tmp_path / "array.json"
    array.write_text(json.dumps(ROWS), encoding="utf-8")
    envelope = tmp_path / "envelope.jsonl"
    wrapped = {"schema_version": "castorini.cli.v1", "artifacts": [{"data": ROWS}]}
    envelope.write_bytes(jsonl([wrapped, ROWS[0]]))
    index = index_of(packed, array, plain, envelope)
    assert lines_of(index, "a") == [
        ("packed.jsonl.gz", 1, 0), ("packed.jsonl.gz", 3, 2), ("array.json", 1, 0),
        ("array.json", 1, 2), ("plain.jsonl", 1, 0), ("plain.jsonl", 3, 2),
        ("envelope.jsonl", 1, 0), ("envelope.jsonl", 1, 2), ("envelope.jsonl", 2, 0),
    ]  # fmt: skip


def test_more_files_than_may_be_open_are_read_all_the_same_and_closed_at_the_end(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(fields, "MAX_OPEN", 2)
    paths = [tmp_path / f"{name}.jsonl" for name in "uvwx"]
    for path in paths:
        path.write_bytes(jsonl(ROWS))
    before = len(os.listdir("/proc/self/fd"))
    index = index_of(*paths)
    for key, numbers in {"a": [0, 2], "b": [1, "Wellenhöhe"]}.items():
        assert [line.row["n"] for line in index.lines(key)] == numbers * 4
    assert len(os.listdir("/proc/self/fd")) == before + 3  # two of them, and the copies' file
    del index
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("change", ["shorter", "gone"])
def test_a_file_that_changed_is_an_input_error_that_names_the_line(change, plain):
    index = index_of(plain)
    plain.write_bytes(jsonl(ROWS[:2])) if change == "shorter" else plain.unlink()
    with pytest.raises(InputError, match=r"plain\.jsonl: changed .* line [13] is gone"):
        list(index.lines("a"))


def test_what_cannot_be_copied_is_an_error_at_its_line(tmp_path):
    deep = tmp_path / "deep.jsonl.gz"
    nested = "[" * 300 + "]" * 300
    deep.write_bytes(gzip.compress(f'{{"k": "a", "n": {nested}}}\n'.encode()))
    index, problems = LineIndex(), Problems()
    for line in read_lines(deep, problems):
        index.note(line, "a")
    (problem,) = problems
    assert (problem.line, problem.kind, problem.action) == (1, "bad_json", "error")
    assert lines_of(index, "a") == []


TEXT = """\
run:
  seed: 3

models:
  - {name: a, "on": yes}
  - name: b
"""


def test_each_setting_has_its_line_and_what_is_not_there_that_of_its_section():
    value, lines = read_yaml(TEXT)
    assert value == {"run": {"seed": 3}, "models": [{"name": "a", "on": True}, {"name": "b"}]}
    assert lines == {
        ("run",): 1, ("run", "seed"): 2, ("models",): 4, ("models", "0"): 5,
        ("models", "0", "name"): 5, ("models", "0", "on"): 5, ("models", "1"): 6,
        ("models", "1", "name"): 6,
    }  # fmt: skip
    assert find_line(("models", "1", "price"), lines) == 6
    assert find_line(("other",), lines) == 1


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_a_text_without_settings_is_none(text):
    assert read_yaml(text) == (None, {})


def test_yes_no_on_and_off_are_words_where_words_are_wanted():
    text = "[yes, No, on, off, true, False]"
    assert read_yaml(text, words=True)[0] == ["yes", "No", "on", "off", True, False]
    assert read_yaml(text)[0] == [True, False, True, False, True, False]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "'c' occurs twice"),
        ("a: 1\n'a': 1\n", 2, "'a' occurs twice"),
        ("a: 1\n? [b]\n: 1\n", 2, "wanted a name before the colon"),
        ("a: &x 1\n\nb: *x\n", 3, "anchors are not supported"),
        ("a: 1\nb: !!python/name:os.system ''\n", 2, "(tag !!python/name:os.system)"),
        ("a: 1\nb: !own x\n", 2, "not YAML of plain values (tag !own)"),
        ("a: {b: 1}\n<<: {c: 1}\n", 2, "not YAML"),
        ("a:\n " + "[" * DEEPEST + "]" * DEEPEST, 2, f"nested deeper than {DEEPEST} levels"),
        ("a: 1\nb: 2024-99-99\n", 2, "'2024-99-99' cannot be read as timestamp"),
        (f"a: 1\nb: {'9' * 5000}\n", 2, f"({'9' * 40 + '...'!r} cannot be read as int)"),
        ("a: 1\nb: [1\nc: 2\n", 3, "not YAML"),
        ("a: 1\nb: \0\n", 2, "not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
    ],
)
def test_what_is_not_plain_is_refused_at_its_line(text, line, what):
    with pytest.raises(NotYaml) as caught:
        read_yaml(text)
    assert caught.value.line == line
    assert what in str(caught.value)


def test_the_deepest_nesting_that_is_taken_is_read():
    assert read_yaml("[" * DEEPEST + "]" * DEEPEST)[0] is not None
    assert read_yaml("- [a]\n" * (DEEPEST + 1))[0] == [["a"]] * (DEEPEST + 1)


# Whatever a file holds, a reader reports it with its place and never falls over.
FIELDS = [
    "id", "docid", "qid", "topic_id", "run_id", "request_id", "narrative_id", "metadata", "title",
    "narrative", "query", "text", "contents", "segment", "references", "answer", "responses",
    "citations", "documents", "response_length", "nuggets", "importance", "assignment", "sources",
    "claim_bank", "nugget_bank", "candidates", "docids", "doc", "judgment", "score", "sentences",
    "sentence", "sentenceID", "citation", "rank", "label", "support", "reference", "grade",
    "result_status", "measure", "value", "n", "annotator", "schema_version", "artifacts", "data",
    "passage_id", "nugget_id", "type", "subquestions", "questions", "idx", "question_id", "rating",
    "ratings", "relevances", "document", "report", "summary", "0", "key_points", "key_point_id",
    "spans", "evidence", "is_quoted", "claims", "domain", "category",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.floats(allow_nan=True),
    st.sampled_from(["", " ", "a", "1", "-1", "support", "vital", "2.0", "castorini.cli.v1", "é"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
    ),
    max_leaves=12,
)
ANY_INPUT_ROWS = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8), max_size=3)
COLUMNS = st.lists(
    st.lists(st.sampled_from(["a", "0", "Q0", "1.5", "nan", "True", "x\ty"]), max_size=7),
    max_size=3,
)
READERS = [
    read_answers, read_assignments, read_candidates, read_documents, read_labels,
    read_nugget_banks, read_passages, read_qrels, read_relevance, read_scores, read_support,
    read_topics, read_trec_run, read_question_sets, read_ratings, read_reports, read_summaries,
    read_key_point_sets, read_entailments, read_claims, read_topic_documents,
]  # fmt: skip


# Drawing rows costs more than reading them, so that each is read by all.
@given(rows=ANY_INPUT_ROWS | COLUMNS)
@settings(max_examples=4 * settings.default.max_examples)
def test_a_reader_reports_and_does_not_raise(rows, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    lines = [" ".join(row) if isinstance(row, list) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    for read in READERS:
        problems = Problems()
        try:
            records = read(path, problems)
            list(records) if hasattr(records, "__iter__") else records
        except InputError as error:
            assert str(error).startswith(str(path)), read  # noqa: PT017  most inputs raise nothing
        except Exception as error:
            raise AssertionError(read.__name__) from error
        for problem in problems:
            assert str(problem).startswith(f"{path}:{problem.line}: "), read
            assert "\n" not in str(problem), read


CITED = [{"docid": "s1", "label": 2}, {"docid": "s2", "label": "partial"}]
NUGGETS = [{"id": "n1", "text": "a", "importance": "vital", "assignment": "support"}]
GOOD = {
    read_answers: [
        {"run_id": "r", "topic_id": "1", "references": ["s1", "s2"], "response_length": 1,
         "answer": [{"text": "One.", "citations": [1, 0]}, {"text": "## Two", "citations": []}]},
        {"metadata": {"run_id": "r", "narrative_id": "rag2026-1"}, "references": ["s1"],
         "answer": [{"text": "## Two", "citations": ["s1"]}]},
        {"metadata": {"run_id": "r", "topic_id": "2"}, "documents": {"d": {"text": "D"}},
         "responses": [{"text": "One.", "citations": {"d": 3.5, "e": 1}}]},
    ],
    read_assignments: [{"qid": "1", "run_id": "r", "answer_text": "a", "nuggets": NUGGETS}],
    read_nugget_banks: [
        {"qid": "1", "query": "q", "nuggets": NUGGETS},
        {"query_id": "2", "claim_bank": {"a": {"claim": "a", "references": ["s1"]}}},
        {"schema_version": "castorini.cli.v1",
         "artifacts": [{"data": {"qid": "3", "query": "q", "nuggets": NUGGETS}}]},
    ],
    read_candidates: [
        {"query": {"qid": "1", "text": "q"},
         "candidates": [{"docid": "a", "score": 1, "judgment": 2, "doc": {"segment": "A"}}]},
        {"topic_id": "2", "docids": ["a", "b"]},
    ],
    read_support: [
        {"run_id": "r", "topic_id": "1",
         "sentences": [{"sentenceID": 0, "text": "One.", "citations": CITED}]},
        {"run_id": "r", "topic_id": "2", "sentence": 0, "citation": "s", "rank": 0, "label": 1},
    ],
    read_labels: [
        {"topic_id": "1", "passage_id": "p", "annotator": "a", "label": "yes"},
        {"topic_id": "1", "passage_id": "p", "annotator": "b", "label": 2},
    ],
    read_relevance: [{"qid": "1", "docid": "d", "judgment": 2, "result_status": 1}],
    read_scores: [{"run_id": "r", "topic_id": "1", "measure": "V", "value": 0.5, "n": 2}],
    read_topics: [
        {"request_id": "1", "title": "t", "problem_statement": "p", "background": "b"},
        {"id": "2", "title": "t", "domain": "d", "category": "c"},
    ],
    read_passages: [{"id": "1", "text": "t", "title": "t"}],
    read_question_sets: [
        {"id": "1", "subquestions": ["a", "", "b"]},
        {"qid": "2", "sub_questions": [{"idx": 3, "text": "a"}, {"id": 0, "question": "b"}]},
    ],
    read_ratings: [
        {"id": "1", "docid": "a", "rating": [5, -1, None, 2.0]},
        {"id": "1", "document": "b", "relevances": {"0": 4, "2": -1}, "rationales": {"0": ""}},
    ],
    read_reports: [{"id": "1", "report": "R."}],
    read_summaries: [{"id": "1", "documents": ["A", {"title": "t", "text": "B"}], "summary": "S"}],
    read_key_point_sets: [
        {"qid": "1", "query": "q", "key_points": ["a", {"text": "b", "spans": ["B"]}]},
        {"topic_id": "2", "key_points": [{"id": "k", "text": "b", "sources": ["s1", 2]}]},
    ],
    read_entailments: [
        {"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": "yes", "evidence": "a",
         "is_quoted": True, "score": 0.5},
        {"topic_id": "1", "run_id": "r", "key_point_id": "l", "label": None, "evidence": "",
         "is_quoted": None},
    ],
    read_claims: [
        {"topic_id": "1", "run_id": "r", "claims": ["a", {"text": "b", "label": "no"}]},
        {"topic_id": "2", "run_id": "r", "claims": None},
    ],
    read_topic_documents: [
        {"qid": "1", "docid": "d", "text": "D", "title": "t"},
        {"qid": "2", "docid": "d", "contents": "E"},
    ],
    read_documents: [{"documents": {"d": {"text": "D", "title": "t"}}}],
}  # fmt: skip


@st.composite
def damaged(draw, value):
    """The value with one place in it, at any depth, replaced by something else."""
    if draw(st.integers(0, 3)) and isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = draw(st.sampled_from(list(keys)))
        copy = value.copy()
        copy[key] = draw(damaged(value[key]))
        return copy
    return draw(VALUES)


@pytest.mark.parametrize("read", GOOD, ids=lambda read: read.__name__)
@given(data=st.data())
def test_one_damaged_field_is_reported_or_read_around(read, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"{read.__name__}.damaged.jsonl"
    rows = data.draw(damaged(GOOD[read]))
    path.write_text(
        "\n".join(json.dumps(row) for row in (rows if isinstance(rows, list) else [rows])),
        encoding="utf-8",
    )
    problems = Problems()
    try:
        records = read(path, problems)
        list(records) if hasattr(records, "__iter__") else records
    except InputError as error:
        assert str(error).startswith(str(path))  # noqa: PT017  most inputs raise nothing
    assert all(str(problem).startswith(f"{path}:{problem.line}: ") for problem in problems)


@pytest.mark.parametrize("read", GOOD, ids=lambda read: read.__name__)
def test_the_undamaged_examples_are_read_without_an_error(read, write, problems):
    records = read(write(*GOOD[read]), problems)
    list(records) if hasattr(records, "__iter__") else records
    problems.raise_errors()


@given(content=st.binary(max_size=60))
@settings(deadline=None)
def test_bytes_of_any_kind_are_an_input_error_at_worst(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(content)
    for read in READERS:
        try:
            records = read(path, Problems())
            list(records) if hasattr(records, "__iter__") else records
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_importing_the_records_loads_no_heavy_library():
    import subprocess
    import sys

    code = (
        "import sys, nuggetjudge.records\n"
        "print({m.partition('.')[0] for m in sys.modules} & "
        "{'dspy', 'litellm', 'numpy', 'scipy', 'aiohttp', 'sklearn', 'ir_measures', 'torch'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_csv_file_that_ends_inside_a_quote_is_an_input_error(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text('topic_id,label\n1,"never closed\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"labels\.csv:2: not CSV"):
        read_labels(path, Problems())
    assert file_kind(path) == "labels"
