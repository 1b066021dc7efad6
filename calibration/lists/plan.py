"""What fitting a judge that makes lists asks, of it and of the judge that matches."""

from __future__ import annotations

from ...judges.makers.lists import ListMaker
from ...programs.engine.panel import Panel
from ...records.reading.problems import InputError
from ..plan import SEARCH, TEST, search_checked
from ..settings import Settings
from .examples import ListExamples
from .fitting import list_split, made_and_matched
from .matching import Matcher


def make_what_it_makes(
    panel: Panel,
    judge: ListMaker,
    examples: ListExamples,
    matcher: Matcher,
    settings: Settings,
) -> float:
    """Make and match the lists of a calibration, without a fit; how often those of a search are.

    As `calibration.plan.ask_what_it_asks`, a list in the place of a call.

    Raises: InputError as `lists_fitted_and_tested`, before anything is asked.
    """
    try:
        split = list_split(judge, examples, settings)
    except ValueError as error:
        raise InputError(f"{settings.method}: {error}") from None
    train, dev, test = (examples.of(part) for part in (split.train, split.dev, split.test))
    most = search_checked(judge, settings, len(train), len(dev))
    panel.part = TEST
    for _ in ("before", "after"):
        made_and_matched(judge, test, settings, matcher)
    panel.part = SEARCH
    made_and_matched(judge, [*train, *dev], settings, matcher)
    return most / len([*train, *dev])
