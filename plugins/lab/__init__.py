"""How far a judge can be trusted: what moves it (`probe/`), its errors by what they go with, drift,
an audit by another judge, and the trust in suggested evidence.

It comes to the core by its commands alone. May import every folder of the core.
"""
