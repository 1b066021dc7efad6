"""`judge annotate` in a process of its own, and a person who labels at its page by a script."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

from processes import JUDGE, start

READ = """() => Object.fromEntries([...document.querySelectorAll(".reading > *")].map((one) =>
  one.matches("h1") ? ["question", one.textContent]
    : [one.querySelector("h2").firstChild.data, one.querySelector(".text").textContent]))"""

# Of these words the first that stand in one line and in the window: their ends and their height.
ONE_LINE = """([name, all]) => {
  const root = [...document.querySelectorAll(".block")].find((one) =>
    one.querySelector("h2").firstChild.data === name).querySelector(".text");
  const nodes = document.createNodeIterator(root, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode())
    for (const words of all) {
      const at = node.data.indexOf(words);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + words.length);
      const [box, ...more] = range.getClientRects();
      const middle = (box.top + box.bottom) / 2;
      const under = document.elementFromPoint(box.left + 1, middle);
      if (!more.length && root.contains(under)) return [words, box.left, box.right, middle];
    }
  return null;
}"""


class Server:
    """`judge annotate` over results or a label file; `links` by name."""

    def __init__(self, results: Path, kind: str, folder: Path, names: str, *more: object) -> None:
        self.folder = folder
        given = ("--kind", kind, "--dir", folder, "--annotator", names, "--no-open", *more)
        self.process = start(*JUDGE, "annotate", results, *given, stdout=PIPE, stderr=PIPE)
        self.links: dict[str, str] = {}
        while "(coordinator)" not in self.links:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            name, link = line.split()
            self.links[name] = link
        self.origin = self.links["(coordinator)"].split("/enter")[0]

    def kill(self) -> None:
        """As a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def ends(self) -> None:
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)

    def kept(self, name: str = "ann") -> list[dict[str, Any]]:
        """The events of a journal."""
        return _rows(self.folder / f"{name}.events.jsonl")

    def queue(self, name: str) -> list[dict[str, Any]]:
        """A person's places, in their order."""
        (path,) = self.folder.glob(f"{name}.*.queue.jsonl")
        return [row for row in _rows(path) if "cell" in row]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@dataclass
class Click:
    """What a person read at a place, and what their hands did there.

    Attributes:
        texts: as they stood there, by their headings. spans: places in code points, one text's.
        came, there, pressed, released, left: by the clock: when its place was taken, it was seen
            there, the label's key went down, the page had it, and the next item was there.
    """

    n: int
    texts: dict[str, str]
    label: str | None
    spans: list[tuple[int, int]] = field(default_factory=list)
    rationale: str = ""
    came: float = 0.0
    there: float = 0.0
    pressed: float = 0.0
    released: float = 0.0
    left: float = 0.0

    @property
    def took(self) -> float:
        """Seconds from seeing the item to its key; before it, the page may wait for the server."""
        return self.pressed - self.there


class Person:
    """Somebody at their page, who reads it and uses mouse and keys."""

    def __init__(self, page: Any, keys: dict[str | None, str]) -> None:
        self.page, self.keys = page, keys
        self.clicks: list[Click] = []
        self._since = self._there = time.time()

    @property
    def position(self) -> int:
        """The position that is shown."""
        return int(self.page.locator(".reading").get_attribute("data-n"))

    def reads(self) -> dict[str, str]:
        """The texts that stand there, by their headings."""
        return dict(self.page.evaluate(READ))

    def drags(self, heading: str, words: list[str]) -> str:
        """Mark with the mouse the first of these words that stand in one line."""
        line = self.page.evaluate(ONE_LINE, [heading, words])
        assert line, (heading, words)
        chosen, left, right, middle = line
        n = self.page.locator("mark.span").count()
        mouse = self.page.mouse
        mouse.move(left, middle)
        mouse.down()
        mouse.move((left + right) / 2, middle, steps=2)
        mouse.move(right, middle, steps=2)
        mouse.up()
        self.page.locator("mark.span").nth(n).wait_for()
        return str(chosen)

    def labels(self, decide: Callable[[Click], None]) -> bool:
        """The item that is there: `decide` fills in the rest of it. False: it was the last."""
        click = Click(self.position, self.reads(), None, came=self._since, there=self._there)
        decide(click)
        click.pressed = time.time()
        self.page.keyboard.press(self.keys[click.label])
        click.released = time.time()
        done = self.page.locator(f".reading:not([data-n='{click.n}']), .done")
        done.first.wait_for()
        self._since, self._there = click.pressed, time.time()
        click.left = self._there
        self.clicks.append(click)
        return not self.page.locator(".done").count()
