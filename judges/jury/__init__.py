"""Several judges of one question as one, and who decides where they differ.

Imports the judges of items and `metrics`; programs import this.
"""
