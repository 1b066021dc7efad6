"""The pictures of docs/report.md: six sections of the demo's page, in Chromium.

    .venv-browser/bin/python -m benchmarks.report.screenshots [FOLDER] [--width 390] [--dark]

FOLDER is docs/images if it is not named. `make test-browser` makes the environment.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from ..processes import ROOT
from .view import chromium_flags, chromium_path

EXAMPLES = ROOT / "examples" / "demo"
ANSWER = "answer?topic=demo-bridges&run=miscited"
VIEWS = {
    "summary": "summary",
    "leaderboard": "leaderboard",
    "topics": "topics",
    "matrix": "matrix?topic=demo-bridges",
    "answer": ANSWER,
    "people": "people",
}
HEIGHT = 680  # of a picture, at most; all in CSS pixels


def main() -> None:
    """Judge the demo with its own nuggets and labels, write its page, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        take(demo_page(Path(home)), options.folder, options.width, is_dark=options.dark)


def demo_page(home: Path) -> Path:
    """The page of the demo, judged on the nuggets that its labels are about."""
    import nuggetjudge as nj
    from nuggetjudge.records import Problems
    from nuggetjudge.report.page import write_report
    from nuggetjudge.report.source import Source

    os.chdir(home)  # so that the page names the folder as a reader would
    out = Path("results/demo")
    nj.run(EXAMPLES / "judge.yaml", nuggets=EXAMPLES / "nuggets.jsonl", out=out)
    labels = [EXAMPLES / "labels/nuggets.jsonl", EXAMPLES / "labels/support.jsonl"]
    write_report(Source([out], Problems(), labels=labels), home / "report.html")
    return home / "report.html"


def take(path: Path, folder: Path, width: int, *, is_dark: bool = False) -> None:
    """Write `folder`/SECTION.png for each of VIEWS, as a window of `width` pixels shows it."""
    from playwright.sync_api import sync_playwright

    scheme = "dark" if is_dark else "light"
    with sync_playwright() as playwright:
        flags = chromium_flags()
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=flags)
        page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
        for name, view in VIEWS.items():
            page.goto("about:blank")
            page.goto(f"{path.as_uri()}#{view}")
            page.locator("html[data-ready=yes]").wait_for()
            page.wait_for_timeout(300)  # texts are unpacked
            page.evaluate("(e) => document.getElementById(e).scrollIntoView()", name)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
