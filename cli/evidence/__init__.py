"""The commands about evidence for sentences. Imports programs; only the list of commands may
import it."""
