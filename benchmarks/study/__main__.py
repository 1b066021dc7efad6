"""A model as every judge over judged data: `python -m benchmarks.study DATA --model MODEL`."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import nuggetjudge
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.cli.stopping import COMPLETE, INCOMPLETE, INPUT, INTERRUPTED, TERMINATED
from nuggetjudge.cli.tables import escape
from nuggetjudge.cli.views import make_plan_view
from nuggetjudge.programs.engine.dry_run import ASSUMED
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.writing import NewFile
from nuggetjudge.views.printing import Format, print_view, render
from nuggetjudge.views.terminal import Terminal

from . import parts, table
from .figures import Figures, Labels, figures, read_labels
from .parts import State
from .plan import VARIANTS, Choice, Part, base_config, parts_of
from .sets import OF_PEOPLE

_PRIVATE = ("endpoint", "recording")


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


class Study:
    """The parts of a study, set by set.

    Attributes:
        absent: sets that DATA does not have. not_had: variants that judges do not have, with why.
        states: of the parts that this start came to.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        """Raises: InputError for data, settings or names that cannot be used."""
        self.out: Path = options.out or Path("results", "study", _slug(options))
        self.options = options
        self.parts: list[Part] = []
        self.absent: list[str] = []
        self.not_had: list[str] = []
        self.states: dict[str, State] = {}
        base = base_config(options.config, options.set, options.model, self.out, options.max_cost)
        choice = Choice(options.limit, options.sample, options.seed)
        chosen = _named(options.sets, {of.key: of for of in OF_PEOPLE}, "--sets")
        variants = _named(options.variants, {one.name: one for one in VARIANTS}, "--variants")
        for of in chosen:
            if not of.is_in(options.data):
                self.absent.append(of.name)
                continue
            items = choice.of(of.items(options.data))
            new, not_had = parts_of(of, variants, base, self.out, items)
            self.parts += new
            self.not_had += (what for what in not_had if what not in self.not_had)
        if not self.parts:
            raise InputError(
                f"{options.data}: has no folder of {', '.join(self.absent) or 'these'}"
            )

    def plan(self) -> str:
        """What all parts would ask, as a table."""
        for part in self.parts:
            parts.write_items(part, self.out)
        estimates = [one for part in self.parts for one in parts.planned(part)]
        return render(make_plan_view(estimates, notes=[ASSUMED]), terminal=Terminal(160))

    def judge(self) -> None:
        """Run what is missing, plain judges first, until a limit is reached.

        Raises: InputError, EndpointUnusable; KeyboardInterrupt.
        """
        for part in sorted(self.parts, key=lambda part: VARIANTS.index(part.variant)):
            parts.write_items(part, self.out)
            _say(f"{part.name}: {len(part.items):,} items")
            judge_collection(parts.lexical(part, self.out))
            self.states[part.name] = parts.run_part(part, self.out, self.left(), self.options.quiet)
            for what in parts.doubts(part):
                _say(what)
            if self.states[part.name] != State.DONE:
                return

    def left(self) -> float | None:
        """Dollars that may still be spent; None: there is no limit."""
        limit: float | None = self.options.max_cost
        return None if limit is None else limit - parts.spent(self.parts, self.out)

    def rows(self) -> list[dict[str, Any]]:
        """All parts, those that were finished with their figures."""
        return [self._row(part) for part in self.parts]

    def models(self) -> dict[str, Any]:
        """By judge what of its model can change a reply, without where the endpoint is."""
        by_judge = {}
        for part in self.parts:
            identity = part.config.get_model(part.of.judge)[1].identity()
            by_judge[part.of.judge] = {
                name: value for name, value in identity.items() if name not in _PRIVATE
            }
        return by_judge

    def others(self) -> list[dict[str, Any]]:
        """The lexical baseline and the recorded judges of each set, on the items of the study."""
        rows = []
        for part in {part.of.key: part for part in self.parts}.values():
            folder = parts.lexical(part, self.out).run.out
            if not (folder / "labels.jsonl").is_file():
                continue  # the study did not come to it
            lexical = read_labels(folder, part.items)
            scale = _read_scale(folder)
            rows.append(self._other(part, "lexical", lexical, lexical, scale))
            names = {name: None for item in part.items for name in item.recorded}
            for name in names:
                judged = {item.cell: item.recorded.get(name) for item in part.items}
                row = self._other(part, name, judged, lexical, part.of.scale)
                rows.append(row)
        return rows

    def _other(
        self, part: Part, name: str, judged: Labels, lexical: Labels, scale: Sequence[str]
    ) -> dict[str, Any]:
        by_question = self._figures(part, judged, lexical, scale)
        return table.row_of_other(part, name, by_question)

    def _row(self, part: Part) -> dict[str, Any]:
        state = self.states.get(part.name, State.NOT_RUN)
        if state != State.DONE:
            return table.row_of(part, state, [], parts.taken(part))
        folder = part.config.run.out
        judged = read_labels(folder, part.items)
        lexical = read_labels(parts.lexical(part, self.out).run.out, part.items)
        by_question = self._figures(part, judged, lexical, _read_scale(folder))
        return table.row_of(part, state, by_question, parts.taken(part))

    def _figures(
        self, part: Part, judged: Labels, lexical: Labels, scale: Sequence[str]
    ) -> list[Figures]:
        return [
            figures(part.of, one, part.items, judged, lexical, scale, self.options.resamples)
            for one in part.of.questions
            if (one.judge in scale if one.people else tuple(scale) == tuple(part.of.scale))
        ]


