"""`make run`: start, supervise and stop the whole site on one machine. The order of steps is in `start.py`."""
