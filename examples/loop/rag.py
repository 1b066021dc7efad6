"""A small RAG system in memory, and two variants of it judged by the same nuggets, and compared.

python examples/loop/rag.py
"""

import json
from functools import partial
from pathlib import Path

import nuggetjudge as nj
from nuggetjudge.records import Passage
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.english import terms

DEMO = Path(__file__).resolve().parent.parent / "demo"
ROWS = [json.loads(line) for line in (DEMO / "passages.jsonl").read_text("utf-8").splitlines()]
TEXTS = {row["docid"]: row["text"] for row in ROWS}
INDEX = Bm25.build(Passage(id=name, text=text) for name, text in TEXTS.items())
TOPICS = [line.split("\t") for line in (DEMO / "topics.tsv").read_text("utf-8").splitlines()]
QUESTIONS = [{"id": topic, "question": question} for topic, question in TOPICS]


def answer(question: str, k: int = 5) -> dict[str, object]:
    """Of each of the k best passages the sentence that shares most terms with the question."""
    asked = set(terms(question))
    found = [TEXTS[hit.passage_id] for hit in INDEX.search([question], k)[0]]
    best = [max(t.split(". "), key=lambda s: len(asked & {*terms(s)})).rstrip(".") for t in found]
    said = " ".join(f"{sentence} [{i}]." for i, sentence in enumerate(best, 1))
    return {"answer": said, "contexts": found}


if __name__ == "__main__":
    variants = {"top-2": partial(answer, k=2), "top-8": partial(answer, k=8)}
    result = nj.evaluate(QUESTIONS, answer=variants, model="lexical", bank=DEMO / "nuggets.jsonl")
    print(result)
    print(result.compare(runs=["top-8", "top-2"], measures=["V_strict", "support_precision"]))
    print(result.frame(["V_strict"], runs=["top-2"]).nsmallest(2, "V_strict").to_string())
