"""Results written where other tools look for them: one file a tool or format.

They read finished results and ask nobody. Only the command line and users import them.
"""
