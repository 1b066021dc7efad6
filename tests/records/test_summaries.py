import pytest

from nuggetjudge.records import Summary, read_summaries

ROW = {"id": "harbour", "documents": ["Dockers struck.", "It rained."], "summary": "A strike."}


def test_a_document_is_a_text_or_an_object_with_a_title_before_it(write, problems):
    documents = ["One.", {"text": "Two."}, {"contents": "Three.", "title": " News ", "url": "u"}]
    found = read_summaries(write({**ROW, "documents": documents}), problems)
    texts = ("One.", "Two.", "News\n\nThree.")
    assert found == [Summary(id="harbour", documents=texts, summary="A strike.")]
    assert len(problems) == 0


def test_summaries_keep_the_order_of_the_file(write, problems):
    found = read_summaries(write(*({**ROW, "id": name} for name in "zab")), problems)
    assert [summary.id for summary in found] == ["z", "a", "b"]


def test_an_empty_document_is_skipped_and_listed(write, problems, kinds):
    path = write({**ROW, "documents": ["One.", " ", {"text": ""}, "Two."]})
    assert read_summaries(path, problems)[0].documents == ("One.", "Two.")
    assert kinds() == [(1, "empty_document", "skipped")] * 2
    assert "documents[1].text is empty" in str(problems.rows[0])


@pytest.mark.parametrize("name", ["a b", "a:b", "a#1", "all", "a\tb"])
def test_an_id_that_cannot_begin_the_ids_of_passages_is_an_error(name, write, problems, kinds):
    assert read_summaries(write({**ROW, "id": name}), problems) == []
    assert kinds() == [(1, "bad_id", "error"), (1, "empty_file", "error")]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({**ROW, "id": None}, "missing_field"),
        ({**ROW, "summary": "  "}, "empty_summary"),
        ({**ROW, "summary": ["A strike."]}, "bad_field"),
        ({**ROW, "documents": []}, "no_documents"),
        ({**ROW, "documents": "Dockers struck."}, "bad_field"),
        ({**ROW, "documents": ["One.", 2]}, "bad_field"),
        ({**ROW, "documents": ["One.", {"title": "Two"}]}, "missing_field"),
        ({"id": "harbour", "summary": "A strike."}, "missing_field"),
    ],
)
def test_what_is_no_summary_of_documents_is_an_error(row, kind, write, problems, kinds):
    read_summaries(write({**ROW, "id": "good"}, row), problems)
    assert kinds() == [(2, kind, "error")]


def test_an_id_twice_is_an_error_even_with_the_same_texts(write, problems, kinds):
    assert len(read_summaries(write(ROW, ROW), problems)) == 1
    assert kinds() == [(2, "duplicate_id", "error")]
