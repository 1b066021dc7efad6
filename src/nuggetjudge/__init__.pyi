import typing

from . import (
    agents as agents,
    calibration as calibration,
    judges as judges,
    metrics as metrics,
    records as records,
    backends as backends,
    programs as programs,
    retrieval as retrieval,
)
from .calibration.session import calibrate as calibrate
from .evaluation.comparing import agree as agree
from .evaluation.comparing import compare as compare
from .evaluation.evaluate import (
    aevaluate as aevaluate,
    completeness as completeness,
    evaluate as evaluate,
)
from .evaluation.result import Result as Result
from .evaluation.evaluate import run as run
from .gates.asserting import assert_judged as assert_judged

# Of packages that add functions by `nuggetjudge.functions`.
check: typing.Callable[..., typing.Any]

__version__: str
