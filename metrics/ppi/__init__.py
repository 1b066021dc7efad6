"""Scores corrected with human labels (prediction-powered inference), with intervals. Imports
numpy and scipy only."""
