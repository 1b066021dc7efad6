"""Battles of two answers as numbers: strengths (Bradley-Terry, Elo), what position does to
verdicts, and their intervals by topic. Imports metrics alone; programs and report may import it."""
