"""The content of an AutoJudge folder, and proof that it follows from its replies, offline."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import yaml
from pydantic import BaseModel, ConfigDict

from ...backends.budget import Budget
from ...backends.cache import ReplyCache
from ...backends.config import ModelConfig
from ...backends.gateway import Backend, Gateway, Reply
from ...backends.prompt import Prompt
from ...programs.config.sections import Config
from ...programs.engine.folders import find_inputs
from ...programs.engine.judge_set import JudgeSet, make_budget
from ...programs.engine.manifest import read_manifest
from ...programs.run import judge_collection
from ...records.nuggets import read_nugget_banks
from ...records.reading.lines import hash_file, json_lines
from ...records.reading.problems import InputError, Problems
from ...records.reading.settings import read_json_file
from ...records.relevance import read_relevance, write_qrels
from ...records.rows import NuggetBank
from ...records.writing import write_file
from .rerun import (
    FileReplay,
    compare_files,
    compare_folders,
    judges_changed,
    run_again,
)

ABOUT, FORMAT = "export.json", "nuggetjudge.autojudge/1"
RESULTS, INPUTS, CACHE = "results", "inputs", "cache"


class About(BaseModel):
    """The content of export.json.

    Attributes:
        name: prefix of the table names. has_pseudonyms: whether names are pseudonyms.
        timestamp, versions: of the exported run.
        unjudged_by_reason: of that run. A replay cannot know why a reply was missing: there, all
            reasons are `error`.
        replies: number of stored replies, by alias of the endpoint.
        files: SHA-256 of every other file, by its path in the folder.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: str = FORMAT
    name: str
    has_pseudonyms: bool
    timestamp: str
    versions: dict[str, str]
    unjudged_by_reason: dict[str, int]
    replies: dict[str, int]
    files: dict[str, str] = {}


