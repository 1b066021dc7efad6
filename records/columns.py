"""Finds the columns of a person's table: topic, run, label, annotator, judge, texts.

Columns are guessed from their names, in any case and under other tools' names, and from their
values; guesses are shown as the options that express them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .reading.fields import Line, as_int, shorten
from .reading.problems import InputError, did_you_mean
from .tables import DEFAULT_MISSING, Table, as_number, is_missing

# Our names of fields, each with the names that other tools and people use, best first.
NAMES: dict[str, tuple[str, ...]] = {
    "topic_id": (
        *("topic_id", "topic", "qid", "query_id", "query", "request_id", "narrative_id"),
        *("example_id", "prompt_id", "question_id", "question", "q_id", "topic_no", "query_no"),
        *("question_no", "sample_id", "case_id", "test_case_id"),
    ),
    "run_id": (
        *("run_id", "run", "system", "system_id", "run_name", "system_name", "runid", "model"),
        *("method", "variant", "pipeline", "generator", "submission", "team"),
    ),
    "sentence_id": (
        *("sentence_id", "sentence_idx", "sentence_no", "sentence_number", "sentence_index"),
        *("sent_id", "sent_no", "sentence", "sent"),
    ),
    "passage_id": (
        *("passage_id", "docid", "report_id", "doc_id", "document_id", "docno", "pid", "doc"),
        *(
            "passage",
            "document",
            "cited_doc",
            "cited_document",
            "citation",
            "source_id",
            "chunk_id",
        ),
        *("segment_id", "context_id", "source"),
    ),
    "nugget_id": ("nugget_id", "nugget", "nugget_no", "fact_id", "claim_id", "fact_no"),
    "question_id": ("question_id", "question_idx", "sub_question_id", "subquestion_id"),
    "key_point_id": ("key_point_id", "key_point", "keypoint_id", "key_point_no"),
    "item_id": ("item_id", "item", "id", "uid", "row_id", "example", "index", "no", "nr"),
    "label": (
        *("label", "human_label", "human_labels", "human", "gold", "gold_label", "verdict"),
        *("human_verdict", "judgement", "judgment", "annotation", "rating", "grade", "score"),
        *("human_score", "human_rating", "decision", "assessment", "relevance", "support"),
        *("supported", "is_supported", "correct", "is_correct", "correctness", "faithfulness"),
        *("groundedness", "majority", "consensus", "final_label", "ground_truth", "labels"),
        *("class", "choice", "vote", "answered"),
    ),
    "annotator": (
        *("annotator", "annotator_id", "annotator_name", "rater", "rater_id", "rater_name"),
        *("assessor", "assessor_id", "coder", "coder_id", "reviewer", "labeler", "labeller"),
        *("labeled_by", "labelled_by", "judged_by", "annotated_by", "worker", "worker_id"),
        *("expert", "user", "user_id", "grader", "person"),
    ),
    "judge": (
        *("judge", "judge_label", "llm", "llm_label", "llm_judge", "llm_verdict", "llm_score"),
        *("model_label", "model_verdict", "model_score", "predicted", "prediction", "pred"),
        *("auto", "auto_label", "machine", "ai", "ai_label", "judge_verdict", "judge_score"),
    ),
    "rationale": (
        *("rationale", "comment", "comments", "remark", "remarks", "note", "notes", "reason"),
        *("reasoning", "explanation", "justification", "why", "feedback"),
    ),
    "condition": ("condition",),
    # Texts that judges read.
    "question": (
        *("question", "query", "question_text", "query_text", "topic", "topic_text", "prompt"),
        *("user_input", "input", "request", "narrative", "information_need", "title"),
    ),
    "answer": (
        *("answer", "response", "output", "actual_output", "answer_text", "response_text"),
        *("generated_answer", "system_answer", "model_answer", "completion", "report"),
    ),
    "response": ("response", "answer", "output", "actual_output", "response_text", "answer_text"),
    "sentence": ("sentence", "sentence_text", "statement", "claim", "claim_text", "sent_text"),
    "passage": (
        *("passage", "passage_text", "document", "document_text", "context", "contexts", "source"),
        *("source_text", "cited_text", "cited_passage", "evidence", "segment", "doc_text", "text"),
    ),
    "nugget": ("nugget", "nugget_text", "fact", "fact_text", "key_fact"),
    "key_point": ("key_point", "key_point_text", "keypoint", "point"),
    "claim": ("claim", "claim_text", "statement", "sentence"),
}
_PEOPLE = (
    r"(?:annotators?|raters?|assessors?|coders?|reviewers?|labell?ers?|experts?|workers?|graders?"
    r"|humans?|person|label|verdict|rating|score|grade|vote|annotation|gold)"
)
# A column for one of several annotators: rater_ann, human_2, label_b, ann_verdict, a1.
_OF_ONE = re.compile(rf"(?:{_PEOPLE}|[ar])_?\d+|{_PEOPLE}_\w+|\w+_{_PEOPLE}")
_OF_JUDGE = re.compile(
    r"(^|_)(llm|gpt|claude|gemini|llama|qwen|mistral|model|auto|automatic|judge|ai)(_|\d|$)"
)
_OF_SUM = re.compile(
    r"(^|_)(majority|consensus|final|mean|average|avg|adjudicated|gold|total)(_|$)"
)
_WITH_SHARED_WORD = (
    r"(?P<shared>[^\W_]+)[\s_-]+(?P<name>.+)",
    r"(?P<name>.+)[\s_-]+(?P<shared>[^\W_]+)",
)
MAX_WORDS = 12  # most different values of a column that is recognised as labels by its values
_LONGEST_LABEL = 40
_LONGEST_ID = 60
_ID_WORDS = 0.2  # share of ids that may have white space in them
_LOOKED_AT = 1000  # rows that decide what a column holds


@dataclass(frozen=True)
class TableOptions:
    """A person's description of a table, where names and values are not enough.

    Attributes:
        fields: our name of a field -> the column; several of `label`, with commas: one for each
            annotator.
        scale: the possible labels, worst to best -> the name of each here; None: any.
        missing: words, in lower case, for a missing value.
        sheet: of a workbook; None: the first with rows.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, str] | None = None
    missing: frozenset[str] = DEFAULT_MISSING
    sheet: str | None = None


