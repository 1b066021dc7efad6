"""Results folders of every program, by the lexical judge and a model that fails now and then."""

import json

from mock_server import MockServer, Prose

import nuggetjudge as nj

from .conftest import KEY, ROOT

COLLECTION, KEYPOINTS = ROOT / "tests" / "collection", ROOT / "examples" / "keypoints"
OWN = """\
name: grounded
question: Does the source state the claim?
inputs: {claim: a statement, source: a text}
labels: [no, yes]
"""


def explained(out):
    """Quotes, reasons, suggestions of passages, a trace, and a passage that is not there."""
    passages = out.parent / "passages.jsonl"
    lines = (COLLECTION / "passages.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    passages.write_text("".join(lines[:-6]), encoding="utf-8")
    members = [{"model": "default", "name": name} for name in ("one", "two")]
    return nj.run(
        COLLECTION / "evidence.yaml", out=out, program="relevance,nuggets,support,evidence",
        passages=passages, candidates=COLLECTION / "candidates.jsonl", explain=True,
        qrels=COLLECTION / "qrels.txt", **{"judges.support.jury.members": members},
    )  # fmt: skip


def hunted(out):
    return nj.run(COLLECTION / "hunt.yaml", out=out, limit=2)


def keypoints(out):
    files = {"topics": "topics.jsonl", "documents": "documents.jsonl", "runs": "answers"}
    settings = {name: str(KEYPOINTS / file) for name, file in files.items()}
    return nj.run(program="keypoints", model="lexical", out=out, explain=True, **settings)


def coverage(out):
    folder = out.parent / "coverage-data"
    folder.mkdir()
    rows = {
        "questions": [{"id": "t", "subquestions": ["Who?", "When?"]}],
        "ratings": [{"id": "t", "docid": "t:0#0", "rating": [5, -1]}],
        "passages": [{"docid": f"t:0#{i}", "text": f"Dockers struck {i} days."} for i in range(3)],
        "reference": [{"id": "t", "report": "Dockers struck for nine days."}],
    }
    for name, given in rows.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    (folder / "one.run").write_text("t Q0 t:0#1 1 2.0 one\nt Q0 t:0#0 2 1.0 one\n")
    (folder / "topics.tsv").write_text("t\twho struck?\n")
    files = {name: folder / f"{name}.jsonl" for name in rows}
    return nj.run(
        program="coverage", topics=folder / "topics.tsv", retrieval=str(folder / "one.run"),
        model="lexical", out=out, explain=True, **files,
    )  # fmt: skip


def own_items(out):
    """Items of a judge of one's own, one of which ended without a label."""
    judge, items = out.parent / "own.yaml", out.parent / "items.jsonl"
    judge.write_text(OWN, encoding="utf-8")
    rows = [{"ticket": f"k{i}", "claim": f"claim {i}", "source": "s"} for i in range(3)]
    items.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with MockServer(brain=lambda body: {"label": "yes"}, api_key=KEY, faults=[Prose()] * 2) as s:
        model = {"model": "hosted_vllm/mock", "api_base": s.base_url, "api_key_env": "TIDE_KEY"}
        return nj.run(
            program="items", items=items, model=model, out=out, cache=False, concurrency=1,
            **{"items.judge": str(judge), "items.fields": {"question_id": "ticket"}},
        )  # fmt: skip


def windows(out):
    """Windows of nuggets, of which two ended without a judgement."""
    with MockServer(api_key=KEY, faults=lambda i, body: Prose() if i < 4 else None) as server:
        model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        return nj.run(
            program="nuggets,support", topics=COLLECTION / "topics.tsv",
            nuggets=COLLECTION / "nuggets.jsonl", runs=str(COLLECTION / "runs"),
            passages=COLLECTION / "passages.jsonl", out=out, cache=False, concurrency=1, limit=1,
            model={**model, "api_key_env": "TIDE_KEY"},
        )  # fmt: skip


KINDS = (explained, hunted, keypoints, coverage, own_items, windows)
