"""Scores of the instruments of 2025 and 2026: rubrics, question lists, weighted citations.

Imports metrics alone; programs imports this.
"""
