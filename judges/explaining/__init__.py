"""Judges that say why: fields in the prompt, quotes looked up in code, word overlap for nothing."""
