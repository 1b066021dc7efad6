"""An answer as `judge show` prints it: sentence by sentence, then the reference items."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from ....records.judgements import Evidence
from ....records.reading.problems import escape
from ....records.rows import ScoreRow
from ...protocols.table import choose, point_units, program
from ..tables.words import count, join_words
from .views import AnswerView, Judged, label_standings, order_labels

_TAB = "     "


def answer_text(
    view: AnswerView, word_overlap: Mapping[str, Iterable[str]], *, passages: bool
) -> str:
    """Return everything known about an answer as text.

    Args:
        word_overlap: judges whose labels are only word overlap, by task.
        passages: also print the texts of cited passages.
    """
    parts = [wrap(f"{view.run_id}, topic {view.topic_id}"), wrap(view.question)]
    if view.failed:
        why = f"This answer could not be made ({view.failed}): it is unjudged and not counted as 0."
        return "".join([*parts, "\n", wrap(why)])
    parts += ["\n", *_scores(view.score_rows), write_overlap_note(word_overlap)]
    if any(each.score is not None for each in view.judged):
        what = "its score, from 0 (worst label) to 1 (best label)"
        parts.append(wrap(f"In parentheses after a label: {what}."))
    parts.append("\n")
    points = [each for each in view.judged if each.is_point]
    parts_of = list(dict.fromkeys(each.sub_narrative for each in points))
    order = sorted(
        points,
        key=lambda each: (
            parts_of.index(each.sub_narrative),
            each.importance == "okay",
            _rank(each),
        ),
    )
    quotes = _QuotedSentences(view)
    length = f", {count(view.length, 'word')}" if view.length is not None else ""
    parts.append(f"Answer{length}\n")
    parts += _sentences(view, order, quotes, passages)
    for unit in dict.fromkeys(each.unit for each in order):
        parts += ["\n", *_points(unit, [e for e in order if e.unit == unit], order, quotes)]
    others = [e for e in view.judged if not e.is_point and e.sentence is None]
    for unit in dict.fromkeys(each.unit for each in others):
        parts += ["\n", *_others(unit, [e for e in others if e.unit == unit])]
    return "".join(parts)


def _scores(rows: Sequence[ScoreRow]) -> Iterator[str]:
    """Yield the scores of an answer; scores from the same judgements share a line."""
    resting: dict[tuple[int | None, int | None], list[ScoreRow]] = {}
    for row in rows:
        if row.measure != "length":
            resting.setdefault((row.n, row.n_unjudged), []).append(row)
    for (n, n_unjudged), of in resting.items():
        values = ", ".join(_score(row) for row in of)
        missing = f", {n_unjudged:,} not judged" if n_unjudged else ""
        yield wrap(f"{values}: on {count(n or 0, 'judgement')}{missing}", "  ", "")


def _score(row: ScoreRow) -> str:
    value = row.value if row.n or not row.n_unjudged else None
    bounds = ""
    if row.n_unjudged and row.low is not None and row.high is not None:
        bounds = f" (could be {number(row.low)} to {number(row.high)})"
    return f"{row.measure} {number(value)}{bounds}"


def _sentences(
    view: AnswerView, points: Sequence[Judged], quotes: _QuotedSentences, passages: bool
) -> Iterator[str]:
    n_known = len(view.sentences) if view.is_split else 0
    is_of_citations = any(each.sentence is not None and each.docid for each in view.judged)
    cites = "not asked" if is_of_citations else "cites"
    for at, sentence in enumerate(view.sentences):
        yield wrap(sentence.text or "(no text)", _TAB, f"{at + 1:>3}  " if n_known else _TAB)
        about = [each for each in view.judged if each.sentence == at < n_known]
        for each in about:
            yield from _find_cited(each, passages)
        judged = {each.docid for each in about}
        if others := [name for name in sentence.citations if name not in judged]:
            yield wrap(f"{cites}: {', '.join(others)}", _TAB + "  ", _TAB)
        quoted = [n for n, each in enumerate(points) if at in map(quotes.of, each.evidence)]
        if quoted:
            numbers = ", ".join(str(n + 1) for n in quoted)
            yield wrap(f"quoted for {points[quoted[0]].unit} {numbers}", _TAB + "  ", _TAB)
    if not view.sentences:
        yield wrap("Its text is missing.", _TAB)
    for each in view.judged:
        if each.sentence is not None and each.sentence >= n_known:
            yield f"{each.sentence + 1:>3}  (the text of this sentence is missing)\n"
            yield from _find_cited(each, passages)


def _find_cited(judged: Judged, passages: bool) -> Iterator[str]:
    is_of_citations = program(judged.program).matrix == "sentences"
    if judged.docid is None and judged.unit == "sentence" and is_of_citations:
        yield wrap("no citation, so no support", _TAB)
        return
    name = "" if is_of_citations else f"{judged.program}: "
    yield wrap(f"{name}{_label(judged)}  {judged.docid or ''}", _TAB + "  ", _TAB)
    yield from _why(judged, _TAB + "  ")
    if passages and judged.passage is not None:
        title = f"{judged.title}: " if judged.title else ""
        yield wrap(title + judged.passage, _TAB + "  | ")


def _points(
    unit: str, of_unit: Sequence[Judged], order: Sequence[Judged], quotes: _QuotedSentences
) -> Iterator[str]:
    best_first = sorted(of_unit, key=_rank, reverse=True)
    counts = Counter(each.label for each in best_first)
    parts = ", ".join(f"{n} {_name_label(label)}" for label, n in counts.items())
    yield wrap(f"{plural(unit).capitalize()}, {len(of_unit)}: {parts}")
    part = ""
    for n, each in enumerate(order):
        if each.unit != unit:
            continue
        if each.sub_narrative != part:
            part = each.sub_narrative
            of_part = [one for one in of_unit if one.sub_narrative == part]
            n_stated = sum(
                label_standings(one.program).get(one.label or "") == "stated" for one in of_part
            )
            yield wrap(f"{part or 'No sub-narrative'}: {n_stated} of {len(of_part)} stated")
        importance = f"{each.importance} " if each.importance else ""
        yield wrap(f"{importance}{_label(each)}: {each.text}", _TAB, f"{n + 1:>3}  ")
        yield from _why(each, _TAB + "  ", quotes)


def _others(unit: str, of_unit: Sequence[Judged]) -> Iterator[str]:
    counts = Counter(each.label or "not judged" for each in of_unit)
    parts = ", ".join(f"{n} {label}" for label, n in counts.items())
    name = unit or "not made"
    yield wrap(f"{name.capitalize()}{'s' if unit else ''}, {len(of_unit)}: {parts}")
    for each in of_unit:
        item = each.text or each.item or each.program
        yield wrap(f"{_label(each)}: {item}", _TAB, f"{'':>3}  ")
        yield from _why(each, _TAB + "  ")


def _label(judged: Judged) -> str:
    if judged.label is None:
        return f"not judged ({judged.unjudged})"
    sure = "" if judged.score is None else f" ({number(judged.score)})"
    return _name_label(judged.label) + sure


def _name_label(label: str | None) -> str:
    """Return a label for a sentence; a number is a rating or a grade."""
    return "not judged" if label is None else f"rated {label}" if label.isdecimal() else label


def _why(judged: Judged, indent: str, quotes: _QuotedSentences | None = None) -> Iterator[str]:
    """Yield quote and reason of a label, or why it is missing, and human labels."""
    if judged.detail:
        yield wrap(judged.detail, indent)
    if judged.raw:
        yield wrap(f"reply: {judged.raw}", indent + "  ", indent)
    for each in judged.evidence:
        sentence = quotes.of(each) if quotes is not None else None
        where = f" (sentence {sentence + 1})" if sentence is not None else ""
        if each.is_quoted is False:
            where = " (not found in the text)"
        of = f"{each.of}: " if len({one.of for one in judged.evidence}) > 1 else ""
        yield wrap(f"{of}“{each.quote}”{where}", indent + "  ", indent)
    if judged.reasoning:
        yield wrap(f"reason: {judged.reasoning}", indent + "  ", indent)
    for annotator, label, rationale in judged.people:
        differs = "" if judged.label in (None, label) else ", differs from the judge"
        remark = f": {rationale}" if rationale else ""
        by = f" ({annotator})" if annotator else ""
        yield wrap(f"people{by}: {label}{differs}{remark}", indent + "  ", indent)


class _QuotedSentences:
    """Find the sentence of a quote from the whole answer."""

    def __init__(self, view: AnswerView) -> None:
        texts = [(n, each.text) for n, each in enumerate(view.sentences) if each.text]
        self._text = " ".join(text for _, text in texts)
        self._ends = list(accumulate(len(text) + 1 for _, text in texts))
        self._numbers = [n for n, _ in texts] if view.is_split else []

    def of(self, evidence: Evidence) -> int | None:
        """Return the 0-based number of the sentence; None if not found or sentences are unknown."""
        if evidence.start is None or not self._numbers or not evidence.stands_in(self._text):
            return None
        return self._numbers[bisect_right(self._ends, evidence.start)]


def _rank(one: Judged) -> int:
    """Return the position of its label in the scale, worst first; -1: not judged."""
    if one.label is None:
        return -1
    if one.label.isdecimal():
        return int(one.label)
    labels = order_labels(one.program)
    return labels.index(one.label) if one.label in labels else len(labels)


NO_TERMINAL = 100  # columns if the width of the terminal is unknown
_MIN_WIDTH = 40


def width() -> int:
    """Return the columns of the terminal."""
    return max(shutil.get_terminal_size((NO_TERMINAL, 24)).columns, _MIN_WIDTH)


def wrap(text: str, indent: str = "", first: str | None = None) -> str:
    """Wrap a text to the width of the terminal, with control characters escaped.

    Args:
        indent: text before each line. first: text before the first line instead.
    """
    lines = textwrap.wrap(
        escape(" ".join(text.split())),
        width(),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return "\n".join(lines or [(indent if first is None else first).rstrip()]) + "\n"


def number(value: float | None, measure: str = "") -> str:
    """Format a score with three digits and no leading zero; - for None.

    >>> number(0.25), number(1.0), number(None), number(96.0, "length")
    ('.250', '1', '-', '96')
    """
    if value is None:
        return "-"
    if measure == "length" or value == int(value):
        return f"{value:.0f}"
    sign = "-" if value < 0 else ""
    return sign + f"{abs(value):.3f}".removeprefix("0")


def plural(unit: str) -> str:
    """Return the plural of a judged unit.

    >>> plural("key point")
    'key points'
    """
    return point_units().get(unit, f"{unit}s")


def command(*words: str | Path) -> str:
    """Return a command line as a user types it.

    >>> command("judge", "show", "my results")
    "judge show 'my results'"
    """
    return escape(shlex.join(map(str, words)))


def write_overlap_note(judges_of: Mapping[str, Iterable[str]]) -> str:
    """Return a note on labels that are only word overlap; "" if there are none."""
    if not judges_of:
        return ""
    programs = join_words(judges_of)
    return wrap(f"Labels of {programs} are word overlap: no model has read these answers.")


def find_lexical_judges(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the judges that label by word overlap, by task.

    Judges that write texts, such as nuggets, give no labels and are not included.
    """
    names = [
        name for name, about in manifest.get("judges", {}).items() if _is_lexical_labeller(about)
    ]
    lexical = {
        one.name: [name for name in one.judges if name in names]
        for one in choose(manifest["config"]["program"])
    }
    return {program: judges for program, judges in lexical.items() if judges}


def _is_lexical_labeller(about: Mapping[str, Any]) -> bool:
    model = about.get("model") or {}
    return "evidence" in about and str(model.get("endpoint", "")).startswith("lexical:")
