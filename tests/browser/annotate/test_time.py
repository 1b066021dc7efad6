"""An hour in which nobody did anything is not an hour of labelling."""

from annotating import nugget_rows

MINUTE = 60_000  # most milliseconds that count between two actions

# Times of a clock that is moved by hand, with what has been counted by then.
COUNTED = """async () => {
  const { activity } = await import("/annotate/web/activity.js");
  let now = 0;
  const counted = [];
  const spent = activity(() => now);
  const after = (ms, action) => {
    now += ms;
    if (action) dispatchEvent(new Event(action));
    counted.push(spent.ms());
  };
  after(59_000, "keydown");      // a long text that is read
  after(3_600_000);              // the tab stays open
  after(0, "pointermove");       // somebody is back
  after(5_000, "blur");
  after(3_600_000);              // another window has the focus
  after(0, "focus");
  after(61_000, "wheel");
  spent.restart();
  after(120_000);                // the next item, and nobody there
  spent.stop();
  return counted;
}"""


def test_between_two_deeds_a_minute_counts_at_most(serve, open_site):
    it = open_site(serve(nugget_rows()))
    assert it.page.evaluate(COUNTED) == [
        59_000, *[59_000 + MINUTE] * 2, *[64_000 + MINUTE] * 3, 64_000 + 2 * MINUTE, MINUTE,
    ]  # fmt: skip


def test_a_tab_that_is_left_open_for_an_hour_gives_a_label_of_a_minute(serve, open_site):
    site = serve(nugget_rows())
    it = open_site(site)
    it.page.clock.install()
    it.page.keyboard.press("Shift")
    it.page.clock.fast_forward("01:00:00")
    it.presses("1")
    (label,) = site.labels()
    assert MINUTE - 5_000 < label.active_ms < MINUTE + 5_000  # the clocks change, too
