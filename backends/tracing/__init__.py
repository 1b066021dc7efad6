"""OpenTelemetry spans of judgements and of the requests they took, where somebody asks for them.

Nothing here is imported by a run that is not traced but `tracer`, which looks whether it is.
`gateway` is imported by what opens backends, `judgements` by the engine.
"""
