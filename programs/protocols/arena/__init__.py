"""The program `arena`: which answers meet (`design.py`), how battles are judged (`judging.py`) and
what they make of runs (`standings.py`). Imports `programs.engine`, metrics and records; commands,
report and exports may import its standings."""
