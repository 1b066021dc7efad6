"""Judges trained on labels: `judge calibrate --method train`, and `model: trained/DIR`."""
