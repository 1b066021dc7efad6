"""One item at a time: one key, one label on the disk, the next item."""

import time

import pytest
from annotating import nugget_rows, rating_rows


@pytest.fixture
def site(serve):
    """Six items of one answer."""
    return serve(nugget_rows())


def test_one_key_labels_saves_and_shows_the_next(site, open_site):
    it = open_site(site)
    first = it.page.locator(".reading").inner_text()
    it.presses("3")
    assert it.position == 1
    assert it.page.locator(".reading").inner_text() != first
    (label,) = site.labels()
    assert (label.label, label.condition, label.shown) == ("support", "from_scratch", None)
    assert label.cell == site.work.sessions["ann"].entries[0].cell
    it.presses("0", "1")
    assert [event["label"] for event in site.events()] == ["support", None, "not_support"]
    assert it.page.locator(".far span").first.inner_text() == "3 of 6"
    assert it.misdeeds() == []


def test_a_person_who_labels_from_scratch_sees_no_judge_run_or_label(site, open_site):
    answers = []
    it = open_site(site, "")
    it.page.on("response", lambda one: answers.append(one))
    it.at("item")
    it.presses("1", "2")
    bodies = "".join(one.text() for one in answers if "/api/" in one.url)
    assert "Fact" in bodies
    assert "secret-run" not in bodies
    assert it.page.locator(".judged").count() == 0


def test_a_click_labels_and_arrows_only_move_the_focus(site, open_site):
    it = open_site(site)
    it.page.get_by_label("part of it").click()
    it.settled()
    assert it.position == 1
    radios = it.page.locator("input[type=radio]")
    assert [one.is_checked() for one in radios.all()] == [False] * 4
    radios.first.focus()
    it.presses("ArrowRight", "ArrowDown")
    assert it.position == 1
    assert [one["label"] for one in site.events()] == ["partial_support"]
    it.presses("Space")
    assert [one["label"] for one in site.events()] == ["partial_support", "support"]
    assert (
        it.page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "all of it"
    )
    it.presses("1")  # keys hold where a radio has the focus
    assert [one["label"] for one in site.events()][2:] == ["not_support"]


def test_undo_and_redo_go_back_to_the_item(site, open_site):
    it = open_site(site)
    it.presses("3", "1", "u")
    assert it.position == 1
    assert [one.label for one in site.labels()] == ["support"]
    it.presses("Backspace")
    assert (it.position, site.labels()) == (0, [])
    it.presses("u")
    assert it.spoken == "nothing to undo"
    it.presses("Shift+U", "Shift+U")
    assert it.position == 1
    assert sorted(one.label for one in site.labels()) == ["not_support", "support"]
    assert it.page.locator(".last button").all_inner_texts() == ["✗", "✓"]
    assert it.misdeeds() == []


def test_clear_takes_the_label_away_and_is_never_the_lowest_one(site, open_site):
    it = open_site(site)
    it.presses("x")
    assert site.events() == []
    it.presses("3", "k", "x")
    assert site.labels() == []
    assert site.events()[-1]["do"] == "clear"
    assert it.page.locator("input:checked").count() == 0
    assert it.page.locator(".far span").first.inner_text() == "0 of 6"
    it.presses("u")
    assert [one.label for one in site.labels()] == ["support"]
    assert it.page.locator("input:checked").count() == 1


def test_a_reason_goes_with_the_label_and_can_be_changed_behind_it(site, open_site):
    it = open_site(site)
    it.presses("c")
    it.page.keyboard.type("1 it says so 😀")  # keys are text here
    it.presses("Escape")
    assert site.events() == []
    it.presses("3")
    (label,) = site.labels()
    assert (label.label, label.rationale) == ("support", "1 it says so 😀")
    assert it.page.locator("textarea:visible").count() == 0
    it.presses("k", "c")
    assert it.page.locator("textarea:visible").input_value() == "1 it says so 😀"
    it.page.keyboard.type(", twice")
    it.presses("Escape")
    (label,) = site.labels()
    assert (label.label, label.rationale) == ("support", "1 it says so 😀, twice")
    assert it.position == 0


