"""What can keep the site from starting. Each text says what is wrong and what to do; nobody wants a traceback here."""


class CannotStart(Exception):
    """Something has to be mended by a person first."""


class AlreadyRunning(CannotStart):
    """Another `up` holds this `var/`."""


class Stopped(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal: end the children and go. Not an error, so not an Exception."""
