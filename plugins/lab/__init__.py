"""Tests of a judge: what changes its labels (`probe/`), its biases, drift, an audit by another
judge, and the quality of suggested evidence.

The core reaches it only through its commands. It may import every folder of the core.
"""
