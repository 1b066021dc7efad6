"""Judges that combine judges: juries, cascades, and verified labels. Imports the judges of items
and metrics; programs, calibration and agents import this."""
