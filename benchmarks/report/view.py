"""How fast Chromium opens a report and answers what a reader does, in milliseconds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

# When the page says that it is ready, and its first frame after that is drawn.
READY = """addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const drawn = () => { window.readyAt = performance.now(); };
  const seen = () => requestAnimationFrame(() => setTimeout(drawn));
  if (root.dataset.ready) seen();
  else new MutationObserver(seen).observe(root, { attributeFilter: ["data-ready"] });
});"""
# From an act to the first frame in which it is done: an element holds a text, or any other text.
ACT = """async ([act, what, where, wanted]) => {
  const before = wanted === null ? document.querySelector(where)?.textContent : null;
  const address = location.hash;
  const isDone = () => {
    if (act === "click" && location.hash !== address) return true;
    const text = document.querySelector(where)?.textContent ?? "";
    return wanted === null ? text !== before : text.includes(wanted);
  };
  const began = performance.now();
  if (act === "click") document.querySelector(what).click();
  else if (act === "go") location.hash = what;
  else {
    const field = document.querySelector(what);
    field.value = act;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  while (!isDone()) {
    await new Promise((next) => requestAnimationFrame(next));
    if (performance.now() - began > 3000) return null;
  }
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
  return performance.now() - began;
}"""


def chromium_path() -> str | None:
    """Where Debian's Chromium is; None: it is not installed."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    return next(filter(None, map(shutil.which, names)), None)


def chromium_flags() -> list[str]:
    """Root needs one."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def main(path: str, times: int) -> dict[str, list[float]]:
    """What was measured, `times` times each; {} without Playwright or Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    if (chromium := chromium_path()) is None:
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=chromium_flags())
        measured: dict[str, list[float]] = {}
        for _ in range(times):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.add_init_script(READY)
            page.goto(Path(path).resolve().as_uri())
            page.locator("html[data-ready=yes]").wait_for()
            page.wait_for_timeout(300)
            measured.setdefault("ready", []).append(page.evaluate("() => window.readyAt"))
            for name, time in _acts(page):
                if time is not None:
                    measured.setdefault(name, []).append(time)
            page.close()
        browser.close()
    return measured


def _acts(page: Any) -> list[tuple[str, float | None]]:
    """What a reader does; sorting takes as long as the slowest of the tables."""
    ids = page.eval_on_selector_all("main section", "(all) => all.map((s) => s.id)")
    topics = page.evaluate("() => JSON.parse(document.getElementById('head').textContent).topics")
    sorts = [
        page.evaluate(ACT, ["click", f"#{section} th button", f"#{section}", None])
        for section in ids
        if page.locator(f"#{section} th button").count()
    ]
    acts = [("sort", max((time for time in sorts if time is not None), default=None))]
    if "matrix" in ids and len(topics) > 9:
        act = ["go", f"matrix?topic={topics[7]}", "#matrix", None]
        acts.append(("topic", page.evaluate(ACT, act)))
        act = ["go", f"answer?topic={topics[9]}", "#answer", f"question {topics[9]}"]
        acts.append(("answer", page.evaluate(ACT, act)))
    if page.locator("#unjudged input[type=search]").count():
        act = ["n00123", "#unjudged input[type=search]", "#unjudged", None]
        acts.append(("filter", page.evaluate(ACT, act)))
    return acts
