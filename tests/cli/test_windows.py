"""Every command in windows of 60, 80 and 120 columns: no line is longer, and no word is cut.

The commands come from the app: one without a case here fails. Each runs in this process, with a
window for its output, in one of 60 columns and one of 200; the tables that it shows are drawn in
80 and 120 columns too.
"""

import io
import re
import shlex
import signal
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from rich.cells import cell_len

from nuggetjudge.cli import app
from nuggetjudge.cli.commands.watch import Watched
from nuggetjudge.views import printing
from nuggetjudge.views.table import View
from nuggetjudge.views.terminal import Terminal, view_text

pytestmark = pytest.mark.whole
ROOT = Path(__file__).resolve().parents[2]
DEMO = "examples/demo"
WIDTHS = (60, 80, 120)
FULL = 200
CASES = {
    "run": [f"run {DEMO}/judge.yaml --out NEW -v --allow-missing 2%",
            f"run {DEMO}/judge.yaml --dry-run",
            f"run {DEMO}/evidence.yaml --limit 2 --dry-run",
            f"run arena --topics {DEMO}/topics.tsv --runs {DEMO}/runs --model lexical --out NEW"],
    "report": ["report demo --out NEW.html"],
    "show": ["show demo", "show demo thin", "show demo thin demo-bees --passages",
             "show demo --topic demo-bees", "show rubric --by domain"],
    "compare": ["compare demo", "compare demo other", "compare demo --runs complete,miscited"],
    "agree": [f"agree {DEMO}/labels/support.jsonl demo --all"],
    "bias": [f"bias {DEMO}/labels/support.jsonl demo --by length"],
    "check": ["check --demo --by length,system",
              f"check {DEMO}/labels/support.jsonl --results demo --certify recall:full>=.1 "
              "--out NEW.json"],
    "calibrate": [f"calibrate {DEMO}/labels/grounded.jsonl --judge {DEMO}/grounded.yaml "
                  "--method threshold --folds 5 --out NEW.json"],
    "gate": ["gate demo --min V_strict=0.4 --baseline other",
             "gate demo --min support_precision=0.1 --certificate cert.json --advisory"],
    "init": ["init NEW"],
    "score": ["score demo", "score demo --spread", "score rubric --by category",
              "score demo --measures all",
              f"score {DEMO}/labels/nuggets.jsonl --counts run_id",
              f"score demo --labels {DEMO}/labels/support.jsonl --half-width 0.05"],
    "cascade fit": [f"cascade fit {DEMO}/labels/support.jsonl demo --to-people --share 0.25 "
                    "--kind support --out NEW.json"],
    "cascade curve": [f"cascade curve {DEMO}/labels/support.jsonl demo other --kind support"],
    "watch": [f"watch {DEMO}/judge.yaml --out NEW"],
    "build crux": ["build crux examples/summaries/summaries.jsonl --out NEW",
                   "build crux news --select spread --keep 2 --out NEW"],
    "build long2rag": ["build long2rag examples/long2rag/seeds.jsonl --out NEW"],
    "build conditions": ["build conditions examples/long2rag/seeds.jsonl --documents "
                         "examples/long2rag/documents.jsonl --limit 1 --out NEW"],
    "index": [f"index --passages {DEMO}/passages.jsonl --segments 3,2 --out NEW"],
    "retrieve": [f"retrieve --topics {DEMO}/topics.tsv --passages {DEMO}/passages.jsonl "
                 "--pipeline 'bm25 5' --out NEW.run"],
    "generate": [f"generate --topics {DEMO}/topics.tsv --retrieval bm25.run --passages "
                 f"{DEMO}/passages.jsonl --k 5 --words 150 --out NEW"],
    "figure": ["figure leaderboard demo --out NEW.svg",
               "figure groups rubric --by documents --out NEW.svg",
               "figure tau demo other --levels runs,topics,cells --out NEW.svg"],
    "coverage": ["coverage news --all", "coverage news --run echo"],
    "trace": ["trace evidence demo-bees/miscited"],
    "audit": ["audit demo --model lexical --sample 3"],
    "probe": ["probe demo --judge support --conditions replicates --sample 4",
              "probe demo --faults --sample 2", "probe demo --judge support --dry-run"],
    "jury": [f"jury demo other --labels {DEMO}/labels/support.jsonl --kind support"],
    "drift": ["drift other demo"],
    "evidence": [f"evidence evidence --labels {DEMO}/labels/support.jsonl --sample 4"],
    "annotate import": [f"annotate import {DEMO}/labels/support.jsonl --dir people"],
    "annotate disagreements": [
        f"annotate disagreements {DEMO}/labels/support.jsonl demo --kind support --out NEW",
        "annotate disagreements study"],
    "annotate export": ["annotate export people --out NEW.csv"],
    "next": ["next demo --out NEW.csv", "next cascade --kept 100 --out NEW.csv"],
    "export mlflow": ["export mlflow demo --tracking-uri sqlite:///NEW.db"],
    "export repaired": ["export repaired evidence --out NEW"],
    "export ragdoll": ["export ragdoll demo NEW"],
    "export nuggetizer": ["export nuggetizer demo NEW"],
    "export researchrubrics": ["export researchrubrics rubric NEW"],
    "export autojudge": ["export autojudge demo NEW"],
    "export missed": ["export missed demo --out NEW.jsonl"],
    "export qrels": ["export qrels grades --out NEW"],
    "verify": ["verify submission", "verify evidence"],
    "models": ["models", "models qwen3-8b"],
    "prompt": ["prompt"],
    "doctor": ["doctor --model lexical", "doctor --model openai/none"],
    "cache": ["cache"],
}  # fmt: skip
MADE = [
    f"run {DEMO}/judge.yaml --out demo -q",
    f"run {DEMO}/judge.yaml --out other -q",
    f"run {DEMO}/evidence.yaml --out evidence -q",
    f"run relevance --topics {DEMO}/topics.tsv --passages {DEMO}/passages.jsonl --candidates "
    f"{DEMO}/candidates.jsonl --model lexical --out grades -q",
    "build crux examples/summaries/summaries.jsonl --out crux",
    "run coverage --topics crux/topics.jsonl --set data.questions=crux/questions.jsonl "
    "--set data.reference=crux/reports.jsonl --passages crux/passages.jsonl "
    "--set data.ratings=crux/ratings.jsonl --set data.retrieval=examples/summaries/runs "
    "--runs examples/summaries/answers --set coverage.k=4 --out news -q",
    f"retrieve --topics {DEMO}/topics.tsv --passages {DEMO}/passages.jsonl --pipeline 'bm25 5' "
    "--out bm25.run",
    "export autojudge grades submission",
    f"annotate import {DEMO}/labels/support.jsonl --dir people",
    f"annotate disagreements {DEMO}/labels/support.jsonl demo --kind support --out study",
    "run items --items study/sheet.jsonl --judge support --model lexical --out study/model -q",
    f"cascade fit {DEMO}/labels/support.jsonl demo --to-people --share 0.25 --out cascade.json",
    f"check {DEMO}/labels/support.jsonl --results demo --certify recall:none>=.1 --out cert.json",
    f"run support --topics {DEMO}/topics.tsv --passages {DEMO}/passages.jsonl --runs {DEMO}/runs "
    "--set 'judges.support.cascade={stages: [default, people], state: cascade.json}' "
    "--model lexical --out cascade -q",
    "run rubric --topics examples/keypoints/topics.jsonl "
    "--set data.rubrics=examples/keypoints/rubrics.jsonl --runs examples/keypoints/answers "
    "--set data.documents=examples/keypoints/documents.jsonl "
    "--model lexical --out rubric -q",
]
CODES = {  # of those that do not end with 0
    "gate demo --min V_strict=0.4 --baseline other": (1,),
    f"watch {DEMO}/judge.yaml --out NEW": (130,),
    "doctor --model openai/none": (2,),
}
EXTRAS = {"export mlflow"}  # not installed
FOR_PROGRAMS = {
    "annotate serve": "a page; what is around it is tested in tests/plugins/annotate",
    "mcp": "speaks JSON with a program",
    "schema": "JSON for editors",
    "export-config": "YAML to be saved",
}


