"""Judges that make lists, fitted to lists that people made: what they are made from, how made and
wanted items are matched, and what was measured. Only calibration imports it."""
