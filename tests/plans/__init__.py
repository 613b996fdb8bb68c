"""Plans held against what decides elsewhere: the drivers of the diagnosis, and the releases that pip finds."""
