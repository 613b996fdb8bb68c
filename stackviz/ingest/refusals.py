"""What may be wrong with an upload, each with the status that tells the sender what to do.

422 correct the report    401, 403 correct the key    409 the id is taken    413 send less    415 send JSON
429 send slower, 503 send again: both say when
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, InterfaceError, OperationalError

from stackviz.labs.keys import KeyForbidden, KeyUnknown, WrongMachine
from stackviz.web.errors import Refusal
from stackviz.web.rate_limit import RateLimited
from stackviz.wire import ReportError, ReportTooLarge

log = logging.getLogger(__name__)

COME_BACK_S = 5  # after a database that is locked or away: long enough for a restart, short for a person who waits
COME_BACK = "the database cannot answer now; nothing was stored, send the same report again"


class ReportConflict(Exception):
    """A report with this id is here already, with other content or from another machine."""


class MachineDeleted(Exception):
    """The machine, or the key, was deleted while its report came in: the next try will be told so."""


@contextmanager
def refusing() -> Iterator[None]:
    """Turns the named errors of an upload into a Refusal; any other goes through and is seen."""
    try:
        yield
    except KeyUnknown as error:
        raise Refusal(401, str(error), "Authorization") from None
    except WrongMachine as error:
        raise Refusal(403, str(error), "machine.identity") from None
    except KeyForbidden as error:
        raise Refusal(403, str(error), "Authorization") from None
    except ReportConflict:
        text = "another report has this id: make a new id for each report, and keep it when sending again"
        raise Refusal(409, text, "id") from None
    except ReportTooLarge as error:
        raise Refusal(413, f"{error.path} {error.problem}", error.path) from None
    except ReportError as error:
        raise Refusal(422, f"{error.path} {error.problem}", error.path) from None
    except RateLimited as error:
        raise Refusal(429, str(error), None, error.retry_after_s) from None
    except (OperationalError, InterfaceError, MachineDeleted) as error:
        log.warning("an upload could not be stored: %s", error or "its machine went away")
        raise Refusal(503, COME_BACK, None, COME_BACK_S) from None
    except IntegrityError:
        # A row the upload stands on went away between two statements; or a fault of ours, which must be seen.
        log.exception("an upload broke a rule of the database")
        raise Refusal(503, COME_BACK, None, COME_BACK_S) from None
