"""What is stored, with its files, checks and queries."""