def test_a_reload_returns_to_the_item_with_what_was_typed_and_marked(site, open_site):
    it = open_site(site)
    it.presses("j", "j", "s", "]", "Enter", "s", "c")
    it.page.keyboard.type("half a rea")
    it.page.reload()
    it.page.locator("html[data-ready=yes]").wait_for()
    it.settled()
    assert it.position == 2
    assert it.page.locator("textarea:visible").input_value() == "half a rea"
    assert it.page.locator("mark.span").inner_text() == "All bridges move."
    assert site.events() == []
    it.presses("2")
    (label,) = site.labels()
    assert (label.rationale, len(label.spans)) == ("half a rea", 1)
    it.at("item?n=2")
    assert it.page.evaluate("() => sessionStorage.length") == 0


def test_flag_with_why_and_without(site, open_site):
    it = open_site(site)
    it.presses("f", "n")
    it.page.keyboard.type("no answer at all")
    it.presses("Escape", "1", "k")
    flag = it.page.locator("[data-key=f]")
    assert flag.get_attribute("aria-pressed") == "true"
    with site.work.sessions["ann"].journal() as journal:
        (one,) = journal.state.flags()
    assert one.why == "no answer at all"
    it.presses("f")
    assert flag.get_attribute("aria-pressed") == "false"
    with site.work.sessions["ann"].journal() as journal:
        assert list(journal.state.flags()) == []
    assert len(site.labels()) == 1


def test_a_flag_swallows_no_label_key(site, open_site):
    """The flag opened a field, and the label that was pressed next was typed into it."""
    it = open_site(site)
    it.presses("f", "3")
    assert [one.label for one in site.labels()] == ["support"]
    it.presses("n")
    assert it.spoken == "flag the item first (f)"


def test_guidelines_open_beside_the_item_and_labelling_goes_on(site, open_site):
    it = open_site(site)
    drawer = it.page.locator(".drawer")
    assert not drawer.is_visible()
    it.presses("g")
    assert "states or clearly implies every important part of the fact" in drawer.inner_text()
    it.presses("3")
    assert (len(site.labels()), drawer.is_visible()) == (1, True)
    it.presses("g")
    assert not drawer.is_visible()
    it.page.get_by_role("button", name="Guidelines").click()
    it.page.get_by_role("button", name="Close").click()
    assert not drawer.is_visible()
    meant = it.page.locator(".choices label").evaluate_all("(all) => all.map((e) => e.title)")
    assert meant[0].startswith("the answer neither states nor clearly implies any of the fact")
    assert it.misdeeds() == []


def test_at_the_end_stand_counts_and_what_to_look_at_again(serve, open_site):
    it = open_site(serve(nugget_rows(4), n=4))
    it.presses("f", "n")
    it.page.keyboard.type("two facts in one")
    it.presses("Escape", "1", "0", "2", "3")
    end = it.page.locator(".done")
    end.wait_for()
    facts = end.locator(".facts > div").all_text_contents()
    assert facts[:4] == ["labelled4", "flagged1", "cannot tell1", "without a label0"]
    rows = end.locator("li").all_inner_texts()
    assert rows == ["item 1 flagged: two facts in one", "item 2 cannot tell"]
    end.get_by_role("button", name="item 2").click()
    it.settled()
    assert it.position == 1


def test_what_is_left_for_later_comes_again_at_the_end(site, open_site):
    it = open_site(site)
    it.presses("l")
    assert it.position == 1
    it.presses("1", "1", "1", "1", "1")
    assert it.position == 0
    it.presses("2")
    assert "You have labelled or skipped every item" in it.page.locator(".done").inner_text()
    assert len(site.labels()) == 6
    assert it.misdeeds() == []


def test_the_strip_of_the_last_ten_leads_back(site, open_site):
    it = open_site(site)
    it.presses("1", "2", "3", "0")
    assert it.page.locator(".last button").all_inner_texts() == ["?", "✓", "◐", "✗"]
    it.page.get_by_role("button", name="item 2: part of it").click()
    it.settled()
    assert it.position == 1
    assert it.page.locator("input:checked").get_attribute("aria-label") == "part of it"
    it.presses("1")  # changed, and on to the first open one
    assert it.position == 4
    assert len(site.labels()) == 4


def test_a_key_that_is_held_down_labels_one_item(site, open_site):
    it = open_site(site)
    for _ in range(4):
        it.page.keyboard.down("1")
    it.settled()
    assert (it.position, len(site.events())) == (1, 1)


def test_keys_do_nothing_with_ctrl_alt_or_meta_nor_while_one_types(site, open_site):
    it = open_site(site)
    it.presses("Control+1", "Alt+1", "Meta+1", "c", "1", "0", "u", "f", "j")
    assert it.page.locator("textarea:visible").input_value() == "10ufj"
    assert (it.position, site.events()) == (0, [])


