"""For whoever runs the site: start, backups, monitoring."""
