"""Fit judges to human labels on some topics, and test them on others.

Imports programs, judges, metrics and the folders below; only the command line may import it.
"""

from .fitting import Calibration
from .session import calibrate
from .settings import Settings

__all__ = ["Calibration", "Settings", "calibrate"]
