"""Labels that are not sure, judged once more with something new to see.

Imports the judges of items and juries; programs import this.
"""
