"""One item at a time: one key, one label on the disk, the next item."""

from annotating import nugget_rows


def test_one_key_labels_saves_and_shows_the_next(serve, open_site):
    site = serve(nugget_rows())
    it = open_site(site)
    first = it.page.locator(".reading").inner_text()
    it.presses("3")
    assert it.place == 1
    assert it.page.locator(".reading").inner_text() != first
    (label,) = site.labels()
    assert label.label == "support"
    assert (label.cell, label.condition, label.shown) == (
        site.work.desks["ann"].entries[0].cell,
        "from_scratch",
        None,
    )
    it.presses("0", "1")
    kept = [event["label"] for event in site.events()]
    assert kept == ["support", None, "not_support"]
    assert it.misdeeds() == []
