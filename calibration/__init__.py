"""Judges fitted to human labels: on some topics, and tested on others."""

from .fitting import Calibration, Settings
from .session import calibrate

__all__ = ["Calibration", "Settings", "calibrate"]
