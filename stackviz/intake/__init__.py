"""For lab machines: uploads, what happened, and what pages show of one report."""
