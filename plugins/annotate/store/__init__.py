"""What people did, event by event: kept at once and for good, and what it comes to.

All other folders of annotation/ may import it; it imports records alone.
"""
