"""Words that are marked: with the mouse and by keys, counted in code points of the text."""

import hashlib

import pytest
from annotating import nugget_rows

# Beyond 16 bits, joined by a character that is not seen, composed of two, and half of a pair of
# UTF-16 units would all be counted wrong by a browser's own numbers.
TEXT = (
    "𝒳 stands first. The 👩‍👩‍👧 family cafe\u0301 is open.\nDecks\x07 that give "
    "shed load \U0001f309. Nothing follows."
)

# The middle of the first character of these words, and of the last.
ENDS = """([text, words]) => {
  const root = [...document.querySelectorAll(".text")].find((p) => p.textContent.includes(words));
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf(words);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + words.length);
    const box = range.getBoundingClientRect();
    return [box.left, box.right, (box.top + box.bottom) / 2];
  }
}"""


@pytest.fixture
def site(serve):
    """Four items of one answer."""
    return serve(nugget_rows(n=4, text=TEXT))


def drags(it, words):
    """Select words with the mouse."""
    left, right, middle = it.page.evaluate(ENDS, [TEXT, words])
    it.page.mouse.move(left, middle)
    it.page.mouse.down()
    it.page.mouse.move((left + right) / 2, middle, steps=3)
    it.page.mouse.move(right, middle, steps=3)
    it.page.mouse.up()
    it.settled()


def spans(site):
    """The words of each span that is kept, cut out of the text by Python."""
    (label,) = site.labels()
    digest = hashlib.sha256(TEXT.encode()).hexdigest()[:16]
    assert {one.sha256 for one in label.spans} <= {digest}
    assert {one.of for one in label.spans} <= {"answer"}
    return [TEXT[one.start : one.end] for one in label.spans]


@pytest.mark.parametrize("words", ["stands first", "cafe\u0301 is", "shed load \U0001f309"])
def test_what_the_mouse_selects_is_kept_in_code_points(site, open_site, words):
    it = open_site(site)
    it.presses("s")
    drags(it, words)
    assert it.page.locator("mark.span").all_inner_texts() == [words]
    it.presses("3")
    assert spans(site) == [words]
    assert it.misdeeds() == []


def test_a_selection_over_characters_that_are_not_seen(site, open_site):
    it = open_site(site)
    it.presses("s")
    it.page.evaluate(
        """() => {
          const [first, second] = document.querySelector(".text").querySelectorAll(".escape");
          getSelection().setBaseAndExtent(first.firstChild, 3, second.nextSibling, 7);
        }"""
    )
    it.presses("Enter", "3")
    assert spans(site) == ["\u200d👩\u200d👧 fami"]  # 7 units behind the second: two of 👧, five


def test_sentences_by_keys_shift_takes_several_and_delete_lets_go(site, open_site):
    it = open_site(site)
    it.presses("s", "]", "Enter")
    assert it.spoken == "marked: 𝒳 stands first."
    it.presses("]", "]", "]", "Shift+}", "Enter", "2")
    assert spans(site) == ["𝒳 stands first.", TEXT[TEXT.index("Decks") :]]
    it.presses("k", "s", "]", "Delete")
    assert spans(site) == [TEXT[TEXT.index("Decks") :]]
    it.page.get_by_role("button", name="remove the mark").click()
    it.settled()
    assert spans(site) == []
    assert [one.label for one in site.labels()] == ["partial_support"]
    assert it.misdeeds() == []


def test_single_words_can_be_marked_without_a_mouse(site, open_site):
    it = open_site(site)
    it.presses("s", "w", "]", "]", "Shift+ArrowRight", "Enter", "Escape", "1")
    assert spans(site) == ["stands first"]


def test_marks_over_each_other_become_one_and_the_same_again_goes(site, open_site):
    it = open_site(site)
    it.presses("s")
    drags(it, "stands")
    it.presses("]", "Enter")
    assert it.page.locator("mark.span").all_inner_texts() == ["𝒳 stands first."]
    it.presses("]", "Enter")
    assert it.page.locator("mark.span").count() == 0


def test_nothing_is_marked_but_while_one_marks(site, open_site):
    it = open_site(site)
    drags(it, "stands first")
    it.presses("]", "Enter", "1")
    assert spans(site) == []
    it.presses("s", "s")
    drags(it, "stands first")
    assert it.page.locator("mark").count() == 0


def test_digits_label_while_one_marks(site, open_site):
    it = open_site(site)
    it.presses("s", "]", "Enter", "3")
    assert it.position == 1
    assert spans(site) == ["𝒳 stands first."]


@pytest.mark.parametrize("view", ["item", "answer"])
def test_a_label_that_needs_marked_words_waits_for_them_and_keeps_them(serve, open_site, view):
    site = serve(nugget_rows(n=4, text=TEXT), spans="partial_support,support")
    it = open_site(site, view)
    it.presses("3")
    it.page.get_by_text('Before you choose "all of it", mark the words').wait_for()
    assert site.events() == []
    assert it.page.locator("input:checked").count() == 0
    it.presses("]", "Enter")  # marking has begun
    assert not it.page.get_by_text("mark the words that").is_visible()
    it.presses("3")
    assert spans(site) == ["𝒳 stands first."]
    it.presses("k", *(("s",) if it.page.locator(".marking").is_hidden() else ()), "]", "Delete")
    it.page.get_by_text('Before you choose "all of it", mark the words').wait_for()
    assert spans(site) == ["𝒳 stands first."]  # what was given stands until there are others
    it.presses("]", "]", "Enter")
    assert [words.startswith("The") for words in spans(site)] == [True]
    it.presses("Escape", "j", "1")  # needs none
    assert {one.label for one in site.labels()} == {"support", "not_support"}
    assert it.misdeeds() == []
