"""Labels of people and of a judge about the same items, drawn with a seed, as files."""

import random

from json_lines import write_rows

from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import Problems

TOPICS = [f"t{i}" for i in range(8)]
RUNS = ("one", "two", "three")
NUGGETS = ("support", "partial_support", "not_support")
CITATIONS = ("full", "partial", "none")


def labels_file(path, rows):
    return write_rows(path, [{**row, "label": label} for row, label in rows])


def noisy(rng, label, scale, error=0.2):
    return rng.choice(scale) if rng.random() < error else label


class Nuggets:
    """Human and judged assignments of 10 nuggets for each run and topic."""

    def __init__(self, folder, seed=0):
        rng = random.Random(seed)
        self.human, self.judged, self.rows = [], [], []
        for topic in TOPICS:
            kinds = ["vital"] * rng.randint(4, 8)
            kinds += ["okay"] * (10 - len(kinds))
            for n_run, run in enumerate(RUNS):
                weights = [1 + n_run, 1, 2]
                labels = rng.choices(NUGGETS, weights, k=10)
                self.human.append(self._answer(run, topic, kinds, labels))
                given = [noisy(rng, label, NUGGETS) for label in labels]
                self.judged.append(self._answer(run, topic, kinds, given))
                for i, label in enumerate(labels):
                    ids = {"topic_id": topic, "run_id": run, "nugget_id": f"n{i}"}
                    self.rows.append((ids, label))
        self.human_path = write_rows(folder / "human.jsonl", self.human)
        self.path = write_rows(folder / "judged.jsonl", self.judged)
        rng.shuffle(self.rows)
        self.folder = folder

    def labels(self, n, name="labels.jsonl"):
        return labels_file(self.folder / name, self.rows[:n])

    @staticmethod
    def _answer(run, topic, kinds, labels):
        nuggets = [
            {"id": f"n{i}", "text": f"fact {i}", "importance": kind, "assignment": label}
            for i, (kind, label) in enumerate(zip(kinds, labels, strict=True))
        ]
        row = {"qid": topic, "query": "q", "run_id": run, "answer_text": "a", "response_length": 1}
        return {**row, "nuggets": nuggets}


def citations_of(rng, topic, run, error):
    """An answer whose sentences cite 0 to 3 passages, with the human labels and the judge's."""
    human, judged = [], []
    for i in range(12):
        labels = rng.choices(CITATIONS, k=rng.choice([0, 1, 1, 2, 3]))
        for sentences, flip in ((human, 0.0), (judged, error)):
            cited = [
                {"docid": f"d{j}", "label": noisy(rng, label, CITATIONS, flip)}
                for j, label in enumerate(labels)
            ]
            sentences.append({"sentenceID": i, "text": f"s{i}", "citations": cited})
    ids = {"run_id": run, "topic_id": topic}
    return {**ids, "sentences": human}, {**ids, "sentences": judged}


def means(path):
    rows = [row for row in score_path(path, Problems()) if row.topic_id == "all"]
    return {(row.run_id, row.measure): row.value for row in rows}


def by_name(corrected):
    return {(score.run_id, score.measure): score for score in corrected.scores}


def relevance(tmp_path, n_topics=8, n=30, share=0.4, seed=2):
    """(judged qrels, labels as qrels, true shares of grade >= 2 by topic)."""
    rng = random.Random(seed)
    judged, labels, truth = [], [], []
    for topic in range(n_topics):
        grades = [rng.choice([0, 0, 1, 2, 3]) for _ in range(n)]
        truth.append(sum(grade >= 2 for grade in grades) / n)
        for i, grade in enumerate(grades):
            judged.append(f"t{topic} 0 d{i} {noisy(rng, grade, [0, 1, 2, 3])}\n")
            if rng.random() < share:
                labels.append(f"t{topic} 0 d{i} {grade}\n")
    (tmp_path / "judged.txt").write_text("".join(judged), encoding="utf-8")
    (tmp_path / "labels.txt").write_text("".join(labels), encoding="utf-8")
    return tmp_path / "judged.txt", tmp_path / "labels.txt", truth


def keep(path, is_kept, *more):
    """The lines of a file that are kept are left in it, with these after them."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines(True) if is_kept(line)]
    path.write_text("".join([*lines, *more]), encoding="utf-8")