@dataclass(frozen=True)
class ColumnMap:
    """The columns of our fields.

    Attributes:
        columns: by field; several of `label`: one for each annotator.
        guessed: the fields with another name in the file that no option set.
    """

    columns: Mapping[str, tuple[str, ...]]
    guessed: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> str:
        """The only or first column of a field. Raises: KeyError if there is none."""
        return self.columns[name][0]

    def __contains__(self, name: str) -> bool:
        """Whether a field has a column."""
        return name in self.columns

    def without(self, names: Collection[str]) -> ColumnMap:
        """The map without these fields."""
        return ColumnMap(
            {name: of for name, of in self.columns.items() if name not in names},
            self.guessed - {*names},
        )

    @property
    def fields(self) -> dict[str, str]:
        """Our name -> the name in the file, as for `--field`: several columns with commas."""
        return {name: ",".join(columns) for name, columns in self.columns.items()}

    @property
    def options(self) -> str:
        """The options that express the guesses; "" without guesses."""
        return self.get_options("--field ")

    def get_options(self, option: str) -> str:
        """Like `options`, for another option."""
        return " ".join(
            f"{option}{shlex.quote(f'{name}={theirs}')}"
            for name, theirs in self.fields.items()
            if name in self.guessed
        )


def plain_name(name: str) -> str:
    """Turn a column's name into the form of ours.

    >>> plain_name("Query ID"), plain_name("runId"), plain_name("Sentence #")
    ('query_id', 'run_id', 'sentence_no')
    """
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("#", " no ")
    return re.sub(r"\W+", "_", words.lower()).strip("_")


def guess_columns(
    table: Table,
    wanted: Collection[str],
    given: Mapping[str, str] | None = None,
    *,
    names: Mapping[str, Sequence[str]] | None = None,
) -> ColumnMap:
    """Find the column of each wanted field in a table.

    A column with exactly a field's name is that field; then a column with a similar name, if its
    values fit: ids are short, labels few. Several columns with the same few values, one for each
    annotator, are `label` together. Other columns are left out.

    Args:
        wanted: our names of fields, such as topic_id, run_id, label, annotator, judge, question.
        given: our name -> the column, or several of `label` with commas; `topic` is `topic_id`.
        names: further names that files have for a field, by field.

    Raises: InputError for a field of `given` that is not wanted, or a column that does not exist.
    """
    guess = _Guess(table, wanted, names or {})
    for name, theirs in (given or {}).items():
        guess.take_given(name, theirs)
    guess.take_exact()
    guess.take_alike()
    guess.take_labels()
    order = [name for name in wanted if name in guess.columns]
    return ColumnMap(
        {name: guess.columns[name] for name in order}, frozenset(guess.guessed & {*order})
    )


