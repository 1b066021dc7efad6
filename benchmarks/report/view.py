"""How fast Chromium opens a report and answers what a reader does, in milliseconds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

# When the page says that it is ready, and its first frame after that is drawn.
READY = """addEventListener("DOMContentLoaded", () => {
  const seen = () => requestAnimationFrame(() => setTimeout(() => { window.readyAt = performance.now(); }));
  if (document.documentElement.dataset.ready) seen();
  else new MutationObserver(seen).observe(document.documentElement, { attributeFilter: ["data-ready"] });
});"""
# From an act to the first frame in which it is done: [act, its argument, where, the text wanted there].
ACT = """async ([act, what, where, wanted]) => {
  const before = wanted === null ? document.querySelector(where)?.textContent : null;
  const isDone = () => {
    const text = document.querySelector(where)?.textContent ?? "";
    return wanted === null ? text !== before : text.includes(wanted);
  };
  const began = performance.now();
  if (act === "click") document.querySelector(what).click();
  else if (act === "go") location.hash = what;
  else {
    const field = document.querySelector(what);
    field.value = wanted === null ? "" : wanted;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  while (!isDone()) {
    await new Promise((next) => requestAnimationFrame(next));
    if (performance.now() - began > 20000) return null;
  }
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
  return performance.now() - began;
}"""


def main(path: str, times: int) -> dict[str, list[float]]:
    """What was measured, `times` times each; {} without Playwright or Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    if chromium is None:
        return {}
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        found: dict[str, list[float]] = {}
        address = Path(path).resolve().as_uri()
        for _ in range(times):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.add_init_script(READY)
            page.goto(address)
            page.locator("html[data-ready=yes]").wait_for()
            page.wait_for_timeout(300)
            found.setdefault("ready", []).append(page.evaluate("() => window.readyAt"))
            for name, time in _acts(page):
                if time is not None:
                    found.setdefault(name, []).append(time)
            page.close()
        browser.close()
    return found


def _acts(page: Any) -> list[tuple[str, float | None]]:
    """The slowest of the tables is what sorting takes."""
    has = {
        one: page.locator(f"#{one}").count() for one in ("topics", "matrix", "answer", "unjudged")
    }
    sorts = []
    for section in page.eval_on_selector_all("main section", "(all) => all.map((s) => s.id)"):
        head = f"#{section} th button"
        if page.locator(head).count():
            sorts.append(page.evaluate(ACT, ["click", head, f"#{section}", None]))
    found = [("sort", max((time for time in sorts if time is not None), default=None))]
    topics = page.evaluate("() => JSON.parse(document.getElementById('head').textContent).topics")
    if has["matrix"] and len(topics) > 7:
        act = ["go", f"matrix?topic={topics[7]}", "#matrix", None]
        found.append(("topic", page.evaluate(ACT, act)))
    if has["answer"] and len(topics) > 9:
        act = ["go", f"answer?topic={topics[9]}", "#answer", f"question {topics[9]}"]
        found.append(("answer", page.evaluate(ACT, act)))
    if page.locator("#unjudged input[type=search]").count():
        act = ["type", "#unjudged input[type=search]", "#unjudged", None]
        found.append(
            ("filter", page.evaluate(ACT.replace('wanted === null ? "" : wanted', '"n00123"'), act))
        )
    return found
