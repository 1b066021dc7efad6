"""An executor whose workers run on a Ray cluster (`run.executor: ray`).

It may import every folder of the core; the core finds it by its entry point.
"""