class _Guess:
    """Columns while they are assigned to fields; a column has one field."""

    def __init__(
        self, table: Table, wanted: Collection[str], names: Mapping[str, Sequence[str]]
    ) -> None:
        self.table, self.wanted, self._names = table, tuple(wanted), names
        self.columns: dict[str, tuple[str, ...]] = {}
        self.guessed: set[str] = set()
        self._plain = {name: plain_name(name) for name in table.columns}
        self._values: dict[str, list[Any]] = {}

    def take_given(self, name: str, theirs: str) -> None:
        """Assign to a field the column, or columns, that a person chose."""
        ours = name if name in self.wanted or f"{name}_id" not in self.wanted else f"{name}_id"
        option = f"--field {name}={theirs}"
        if ours not in self.wanted:
            what = f"no field {name!r}{did_you_mean(name, self.wanted)}"
            raise InputError(f"{option}: {what}, wanted one of {', '.join(self.wanted)}")
        if (one := self._find(theirs)) is not None:
            self.columns[ours] = (one,)
            return
        parts = [part.strip() for part in theirs.split(",")]
        found = [self._find(part) for part in parts]
        lost = next((part for part, one in zip(parts, found, strict=True) if one is None), None)
        if lost is None and ours == "label":
            self.columns[ours] = tuple(one for one in found if one is not None)
            return
        near = did_you_mean(lost or theirs, self.table.columns)
        has = shorten(", ".join(self.table.columns) or "none", 300)
        what = f"{self.table.path} has no column {lost or theirs!r}{near}; its columns: {has}"
        raise InputError(f"{option}: {what}")

    def _find(self, theirs: str) -> str | None:
        """The column of this name, or the only one whose name differs in case and spaces only."""
        if theirs in self.table.columns:
            return theirs
        alike = [name for name, plain in self._plain.items() if plain == plain_name(theirs)]
        return alike[0] if len(alike) == 1 and alike[0] not in self._used else None

    @property
    def _used(self) -> set[str]:
        return {name for columns in self.columns.values() for name in columns}

    def _free(self) -> list[str]:
        used = self._used
        return [name for name in self.table.columns if name not in used]

    def take_exact(self) -> None:
        """Assign columns with exactly a field's name, or a name in `names`."""
        for name in self.wanted:
            if name in self.columns:
                continue
            free = self._free()
            exact = next((n for n in (name, *self._names.get(name, ())) if n in free), None)
            if exact is not None:
                self.columns[name] = (exact,)

    def take_alike(self) -> None:
        """Assign columns with similar names, if their values fit; not the labels."""
        for name in self.wanted:
            if name in self.columns or name == "label":
                continue
            free = self._free()
            for alias in (name, *NAMES.get(name, ())):
                found = [n for n in free if self._plain[n] == alias and self._fits(name, n)]
                if found:
                    self._guess(name, found[0])
                    break
        if "judge" in self.wanted and "judge" not in self.columns:
            of_judge = [n for n in self._free() if _OF_JUDGE.search(self._plain[n])]
            if len(fit := [n for n in of_judge if self._fits("judge", n)]) == 1:
                self._guess("judge", fit[0])

    def _guess(self, name: str, *columns: str) -> None:
        self.columns[name] = columns
        self.guessed.add(name)

    def take_labels(self) -> None:
        """Find the labels: a column with such a name, or one for each annotator."""
        if "label" not in self.wanted or "label" in self.columns:
            return
        free = [n for n in self._free() if not _OF_JUDGE.search(self._plain[n])]
        like = [n for n in free if self._is_like_labels(n)]
        several = []
        if "annotator" not in self.columns:
            of_people = [n for n in like if _OF_ONE.fullmatch(self._plain[n])]
            of_people = [n for n in of_people if not _OF_SUM.search(self._plain[n])]
            several = self._same_values(of_people)
        if len(several) < 2:
            by_name = {self._plain[n]: n for n in reversed(like)}
            one = next((by_name[alias] for alias in NAMES["label"] if alias in by_name), None)
            several = [one] if one is not None else several
        if not several:
            few = [n for n in like if self._repeats(n) and not _OF_SUM.search(self._plain[n])]
            alike = self._same_values(few) if "annotator" not in self.columns else []
            several = alike if len(alike) > 1 else few if len(few) == 1 else []
        if not several:  # human scores
            by_name = {self._plain[n]: n for n in reversed(free) if self._holds_numbers(n)}
            several = [by_name[alias] for alias in NAMES["label"] if alias in by_name][:1]
        if several:
            self._guess("label", *several)

    def values(self, column: str) -> list[Any]:
        """The values of the first rows that have a value."""
        if column not in self._values:
            cells = (line.row.get(column) for line in self.table.rows[:_LOOKED_AT])
            self._values[column] = [value for value in cells if not is_missing(value)]
        return self._values[column]

    def _fits(self, name: str, column: str) -> bool:
        """Whether the values of a column fit a field."""
        values = self.values(column)
        if name.endswith("_id") or name in ("annotator", "condition"):
            return _are_ids(values)
        if name == "judge":
            return self._is_like_labels(column) or self._holds_numbers(column)
        if name == "rationale":
            return True
        return any(isinstance(v, str | list) for v in values) and not (
            _are_ids(values) and all(as_int(v) is not None for v in values)
        )

    def _is_like_labels(self, column: str) -> bool:
        """Whether a column holds few different short values."""
        values = self.values(column)
        if not values or any(isinstance(v, list | dict) for v in values):
            return False
        words = {_word(v) for v in values}
        if any(as_int(v) is None and as_number(v) is not None for v in values):
            return False
        if max(map(len, words)) > _LONGEST_LABEL or len(words) > MAX_WORDS:
            return False
        return self._repeats(column) or len(values) < 4

    def _repeats(self, column: str) -> bool:
        """Whether a column repeats a value."""
        values = self.values(column)
        return len({_word(v) for v in values}) < len(values)

    def _holds_numbers(self, column: str) -> bool:
        values = self.values(column)
        return bool(values) and all(as_number(v) is not None for v in values)

    def _same_values(self, columns: Sequence[str]) -> list[str]:
        """The columns that share their values with most others, in order."""
        sets = {name: {_word(v) for v in self.values(name)} for name in columns}
        groups = [
            [
                n
                for n in columns
                if 2 * len(sets[n] & sets[name]) >= min(len(sets[n]), len(sets[name]))
            ]
            for name in columns
        ]
        return max(groups, key=len, default=[])


