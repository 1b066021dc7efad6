"""Judges that say why: fields in the prompt, quotes looked up in code, word overlap for nothing.

Imports what `judges` may import, and `judges.lexical`; the judges of items import this.
"""
