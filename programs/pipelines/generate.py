"""`judge generate`: answers with citations, written from what retrieval runs found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from pydantic import StrictStr

from ...backends.budget import Budget
from ...records.judgements import Judged
from ...records.writing import own_folder, remove
from ..config.sections import Config
from ..engine.journal import Count, list_of, object_of
from ..engine.making import DATASHEET, STATISTICS, Build, run_build
from ..engine.manifest import read_manifest
from ..engine.panel import Panel
from ..engine.rehearsal import rehearse
from ..engine.results import MANIFEST, Results
from ..engine.spending import Estimate
from ..engine.stage import Item, makes
from ..protocols.table import empty_notes
from .contexts import ANSWERS, JUDGES, PROGRAM, Contexts, generate_config, load_contexts
from .generate_files import COUNTED, answer_counts, answer_row, answers_datasheet, not_made_row

MADE = list_of(object_of({"text": StrictStr, "citations": list[Count]}))  # an answer, by sentence


def generate(
    config: Config, *, quiet: bool = True, budget: Budget | None = None, panel: Panel | None = None
) -> dict[str, Any]:
    """Write the answers of each retrieval run in `config.run.out`, as `answers/<run>.jsonl`.

    Each topic's answer is made from the first `generate.k` passages of its ranking, whose ids are
    the answer's references. In the place of one that could not be made stands why (`not_made`), so
    that it is unjudged when the run is judged; it is counted, and listed in unjudged.jsonl. A topic
    for which the retrieval run found nothing has no line: the run did not answer it.

    Args:
        config: of its data topics, passages and retrieval are used; models, judges, generate and
            run; program is not.
        quiet: draw no progress bar.
        budget: shared with other programs; None: that of the config.
        panel: judges that are open already; None: those of the config.

    Returns: the manifest that was written; `statistics.runs` has the counts of each run.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    """
    config = generate_config(config)

    load = partial(load_contexts, config)
    return run_build(_Answers, load, config, quiet=quiet, budget=budget, panel=panel)


class _Answers(Build):
    """One stage, and a file for each run."""

    program, judges, files = PROGRAM, JUDGES, (STATISTICS, DATASHEET)
    notes = empty_notes()
    source: Contexts

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        folder = own_folder(results.folder / ANSWERS)
        for torn in folder.glob("*.part"):  # by a kill
            remove(torn)
        runs = await self._written(results)
        data = {
            "topic_ids": list(self.source.topics),
            "run_ids": list(runs),
            "topics": len(self.source.topics),
            "runs": len(runs),
            "passages": len(self.source.passages),
        }
        return {"runs": runs}, data

    async def _written(self, results: Results) -> dict[str, dict[str, int]]:
        """Write the answers of each run; what is in them, counted."""
        contexts, writer = self.source, self.panel["answer_writer"]
        layout = self.config.generate.layout

        async def write(question: str, names: list[str], texts: list[str]) -> tuple[Any, Any]:
            """The sentences, each with the positions of the passages that it cites."""
            sentences, calls = await writer.write(question, dict(zip(names, texts, strict=True)))
            return [
                {"text": s.text, "citations": [names.index(c.passage_id) for c in s.citations]}
                for s in sentences
            ], calls

        total = sum(map(len, contexts.names.values()))
        stage = makes(
            "answers",
            JUDGES,
            write,
            contexts.items,
            made=MADE,
            misfit=_unknown_citation,
            total=total,
        )
        counts_by_run = {}
        async with self.session.judged(stage, results) as outcome:
            for run_id, items in groupby(contexts.items(), key=lambda item: item.ids["run_id"]):
                counts: Counter[str] = Counter()
                with results.open(answers_file(run_id)) as rows:
                    for item in items:
                        made, names = outcome(item), contexts.names_of(item)
                        at = (run_id, contexts.topics[item.ids["topic_id"]], names)
                        counts["topics"] += 1
                        if isinstance(made, Judged):
                            answer = made.values["made"]
                            rows.write(answer_row(*at, answer, layout))
                            counts.update(answer_counts(names, answer))
                        elif not contexts.has_no_passages(item):
                            rows.write(not_made_row(*at, made.reason, layout))
                counts_by_run[run_id] = {what: counts[what] for what in COUNTED}
        return counts_by_run

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        return answers_datasheet(manifest)

    def names(self) -> Sequence[str]:
        """See Build; the answers of earlier runs go."""
        before: Sequence[str] = ()
        if (self.config.run.out / MANIFEST).is_file():
            before = read_manifest(self.config.run.out, PROGRAM)["data"]["run_ids"]
        return (*self.files, *map(answers_file, before))


def plan_generate(config: Config) -> list[Estimate]:
    """What the answers will take, see `rehearse`. Raises: InputError as `generate` does."""
    generate_config(config)
    return rehearse(config, lambda alone, panel: generate(alone, panel=panel))


def answers_file(run_id: str) -> str:
    """Where the answers of a run stand in the folder."""
    return f"{ANSWERS}/{run_id}.jsonl"


def _unknown_citation(item: Item, made: Any) -> str:
    """A citation of a passage that was not given."""
    n = len((item.payload or ((), ()))[1])
    beyond = [index for sentence in made for index in sentence["citations"] if index >= n]
    return f"citation {beyond[0]}, wanted 0 to {n - 1}" if beyond else ""
