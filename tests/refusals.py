"""What a fit to arbitrary scores and labels may say instead of giving a curve."""

import re
from collections.abc import Callable

from nuggetjudge.judges.fitted import Correction

REFUSALS = r"all \d+ (labels|scores) are .*|scores do not rise with labels \(.*"


def fitted_or_refused(fit: Callable[[], Correction]) -> Correction | None:
    """The fit; None if it is refused in one of these sentences."""
    try:
        return fit()
    except ValueError as error:
        if not re.fullmatch(REFUSALS, str(error)):
            raise
        return None
