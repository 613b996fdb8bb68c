"""What is stored for how long, what goes with a report, machine, lab or person, and all a lab has as one archive."""
