"""Results as pictures, by matplotlib: for papers, and beside what commands print.

Commands import it; it imports the analyses, scores and views/, and matplotlib only while drawing.
"""
