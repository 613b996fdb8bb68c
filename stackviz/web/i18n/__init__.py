"""Languages: that of an address, fixed words, and texts of data and findings in the language of the page."""