def _word(value: object) -> str:
    number = as_int(value)
    return str(number) if number is not None else str(value).strip().lower()


def _are_ids(values: Sequence[Any]) -> bool:
    """Whether the values are short, and differ from each other like ids."""
    if any(isinstance(v, list | dict | bool) for v in values):
        return False
    texts = [str(v).strip() for v in values]
    spaced = [text for text in texts if " " in text]
    if not texts or max(map(len, spaced), default=0) > _LONGEST_ID:
        return False
    return len(spaced) <= _ID_WORDS * len(texts)


def has_name_of_labels(columns: ColumnMap) -> bool:
    """Whether the column of labels, or the columns of annotators, have such names."""
    names = [plain_name(name) for name in columns.columns.get("label", ())]
    return any(name in NAMES["label"] or _OF_ONE.fullmatch(name) for name in names)


def find_measures(table: Table, columns: ColumnMap) -> list[str]:
    """The columns of scores of runs, one per measure; [] for another table.

    A row is a run, or a run and a topic, and everything except ids is a number. A table of runs and
    topics with whole numbers only has labels.

    Args:
        columns: its columns for run_id, topic_id and label, if any.
    """
    if "run_id" not in columns:
        return []
    ids = [columns[name] for name in ("topic_id", "run_id") if name in columns]
    keys = [tuple(str(line.row.get(name)) for name in ids) for line in table.rows]
    if len({*keys}) < len(keys):
        return []
    values = {
        name: [v for line in table.rows if not is_missing(v := line.row.get(name))]
        for name in table.columns
        if name not in ids
    }
    measures = [n for n, of in values.items() if of and all(as_number(v) is not None for v in of)]
    is_whole = all(as_int(v) is not None for n in measures for v in values[n])
    return [] if is_whole and "topic_id" in columns else measures


def name_annotators(columns: Sequence[str]) -> tuple[str, ...]:
    """Name annotators after their columns, without a word at which all begin or end.

    >>> name_annotators(["Rater Ann", "Rater Bo"]), name_annotators(["label 1", "label 2"])
    (('Ann', 'Bo'), ('label 1', 'label 2'))
    """
    for pattern in _WITH_SHARED_WORD:
        matches = [re.fullmatch(pattern, column) for column in columns]
        found = [match for match in matches if match is not None]
        if len(found) == len(columns) > len({match["shared"] for match in found}) == 1:
            names = tuple(match["name"] for match in found)
            if all(name[0].isalpha() for name in names):
                return names
    return tuple(columns)


def map_lines(lines: Iterable[Line], columns: ColumnMap) -> Iterator[Line]:
    """Give the rows our names for their fields too, one row for each annotator's column.

    The columns keep their own names too; a row's number is the number in the file.
    """
    labels = columns.columns.get("label", ())
    others = [(name, of[0]) for name, of in columns.columns.items() if name != "label"]
    names = name_annotators(labels)
    shown = {name: theirs for name, theirs in columns.fields.items() if name != theirs}
    for line in lines:
        row = {name: line.row[column] for name, column in others if column in line.row}
        row = {**line.row, **row}
        if len(labels) < 2:
            if labels and labels[0] in line.row:
                row["label"] = line.row[labels[0]]
            yield replace(line, row=row, theirs=shown)
            continue
        for column, name in zip(labels, names, strict=True):
            given = {**row, "label": line.row.get(column), "annotator": name}
            yield replace(line, row=given, theirs={**shown, "label": column})
