"""Several judges of one question as one, and who decides where they differ."""
