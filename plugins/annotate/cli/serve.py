"""`judge annotate RESULTS`: serve the labelling page, with one link per person."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from ....cli.options import Seed
from ....cli.signatures import ExistingPath, File, NewFolder, OptionRules, Positive, Share
from ....cli.stopping import list_problems, run_until_stopped
from ....cli.tables import write_note, write_text
from .names import Conditions, Kinds, get_condition

_NEEDS = ("starlette", "uvicorn")
_MAX_NAME = 40  # characters


def serve(
    results: list[ExistingPath],
    *,
    kind: Kinds,
    folder: Annotated[NewFolder, OptionRules("--dir")] = Path("labels"),
    annotator: str | None = None,
    adjudicator: str | None = None,
    against_judge: bool = False,
    condition: Conditions = "from-scratch",
    queue: Literal["random", "next"] = "random",
    n: Positive | None = None,
    random_share: Share = 0.5,
    overlap: Share = 0.1,
    spans: str | None = None,
    guidelines: File | None = None,
    half_width: Annotated[float, OptionRules(min=0.001, max=0.5)] = 0.05,
    seed: Seed = 0,
    port: Annotated[int, OptionRules(min=0, max=65535)] = 0,
    no_open: bool = False,
) -> None:
    """Serve a page on this machine where people label judged items, with one link per person.

    Example: judge annotate results/demo --kind nuggets --dir labels

    Args:
        results: Results folders or label files, one for each judge.
        kind: What to label.
        folder: Folder for the labels.
        annotator (NAME,NAME): Who labels; default: you.
        adjudicator (NAME,NAME): Who decides where annotators differ. They see no names.
        against_judge: Also adjudicate items where the judge differs from people.
        condition: from-scratch hides the judge's labels; post-edit shows them.
        queue: random; or next: choose part of the items because their labels help most.
        n: Items for each annotator; default: all.
        random_share: With --queue next: share of the items drawn at random.
        overlap: Share of the items that every annotator gets.
        spans (required|LABEL,LABEL): Labels for which annotators must mark the supporting words.
        guidelines: Plain text for annotators; default: guidelines that come with nuggetjudge.
        half_width: Show the coordinator how many labels an interval of +- this needs.
        port: Port of the server; 0: any free port.
        no_open: Do not open a browser.
    """
    from ....records.reading.problems import InputError, Problems, pip_install

    if any(find_spec(name) is None for name in _NEEDS):
        raise InputError(f"judge annotate needs its extra: {pip_install('annotate')}")
    from ..live.settings import LiveSettings
    from ..server.labelling import open_labelling
    from ..server.serving import bind_socket, serve
    from ..server.watching import watch
    from ..work.plan import Plan
    from ..work.task import read_task, with_spans

    problems = Problems()
    plan = Plan(
        how=queue,
        n=n,
        random_share=random_share,
        overlap=overlap,
        seed=seed,
        condition=get_condition(condition) or "from_scratch",
    )
    with _unswept():
        task = read_task(results, kind, problems, guidelines)
        if spans is not None:
            task = with_spans(task, spans)
        listener = bind_socket(folder, port)
        with ExitStack() as opened:
            opened.callback(listener.close)
            work = open_labelling(
                task,
                folder,
                _names(annotator) or [_own_name()],
                plan,
                adjudicators=_names(adjudicator),
                against_judge=against_judge,
            )
            opened.pop_all()
    list_problems(problems)

    def ready(links: Mapping[str, str]) -> None:
        _say(links, len(links) == 2 and not no_open and _has_screen())

    note = f"The labels are saved in {folder}"
    with listener, watch(work, LiveSettings(kind, plan.condition, half_width)):
        run_until_stopped(lambda: serve(work, listener, ready), note)


@contextmanager
def _unswept() -> Iterator[None]:
    """Turn garbage collection off while the task is read, which saves a fifth of the start time.

    The objects read here are frozen, so that later collections skip them while people wait.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _names(text: str | None) -> list[str]:
    return text.split(",") if text is not None else []


def _own_name() -> str:
    """The user's login name, with only characters that a file name may have."""
    name = os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    fit = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-")[:_MAX_NAME]
    return fit or "annotator"


def _has_screen() -> bool:
    """Whether the user would see a browser window; false in CI and over ssh."""
    has_window = sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    return bool(has_window) and sys.stdout.isatty() and "CI" not in os.environ


def _say(links: Mapping[str, str], opens: bool) -> None:
    """Print the links, and open the annotator's link if `opens`."""
    width = max(map(len, links))
    lines = [f"{name:<{width}}  {link}" for name, link in links.items()]
    write_text("\n".join(lines) + "\n")
    sys.stdout.flush()
    write_note("Each link is for one person, in a browser on this machine. Press Ctrl-C to stop.\n")
    if opens:
        import webbrowser

        webbrowser.open(next(iter(links.values())))
