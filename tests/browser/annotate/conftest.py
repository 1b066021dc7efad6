"""The labelling page of a real server in this process, opened in Debian's Chromium and watched."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from annotating import Shown, Site
from watching import REFUSED

from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.task import read_task, with_spans
from nuggetjudge.records.reading.problems import Problems

Serve = Callable[..., Site]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """`serve(rows, "ratings", condition="post_edit")`: rows of a label file, or its path."""
    uvicorn = pytest.importorskip("uvicorn", reason="pip install '.[annotate]'")
    from nuggetjudge.plugins.annotate.server.app import make_app
    from nuggetjudge.plugins.annotate.server.labelling import open_labelling
    from nuggetjudge.plugins.annotate.server.people import People
    from nuggetjudge.plugins.annotate.server.serving import bind_socket, links

    ends: list[Callable[[], None]] = []

    def start(
        rows: Any,
        kind: str = "nuggets",
        names: Any = ("ann",),
        spans: str = "",
        guidelines: Any = None,
        adjudicators: Any = (),
        against_judge: bool = False,
        **plan: Any,
    ) -> Site:
        path = rows
        if isinstance(rows, list):
            path = tmp_path / f"judged-{len(ends)}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        folder = tmp_path / f"labels-{len(ends)}"
        task = read_task([path], kind, Problems(), guidelines)
        task = with_spans(task, spans) if spans else task
        work = open_labelling(
            task, folder, list(names), Plan(**plan), adjudicators=list(adjudicators),
            against_judge=against_judge,
        )  # fmt: skip
        listener = bind_socket(folder)
        port = listener.getsockname()[1]
        people = People(work.names, port)
        app = make_app(work, people, port)
        config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()

        def end() -> None:
            server.should_exit = True
            thread.join(10)
            work.close()
            listener.close()

        ends.append(end)
        return Site(work, links(people, port), server)

    yield start
    for end in ends:
        end()


Open = Callable[..., Shown]


@pytest.fixture
def open_site(chromium: Any) -> Iterator[Open]:
    """`open_site(site, "item?n=3")`; options are those of a browser's context."""
    contexts = []

    def open_it(site: Site, view: str = "item", name: str = "ann", **options: Any) -> Shown:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        link = site.links[name]
        shown = Shown(page, link.split("/enter")[0] + "/")
        page.add_init_script(REFUSED)
        page.on("console", lambda m: shown.logged.append(f"console {m.type}: {m.text}"))
        page.on("pageerror", lambda error: shown.logged.append(f"error: {error}"))
        page.on("request", lambda one: (shown.requests.append(one.url), shown.asked.append(one)))
        for over in ("requestfinished", "requestfailed"):
            page.on(over, lambda one: one in shown.asked and shown.asked.remove(one))

        def dismiss(dialog: Any) -> None:
            shown.logged.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(f"{link}#{view}")  # a redirect keeps what is behind the #
        page.locator("html[data-ready=yes]").wait_for(timeout=10_000)
        shown.settled()
        return shown

    yield open_it
    for context in contexts:
        context.close()
