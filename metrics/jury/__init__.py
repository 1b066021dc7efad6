"""Labels of several judges of one item: combined, weighed, and how much they say together.

Imports nothing of ours; judges and calibration import this.
"""