def _read_scale(folder: Path) -> list[str]:
    labels: list[str] = json.loads((folder / "manifest.json").read_bytes())["items"]["labels"]
    return labels


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a study, or what it lacks, and write its table. Returns: the exit code, as of `judge`."""
    options = _parser().parse_args(arguments)
    try:
        study = Study(options)
        for what in [*(f"{name}: not in {options.data}" for name in study.absent), *study.not_had]:
            _say(what)
        if options.dry_run:
            sys.stdout.write(study.plan())
            return COMPLETE
        return _run(study)
    except (InputError, EndpointUnusable) as error:
        _say(f"study: {error}")
        return INPUT


def _run(study: Study) -> int:
    code = COMPLETE
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        study.judge()
    except KeyboardInterrupt as end:
        code = TERMINATED if isinstance(end, _Terminated) else INTERRUPTED
        _say("Stopped. What was judged is kept: the same command continues.")
    except (InputError, EndpointUnusable) as error:
        code = INPUT
        _say(f"study: {error}")
    finally:
        signal.signal(signal.SIGTERM, before)
    rows, others = study.rows(), study.others()
    view = table.make_view(rows, others)
    summary = {
        "nuggetjudge": nuggetjudge.__version__,
        "models": study.models(),
        "chosen": {name: getattr(study.options, name) for name in ("limit", "sample", "seed")},
        "absent": study.absent,
        "not_had": study.not_had,
        "cost": parts.spent(study.parts, study.out),
        "parts": rows,
        "others": others,
    }
    _write(study.out / "study.json", json.dumps(summary, indent=1) + "\n")
    _write(study.out / "study.md", render(view, Format.MARKDOWN))
    print_view(view)
    if State.STOPPED in study.states.values() or State.NOT_RUN in study.states.values():
        _say("A limit is reached: the same command with a larger one goes on.")
    _say(f"Table: {study.out / 'study.md'}, {study.out / 'study.json'}")
    is_whole = all(row["state"] == State.DONE for row in rows)
    is_whole &= not any(one["n_unjudged"] for row in rows for one in row["questions"])
    return code or (COMPLETE if is_whole else INCOMPLETE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    add = parser.add_argument
    add("data", type=Path, help="the folder that holds the folders of judged data")
    add("--model", help="what answers, as in judge run")
    add("--config", type=Path, help="a config file, of which models:, judges: and run: are used")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="any setting of these")
    add("--out", type=Path, help="the study's folder; default: results/study/MODEL")
    add("--sets", metavar="A,B", help="of " + ", ".join(of.key for of in OF_PEOPLE))
    add("--variants", metavar="A,B", help="of " + ", ".join(one.name for one in VARIANTS))
    add("--limit", type=int, metavar="N", help="the first N topics of each set")
    add("--sample", type=int, metavar="N", help="N items of each set, drawn over all topics")
    add("--seed", type=int, default=0, help="of the sample")
    add("--max-cost", type=float, metavar="DOLLARS", help="of the whole study, all starts together")
    add("--resamples", type=int, default=1000, help="samples of topics behind the intervals")
    add("--dry-run", action="store_true", help="print calls, tokens and dollars; ask nothing")
    add("--quiet", "-q", action="store_true", help="no progress bars")
    return parser


def _named(names: str | None, by_name: dict[str, Any], flag: str) -> list[Any]:
    """Those that were named, in our order. Raises: InputError for others."""
    wanted = list(by_name) if names is None else names.split(",")
    if unknown := [name for name in wanted if name not in by_name]:
        raise InputError(f"{flag} {unknown[0]}: wanted {', '.join(by_name)}")
    return [one for name, one in by_name.items() if name in wanted]


def _slug(options: argparse.Namespace) -> str:
    """A folder's name for the model. Raises: InputError where none is named."""
    if not (options.model or options.config):
        raise InputError("no model: name one (--model openai/NAME, --model lexical, --config FILE)")
    return re.sub(r"[^\w.-]+", "-", options.model or options.config.stem)


def _write(path: Path, text: str) -> None:
    file = NewFile(path)
    file.write(text.encode())
    file.close()


def _say(text: str) -> None:
    sys.stderr.write(escape(text) + "\n")


def _terminate(*_: object) -> NoReturn:
    raise _Terminated


if __name__ == "__main__":
    sys.exit(main())