def files_in(folder: Path) -> dict[str, Path]:
    """All files except export.json, by their paths in the folder, sorted."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in paths}
    named.pop(ABOUT, None)
    return named


def write_about(folder: Path, about: About) -> About:
    """Write export.json for the current files."""
    hashes = {name: hash_file(path) for name, path in files_in(folder).items()}
    whole = about.model_copy(update={"files": hashes})
    write_file(folder / ABOUT, whole.model_dump_json(indent=2) + "\n")
    return whole


def read_about(folder: Path) -> About:
    """Read it. Raises: InputError if the folder is not an export."""
    what = "an export of judge export autojudge"
    if not (folder / ABOUT).is_file():
        raise InputError(
            f"{folder}: is not an export, {ABOUT} is missing; give a folder that judge run or "
            "judge export autojudge wrote"
        )
    return read_json_file(folder / ABOUT, About, FORMAT, what)


def find_changed_files(folder: Path, about: About) -> list[str]:
    """Describe every changed, missing or additional file."""
    there = files_in(folder)
    changes = [f"{folder / name}: is missing" for name in about.files if name not in there]
    changes += [
        f"{folder / name}: has changed since the export (SHA-256)"
        for name, digest in about.files.items()
        if name in there and hash_file(there[name]) != digest
    ]
    return changes + [
        f"{folder / name}: was added after the export" for name in there if name not in about.files
    ]


BANKS, GRADES, QRELS = "nuggets.jsonl", "relevance.jsonl", "qrels.txt"  # of a results folder


def write_tables(results: Path, out: Path, base: str, config: Config, about: Any) -> list[str]:
    """Write the tables and return their names; only the leaderboard is always written.

    `BASE.eval.txt` is the leaderboard of the systems (`run topic measure value`), without the
    ranking of candidates, which is not a system. `BASE.nuggets.jsonl` has the banks (NuggetBank
    v3), `BASE.qrels.txt` the grades of passages. `BASE.config.yml` and `workflow.yml` describe the
    run. Failed judgements have no line.

    Args:
        results: files of a run. base: prefix of the names.
        config: config of the run, with the current paths of its inputs.
        about: `timestamp` and `versions` for the config file.
    """
    names = {kind: f"{base}.{kind}" for kind in ("eval.txt", "nuggets.jsonl", "qrels.txt")}
    write_file(out / names["eval.txt"], _leaderboard(results))
    has = {
        "nuggets.jsonl": _write_banks(results, out / names["nuggets.jsonl"], config),
        "qrels.txt": _write_grades(results, out / names["qrels.txt"]),
    }
    flow = {
        "create_nuggets": has["nuggets.jsonl"] and config.data.nuggets is None,
        "create_qrels": has["qrels.txt"],
        "judge": True,
    }
    models = sorted({m.wire_name for m in config.models.values() if m.way != "lexical"})
    settings = {"filebase": base, "programs": list(config.program)}
    header = {"name": base, **flow, "llm_model": ", ".join(models) or "lexical", **about}
    _write_yaml(out / f"{base}.config.yml", {**header, "settings": settings})
    _write_yaml(out / "workflow.yml", {**flow, "settings": settings})
    written = [names[kind] for kind in names if has.get(kind, True)]
    return [*written, f"{base}.config.yml", "workflow.yml"]


def _leaderboard(results: Path) -> bytes:
    """The lines of the runs that answer; all lines if no run does."""
    lines = (results / "scores.eval.txt").read_bytes().splitlines(keepends=True)
    runs = {name.encode() for name in read_manifest(results)["data"].get("run_ids", ())}
    return b"".join(line for line in lines if not runs or line.split(b"\t")[0] in runs)


def _write_banks(results: Path, to: Path, config: Config) -> bool:
    """The banks that the run created, or else its input banks."""
    made = results / BANKS
    source = made if made.is_file() and made.stat().st_size else config.data.nuggets
    if source is None or "nuggets" not in config.program:
        return False
    banks = read_nugget_banks(source, Problems())
    rows = map(_v3_row, banks.values())
    line = orjson.OPT_APPEND_NEWLINE
    write_file(to, b"".join(orjson.dumps(row, option=line) for row in rows))
    return True


def _write_grades(results: Path, to: Path) -> bool:
    """Grades of the relevance judge, or else the qrels that coverage derives from ratings."""
    if (results / GRADES).is_file():
        problems = Problems()
        grades: dict[str, dict[str, int]] = {}
        for label in read_relevance(results / GRADES, problems):
            if label.grade is not None:
                grades.setdefault(label.topic_id, {})[label.passage_id] = label.grade
        problems.raise_errors()
        write_qrels(to, grades)
        return bool(grades)
    if (results / QRELS).is_file():
        write_file(to, (results / QRELS).read_bytes())
        return True
    return False


def _write_yaml(path: Path, data: Mapping[str, Any]) -> None:
    write_file(path, yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True))


_EVENTS = frozenset(
    f"socket.{name}"
    for name in ("bind", "connect", "getaddrinfo", "gethostbyaddr", "gethostbyname",
                 "getnameinfo", "sendmsg", "sendto")
)  # fmt: skip
_state = {"is_off": False, "is_watched": False}


class NetworkUsedError(RuntimeError):
    """Something used the network in an offline replay."""


@contextmanager
def no_network() -> Iterator[None]:
    """Within this block, any connection, listening socket or name lookup raises NetworkUsedError.

    It uses an audit hook of Python, which sees every library that uses Python's sockets.
    """
    if not _state["is_watched"]:
        sys.addaudithook(_stop)  # permanent: an audit hook cannot be removed
        _state["is_watched"] = True
    _state["is_off"] = True
    try:
        yield
    finally:
        _state["is_off"] = False


def _stop(
    event: str,
    args: tuple[Any, ...],
    state: dict[str, bool] = _state,  # the names of a module are gone before its hooks are
    events: frozenset[str] = _EVENTS,
) -> None:
    if state["is_off"] and event in events:
        raise NetworkUsedError(f"{event} {args[1:]!r}: a replay must not use the network")


# RFC 6761: names that end in .invalid have no address, so a forgotten --offline sends nothing.
NOWHERE = "http://endpoint.invalid/v1"


class EarlierRun(NamedTuple):
    """The models of a run by alias, and where their replies are."""

    models: Mapping[str, ModelConfig]
    replies: ReplyCache | None


class ReplayJudgeSet(JudgeSet):
    """Answers from `stored`, replies by alias.

    Args:
        earlier: the models of the run; if given, used replies are added to `stored`.
    """

    def __init__(
        self,
        config: Config,
        budget: Budget,
        stored: Mapping[str, StoredReplies],
        earlier: EarlierRun | None = None,
    ) -> None:
        super().__init__(config, cache=None, budget=budget)
        self._stored, self._earlier, self._whole = stored, earlier, budget

    def _open_backend(self, alias: str, model: ModelConfig) -> Backend:
        if model.sends_nothing:
            return super()._open_backend(alias, model)
        if self._earlier is None or self._earlier.replies is None:
            return Gateway(model, None, cache=self._stored[alias], budget=self._whole)
        then, replies = self._earlier.models[alias], self._earlier.replies
        return ReplayGateway(
            model, then, earlier=replies, stored=self._stored[alias], budget=self._whole
        )


def without_address(alias: str, model: ModelConfig) -> ModelConfig:
    """An entry of `models:` whose endpoint is an alias: no URL, no name of a key's variable."""
    if model.sends_nothing:
        return model
    address = None if model.way == "vllm" else NOWHERE
    after = {"endpoint": alias, "api_base": address, "api_key_env": None}
    return model.model_copy(update=after)


