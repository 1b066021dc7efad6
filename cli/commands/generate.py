"""`judge generate`: write answers with citations from retrieval runs."""

from __future__ import annotations

from ..flags import ParsedSettings, settings
from ..options import NAMES_OF_MODELS, AsJson, DryRun, print_table
from ..stopping import count_made, exit_unless, is_whole, report_end, run_until_stopped
from ..views import list_unjudged, print_plan


@settings(
    "data.topics data.retrieval data.passages generate.k generate.words run.limit run.max_cost "
    "run.allow_missing run.out",
    helps={
        "model": f"Model that writes the answers: lexical (copies sentences), {NAMES_OF_MODELS}; "
        "default: lexical.",
        "allow_missing": "Share of the answers that may be missing, e.g. 2%; default: 0.",
        "out": "Folder for the answers; default: results.",
        "limit": "Use only the first N topics.",
    },
)
def generate(
    given: ParsedSettings,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Write TREC RAG answers with checked citations. The same command continues a stopped run.

    Example: judge generate --topics topics.tsv --retrieval bm25.run --passages passages.jsonl
    --model openai/gpt-4o --out generated
    Then: judge run nuggets,support --runs generated/answers ...

    Exit: 0 complete, 2 usage or input, 3 answers missing or a limit reached, 130
    interrupted, 143 terminated, 70 an error of this program.
    """
    from ...programs.pipelines.generate import generate as write_answers
    from ...programs.pipelines.generate import plan_generate, statistics_table

    config = given.config()
    if print_plan(plan_generate(config), dry_run=dry_run, as_json=as_json):
        return
    folder = config.run.out
    manifest = run_until_stopped(lambda: write_answers(config), out=folder)
    report_end(
        manifest,
        done=count_made(manifest, "answers written"),
        partial="some answers are missing",
        notes=[*list_unjudged(folder, manifest), f"Answers: {folder}/answers"],
    )
    statistics = manifest["statistics"]
    print_table([statistics], statistics_table(statistics), as_json=as_json)
    exit_unless(is_whole(manifest, config.run.allow_missing))
