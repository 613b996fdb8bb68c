"""What an address asks for, made safe to hand to the database."""

from django.http import HttpRequest

LONGEST_TEXT = 100


def asked_text(request: HttpRequest, parameter: str) -> str:
    """The text of a parameter: trimmed, at most LONGEST_TEXT long, without NUL, which PostgreSQL refuses."""
    return clean_text(request.GET.get(parameter, ""))


def clean_text(text: str) -> str:
    return text.replace("\x00", "").strip()[:LONGEST_TEXT]
