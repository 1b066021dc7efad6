"""Settings and options of earlier versions, and what to use instead. Errors use these tables.

docs/reference/renamed.md shows them too; a test keeps both equal. Settings have dotted names,
with * for a name that the user chooses or a place in a list. Options follow their command.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ...backends.config import ModelConfig
from ...records.reading.settings import Keys
from .sections import Config

# New names by old names; configs of finished results folders are read with them.
RENAMED_SETTINGS: Mapping[str, str] = {
    "hunt": "nugget_search",
    "nuggets.how": "nuggets.method",
    "nuggets.most": "nuggets.max_nuggets",
    "questions.how": "questions.method",
    "evidence.least": "evidence.min_score",
    "long2rag.least": "long2rag.min_points",
    "judges.*.jury.how": "judges.*.jury.method",
    "judges.*.cascade.stages.*.judge.jury.how": "judges.*.cascade.stages.*.judge.jury.method",
}
RENAMED_VALUES: Mapping[str, Mapping[str, str]] = {"nuggets.method": {"hunt": "search"}}
# What to do instead, by old name; configs of finished results folders are read without them.
REMOVED_SETTINGS: Mapping[str, str] = {
    "judges.*.jury.weights": "fit cuts to the mean instead (judges.NAME.state)",
    "run.seed": "a run uses no random numbers",
    "models.*.batch_discount": "a batch costs half; set price to change that",
    "run.worker_cpus": "a worker uses one CPU; run.workers sets their number",
    "evidence.how": "the search for evidence has fixed steps",
    "evidence.steps": "the search for evidence has fixed steps",
    "evidence.claims": "partly supported sentences are always split",
    "nugget_search.facets": "a search uses 8 sub-questions per topic",
    "nugget_search.stop": "a search ends after 2 rounds without a new nugget",
    "nugget_search.dedupe": "the entailment judge compares two nuggets",
    "nugget_search.most": "a search keeps 60 nuggets, and nuggets.keep cuts them",
    "retrieve.*.rocchio": "rm3: true, or Lucene(index, rocchio=Rocchio()) in Python",
    "pipelines.*.*.rocchio": "rm3: true, or Lucene(index, rocchio=Rocchio()) in Python",
    "retrieve.*.faiss_search": "Dense.open(..., faiss_search=) in Python",
    "pipelines.*.*.faiss_search": "Dense.open(..., faiss_search=) in Python",
    "retrieve.*.prompt": "RankLLM uses its rank_gpt prompt",
    "pipelines.*.*.prompt": "RankLLM uses its rank_gpt prompt",
    "models.*.renormalise": "logprobs: false gives no probabilities",
    "models.*.max_reply_bytes": "a reply of more than 1 MiB is cut off",
    "models.*.max_retry_after_s": "a server that asks to wait for more than 60 s is not waited for",
    "coverage.paper_zero": "an unreadable rating is unjudged and widens the bounds",
    "run.batch.megabytes": "a batch holds 200 MB; run.batch.requests makes it smaller",
    "models.*.tokens_per_s": "--dry-run counts tokens; divide them by your tokens per second",
}
_PIPELINE = "--pipeline 'bm25 100, cut 10'"
_CUT = "--set 'retrieve=[bm25 100, {cut: {tokens: 4000}}]', or required: true"
_DRAWS = "intervals use 1,000 resamples with a fixed seed"
_QUIET = "progress is a few lines of stderr: 2>/dev/null, or --quiet of judge run"
_SPENT = "manifest.json has the requests, tokens and seconds"
REMOVED_OPTIONS: Mapping[str, str] = {
    "run --field": "--set items.fields.INPUT=NAME",
    "export autojudge --veil": "--pseudonyms KEY",
    "calibrate --agent": "fit each judge to its own labels (--judge)",
    "calibrate --call-price": "fit each judge to its own labels (--judge)",
    "calibrate --limit": "--sample N",
    "calibrate --topic-labels": "--option topic_labels=N",
    "calibrate --no-weigh-words": "--option weigh_words=false",
    "calibrate --seed": "--option seed=N",
    "calibrate --resamples": "--option resamples=N",
    "calibrate --level": "--option level=VALUE",
    "run --gpus": "--dry-run counts tokens; divide them by your tokens per second",
    "run --tokens-per-s": "--dry-run counts tokens; divide them by your tokens per second",
    "retrieve --hits": _PIPELINE,
    "retrieve --tokens": _CUT,
    "retrieve --context": _CUT,
    "retrieve --verbose": _SPENT,
    "generate --verbose": _SPENT,
    "build crux --verbose": _SPENT,
    "build crux --n-questions": "--set coverage.n=N",
    "build long2rag --verbose": _SPENT,
    "build crux --quiet": _QUIET,
    "build long2rag --quiet": _QUIET,
    "index --quiet": _QUIET,
    "retrieve --quiet": _QUIET,
    "generate --quiet": _QUIET,
    "audit --quiet": _QUIET,
    "probe --quiet": _QUIET,
    "evidence --quiet": _QUIET,
    "probe --limit": "--sample N",
    "audit --resamples": _DRAWS.replace("1,000", "10,000"),
    "audit --level": "intervals are 95%",
    "evidence --resamples": _DRAWS,
    "evidence --seed": _DRAWS,
    "next --seed": "the same folder gives the same sheet",
    "trace --outcome": "--where outcome=NAME",
    "trace --reason": "--where reason=NAME",
    "trace --stage": "--where stage=NAME",
    "drift --level": "intervals are 95%",
    "gate --level": "intervals are 95%",
    "compare --resamples": _DRAWS.replace("1,000", "10,000"),
    "next --show-labels": "labels that people see influence them; judge show prints the judge's",
    "index --config": "--pipeline FILE",
    "retrieve --config": "--pipeline FILE",
    "calibrate --diff": "--all shows how the prompt changed",
    "score --measure": "--measures A,B",
    "compare --seed": "nj.compare(..., seed=) in Python",
    "agree --by": "judge bias HUMAN JUDGED --by NAMES",
    "agree --seed": "nj.agree(..., seed=) in Python",
    "agree --plot-format": "judge figure draws SVG, PNG and PDF",
    "agree --plots": "judge figure tau RESULTS --labels FILE --out FILE",
    "trace --check": "judge verify RESULTS",
    "coverage --map": "judge report shows the ratings of each topic",
    "coverage --topic": "judge report shows the ratings of each topic",
    "coverage --seed": _DRAWS,
    "coverage --resamples": _DRAWS,
    "cascade fit --seed": _DRAWS,
    "cascade fit --splits": "a guarantee is tested on 1,000 splits",
    "cascade curve --seed": _DRAWS,
    "cascade curve --resamples": _DRAWS,
    "cascade curve --level": "intervals are 95%",
    "jury --how": "--method NAME",
    "cascade fit --how": "--method NAME",
    "cascade curve --how": "--method NAME",
    "jury --seed": _DRAWS,
    "jury --resamples": _DRAWS,
    "jury --draws": "fit cuts: judge calibrate --judge NAME --method topic",
    "jury --family": "give the results of the members that you want",
    "jury --best": "fit cuts: judge calibrate --judge NAME --method topic",
    "jury --topic-labels": "fit cuts: judge calibrate --judge NAME --method topic",
    "jury --level": "intervals are 95%",
}


def find_outdated(data: Mapping[str, Any]) -> Iterator[tuple[Keys, str]]:
    """Yield the place of each setting of an earlier version, and what to do."""
    for old, new in RENAMED_SETTINGS.items():
        yield from ((at, f"is now {'.'.join(_at(new, old, at))}") for at in _find(data, old))
    for old, instead in REMOVED_SETTINGS.items():
        yield from ((at, f"was removed: {instead}") for at in _find(data, old))
    for name, values in RENAMED_VALUES.items():
        for at in _find(data, name):
            if (old := _inner(data, at)) in values:
                yield at, f"{old} is now {values[old]}"


def in_new_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of a finished run with settings of this version."""
    new = copy.deepcopy(dict(data))
    for old in (*RENAMED_SETTINGS, *REMOVED_SETTINGS):
        for at in list(_find(new, old)):
            value = _inner(new, at[:-1]).pop(at[-1])
            if old in RENAMED_SETTINGS:
                to = _at(RENAMED_SETTINGS[old], old, at)
                _inner(new, to[:-1])[to[-1]] = value
    for name, values in RENAMED_VALUES.items():
        for at in _find(new, name):
            section = _inner(new, at[:-1])
            section[at[-1]] = values.get(section[at[-1]], section[at[-1]])
    return new


