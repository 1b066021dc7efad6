"""Judges fitted to human labels. Nothing is here yet; `judge agree` measures without fitting."""
