"""`judge probe`: the same items judged under changed conditions, and what that moved. Imports
engine and protocols; only the command line imports it."""
