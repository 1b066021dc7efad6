"""Bank, verify, adjudicate and progress in Chromium, and what they did that they must not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from browser.annotate.decisions.session import Page, Session

REFUSED = """addEventListener('securitypolicyviolation', (event) =>
  (window.refused ??= []).push(`${event.violatedDirective} refused ${event.blockedURI}`));"""
WIDE = """() => {
  const { clientWidth, scrollWidth } = document.scrollingElement;
  if (scrollWidth <= clientWidth) return [];
  const right = (e) => e.getBoundingClientRect().right;
  const wide = [...document.querySelectorAll("main *")].filter((e) => right(e) > clientWidth + 1);
  return wide.filter((e) => !e.closest(".scroll")).map((e) => e.outerHTML.slice(0, 120));
}"""
SIZES = ((1280, 900), (640, 450), (390, 800), (320, 640))  # the second: 1280 at 200%


@dataclass
class Opened:
    """A screen, and what it did that it must not."""

    page: Any
    address: str
    session: Session
    logged: list[str] = field(default_factory=list)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def until(self, holds: Callable[[], Any], what: str = "") -> None:
        """Wait until something holds, 10 s at most."""
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end, what or self.text()
            self.page.wait_for_timeout(15)

    def sees(self, text: str, selector: str = "main") -> None:
        """Wait until a text is there."""
        self.until(lambda: text in self.text(selector), f"{text!r} in {selector}")

    def text(self, selector: str = "main") -> str:
        """What is written there."""
        return "".join(self.page.locator(selector).all_text_contents())

    @property
    def focused(self) -> str:
        """The text of what has the focus."""
        return self.page.evaluate("() => document.activeElement.textContent.slice(0, 200)")

    def wide(self) -> dict[int, list[str]]:
        """What is wider than the page, by the width of the page."""
        too_wide_by_width = {}
        for width, height in SIZES:
            self.page.set_viewport_size({"width": width, "height": height})
            if too_wide := self.page.evaluate(WIDE):
                too_wide_by_width[width] = too_wide
        self.page.set_viewport_size({"width": 1280, "height": 900})
        return too_wide_by_width

    def misdeeds(self) -> list[str]:
        """Errors, dialogs, refused scripts, and requests for anything but this server."""
        return [*self.logged, *self.page.evaluate("() => window.refused ?? []")]


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def served() -> Iterator[tuple[Page, str]]:
    """The page, and where it is."""
    uvicorn = pytest.importorskip("uvicorn", reason="`make test-browser` installs it")
    page = Page()
    config = uvicorn.Config(page.app, port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield page, f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(5)


@pytest.fixture
def opened(chromium: Any, served: tuple[Page, str]) -> Iterator[Open]:
    """`opened(session, "bank?n=0")`; options are those of a browser's context."""
    contexts = []
    page_, address = served

    def open_it(session: Session, view: str = "", clock: bool = False, **options: Any) -> Opened:
        page_.session = session
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        it = Opened(page, address, session)
        if clock:
            page.clock.install()
        page.add_init_script(REFUSED)
        page.on("console", lambda m: it.logged.append(f"console {m.type}: {m.text}"))
        page.on("pageerror", lambda error: it.logged.append(f"error: {error}"))

        def request(one: Any) -> None:
            if not one.url.startswith((address, "data:,")):
                it.logged.append(f"request {one.url[:200]}")

        page.on("request", request)

        def dismiss(dialog: Any) -> None:
            it.logged.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(f"{address}/#{view or session.view}")
        page.locator("html[data-ready]").wait_for()
        page.locator("main h1").wait_for()
        return it

    yield open_it
    for context in contexts:
        context.close()
    page_.session = Session()


@pytest.fixture
def axe(chromium: Any) -> Callable[[Opened], list[Any]]:
    """What axe finds on a screen that was opened with bypass_csp=True, light and dark."""
    run = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def violations(it: Opened) -> list[Any]:
        all_of_it = []
        for scheme in ("light", "dark"):
            it.page.emulate_media(color_scheme=scheme)
            options: dict[str, Any] = {"resultTypes": ["violations"]}
            if scheme == "dark":
                options["runOnly"] = ["color-contrast"]
            response = run.run(it.page, options=options).response
            all_of_it += [
                (one["id"], node["target"], node.get("failureSummary", ""))
                for one in response["violations"]
                for node in one["nodes"][:2]
            ]
        return all_of_it

    return violations