class Window(io.StringIO):
    """A terminal; how wide it is stands in COLUMNS."""

    encoding = "utf-8"

    def isatty(self):
        return True


def commands(command=None, name=()):
    """The name of every command of the app."""
    command = typer.main.get_command(app.app) if command is None else command
    if not hasattr(command, "list_commands"):
        return [" ".join(name)]
    context = typer.Context(command)
    names = command.list_commands(context)
    return [
        each for one in names for each in commands(command.get_command(context, one), (*name, one))
    ]


class Shown(NamedTuple):
    """What a window got."""

    out: str
    err: str
    views: list[View]
    code: int

    @property
    def lines(self):
        """Without what moves the cursor; a line that is rewritten counts each time."""
        return re.split(r"[\r\n]+", ESCAPE.sub("", self.err + self.out))


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def show(line, width, folder, patched, stream=Window):
    """What a command shows in a window, by stdout and stderr, the views that it made, its code."""
    views = []

    def keep_view(view, terminal):
        views.append(view)
        return view_text(view, terminal)

    number = len(list(folder.glob("new*")))
    (folder / f"new{number}-started").touch()
    words = shlex.split(line.replace("NEW", f"new{number}"))
    patched.setenv("COLUMNS", str(width))
    patched.setattr(sys, "argv", ["judge", *words])
    out, err = stream(), stream()
    patched.setattr(sys, "stdout", out)
    patched.setattr(sys, "stderr", err)
    patched.setattr(warnings, "showwarning", warnings.showwarning)
    patched.setattr(printing, "view_text", keep_view)
    before = signal.getsignal(signal.SIGTERM)
    code = 0
    try:
        app.main()
    except SystemExit as end:
        code = end.code
    finally:
        signal.signal(signal.SIGTERM, before)
    texts = (each.getvalue() if isinstance(each, io.StringIO) else "" for each in (out, err))
    return Shown(*texts, views, code)


