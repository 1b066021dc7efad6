"""What is gained by asking a dearer judge about some items, and what can be promised of the rest.

Imports `bootstrap` alone of its siblings; calibration imports this.
"""
