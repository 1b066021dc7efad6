"""The first screen: what the task is, and a button that leads to it or says why not."""

import pytest
from annotating import nugget_rows

from nuggetjudge.plugins.annotate.store.events import Label


@pytest.fixture
def disputed(serve):
    """`disputed(against_judge)`: ann and bob differ on three items, which judy decides."""

    def make(against_judge=False):
        people = {"names": ("ann", "bob"), "adjudicators": ("judy",)}
        site = serve(nugget_rows(), overlap=1.0, against_judge=against_judge, **people)
        for name, label in (("ann", "support"), ("bob", "not_support")):
            for n in range(3):
                about = {"kind": "nuggets", "cell": site.work.task.cells[n], "label": label}
                site.work.sessions[name].take(Label(id=f"label-{name}-{n}", **about))
        return site

    return make


@pytest.mark.parametrize(
    ("against_judge", "said", "n"),
    [(False, "is not shown", 2), (True, "is one of the anonymous labels", 3)],
)
def test_an_adjudicator_begins_at_the_first_dispute_and_knows_whose_labels_there_are(
    disputed, open_site, against_judge, said, n
):
    """Begin did nothing, and the judge was among the sources whatever the page said."""
    page = open_site(disputed(against_judge), "start", "judy")
    assert f"The judge's label{said}" in page.page.locator(".facts").text_content()
    page.page.get_by_role("button", name="Begin").click()
    page.page.locator(".sources li").first.wait_for()
    assert "#adjudicate?n=" in page.page.url
    assert page.page.locator(".sources li").count() == n
    assert ("judge" in page.page.locator("main").text_content()) is against_judge
    assert page.misdeeds() == []


def test_an_adjudicator_without_a_dispute_is_told_so(serve, open_site):
    page = open_site(serve(nugget_rows(), adjudicators=("judy",)), "start", "judy")
    page.page.get_by_role("button", name="Begin").click()
    page.page.get_by_text("There is nothing to decide yet").wait_for()


def test_what_goes_wrong_at_a_button_is_said(serve, open_site):
    page = open_site(serve(nugget_rows()), "start")
    refused = {"status": 403, "json": {"error": "this link is not for labelling"}}
    page.page.route("**/api/next*", lambda route: route.fulfill(**refused))
    page.page.get_by_role("button", name="Begin").click()
    page.page.locator(".banner").get_by_text("this link is not for labelling").wait_for()
    page.page.get_by_role("button", name="OK").click()
    page.page.locator(".banner").wait_for(state="hidden")
    page.page.unroute("**/api/next*")
    page.page.get_by_role("button", name="Begin").click()
    page.page.locator(".reading").wait_for()
