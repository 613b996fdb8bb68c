"""A pasted dump -> its stack drawn, its faults named; a masked text is stored only where a private link was asked
for.
"""
