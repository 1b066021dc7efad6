"""How far a judge can be trusted: agree, compare, next, coverage tables, and what probes share
with them. Imports scoring, protocols and what is below; the command line and calibration may
import it."""
