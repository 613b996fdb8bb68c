"""`make run`: the whole site on one machine, started, watched and ended by one command. The order is in `start.py`."""
