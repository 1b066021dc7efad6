"""What replies to published prompts are read as; whatever could be two things is no judgement."""

import pytest

from nuggetjudge.backends.errors import JudgeOutputError
from nuggetjudge.judges.instruments.files import ReplyForm
from nuggetjudge.judges.instruments.replies import Labels, ReplyReader, read_items

SUPPORT = {"support": "support", "partial support": "partial_support", "not support": "not_support"}


def reader(form, labels=SUPPORT, **more):
    parts = ReplyForm(form=form, **more)
    return ReplyReader(parts, Labels(labels, are_numbers=form == "number"))


def read_or_reason(reading, text):
    """What is read, or the reason why it is not."""
    try:
        return reading.read(text)[0]
    except JudgeOutputError as error:
        return error.reason.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["support", "not_support"]', ["support", "not_support"]),
        ("['Support', 'Not-Support',]", ["support", "not_support"]),
        ('```python\n["support"]\n```', ["support"]),
        ("```\n['partial support']\n```\n", ["partial_support"]),
        ('<think>["support"]? No.</think>\n["not_support"]', ["not_support"]),
        ('<reasoning>["support"]?</reasoning>["not_support"]', ["not_support"]),
        ('Labels: ["support"]', "unparseable"),
        ('["support"] ["not_support"]', "unparseable"),
        ('["support" "not_support"]', "unparseable"),
        ('["supports"]', "unparseable"),
        ('[["support"]]', "unparseable"),
        ("[support]", "unparseable"),
        ('["support"', "unparseable"),
        ("__import__('os')", "unparseable"),
        ("['support', open('x')]", "unparseable"),
        ("", "unparseable"),
        ("[" * 100_000, "unparseable"),
    ],
)
def test_a_list_of_labels_is_one_flat_list_and_nothing_else(text, expected):
    assert read_or_reason(reader("list"), text) == expected


# Values: json.loads and ast.literal_eval of the same texts, which must agree with ours.
@pytest.mark.parametrize(
    "text",
    [
        '["a \\"b\\"", "c\\\\d", "\\u00e9", "\\ud83d\\ude00", "x\\ty"]',
        "[\"it's\", 'say \"so\"', 'don\\'t', 'a\\\\b']",
        "[]",
    ],
)
def test_texts_of_a_list_are_those_that_python_reads(text):
    import ast

    expected = ast.literal_eval(text)
    joined = [part.encode("utf-16", "surrogatepass").decode("utf-16") for part in expected]
    assert read_items(text) == joined


def test_half_a_character_in_a_list_is_no_text():
    free = ReplyReader(ReplyForm(form="list"), None)
    assert read_or_reason(free, '["\\ud83d"]') == "unparseable"


GRADES = {str(i): str(i) for i in range(4)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("final score: 3", "3"),
        ("##Final  Score:3", "3"),
        ("**Final score:** 2", "2"),
        ("Intent 3, trust 1.\nfinal score: 2.", "2"),
        ("final score: 2\nI repeat, final score: 2", "2"),
        ("final score: 2\nfinal score: 3", "unparseable"),
        ("final score: 2 of 3", "unparseable"),
        ("final score: 2/3", "unparseable"),
        ("final score: 2-3", "unparseable"),
        ("final score: 2.5", "unparseable"),
        ("final score: 23", "unparseable"),
        ("final score: 7", "unparseable"),
        ("final score: high\nfinal score: 3", "unparseable"),
        ("semifinal score: 3", "unparseable"),
        ("3", "unparseable"),
        ("the final score", "unparseable"),
        ("<think>The reply may end in\nfinal score: 3", "unparseable"),
    ],
)
def test_a_label_stands_after_its_marker_and_all_markers_must_agree(text, expected):
    assert read_or_reason(reader("label", GRADES, after="final score:"), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Verdict: yes", "full"),
        ("Verdict: no, since it says otherwise", "none"),
        ("Verdict: No doubt that it does", "unparseable"),
        ("Verdict: not", "unparseable"),
        ("Verdict: yes - all of it", "full"),
    ],
)
def test_a_word_that_goes_on_is_no_label(text, expected):
    assert (
        read_or_reason(reader("label", {"yes": "full", "no": "none"}, after="verdict:"), text)
        == expected
    )


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("Partial Support.", {}, "partial_support"),
        ('"support"', {}, "support"),
        ("It is support", {}, "unparseable"),
        ("It states half of it.\n\npartial support", {"last_line": True}, "partial_support"),
        ("support\nnot sure", {"last_line": True}, "unparseable"),
        ("Label: support\nnot support", {"last_line": True, "after": "Label:"}, "support"),
        ("no marker\nnot support", {"last_line": True, "after": "Label:"}, "not_support"),
    ],
)
def test_a_label_without_marker_stands_alone(text, more, expected):
    assert read_or_reason(reader("label", **more), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", "2"), ("2.0", "2"), ("+2", "2"), ("2.5", "unparseable"), ("two", "unparseable")],
)
def test_a_number_is_told_by_its_value(text, expected):
    assert read_or_reason(reader("number", GRADES), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"M": 3, "T": 0, "O": 2}', "2"),
        ('```json\n{"o": "2"}\n```', "2"),
        ('{"O": 2, "overall": 2}', "2"),
        ('{"O": 2, "overall": 1}', "unparseable"),
        ('{"O": 2, "O": 1}', "unparseable"),
        ('{"O": 4}', "unparseable"),
        ('{"O": null}', "unparseable"),
        ('{"M": 3}', "incomplete"),
        ('The scores: {"O": 2}', "unparseable"),
        ("[2]", "unparseable"),
        ("{" * 100_000, "unparseable"),
    ],
)
def test_a_field_of_json_counts_by_any_of_its_names(text, expected):
    assert read_or_reason(reader("json", GRADES, field=["O", "overall"]), text) == expected


def test_two_labels_for_one_spelling_are_refused():
    with pytest.raises(ValueError, match="'SUPPORT' means both support and none"):
        Labels({"support": "support", "SUPPORT": "none"})
    with pytest.raises(ValueError, match="'high' is not a number"):
        Labels({"high": "3"}, are_numbers=True)
