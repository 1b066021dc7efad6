"""Scores of the instruments of 2025 and 2026: rubrics, question lists, weighted citations, the
parts of narratives.

Imports metrics alone; programs imports this, and judges whose labels follow from counts.
"""
