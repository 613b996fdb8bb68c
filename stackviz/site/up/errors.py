"""Errors that keep the site from starting. Each message says what is wrong and what to do; no traceback is shown."""


class CannotStart(Exception):
    """The site cannot start until the user fixes something."""


class StepsFailed(CannotStart):
    """The process of the steps ended; it has printed why."""


class AlreadyRunning(CannotStart):
    """Another `up` uses this `var/`."""


class Stopped(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal. Not an error, so not an Exception."""