def with_endpoints(config: Config) -> list[str]:
    """The aliases of the entries with an endpoint."""
    return [a for a, model in config.models.items() if not model.sends_nothing]


@dataclass(frozen=True)
class Verified:
    """The result of a replay.

    Attributes:
        files: each file of the results and each table, compared with its replay.
        wrong: every other difference from the export, in words, with its place.
        replies: number of stored replies that the replay used. unused: number of the others.
    """

    files: tuple[FileReplay, ...]
    wrong: tuple[str, ...]
    replies: int
    unused: int

    @property
    def is_same(self) -> bool:
        """Whether all bytes are equal and nothing else differs."""
        return not self.wrong and not any(file.differ or file.failed for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        files = [file.as_dict() for file in self.files]
        return {"is_same": self.is_same, **vars(self), "files": files}


def verify_folder(folder: Path) -> Verified:
    """Judge again from the stored replies, offline, and compare with the files of the folder.

    Raises: InputError if the folder is not an export, or none of its files can be read;
        NetworkUsedError if something used the network.
    """
    about = read_about(folder)
    wrong = find_changed_files(folder, about)
    inputs = find_inputs(folder / RESULTS)
    if inputs.changed:
        wrong += [f"{folder / path}: {what}; not replayed" for path, what in inputs.changed.items()]
        return Verified((), tuple(dict.fromkeys(wrong)), 0, 0)
    stored, lost = _read_stored_replies(folder, about, inputs.config)
    then = read_manifest(folder / RESULTS)
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        again = Path(work) / RESULTS

        def run(run_config: Config) -> None:
            budget = make_budget(run_config)
            with no_network():
                judge_collection(
                    run_config, budget=budget, judge_set=ReplayJudgeSet(run_config, budget, stored)
                )

        now = run_again(inputs.config, again, run, inputs.moved)
        files = compare_folders(folder / RESULTS, again)
        run_info = {"timestamp": about.timestamp, "versions": about.versions}
        out = Path(work) / "tables"
        names = write_tables(again, out, about.name, inputs.config, run_info)
        tables = tuple(compare_files(name, folder / name, out / name) for name in names)
    n_missed = len(set().union(*(one.missed for one in stored.values())))
    more = sum(now["unjudged"].values()) - sum(then["unjudged"].values())
    if more > 0:
        lost.append(f"{more:,} more judgements failed: {n_missed:,} questions have no stored reply")
    used = sum(len(one.used) for one in stored.values())
    unused = sum(len(one.lines) for one in stored.values()) - used
    wrong += [*lost, *judges_changed(then, now)]
    verified = Verified(files + tables, tuple(wrong), used, unused)
    made, here = (one.get("versions", {}).get("nuggetjudge") for one in (then, now))
    if made == here or verified.is_same:
        return verified
    why = f"exported by nuggetjudge {made}, replayed by {here}, whose prompts may differ"
    return replace(verified, wrong=(*wrong, why))


def _read_stored_replies(
    folder: Path, about: About, config: Config
) -> tuple[dict[str, StoredReplies], list[str]]:
    """The replies by alias, and the problems of their files."""
    stored, wrong = {}, list[str]()
    for alias in with_endpoints(config):
        path, problems = folder / CACHE / f"{alias}.jsonl", Problems()
        stored[alias] = read_replies(path, problems) if path.is_file() else StoredReplies()
        wrong += map(str, problems)
        if lost := about.replies.get(alias, 0) - len(stored[alias].lines):
            wrong.append(f"{path}: {len(stored[alias].lines):,} replies, wanted {lost:+,}")
    return stored, wrong


_DIGITS = 16  # of a reply's SHA-256


class StoredReplies(ReplyCache):
    """Replies of one endpoint by their keys, only in memory.

    Attributes:
        used: requested keys that are stored. missed: requested keys that are not.
    """

    def __init__(self, lines: Mapping[bytes, bytes] | None = None) -> None:
        self.lines: dict[bytes, bytes] = dict(lines or {})
        self.used: set[bytes] = set()
        self.missed: set[bytes] = set()

    def get(self, key: bytes) -> bytes | None:
        """The reply with this key, or None."""
        line = self.lines.get(key)
        (self.missed if line is None else self.used).add(key)
        return line

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """Store a reply."""
        self.lines[key] = value

    def settle(self) -> None:
        """Do nothing: every reply is already stored."""

    def close(self) -> None:
        """Do nothing: no file is open."""


def write_replies(path: Path, replies: StoredReplies) -> None:
    """Write them in the order of their keys: `key` in hex, `sha256` (16 digits), `reply`.

    `reply` has, in this order: text, finish reason, refusal, model, tokens of the prompt, of it
    from the endpoint's cache, of the reply, and tokens with log-probabilities.
    """
    rows = (
        {"key": key.hex(), "sha256": _digest(line), "reply": orjson.loads(line)}
        for key, line in sorted(replies.lines.items())
    )
    write_file(path, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def read_replies(path: Path, problems: Problems) -> StoredReplies:
    """Read the replies of a file. A changed reply is used, and reported.

    Errors reported: no key, a repeated key, a reply with another hash (`changed`).
    """
    lines: dict[bytes, bytes] = {}
    for number, row in json_lines(path, problems):
        try:
            key = bytes.fromhex(row["key"])
            line = orjson.dumps(row["reply"])
            written = row["sha256"]
        except (KeyError, TypeError, ValueError) as error:
            what = f"not a stored reply ({error}), wanted key, sha256 and reply"
            problems.error(path, number, "no_reply", what)
            continue
        if written != _digest(line):
            what = f"the reply has changed: its SHA-256 is {_digest(line)}"
            problems.error(path, number, "changed", f"{what}, wanted {written}")
        if key in lines:
            problems.error(path, number, "duplicate", "a second reply with this key, wanted one")
        lines[key] = line
    return StoredReplies(lines)


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:_DIGITS]


class ReplayGateway(Gateway):
    """Answers from stored replies only. It finds a reply by the key of the earlier entry, which has
    the address of the endpoint, and stores it under the key of the new entry, which has an alias.

    Args:
        config: the new entry. then: the entry that the replies come from.
        kept: the earlier store. held: the new store, for replies that are used.
    """

    def __init__(
        self,
        config: ModelConfig,
        then: ModelConfig,
        *,
        earlier: ReplyCache,
        stored: StoredReplies,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(config, None, cache=stored, budget=budget)
        self._then = Gateway(then, None)
        self._earlier, self._stored = earlier, stored

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Gateway.ask."""
        exact = prompt.of(inputs)
        user = exact.escape_last_message(inputs)
        line = self._earlier.get(self._then._wire(exact, inputs).key(user, replicate))
        if line is not None:
            key = self._wire(exact, inputs).key(user, replicate)
            self._stored.put(key, line, self.config.model)
        return await super().ask(prompt, inputs, replicate)

    def copy_with(self, **settings: Any) -> ReplayGateway:
        """See Gateway.copy_with."""
        baseline = super().copy_with(**settings)
        assert isinstance(baseline, ReplayGateway)
        baseline._then = self._then.copy_with(**settings)
        return baseline


def _v3_row(bank: NuggetBank) -> dict[str, Any]:
    """A bank in the format of auto-judge tools (NuggetBank v3): a claim for each nugget, by text.

    If two nuggets have the same text, the key of the second also has its id.
    """
    claims: dict[str, Any] = {}
    for nugget in bank.nuggets:
        key = nugget.text if nugget.text not in claims else f"{nugget.text} [{nugget.id}]"
        claim: dict[str, Any] = {
            "claim": nugget.text, "claim_id": nugget.id, "query_id": bank.topic_id
        }  # fmt: skip
        if nugget.importance is not None:
            claim["importance"] = nugget.importance.value
        if nugget.sources:
            names = (one if isinstance(one, str) else one.docid for one in nugget.sources)
            claim["references"] = [{"doc_id": name} for name in dict.fromkeys(names)]
        claims[key] = claim
    about = {"query_id": bank.topic_id, "title_query": bank.query, "format_version": "v3"}
    return {**about, "nugget_bank": {}, "claim_bank": claims}
