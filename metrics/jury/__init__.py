"""Labels of several judges of one item: combined, weighed, and how much they say together."""
