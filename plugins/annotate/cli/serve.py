"""`judge annotate RESULTS`: people label, each by a link, until the server is stopped."""

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
    """Have people label what was judged: one page on this machine, a link for each of them.

    Example: judge annotate results/demo --kind nuggets --dir labels

    Args:
        results: Results folders or label files, one a judge.
        kind: What is labelled.
        folder: Folder of the labels.
        annotator (NAME,NAME): Who labels; default: you.
        adjudicator (NAME,NAME): Who decides where annotators differ; no names shown.
        against_judge: The judge's label counts as one of those that differ.
        condition: Without the judge's label, or with it beside.
        queue: All at random, or a part chosen for what a label would tell.
        n: Items for each; default: all.
        random_share: With --queue next: share drawn at random.
        overlap: Share of the items that all of them get.
        spans (required|LABEL,LABEL): Labels that need the words they rest on, marked.
        guidelines: Shown as plain text; default: ours.
        half_width: Coordinator: labels needed for +- this score.
        port: 0: one that is free.
        no_open: Open no browser.
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

    note = f"What was labelled is in {folder}"
    with listener, watch(work, LiveSettings(kind, plan.condition, half_width)):
        run_until_stopped(lambda: serve(work, listener, ready), note)


@contextmanager
def _unswept() -> Iterator[None]:
    """Look for nothing to throw away: what a start reads stays, and a fifth of its time is saved.

    Nor is any of it looked through later, while somebody waits for their label.
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
    """The user's name of the system, made fit to name a file."""
    name = os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    fit = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-")[:_MAX_NAME]
    return fit or "annotator"


def _has_screen() -> bool:
    """Whether a browser that opens would be seen: not in CI, nor over ssh."""
    has_window = sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    return bool(has_window) and sys.stdout.isatty() and "CI" not in os.environ


def _say(links: Mapping[str, str], opens: bool) -> None:
    """Print the links, and open the annotator's if there is one of them."""
    width = max(map(len, links))
    lines = [f"{name:<{width}}  {link}" for name, link in links.items()]
    write_text("\n".join(lines) + "\n")
    sys.stdout.flush()
    write_note("Each link is for one person, in a browser of this machine. Ctrl-C ends.\n")
    if opens:
        import webbrowser

        webbrowser.open(next(iter(links.values())))
