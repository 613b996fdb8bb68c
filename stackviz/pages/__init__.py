"""For visitors and members of labs: a room for each door of the menu."""
