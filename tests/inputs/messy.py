"""A label file as people send them: odd headers, semicolons, cp1252, four annotators, gaps.

200 citations of 10 topics by 4 systems. Passages repeat their sentence in full, in half or not at
all, so the lexical judge is right about most of them, and annotators about almost all.
"""

import csv
import io
import random
from collections import Counter

N, N_TOPICS, SYSTEMS = 200, 10, ("alpha", "beta", "gamma", "delta")
ANNOTATORS = ("Ann", "Bo", "Cem", "Dána")
WORDS = {"full": "Full support", "partial": "Partial support", "none": "No support"}
GAPS = ("", "n/a", "?", "N/A", "-")
COLUMNS = {
    "topic_id": "Query ID",
    "run_id": "System",
    "sentence_id": "Sentence #",
    "passage_id": "Cited Doc",
    "question": "Question",
    "sentence": "Statement",
    "passage": "Passage Text",
}
_NOUNS = (
    *("bridge", "tide", "turbine", "café", "harbour", "museum", "orchard"),
    *("glacier", "violin", "lantern"),
)
_FACTS = ("carries", "resists", "measures", "follows", "shelters", "cools", "lifts", "turns")


def make_rows(seed=7):
    """The rows as they are meant: ids and texts by our names, `labels` by annotator, `judge`.

    A label of None is a gap.
    """
    rng = random.Random(seed)
    rows = []
    for n in range(N):
        topic, truth = n % N_TOPICS, rng.choice(tuple(WORDS))
        noun = _NOUNS[topic]
        halves = [
            f"the {noun} {rng.choice(_FACTS)} {rng.choice(_NOUNS)} number {rng.randrange(1000)}"
            for _ in range(2)
        ]
        other = (
            f"naïve readers – mostly; tourists – said “nothing” about {rng.randrange(1000)} things"
        )
        told = {"full": halves, "partial": [halves[0], other], "none": [other, other]}[truth]
        labels = {
            name: None if rng.random() < 0.06 else truth if rng.random() < 0.9 else "partial"
            for name in ANNOTATORS
        }
        ids = (1 + topic, SYSTEMS[n // N_TOPICS % len(SYSTEMS)], n // (N_TOPICS * len(SYSTEMS)))
        sentence = ", and ".join(halves).capitalize() + "."
        texts = (f"What does a {noun} do?", sentence, "; ".join(told) + ".")
        judge = truth if rng.random() < 0.8 else rng.choice(tuple(WORDS))
        fields = dict(zip(COLUMNS, (*map(str, ids), f"doc-{n}", *texts), strict=True))
        rows.append({**fields, "labels": labels, "judge": judge})
    return rows


def n_missing(rows):
    """How many labels are gaps."""
    return Counter(label for row in rows for label in row["labels"].values())[None]


def write_messy(path, *, rows=None, has_judge=True, encoding="cp1252", delimiter=";"):
    """Write the file with a column for each annotator, and the judge's; returns `path`."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    people = [f"Rater {name}" for name in ANNOTATORS]
    writer.writerow([*COLUMNS.values(), *people, *["LLM verdict"] * has_judge, "Comments"])
    rows = make_rows() if rows is None else rows
    for n, row in enumerate(rows):
        given = [
            GAPS[n % len(GAPS)] if label is None else _spell(WORDS[label], n)
            for label in row["labels"].values()
        ]
        texts = [row[name] for name in COLUMNS]
        judge = [WORDS[row["judge"]]] * has_judge
        writer.writerow([*texts, *given, *judge, "d'accord; really?" if n % 17 == 0 else ""])
    path.write_bytes(stream.getvalue().encode(encoding))
    return path


def _spell(word, n):
    return (word, word.upper(), f" {word} ", word.lower())[n % 4]
