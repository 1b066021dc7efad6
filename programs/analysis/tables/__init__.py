"""What analyses show, as tables: the verdict first.

Commands, notebooks and pages import it; it imports the analyses and views/.
"""
