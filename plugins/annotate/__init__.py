"""People label what was judged: `judge annotate`, a local web app, and what it writes.

`store/` keeps each person's events, `work/` says what there is to label and in which order,
`live/` what the labels say so far, `server/` and `web/` show it, `out/` writes files that other
commands read. In `web/` are what all screens need, `label/` for one item or answer after another,
`lists/` for facts, key points and differences in a list, and `progress/`. Only the command line may
import it.
"""
