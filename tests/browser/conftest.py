"""Report pages of real results folders, opened from a file in Debian's Chromium and watched.

Nothing here goes round the page's content security policy but the fixture `axe_page`.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from processes import JUDGE, run
from watching import REFUSED, STILL

ROOT = Path(__file__).resolve().parent.parent.parent
# The shell is the same engine without windows: a page takes a third of the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
FOLDERS = ("demo", "evidence", "coverage", "keypoints", "rubric", "rag24_e2e")
LARGEST = ("demo", "rag24_e2e")  # every kind of section but those of agents and retrieval


@dataclass
class Opened:
    """A page, and what it did that it must not."""

    page: Any
    address: str
    logged: list[str] = field(default_factory=list)
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
        return [*self.logged, *others, *self.page.evaluate("() => window.refused ?? []")]


Open = Callable[..., Opened]
Judged = Callable[..., None]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers share."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    shared.mkdir(exist_ok=True)
    return shared


@contextmanager
def one_at_a_time(path: Path) -> Iterator[bool]:
    """Whether `path` is still to be made; nobody else makes it meanwhile."""
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = Path(f"{path}.made")
        yield not made.exists()
        made.touch()  # where it was not made whole, the next one tries


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """`judge ...` at the root of the project, with a cache of its own; it must not fail."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}

    def go(*arguments: object) -> None:
        ran = run(*JUDGE, *arguments, cwd=ROOT, env=environment, timeout=300)
        assert ran.returncode in (0, 3), ran.stderr

    return go


@pytest.fixture(scope="session")
def folders(home: Path, request: Any, judged: Judged) -> Callable[[str], Path]:
    """The results folder of a name, made without a model when it is first asked for."""

    def make(name: str, out: Path) -> None:
        examples = ROOT / "examples"
        keypoints = examples / "keypoints"
        if name == "demo":  # on the nuggets that its labels are about
            bank = ("--nuggets", ROOT / "tests/collection/nuggets.jsonl")
            judged("run", ROOT / "tests/collection/judge.yaml", *bank, "--out", out)
        elif name == "evidence":
            judged("run", ROOT / "tests/collection/evidence.yaml", "--out", out)
        elif name in ("keypoints", "rubric"):
            given = ("--topics", keypoints / "topics.jsonl", "--runs", keypoints / "answers")
            file = "rubrics" if name == "rubric" else name
            given += ("--set", f"data.{file}={keypoints / file}.jsonl")
            judged("run", name, *given, "--model", "lexical", "--out", out)
        elif name == "coverage":
            news = home / "news"
            summaries = examples / "summaries"
            judged(
                "build", "crux", summaries / "summaries.jsonl", "--model", "lexical", "--out", news
            )
            given = (
                "--topics", news / "topics.jsonl", "--set",
                f"data.questions={news / 'questions.jsonl'}",
            )  # fmt: skip
            given += (
                "--passages",
                news / "passages.jsonl",
                "--set",
                f"data.ratings={news / 'ratings.jsonl'}",
            )
            given += (
                "--set",
                f"data.reference={news / 'reports.jsonl'}",
                "--set",
                f"data.retrieval={summaries / 'runs'}",
            )
            given += ("--runs", summaries / "answers")
            judged("run", "coverage", *given, "--model", "lexical", "--out", out)
        elif name == "rag24_e2e":
            data = request.getfixturevalue("shared_data") / "rag24_e2e"
            given = ("--topics", data / "topics.tsv", "--nuggets", data / "nuggets_nist.jsonl")
            given += ("--passages", data / "passages.jsonl", "--runs", data / "runs")
            judged("run", "nuggets,support", *given, "--model", "lexical", "--out", out)

    def of(name: str) -> Path:
        out = home / name
        with one_at_a_time(out) as is_to_be_made:
            if is_to_be_made:
                make(name, out)
        return out

    return of


@pytest.fixture(scope="session")
def reports(
    folders: Callable[[str], Path], request: Any, home: Path, judged: Judged
) -> Callable[[str], Path]:
    """The report of such a folder, with people's labels where there are some."""

    def make(name: str, out: Path) -> None:
        folder, labels = folders(name), ()
        if name == "demo":
            labels = ("--labels", ROOT / "tests/collection/labels/nuggets.jsonl")
        elif name == "keypoints":
            labels = ("--labels", ROOT / "examples/keypoints/labels/entailments.jsonl")
        elif name == "rag24_e2e":
            data = request.getfixturevalue("shared_data")
            labels = ("--labels", data / "rag24_nuggets" / "nugget_assignments.jsonl")
        judged("report", folder, *labels, "--out", out)

    def of(name: str) -> Path:
        out = home / f"{name}.html"
        with one_at_a_time(out) as is_to_be_made:
            if is_to_be_made:
                make(name, out)
        return out

    return of


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
        pytest.skip("there is no chromium on this machine (`make chromium` installs it)")
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
        page.set_default_timeout(10_000)
        opened_page = Opened(page, path.as_uri())
        page.add_init_script(REFUSED)
        page.on("console", lambda m: opened_page.logged.append(f"console {m.type}: {m.text}"))
        page.on("pageerror", lambda error: opened_page.logged.append(f"error: {error}"))
        page.on("request", lambda one: opened_page.requests.append(one.url))

        def dismiss(dialog: Any) -> None:
            opened_page.logged.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", dismiss)
        return opened_page.at(view, wait)

    yield open_it
    for context in contexts:
        context.close()
