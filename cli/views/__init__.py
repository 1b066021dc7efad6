"""Commands that show results: as a page, or in the terminal. As cli/, which alone imports it."""
