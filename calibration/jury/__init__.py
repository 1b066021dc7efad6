"""What a jury is worth: its labels, its members and what it could be, beside labels of people."""
