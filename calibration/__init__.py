"""Judges fitted to human labels: on some topics, and tested on others."""

from .fitting import Calibration
from .session import calibrate
from .settings import Settings

__all__ = ["Calibration", "Settings", "calibrate"]
