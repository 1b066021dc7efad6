"""`judge annotate` in Chromium: a key to the next frame, a label to the disk, labels to figures.

18,900 cells, as `benchmarks.annotate` has them. Times are of the page, whose server is a process
of its own; other work on the machine makes them longer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..annotate import ITEMS, _links, _synced, _write
from ..tables import Bound, Report

N = 200
MAX_MS, MAX_START_S, MAX_QUIET_S = 50, 2, 2
POLL_S = 3  # of the coordinator's page
KEY = """() => new Promise((done) => {
  const before = document.querySelector(".reading").dataset.n;
  const began = performance.now();
  const key = new KeyboardEvent("keydown", { key: "1", bubbles: true });
  document.querySelector("#item").dispatchEvent(key);
  requestAnimationFrame(function next() {
    if (document.querySelector(".reading").dataset.n === before) requestAnimationFrame(next);
    else setTimeout(() => done(performance.now() - began));
  });
})"""
SENT = """() => performance.getEntriesByType("resource")
  .filter((one) => one.name.endsWith("/api/event")).map((one) => one.duration)"""
FIGURES = "() => fetch('/api/progress').then((answer) => answer.json())"


def main() -> int:
    """Print the figures; 1 when one misses its bound."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        home = Path(name)
        n_cells = _write(home / "judged.jsonl", ITEMS)
        command = [sys.executable, "-m", "nuggetjudge", "annotate", str(home / "judged.jsonl")]
        command += ["--kind", "support", "--dir", str(home / "labels"), "--no-open"]
        pipe: Any = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.DEVNULL,
            "text": True,
        }
        process = subprocess.Popen([*command, "--annotator", "ann"], **pipe)
        flags = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        where = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=where, args=flags)
        try:
            report = measured(browser, _links(process), n_cells, home / "lines")
        finally:
            browser.close()
            process.terminate()
            process.wait()
    sys.stdout.write(report.text("annotate in Chromium"))
    return 0 if report.is_within else 1


def measured(browser: Any, links: dict[str, str], n_cells: int, lines: Path) -> Report:
    """One person's labels, what the coordinator sees of them, and what the disk takes."""
    page = browser.new_context().new_page()
    began = time.monotonic()
    page.goto(f"{links['ann']}#item")
    page.locator(".reading").wait_for()
    first_s = time.monotonic() - began
    page.evaluate(f"() => performance.setResourceTimingBufferSize({10 * N})")
    keys = []
    for _ in range(N):
        keys.append(page.evaluate(KEY))
        page.wait_for_timeout(30)  # nobody is faster
    last = time.monotonic()
    page.get_by_text(f"{N} of ").first.wait_for()
    sent = page.evaluate(SENT)
    coordinator = browser.new_context().new_page()
    coordinator.goto(f"{links['(coordinator)']}#progress")
    while coordinator.evaluate(FIGURES).get("of_labels") != N:
        coordinator.wait_for_timeout(50)
    ready_s = time.monotonic() - last
    coordinator.get_by_text(f"rest on {N} labels").wait_for()
    rows = [("what", "n", "p50", "p95")]
    rows.append(("key to the next item's frame, ms", str(N), *_of(keys)))
    rows.append(("label sent to kept, ms", str(len(sent)), *_of(sent)))
    bare = [1000 * each for each in _synced(lines, N)]
    rows.append(("a line appended and synced, nothing else, ms", str(N), *_of(bare)))
    bounds = [
        Bound("key to the next frame, p95", float(_of(keys)[1]), MAX_MS, "ms"),
        Bound("a label on the disk, p95", float(_of(sent)[1]), MAX_MS, "ms"),
        Bound("link opened to the first item", first_s, MAX_START_S, "s"),
        Bound("last key to figures, but 2 s of quiet", ready_s - 2, MAX_QUIET_S, "s"),
    ]
    seen = (
        f"The coordinator's page asks every {POLL_S} s, and shows figures that much later at most."
    )
    return Report(f"one person, {n_cells:,} cells", rows, bounds, [seen, ""])


def _of(times: list[float]) -> tuple[str, str]:
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2]:.1f}", f"{ordered[int(0.95 * len(ordered))]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
