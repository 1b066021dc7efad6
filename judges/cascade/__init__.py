"""Judges one after the other: which labels of the first are kept, and who decides on the others.

Imports the judges of items; programs and calibration import this.
"""
