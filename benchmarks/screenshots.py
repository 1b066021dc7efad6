"""Make the pictures of the README and the docs: a terminal, the report, the labelling page.

They show the demo, and each is below 150 kB.

    .venv-browser/bin/python -m benchmarks.screenshots [FOLDER]

FOLDER is docs/images by default. `make test-browser` makes the environment.
"""

from __future__ import annotations

import io
import os
import pty
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from .annotate import _links
from .processes import ROOT
from .report.view import chromium_flags, chromium_path

EXAMPLES = ROOT / "examples" / "demo"
COLUMNS = 80
MAX_BYTES = 150_000
# By picture a view of the report, the window, and whether it shows the list of sections, too.
VIEWS = {
    "report": ("summary", (1280, 600), True),
    "hero": ("matrix?topic=demo-bees", (1280, 720), False),
    "sides": ("sides?topic=demo-bridges&run=complete&other=miscited", (1180, 1150), False),
    "topics": ("topics", (1280, 640), False),
    "answer": ("answer?topic=demo-bridges&run=miscited", (1280, 640), False),
    "people": ("people", (1280, 640), False),
}
ABOVE = 40  # pixels above a section that are left out
THEME = TerminalTheme(
    (255, 255, 255),
    (28, 31, 35),
    [(28, 31, 35), (163, 38, 29), (20, 110, 60), (160, 95, 0), (11, 92, 173), (120, 60, 140),
     (0, 120, 130), (85, 94, 104)],
)  # fmt: skip
# As rich's own format, without the fonts that it loads from the network and the window around it.
SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{
  font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  line-height: {line_height}px;
}}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#ffffff" width="{width}" height="{height}"/>
<g transform="translate({terminal_x}, 8)" class="{unique_id}-matrix">{backgrounds}{matrix}</g>
</svg>
"""


def main() -> None:
    """Judge the demo on its own nuggets, and take all pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.chdir(home)  # so that pages name the folder as a reader would
        results = Path("results/demo")
        page = demo_page(home, results)
        (folder / "leaderboard.svg").write_text(terminal_picture(results), encoding="utf-8")
        with chromium() as browser:
            for picture, (view, size, is_whole) in VIEWS.items():
                take(browser, f"{page.as_uri()}#{view}", size, folder / f"{picture}.png", is_whole)
            take_labelling(browser, home, results, folder / "annotate.png")
    for path in sorted(folder.iterdir()):
        if path.stem in {*VIEWS, "annotate"}:
            path.write_bytes(shrunk(path.read_bytes()))
        n_bytes = path.stat().st_size
        sys.stdout.write(f"{path.name}: {n_bytes / 1000:.0f} kB\n")
        if n_bytes > MAX_BYTES:
            raise SystemExit(f"{path}: {n_bytes:,} bytes; at most {MAX_BYTES:,} are wanted")


def demo_page(home: Path, results: Path) -> Path:
    """The results of the demo on the nuggets that its labels are about, and their page."""
    import nuggetjudge as nj
    from nuggetjudge.plugins.report.page import write_report
    from nuggetjudge.plugins.report.source import Source
    from nuggetjudge.records import Problems

    bank = EXAMPLES / "nuggets.jsonl"
    nj.run(EXAMPLES / "judge.yaml", nuggets=bank, model="lexical", out=results)
    labels = [EXAMPLES / "labels/nuggets.jsonl", EXAMPLES / "labels/support.jsonl"]
    write_report(Source([results], Problems(), labels=labels), home / "report.html")
    return home / "report.html"


def terminal_picture(results: Path) -> str:
    """What `judge score` prints in a window of 80 columns, in its colours, as SVG."""
    command = [sys.executable, "-m", "nuggetjudge", "score", str(results)]
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(f"$ judge score {results}\n{in_window(command)}".rstrip()))
    frame = SVG.replace("TITLE", f"judge score {results}")
    return console.export_svg(title="", theme=THEME, code_format=frame, unique_id="t")


def in_window(command: list[str]) -> str:
    """What a command prints to a terminal of 80 columns."""
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "60"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdout=its, stderr=subprocess.DEVNULL, env=environment)
    os.close(its)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    process.wait()
    return b"".join(parts).decode().replace("\r\n", "\n")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=chromium_flags())
        yield browser
        browser.close()


def take(browser: Any, address: str, size: tuple[int, int], out: Path, is_whole: bool) -> None:
    """A picture of a view of the report: of the window, or of the section alone."""
    section = address.partition("#")[2].partition("?")[0]
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="light")
    page.goto(address)
    page.locator("html[data-ready=yes]").wait_for()
    page.wait_for_timeout(500)  # texts are unpacked
    if not is_whole:
        page.evaluate("(id) => document.getElementById(id).scrollIntoView()", section)
    page.wait_for_timeout(300)
    clip = None
    if not is_whole:
        box = page.locator(f"#{section}").bounding_box()
        clip = {"x": box["x"] - 32, "width": box["width"] + 64}
        clip |= {"y": ABOVE, "height": min(size[1], box["y"] + box["height"]) - ABOVE}
    page.screenshot(path=out, clip=clip)
    page.close()


def take_labelling(browser: Any, home: Path, results: Path, out: Path) -> None:
    """A picture of the labelling page after a few labels."""
    command = [sys.executable, "-m", "nuggetjudge", "annotate", str(results), "--kind", "nuggets"]
    command += ["--dir", str(home / "labels"), "--no-open", "--annotator", "ann"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
        page.goto(f"{_links(process)['ann']}#item")
        page.locator(".reading").wait_for()
        for n, key in enumerate("3231"):
            page.keyboard.press(key)
            page.locator(f".reading[data-n='{n + 1}']").wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=out)
    finally:
        process.terminate()
        process.wait()


def shrunk(png: bytes) -> bytes:
    """An RGB picture without filters, which suit photographs: a fourth smaller for text."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    if (depth, kind) != (8, 2):
        return png
    packed, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            packed += png[at + 8 : at + 8 + length]
        at += length + 12
    size = 3 * width
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, size + 1)
    above = np.zeros(size, np.uint8)
    lines = []
    for row in rows:
        above = _unfiltered(int(row[0]), row[1:], above)
        lines.append(b"\0" + above.tobytes())
    parts = [(b"IHDR", png[16:29]), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return png[:8] + b"".join(chunks)


def _unfiltered(how: int, row: Any, above: Any) -> Any:
    """A row of a PNG as it was before its filter (PNG specification, 9.2)."""
    if how == 0:
        return row.copy()
    if how == 2:
        return row + above
    line = bytearray(row.tobytes())
    for i in range(len(line)):
        left, corner = (line[i - 3], int(above[i - 3])) if i >= 3 else (0, 0)
        up = int(above[i])
        if how == 1:
            by = left
        elif how == 3:
            by = (left + up) // 2
        else:
            by = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
        line[i] = (line[i] + by) & 255
    return np.frombuffer(bytes(line), np.uint8)


if __name__ == "__main__":
    main()
