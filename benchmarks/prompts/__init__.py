"""How every judge's prompt does on a small real model: form, labels, tokens, shared prefix.

`cases` says what each judge is asked, `measuring` asks and counts, `comparing` makes the table of
two measurements, `local_model` serves the model of `make test-local` on this machine.
See `python -m benchmarks.prompts --help`.
"""
