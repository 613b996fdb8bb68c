"""Errors reported to a Sentry, or to what speaks its protocol (GlitchTip, Bugsink): with SENTRY_DSN set.

sentry-sdk is not among the requirements, as most sites have no such server: `pip install sentry-sdk`.
"""

from typing import Any

from accelweb.env import EnvError
from accelweb.logs import clean_line


def start_error_reports(dsn: str, version: str) -> None:
    """Report unhandled errors of pages and tasks from now on. Raises EnvError where the library is missing."""
    try:
        import sentry_sdk
    except ImportError:
        raise EnvError("SENTRY_DSN is set, but sentry-sdk is not installed: pip install sentry-sdk") from None
    sentry_sdk.init(
        dsn=dsn,
        release=version,
        before_send=lambda event, _hint: scrubbed(event),
        include_local_variables=False,  # a report, or a text that somebody pasted, stands in them
        max_request_body_size="never",
        traces_sample_rate=0.0,
    )


def scrubbed(part: Any) -> Any:  # noqa: ANN401 (JSON)
    """The same without secrets, in every text of it."""
    if isinstance(part, str):
        return clean_line(part)
    if isinstance(part, dict):
        return {name: scrubbed(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [scrubbed(value) for value in part]
    return part
