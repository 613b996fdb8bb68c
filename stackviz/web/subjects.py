"""How the address of a comparison names its subjects: `?a=nvidia-h100-sxm5-80gb&a=machine:lab/box`. Text only."""

from collections.abc import Iterable
from urllib.parse import quote


def comparison_query(subjects: Iterable[str]) -> str:
    """The query, without its question mark, that compares these subjects; colons and slashes stay readable."""
    return "&".join(f"a={quote(subject, safe=':/')}" for subject in subjects)


def machine_subject(lab: str, slug: str) -> str:
    """What the address of a comparison calls a machine."""
    return f"machine:{lab}/{slug}"
