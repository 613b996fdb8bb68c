"""For admins: what they curate, who they are, what is kept."""
