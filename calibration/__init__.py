"""Judges fitted to human labels: on some topics, and tested on others. Imports programs, judges,
metrics and all below them; only the command line may import it."""

from .fitting import Calibration
from .session import calibrate
from .settings import Settings

__all__ = ["Calibration", "Settings", "calibrate"]
