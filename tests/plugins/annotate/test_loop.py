"""The loop of docs/howto/annotate.md: run, label 40 items at its server, fit, run, report."""

import http.client
import json
import os
import re
import shlex
import signal
from pathlib import Path
from subprocess import PIPE

import pytest
from processes import JUDGE, run, start

from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import Problems

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "howto" / "annotate.md").read_text("utf-8")
TRUTH = ROOT / "examples" / "demo" / "labels" / "support.jsonl"


def commands(page=PAGE, title="## The loop"):
    """The words of each command of the page's loop."""
    part = page.split(title)[1].split("\n## ")[0]
    block = re.search(r"```\n(.*?)```", part, re.DOTALL)[1].replace("\\\n", "")
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def test_the_readme_shows_the_same_loop():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert commands(readme, "## Check the judge you already have")[1:] == commands()


class Page:
    """Labels as the page does: an item, its label, then the place that the server names."""

    def __init__(self, link):
        self.host, _, enter = link.removeprefix("http://").partition("/")
        self.connection = http.client.HTTPConnection(self.host, timeout=20)
        self.connection.request("GET", f"/{enter}")
        answer = self.connection.getresponse()
        answer.read()
        self.headers = {"cookie": answer.headers["set-cookie"].split(";")[0], "x-judge": "ann"}
        self.headers |= {"origin": f"http://{self.host}", "content-type": "application/json"}

    def ask(self, method, path, row=None):
        self.connection.request(method, path, row and json.dumps(row), self.headers)
        answer = self.connection.getresponse()
        reply = json.loads(answer.read())
        assert answer.status == 200, reply
        return reply

    def label_all(self, label_of):
        """`said(texts)` is the label of an item. Returns how many were labelled."""
        n, done = self.ask("GET", "/api/next")["n"], 0
        while n is not None:
            item = self.ask("GET", f"/api/item?n={n}")
            label = label_of({one["of"]: one["text"] for one in item["texts"]})
            event = {"id": f"label-{done:06d}", "do": "label", "n": n, "item": item["item"]}
            n = self.ask("POST", "/api/event", {**event, "label": label, "active_ms": 9_000})["n"]
            done += 1
        return done


def by_texts(results):
    """The labels of people, by the sentence and the passage that they read."""
    truth = read_labels(TRUTH, Problems()).cells
    task = read_task([results], "support", Problems())
    texts = {cell: task.texts(cell) for cell in task.cells if cell in truth}
    labels = {(of["sentence"], of["passage"]): truth[cell] for cell, of in texts.items()}
    return lambda of: labels.get((of["sentence"], of["passage"]))


@pytest.mark.slow
def test_the_loop_of_the_page_runs_from_the_first_run_to_the_report(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    verbs = []
    for words in commands():
        verbs.append(words[0] if words[0] != "annotate" else " ".join(words[:2]))
        if words[:2] == ["annotate", "results/demo"]:
            served = start(*JUDGE, *words, "--no-open", cwd=tmp_path, env=env, stdout=PIPE)
            link = served.stdout.readline().split()[1]
            assert Page(link).label_all(by_texts(tmp_path / "results" / "demo")) == 40
            served.send_signal(signal.SIGINT)
            assert served.wait(20) == 130
            continue
        done = run(*JUDGE, *words, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        if words[0] == "annotate":
            assert "items labelled by 1 person, from_scratch" in done.stdout
    assert verbs == [
        "run",
        "annotate results/demo",
        "annotate export",
        "calibrate",
        "run",
        "report",
    ]
    fitted = json.loads((tmp_path / "results" / "fitted" / "manifest.json").read_text("utf-8"))
    assert "fitted/support.json" in json.dumps(fitted["config"])
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "human.csv" in report