NAMES = commands()  # before another test gives the app a command of its own


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the examples and results of several commands."""
    folder = tmp_path_factory.mktemp("windows")
    (folder / "examples").symlink_to(ROOT / "examples")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("HOME", str(folder))
        patched.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patched.setattr(sys, "stdout", io.StringIO())
        patched.setattr(sys, "stderr", io.StringIO())
        for line in MADE:
            shown = show(line, 80, folder, patched)
            assert shown.code in (0, 3), shown
        yield folder


@pytest.fixture
def window(place, monkeypatch):
    """`window("show demo", 60)`: what a command shows there."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.setattr(Watched, "wait", JudgedOnce().wait)
    return lambda line, width, **stream: show(line, width, place, monkeypatch, **stream)


class JudgedOnce:
    """Files that nobody changes: they are judged once, then somebody presses Ctrl-C."""

    is_judged = False

    def wait(self, *_):
        if self.is_judged:
            raise KeyboardInterrupt
        self.is_judged = True
        return []


def check_fit(lines, width):
    """No line is longer than the window, but for a single word such as a path."""
    long = [line for line in lines if cell_len(line) > width and " " in line.strip()]
    assert not long, f"wider than {width}:\n" + "\n".join(long[:5])


def check_words(lines, full):
    """Words of a window are words of a wide one, or names that were cut in their middle."""
    whole = words_in(full) | parts_of(words_in(full)) | KNOWN
    names = [word for word in whole if len(word) > 6]
    for word in words_in(lines) - whole:
        start, dots, end = word.partition("…" if "…" in word else "...")
        assert dots or parts_of([word]) <= whole, f"{word!r} is no word of the whole text"
        cut = [name for name in names if name.startswith(start) and name.endswith(end)]
        assert cut or not end, f"{word!r} is no name of the whole text"


def words_in(lines):
    """Without punctuation, bars and the numbers of new files."""
    text = re.sub(r"new\d+", "new", re.sub("[├─●┤]", " ", " ".join(lines)))
    return {word.strip(",;:.()") for word in text.split()}


def parts_of(words):
    """What is between hyphens, commas and slashes, behind which a line may end."""
    return {part for word in words for part in re.split("[-,/:]", word)}


KNOWN = words_in(["columns that do not fit", "0 .25 .5 .75 1 -1 -.5"])


@pytest.mark.parametrize("name", [each for each in NAMES if each not in FOR_PROGRAMS])
def test_what_a_command_shows_fits_the_window_and_cuts_no_word(name, window):
    for line in CASES[name]:
        narrow, full = window(line, WIDTHS[0]), window(line, FULL)
        wanted = (2,) if name in EXTRAS else CODES.get(line, (0,))
        assert narrow.code in wanted, narrow.err
        check_fit(narrow.lines, WIDTHS[0])
        for width in WIDTHS:
            for view in narrow.views:
                lines = view_text(view, Terminal(width)).splitlines()
                check_fit(lines, width)
                check_words(lines, view_text(view, Terminal(FULL)).splitlines())
        if not narrow.views:
            check_words(narrow.lines, full.lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_help_fits_the_window_and_cuts_no_word(width, window):
    for name in ["", *NAMES]:
        lines = window(f"{name} --help", width).lines
        check_fit(lines, width)
        check_words(lines, window(f"{name} --help", FULL).lines)


def test_every_command_has_a_case():
    assert {*CASES} | {*FOR_PROGRAMS} == {*NAMES}
