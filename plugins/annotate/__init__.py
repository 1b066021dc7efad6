"""People label judged items: `judge annotate`, a local web app, and its label files.

`store/` keeps the events of each person, `work/` has the items and their order, `live/` computes
figures from the labels, `server/` and `web/` show them, and `out/` writes files for other commands.
`web/` has the shared parts of all screens; `label/` has one item or answer at a time; `lists/` has
facts, key points and disputes; `progress/` is the coordinator's page. Only the command line may
import it.
"""
