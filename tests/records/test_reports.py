import pytest

from nuggetjudge.records import read_reports


@pytest.mark.parametrize("topic_field", ["id", "example_id", "qid", "topic_id"])
@pytest.mark.parametrize("text_field", ["report", "summary", "reference_summary"])
def test_every_spelling_of_the_fields_is_read(topic_field, text_field, write, problems):
    path = write({topic_field: 7, "request": "Write.", text_field: "Dockers struck."})
    assert read_reports(path, problems) == {"7": "Dockers struck."}
    assert len(problems) == 0


def test_the_same_report_again_is_mentioned_and_another_is_an_error(write, problems, kinds):
    rows = [{"id": "7", "report": text} for text in ("A.", "A.", "B.")]
    assert read_reports(write(*rows), problems) == {"7": "A."}
    assert kinds() == [(2, "duplicate_report", "kept"), (3, "duplicate_report", "error")]


def test_what_is_no_report_is_an_error_with_its_place(write, problems, kinds):
    path = write(
        {"report": "A."}, {"id": "7"}, {"id": "7", "report": 3}, {"id": "7", "report": " "}
    )
    assert read_reports(path, problems) == {}
    assert kinds() == [
        (1, "missing_field", "error"),
        (2, "missing_field", "error"),
        (3, "bad_field", "error"),
        (4, "empty_report", "error"),
        (1, "empty_file", "error"),
    ]


def test_real_reference_summaries_are_read_whole(shared_data, problems):
    found = read_reports(shared_data / "crux_duc/queries.jsonl", problems)
    assert len(found) == 30
    assert found["duc04-testb-0"].startswith("Dr. Barnett Slepian, the mainstay")
    assert len(problems) == 0
