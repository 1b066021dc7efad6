from .traces import ItemTrace as ItemTrace, read_traces as read_traces
from .answers import (
    count_words as count_words,
    read_answers as read_answers,
    read_documents as read_documents,
)
from .nuggets import (
    ASSIGNMENT_LABELS as ASSIGNMENT_LABELS,
    AssignedNugget as AssignedNugget,
    Assignment as Assignment,
    AssignmentLabel as AssignmentLabel,
    assignment_row as assignment_row,
    read_assignments as read_assignments,
)
from .documents import CandidatePool as CandidatePool, read_candidates as read_candidates
from .documents import (
    Summary as Summary,
    TopicDocuments as TopicDocuments,
    read_reports as read_reports,
    read_summaries as read_summaries,
    read_topic_documents as read_topic_documents,
)
from .judgements import Evidence as Evidence
from .judgements import (
    Judged as Judged,
    Outcome as Outcome,
    Provenance as Provenance,
    Reason as Reason,
    Unjudged as Unjudged,
)
from .key_points import (
    ENTAILMENT_LABELS as ENTAILMENT_LABELS,
    Claim as Claim,
    ClaimLabel as ClaimLabel,
    ClaimSet as ClaimSet,
    Entailment as Entailment,
    EntailmentLabel as EntailmentLabel,
    claims_row as claims_row,
    entailment_row as entailment_row,
    key_point_set_row as key_point_set_row,
    read_claims as read_claims,
    read_entailments as read_entailments,
    read_key_point_sets as read_key_point_sets,
)
from .kinds import LabelFile as LabelFile
from .kinds import FileKind as FileKind, file_kind as file_kind
from .labels import read_labels as read_labels
from .relevance import (
    RelevanceLabel as RelevanceLabel,
    read_relevance as read_relevance,
    relevance_row as relevance_row,
)
from .nuggets import (
    bank_row as bank_row,
    nugget_row as nugget_row,
    read_nugget_banks as read_nugget_banks,
)
from .topics import natural_order as natural_order, read_passages as read_passages
from .relevance import (
    read_qrels as read_qrels,
    write_diversity_qrels as write_diversity_qrels,
    write_qrels as write_qrels,
)
from .questions import (
    question_set_row as question_set_row,
    read_question_sets as read_question_sets,
)
from .questions import (
    Ratings as Ratings,
    answer_id as answer_id,
    rating_row as rating_row,
    read_ratings as read_ratings,
    reference_id as reference_id,
)
from .reading.problems import InputError as InputError, Problem as Problem, Problems as Problems
from .rows import (
    Answer as Answer,
    Citation as Citation,
    Importance as Importance,
    KeyPoint as KeyPoint,
    KeyPointSet as KeyPointSet,
    Nugget as Nugget,
    NuggetBank as NuggetBank,
    NuggetSource as NuggetSource,
    Passage as Passage,
    QuestionSet as QuestionSet,
    Ranking as Ranking,
    Row as Row,
    ScoreRow as ScoreRow,
    Sentence as Sentence,
    SubQuestion as SubQuestion,
    Topic as Topic,
    key_point_ids as key_point_ids,
    nugget_ids as nugget_ids,
)
from .relevance import read_trec_run as read_trec_run, write_trec_run as write_trec_run
from .scores import read_scores as read_scores, score_row as score_row, write_scores as write_scores
from .support import (
    SupportCitation as SupportCitation,
    SupportLabel as SupportLabel,
    SupportLabels as SupportLabels,
    SupportSentence as SupportSentence,
    read_support as read_support,
)
from .topics import read_topics as read_topics
