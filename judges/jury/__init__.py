"""Several judges of one question as one, and who decides where they differ.

Imports the judges of items and `metrics`; judges of several steps import this, and
programs by its name in `judges`.
"""
