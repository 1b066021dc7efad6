"""Judges made of judges: juries, cascades, and labels verified by a second look. Imports the judges
of items and metrics; programs, calibration and agents import this."""
