"""What the judges here are asked in the tests of prompts (tests/judges)."""

from nuggetjudge.plugins.collections import categories, judges, lexical, missed, shortening


def cases(case, question, answer, sentence):
    """A case of each prompt."""
    yield case("request_writer", judges.RequestWriter, {"report": REPORT}, "request", "compose")
    asked = {"document": REPORT.replace(". ", ".\n\n", 1)}
    yield case("decontextualizer", judges.Decontextualizer, asked, "passages", "rewrite")
    asked = {"response": answer, "key_point": sentence}
    yield case("missed_point_judge", missed.MissedPointJudge, asked, "verdict", "judge")
    for way in ("snippet", "summary"):
        asked = {"question": question, "document": REPORT, "way": way, "words": 20}
        yield case(
            "document_shortener", shortening.DocumentShortener, asked, "text", way, {"words": 20}
        )
    asked = {"question": question}
    yield case("question_categorizer", categories.QuestionCategorizer, asked, "category", "judge")
    yield case("question_scorer", judges.QuestionScorer, asked, "scores", "score")
    for way, group in (("depth", {"domain": "engineering"}), ("width", {"category": "why"})):
        asked = {"question": question, "way": way, "n": 2, **group}
        yield case("question_evolver", judges.QuestionEvolver, asked, "questions", way)


REPORT = (
    "Wind sheds vortices from the deck. They push the bridge up and down. A damper takes energy "
    "out of the motion of a bridge."
)


def baseline_of(system, asked):
    """What answers for the judge of a prompt; None: it is of none of these."""
    if '"unambiguous"' in system:
        return lexical.score_question
    if '"incomplete"' in system:
        return missed.judge_missed_point
    if "words" in asked and "document" in asked:
        is_snippet = "contiguous" in system
        return shortening.take_snippet if is_snippet else shortening.summarize_document
    if '"methodological"' in system:
        return categories.categorize
    if "domain" in asked:
        is_deep = "more complex" in system
        return lexical.deepen_question if is_deep else lexical.widen_question
    if "report" in asked and "wanted" not in asked:
        return lexical.write_request
    return lexical.write_passages if "part" in asked else None


def explaining(question, text):
    """Judges that quote: none."""
    return {}
