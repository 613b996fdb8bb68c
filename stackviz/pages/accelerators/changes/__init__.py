"""The public change log: what was added, corrected, retired or removed in the catalogue and among cited results.

Read from the history of the rows, newest first; nothing is stored for it. A step is listed if the row was public before
or after it, and then only that side of it which was public. A load of files is one entry with its counts.
"""

from stackviz.pages.accelerators.changes.entry import (
    CITED,
    NAMES,
    PER_PAGE,
    PRICES,
    SHEETS,
    Entry,
    Log,
    LogFilter,
    LogPosition,
)
from stackviz.pages.accelerators.changes.log import BULK, read_log

__all__ = [
    "BULK", "CITED", "NAMES", "PER_PAGE", "PRICES", "SHEETS", "Entry", "Log", "LogFilter", "LogPosition", "read_log",
]  # fmt: skip