def test_grades_have_their_digits_and_cannot_tell_the_dash(serve, open_site):
    site = serve(rating_rows(), "ratings")
    it = open_site(site)
    it.presses("0", "5", "-", "7")
    assert [event["label"] for event in site.events()] == ["0", "5", None]
    assert it.position == 3


def test_post_edit_shows_the_judges_label_as_text_and_chooses_nothing(serve, open_site):
    site = serve(nugget_rows(n=3), condition="post_edit")
    it = open_site(site)
    shown = [entry.shown for entry in site.work.sessions["ann"].entries]
    words = {"not_support": "none of it", "partial_support": "part of it", "support": "all of it"}
    assert words[shown[0]] in it.page.locator(".judged b").inner_text()
    assert it.page.locator("input:checked").count() == 0
    it.presses("Enter")  # kept
    it.presses({"not_support": "2"}.get(shown[1], "1"))  # changed
    it.presses("0")
    events = site.events()
    assert [event["shown"] for event in events] == shown
    assert {event["condition"] for event in events} == {"post_edit"}
    assert events[0]["label"] == shown[0]
    assert events[1]["label"] not in (shown[1], None)
    assert events[2]["label"] is None
    assert it.misdeeds() == []


def test_enter_keeps_nothing_where_no_label_is_shown(site, open_site):
    it = open_site(site)
    it.presses("Enter")
    assert (it.position, site.events()) == (0, [])


def test_active_time_is_kept_and_leaving_the_page_does_not_count(site, open_site):
    it = open_site(site)
    it.page.keyboard.press("Shift")
    time.sleep(0.4)
    it.page.evaluate("() => dispatchEvent(new Event('blur'))")
    time.sleep(1.0)
    it.page.evaluate("() => dispatchEvent(new Event('focus'))")
    it.presses("1")
    (label,) = site.labels()
    assert 300 < label.active_ms < 1000
    it.presses("k")
    time.sleep(0.3)
    it.presses("2")
    (again,) = site.labels()
    assert label.active_ms + 200 < again.active_ms < label.active_ms + 1500


def test_progress_and_time_can_be_hidden_and_stay_so(site, open_site):
    it = open_site(site)
    it.page.get_by_role("button", name="hide progress").click()
    assert not it.page.locator("#far").is_visible()
    it.at("item")
    assert not it.page.locator("#far").is_visible()
    it.page.get_by_role("button", name="show progress").click()
    assert it.page.locator("#far").is_visible()


def test_a_key_draws_the_next_item_within_50_ms(serve, open_site):
    site = serve(nugget_rows(n=20, text="All bridges move. " * 200))
    it = open_site(site)
    took = []
    for _ in range(15):
        took.append(
            it.page.evaluate(
                """() => new Promise((done) => {
                  const before = document.querySelector(".reading").dataset.n;
                  const start = performance.now();
                  const body = document.querySelector("#item");
                  body.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
                  requestAnimationFrame(function next() {
                    if (document.querySelector(".reading").dataset.n !== before)
                      setTimeout(() => done(performance.now() - start));
                    else requestAnimationFrame(next);
                  });
                })"""
            )
        )
        it.settled()
    assert sorted(took)[7] < 50  # that of one key may well meet another test's work
    assert len(site.labels()) == 15


@pytest.mark.parametrize("view", ["item", "answer"])
def test_keys_typed_before_an_undo_is_answered_are_for_the_item_that_comes_back(
    serve, open_site, view
):
    site = serve(nugget_rows(n=4))
    it = open_site(site, view)
    it.presses("1", "1", "j")
    delayed = []
    it.page.route(
        "**/api/event", lambda route: route.continue_() if delayed else delayed.append(route)
    )
    for key in ("u", "c", *"why, x", "Escape", "3", "2"):
        it.page.keyboard.press(key)
    it.page.locator(".waiting-keys").wait_for()
    assert len(delayed) == 1
    delayed[0].continue_()
    it.page.locator(".waiting-keys").wait_for(state="hidden")
    for _ in range(200):
        if len(site.events()) == 5:
            break
        it.page.wait_for_timeout(25)
    _, undone, back, third = [row for row in site.events() if row["do"] == "label"]
    assert (back["cell"], back["label"], back["rationale"]) == (undone["cell"], "support", "why, x")
    assert (third["label"], third["rationale"]) == ("partial_support", "")
    assert third["cell"] != back["cell"]
    assert len(site.labels()) == 3
    assert it.misdeeds() == []
