"""The program `arena`: which answers meet (`design.py`), how battles are judged (`judging.py`, by
`judge.py`), what they make of runs (`ratings.py`, `standings.py`), and how that is shown. May
import the core; the plugin of exports may import its standings."""