def _find(data: Any, pattern: str, at: Keys = ()) -> Iterator[Keys]:
    name, _, rest = pattern.partition(".")
    if isinstance(data, Mapping):
        keys = list(data) if name == "*" else [name] if name in data else []
    else:
        keys = list(range(len(data))) if name == "*" and isinstance(data, list) else []
    for key in keys:
        if rest:
            yield from _find(data[key], rest, (*at, str(key)))
        else:
            yield (*at, str(key))


def _at(new: str, old: str, at: Keys) -> Keys:
    """Return the new name, with each * filled from the old name."""
    own = iter([key for name, key in zip(old.split("."), at, strict=True) if name == "*"])
    return tuple(next(own) if name == "*" else name for name in new.split("."))


def _inner(data: Any, at: Keys) -> Any:
    for key in at:
        data = data[int(key) if isinstance(data, list) else key]
    return data


def explain_option(command: str, option: str, *, takes_settings: bool) -> str:
    """Return what to use instead of an option that a command does not have; "" if unknown."""
    if instead := REMOVED_OPTIONS.get(f"{command} {option}"):
        return f"It was removed: {instead}."
    if not takes_settings:
        return ""
    name = option.lstrip("-").replace("-", "_")
    found = [
        f"--set {at}={'true' if is_switch else 'VALUE'}" for at, is_switch in _settings_named(name)
    ]
    return f"It is a setting: {' or '.join(found)}." if found else ""


def _settings_named(name: str) -> Iterator[tuple[str, bool]]:
    """Yield the settings with this name, and whether each is a switch."""
    sections = {key: field.annotation for key, field in Config.model_fields.items()}
    sections["models.default"] = ModelConfig
    for at, kind in sections.items():
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_fields:
            yield f"{at}.{name}", kind.model_fields[name].annotation is bool
