"""Report pages of real results folders, opened from a file in Debian's Chromium and watched.

Nothing here goes round the page's content security policy but the fixture `axe_page`.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from processes import JUDGE, run
from watching import REFUSED, STILL

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FOLDERS = ("demo", "evidence", "coverage", "keypoints", "rag24_e2e")
LARGEST = ("demo", "rag24_e2e")  # every kind of section but those of agents and retrieval


@dataclass
class Opened:
    """A page, and what it did that it must not."""

    page: Any
    address: str
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def at(self, view: str = "", wait: float = 10_000) -> "Opened":
        """The page opened anew with this hash; it fails if it is not drawn within `wait` ms."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}#{view}" if view else self.address)
        self.page.locator("html[data-ready=yes]").wait_for(timeout=wait)
        self.settled()
        return self

    def goes(self, view: str) -> None:
        """Another hash, as a link sets it."""
        self.page.evaluate("(view) => { location.hash = view; }", view)
        self.settled()

    def settled(self) -> None:
        """When nothing has been drawn for a moment: texts are unpacked when they are wanted."""
        self.page.evaluate(STILL)

    @property
    def sections(self) -> list[str]:
        """The ids of the sections that the page has."""
        return self.page.eval_on_selector_all("main section", "(all) => all.map((s) => s.id)")

    def text(self, selector: str = "main") -> str:
        """What is written there."""
        return self.page.locator(selector).first.evaluate("(e) => e.textContent")

    @property
    def view(self) -> str:
        """The hash of the address."""
        return self.page.evaluate("() => decodeURIComponent(location.hash.slice(1))")

    def misdeeds(self) -> list[str]:
        """Errors, dialogs, refused scripts, and requests for anything but the file."""
        others = [one for one in self.requests if one.split("#")[0] != self.address]
        others = [one for one in others if not one.startswith(("blob:", "about:"))]
        return [*self.said, *others, *self.page.evaluate("() => window.refused ?? []")]


Open = Callable[..., Opened]


Judged = Callable[..., None]


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """`judge ...` at the root of the project, with a cache of its own; it must not fail."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}

    def go(*arguments: object) -> None:
        ran = run(*JUDGE, *arguments, cwd=ROOT, env=environment)
        assert ran.returncode in (0, 3), ran.stderr

    return go


@pytest.fixture(scope="session")
def folders(
    tmp_path_factory: pytest.TempPathFactory, request: Any, judged: Judged
) -> Callable[[str], Path]:
    """The results folder of a name, made without a model when it is first asked for."""
    home = tmp_path_factory.mktemp("results")

    def make(name: str) -> Path:
        out = home / name
        if out.exists():
            return out
        examples = ROOT / "examples"
        if name == "demo":  # on the nuggets that its labels are about
            bank = ("--nuggets", examples / "collection/nuggets.jsonl")
            judged("run", examples / "collection/judge.yaml", *bank, "--out", out)
        elif name == "evidence":
            judged("run", examples / "collection/evidence.yaml", "--out", out)
        elif name == "keypoints":
            given = ("--topics", examples / "keypoints/topics.jsonl")
            given += ("--keypoints", examples / "keypoints/keypoints.jsonl")
            given += ("--runs", examples / "keypoints/answers")
            judged("run", "keypoints", *given, "--model", "lexical", "--out", out)
        elif name == "coverage":
            news = home / "news"
            summaries = examples / "summaries"
            judged(
                "build", "crux", summaries / "summaries.jsonl", "--model", "lexical", "--out", news
            )
            given = ("--topics", news / "topics.jsonl", "--questions", news / "questions.jsonl")
            given += ("--passages", news / "passages.jsonl", "--ratings", news / "ratings.jsonl")
            given += ("--reference", news / "reports.jsonl", "--retrieval", summaries / "runs")
            given += ("--runs", summaries / "answers")
            judged("run", "coverage", *given, "--model", "lexical", "--out", out)
        elif name == "rag24_e2e":
            data = request.getfixturevalue("shared_data") / "rag24_e2e"
            given = ("--topics", data / "topics.tsv", "--nuggets", data / "nuggets_nist.jsonl")
            given += ("--passages", data / "passages.jsonl", "--runs", data / "runs")
            judged("run", "nuggets,support", *given, "--model", "lexical", "--out", out)
        return out

    return make


@pytest.fixture(scope="session")
def reports(
    folders: Callable[[str], Path],
    request: Any,
    tmp_path_factory: pytest.TempPathFactory,
    judged: Judged,
) -> Callable[[str], Path]:
    """The report of such a folder, with people's labels where there are some."""
    home = tmp_path_factory.mktemp("reports")

    def make(name: str) -> Path:
        out = home / f"{name}.html"
        if out.exists():
            return out
        folder, labels = folders(name), ()
        if name == "demo":
            labels = ("--labels", ROOT / "examples/collection/labels/nuggets.jsonl")
        elif name == "keypoints":
            labels = ("--labels", ROOT / "examples/keypoints/labels/entailments.jsonl")
        elif name == "rag24_e2e":
            data = request.getfixturevalue("shared_data")
            labels = ("--labels", data / "rag24_nuggets" / "nugget_assignments.jsonl")
        judged("report", folder, *labels, "--out", out)
        return out

    return make


@pytest.fixture(params=FOLDERS)
def report(request: Any, reports: Callable[[str], Path]) -> Path:
    """Each of the reports."""
    return reports(request.param)


@pytest.fixture(params=LARGEST)
def large_report(request: Any, reports: Callable[[str], Path]) -> Path:
    """Each of the reports that have the most to show."""
    return reports(request.param)


@pytest.fixture(scope="session", autouse=True)
def chromium() -> Iterator[Any]:
    """The browser; skips where Debian's is not installed: no test downloads one."""
    api = pytest.importorskip("playwright.sync_api", reason="`make test-browser` installs it")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine (Debian: apt-get install chromium)")
    flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any) -> Iterator[Open]:
    """`opened(file, "leaderboard?measure=V_strict")`; options are those of a browser's context."""
    contexts = []

    def open_it(path: Path, view: str = "", wait: float = 10_000, **options: Any) -> Opened:
        settings = {"viewport": {"width": 1280, "height": 900}} | options
        context = chromium.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(3_000)
        found = Opened(page, path.as_uri())
        page.add_init_script(REFUSED)
        page.on("console", lambda m: found.said.append(f"console {m.type}: {m.text}"))
        page.on("pageerror", lambda error: found.said.append(f"error: {error}"))
        page.on("request", lambda one: found.requests.append(one.url))

        def dismiss(dialog: Any) -> None:
            found.said.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", dismiss)
        return found.at(view, wait)

    yield open_it
    for context in contexts:
        context.close()
