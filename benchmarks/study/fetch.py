"""Fetch published labels of LLM judges, laid out as a study reads them.

    python -m benchmarks.study.fetch DATA [--only summhay] [--clones FOLDER]

`items.jsonl` is what `judge run items` reads, for the other files see docs/benchmarks/data.md.
Each set is copied from the public repository of its authors, at one commit, into a folder of DATA.
The data are not part of this package: texts and labels stay under the licences named below.
`--clones` reads repositories that you cloned yourself, as FOLDER/NAME, and uses no network.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.writing import write_file

from .sets import SUMMHAY, WICE, JudgedSet

HOST = "https://github.com"
Rows = dict[str, list[dict[str, Any]]]  # by the name of a file


@dataclass(frozen=True)
class Source:
    """A repository, the commit that is read, its licences, and how it becomes files.

    `read` is given what reads a file there; `of` reads the set that its rows make.
    """

    repository: str
    commit: str
    licence: str
    read: Callable[[Callable[[str], str]], Rows]
    of: JudgedSet

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.of.name


_COVERAGE = {
    "not_covered": "not_support",
    "no_coverage": "not_support",
    "partially_covered": "partial_support",
    "partial_coverage": "partial_support",
    "fully_covered": "support",
    "full_coverage": "support",
}
_SUMMARY_JUDGES = {
    "gpt-4o": "prompted_gpt-4o",
    "gpt-4o-9shot": "9fs_gpt-4o",
    "claude-3-opus": "prompted_claude3-opus",
    "claude-3-haiku": "prompted_claude3-haiku",
    "gemini-1.5-pro": "prompted_gemini-1.5-pro",
    "gpt-3.5": "prompted_gpt3.5",
}


def read_summaries(get_text: Callable[[str], str]) -> Rows:
    """SummHay: an insight is a nugget, a summary an answer, a subtopic a topic."""
    topics: dict[str, dict[str, Any]] = {}
    nuggets: dict[str, dict[str, Any]] = {}
    answers, pairs = [], []
    for row in json.loads(get_text("data/eval_benchmark_data.json")):
        topic = row["subtopic_id"]
        run = row["summkey"].removeprefix("summary_subtopic_").replace("/", ".")
        about = {"topic_id": topic, "query": row["subtopic"], "background": row["topic"]}
        topics.setdefault(topic, about)
        answers.append({"topic_id": topic, "run_id": run, "sentences": row["summary"]})
        for insight in row["reference_insights"]:
            named = {"topic_id": topic, "nugget_id": insight["insight_id"]}
            nuggets.setdefault(insight["insight_id"], {**named, "text": insight["insight"]})
        judged = {
            name: {one["insight_id"]: one for one in row[f"predictions_{key}"]}
            for name, key in _SUMMARY_JUDGES.items()
        }
        for label in row["annotation"]:
            nugget = label["insight_id"]
            pairs.append(
                {
                    "topic_id": topic,
                    "run_id": run,
                    "nugget_id": nugget,
                    "label": _COVERAGE[label["coverage"].lower()],
                    "votes": {
                        name: _COVERAGE[of[nugget]["coverage"].lower()]
                        for name, of in judged.items()
                        if nugget in of
                    },
                }
            )
    return {
        "topics": [*topics.values()],
        "nuggets": [*nuggets.values()],
        "answers": answers,
        "pairs": pairs,
    }


_CLAIMS = "code_and_resources/entailment_inputs/oracle_chunks/claim"
_OUTPUTS = "code_and_resources/model_outputs/entailment_classification/oracle_chunks/claim"
_SUPPORT = {"supported": "full", "partially_supported": "partial", "not_supported": "none"}
_BY_GRADE = {1.0: "full", 0.5: "partial", 0.0: "none"}
_CLAIM_JUDGES = {"gpt-4": "gpt-4-0613", "gpt-3.5": "gpt-3.5-turbo-0613"}
_DIGITS = 4
_TUNED = ("t5-3b-anli", "t5-3b-anli-wice")


def read_claims(get_text: Callable[[str], str]) -> Rows:
    """WiCE: each claim with the first chunk of the page that it cites (oracle chunks)."""

    def scores(model: str, part: str) -> dict[str, float]:
        path = f"{_OUTPUTS}/retrieval=oracle,entailment={model}/{part}.entailment_score.json"
        made: dict[str, float] = json.loads(get_text(path))
        return made

    judged = {name: scores(model, "test") for name, model in _CLAIM_JUDGES.items()}
    tuned = {name: scores(name, "dev") | scores(name, "test") for name in _TUNED}
    pairs, seen = [], set[str]()
    for part in ("dev", "test"):
        for row in map(json.loads, get_text(f"{_CLAIMS}/{part}.jsonl").splitlines()):
            name = row["meta"]["id"]
            if name in seen:
                continue
            seen.add(name)
            pairs.append(
                {
                    "topic_id": name,
                    "part": part,
                    "sentence": row["claim"],
                    "passage": " ".join(row["evidence"]),
                    "label": _SUPPORT[row["label"]],
                    "votes": {n: _BY_GRADE[of[name]] for n, of in judged.items() if name in of},
                    "p_supported": {
                        n: round(of[name], _DIGITS) for n, of in tuned.items() if name in of
                    },
                }
            )
    return {"pairs": pairs}


SOURCES = (
    Source(
        "salesforce/summary-of-a-haystack",
        "43531729bc39fdc301bcc9ff7b26c5e6ce3fbf57",
        "Apache-2.0",
        read_summaries,
        SUMMHAY,
    ),
    Source(
        "ryokamoi/wice",
        "ddeb6c183665e2a20c5f03c5aa07f03888b9870f",
        "annotations ODC-BY, texts CC BY-SA, outputs of models MIT",
        read_claims,
        WICE,
    ),
)


def fetch(source: Source, data: Path, clones: Path | None = None) -> list[Path]:
    """Write the files of a set below `data`. Returns: their paths.

    Raises: InputError where the repository cannot be cloned or read.
    """
    with tempfile.TemporaryDirectory() as made:
        clone = Path(made) if clones is None else clones / source.repository.rpartition("/")[2]
        if clones is None:
            _git("clone", "--quiet", f"{HOST}/{source.repository}", str(clone))

        def get_text(path: str) -> str:
            return _git("-C", str(clone), "show", f"{source.commit}:{path}")

        files = source.read(get_text)
    folder = data / source.name
    paths = [_write(folder / f"{name}.jsonl", rows) for name, rows in files.items()]
    items = ({**item.ids, **item.inputs} for item in source.of.items(data))
    return [*paths, _write(folder / "items.jsonl", items)]


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_file(path, text.encode())
    return path


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch what is named, and say where it is from and how it may be used."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study.fetch", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder that gets the folders of data")
    names = [one.name for one in SOURCES]
    parser.add_argument("--only", choices=names, help="one of the sets")
    parser.add_argument("--clones", type=Path, help="a folder with clones of these repositories")
    options = parser.parse_args(arguments)
    for source in SOURCES:
        if options.only not in (None, source.name):
            continue
        try:
            paths = fetch(source, options.data, options.clones)
        except InputError as error:
            sys.stderr.write(f"{source.name}: {error}\n")
            return 2
        where = f"{source.repository} at {source.commit[:7]}"
        sys.stdout.write(f"{source.name}: {len(paths)} files from {where}; {source.licence}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
