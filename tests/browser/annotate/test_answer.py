"""All items of an answer at once: every label in sight, one list, one key each."""

import pytest
from annotating import nugget_rows, rating_rows


@pytest.fixture
def site(serve):
    """Two answers with three items each."""
    return serve(nugget_rows(n=3, answers=2))


def rows(it):
    """The words of each row, its label, and whether keys are for it."""
    listed = []
    for one in it.page.locator(".rows > li").all():
        label = one.locator("input:checked")
        word = label.get_attribute("aria-label") if label.count() else None
        listed.append((one.locator("legend").inner_text()[:6], word))
    return listed


def at(it):
    """The number of the row that keys are for."""
    return it.page.locator(".rows > li").evaluate_all(
        "(all) => all.findIndex((one) => one.getAttribute('aria-current') === 'true')"
    )


def test_every_item_of_the_answer_stands_there_with_its_labels(site, open_site):
    it = open_site(site, "answer")
    assert rows(it) == [("Fact 0", None), ("Fact 1", None), ("Fact 2", None)]
    assert it.page.locator(".rows input[type=radio]").count() == 12
    assert it.page.locator(".reading .text").count() == 1
    assert at(it) == 0
    box = it.page.locator(".reading .text").bounding_box()
    assert box["x"] + box["width"] <= it.page.locator(".rows").bounding_box()["x"]
    assert it.misdeeds() == []


def test_j_and_k_move_and_digits_label_the_row(site, open_site):
    it = open_site(site, "answer")
    it.presses("j", "3")
    assert rows(it) == [("Fact 0", None), ("Fact 1", "all of it"), ("Fact 2", None)]
    assert at(it) == 2
    it.presses("0", "k", "k", "1")
    assert [word for _, word in rows(it)] == ["none of it", "all of it", "cannot tell"]
    assert {one.cell[2]: one.label for one in site.labels()} == {
        "n0": "not_support", "n1": "support", "n2": None,
    }  # fmt: skip


def test_all_done_wants_a_label_or_cannot_tell_on_each(site, open_site):
    it = open_site(site, "answer")
    first = it.page.locator("h1").inner_text()
    it.presses("1", "j", "0", "d")
    assert it.page.locator("h1").inner_text() == first
    assert at(it) == 1
    assert it.spoken == '1 item without a label: give each item a label or "cannot tell"'
    it.presses("0", "d")
    assert it.page.locator("h1").inner_text() != first
    assert rows(it) == [("Fact 0", None), ("Fact 1", None), ("Fact 2", None)]
    it.presses("1", "1", "1", "d")
    assert "Every item of every answer" in it.page.locator(".done").inner_text()
    assert len(site.labels()) == 6
    assert it.misdeeds() == []


def test_reason_flag_marks_clear_and_undo_are_of_the_row(site, open_site):
    it = open_site(site, "answer")
    it.presses("j", "c")
    it.page.keyboard.type("as it says")
    it.presses("Escape", "s", "]", "Enter", "s", "f", "2")
    (label,) = site.labels()
    assert (label.cell[2], label.rationale) == ("n1", "as it says")
    assert [(one.of, one.start, one.end) for one in label.spans] == [("answer", 0, 17)]
    assert it.page.locator("mark.span").count() == 0  # of the next row, which has none
    it.presses("k")
    assert it.page.locator("mark.span").inner_text() == "All bridges move."
    signs = it.page.locator(".rows > li").nth(1).locator(".signs").inner_text()
    assert "flagged" in signs
    assert "with a reason" in signs
    it.presses("x")
    assert site.labels() == []
    it.presses("u")
    assert [one.label for one in site.labels()] == ["partial_support"]
    assert at(it) == 1


def test_a_reload_returns_to_the_row_with_what_was_typed(site, open_site):
    it = open_site(site, "answer")
    it.presses("1", "j", "c")
    it.page.keyboard.type("half a")
    it.page.reload()
    it.page.locator("html[data-ready=yes]").wait_for()
    it.settled()
    assert at(it) == 2
    assert it.page.locator("textarea:visible").input_value() == "half a"
    assert [word for _, word in rows(it)] == ["none of it", None, None]


def test_a_click_labels_its_own_row_and_the_focus_stays(site, open_site):
    it = open_site(site, "answer")
    it.page.locator(".rows > li").nth(2).get_by_text("part of it").click()
    it.settled()
    assert [word for _, word in rows(it)] == [None, None, "part of it"]
    assert at(it) == 2


def test_post_edit_keeps_row_by_row(serve, open_site):
    site = serve(nugget_rows(n=3), condition="post_edit")
    it = open_site(site, "answer")
    assert it.page.locator(".rows input:checked").count() == 0
    assert it.page.locator(".rows .judged").count() == 3
    it.presses("Enter", "Enter", "Enter", "Enter")
    labels = site.labels()
    assert [one.label for one in labels[:2]] == [one.shown for one in labels[:2]]
    assert len(labels) == 3


def test_items_of_one_answer_that_differ_by_their_question_show_it(serve, open_site):
    made = [
        row | {"passage_id": "p0", "question_id": str(i)} for i, row in enumerate(rating_rows(3))
    ]
    site = serve(made, "ratings")
    it = open_site(site, "answer")
    legends = it.page.locator(".rows legend").all_inner_texts()
    assert sorted(legends) == [f"what keeps a bridge steady? ({i})" for i in range(3)]


def test_from_one_item_to_all_of_its_answer_and_back(site, open_site):
    it = open_site(site)
    it.presses("j")
    words = it.page.locator(".text").last.inner_text()
    it.page.get_by_role("link", name="all items of this answer").click()
    it.settled()
    assert it.page.locator(".rows > [aria-current] legend").inner_text() == words
    it.page.go_back()
    it.settled()
    assert (it.position, it.page.locator("#item").count()) == (1, 1)
    it.presses("1")
    assert len(site.labels()) == 1
    assert it.misdeeds() == []
