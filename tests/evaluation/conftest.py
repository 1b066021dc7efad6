"""One run of the demo, and one by another judge, for all tests of this folder."""

from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.cli import app

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


def judged(out, **more):
    settings = {
        "program": "nuggets,support", "topics": DEMO / "topics.tsv",
        "passages": DEMO / "passages.jsonl", "nuggets": DEMO / "nuggets.jsonl",
        "runs": str(DEMO / "runs"), "model": "lexical", "out": out,
    }  # fmt: skip
    return nj.run(**settings | more)


@pytest.fixture(scope="session")
def result(tmp_path_factory):
    return judged(tmp_path_factory.mktemp("evaluation") / "demo")


@pytest.fixture(scope="session")
def other(tmp_path_factory):
    """Of a judge that sees three nuggets at a time."""
    out = tmp_path_factory.mktemp("evaluation") / "other"
    return judged(out, program="nuggets", **{"judges.assigner.window": 3})


@pytest.fixture
def judge(monkeypatch, capsys):
    """What `judge ...` prints to stdout."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["judge", *map(str, arguments)])
        with pytest.raises(SystemExit):
            app.main()
        return capsys.readouterr().out

    return run
