"""Judges that choose what to do next: the turns of an agent without a fixed plan. Imports `judges`
and backends; agents and their probes import it."""
