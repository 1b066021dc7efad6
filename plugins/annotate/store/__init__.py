"""The events of people, stored immediately and for good, and the state they lead to.

All other folders of `annotate/` may import it; it imports only records.
"""
