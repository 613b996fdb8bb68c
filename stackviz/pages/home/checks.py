"""Django system checks for unsafe or unsupported settings, run by `manage.py check` and `check --deploy`."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.http.request import validate_host

PUBLISHED_KEY_PREFIX = "django-insecure-"
THIS_MACHINE = {"localhost", "127.0.0.1", "[::1]", "testserver"}
SQLITE_SCHEMES = ("sqlite:",)
POSTGRES_SCHEMES = ("postgres:", "postgresql:", "pgsql:")
REDIS_SCHEMES = ("redis://", "rediss://", "unix://")


@register(Tags.security)
def check_secret_key(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    """A public site must not use the secret key of the source code."""
    if not settings.SECRET_KEY.startswith(PUBLISHED_KEY_PREFIX) or not is_public_site():
        return []
    return [
        Error(
            "SECRET_KEY is the one from the source code, and this site is reachable by other machines.",
            hint="Set SECRET_KEY (or SECRET_KEY_FILE) to 50 random characters; `make run` creates one.",
            id="accelweb.E001",
        )
    ]


@register(Tags.database)
def check_database_scheme(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if settings.DATABASE_URL.startswith(SQLITE_SCHEMES + POSTGRES_SCHEMES):
        return []
    return [
        Error(
            f"DATABASE_URL names an unsupported database: {settings.DATABASE_URL.partition(':')[0]}.",
            hint="accelweb supports PostgreSQL (postgresql://...) and SQLite (sqlite:///...).",
            id="accelweb.E002",
        )
    ]


@register(Tags.caches)
def check_redis_url(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if not settings.REDIS_URL or settings.REDIS_URL.startswith(REDIS_SCHEMES):
        return []
    return [
        Error(
            "REDIS_URL is not the address of a Redis.",
            hint=f"It starts with one of {', '.join(REDIS_SCHEMES)}; unset it to run without Redis.",
            id="accelweb.E003",
        )
    ]


@register(Tags.database, deploy=True)
def check_database_is_shared(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if not settings.DATABASE_URL.startswith(SQLITE_SCHEMES):
        return []
    return [
        Warning(
            "The database is a SQLite file: web and worker must run on one machine, and writes wait in turn.",
            hint="Set DATABASE_URL to a PostgreSQL to run web or workers on several machines.",
            id="accelweb.W001",
        )
    ]


@register(Tags.caches, deploy=True)
def check_broker_is_shared(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if settings.REDIS_URL:
        return []
    return [
        Warning(
            "REDIS_URL is not set: the broker is a folder of files; each process counts uploads per key separately.",
            hint="Set REDIS_URL to run on several machines, or to have reports processed without delay.",
            id="accelweb.W002",
        )
    ]


@register(Tags.security, deploy=True)
def check_allowed_hosts(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if is_public_site():
        return []
    return [
        Warning(
            "ALLOWED_HOSTS has only names of this machine: requests with other host names get status 400.",
            hint="Set ALLOWED_HOSTS to the public host names, separated by commas.",
            id="accelweb.W003",
        )
    ]


@register(Tags.security)
def check_site_url(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    """Links in mails need an address, and the site must answer under it."""
    name = urlsplit(settings.SITE_URL).hostname or ""
    if settings.EMAIL_HOST and not settings.SITE_URL:
        return [
            Warning(
                "EMAIL_HOST is set, but SITE_URL is not: no mail is sent, as its links would have no address.",
                hint="Set SITE_URL to the address that people open, such as https://stacks.example.org.",
                id="accelweb.W004",
            )
        ]
    if name and not validate_host(f"[{name}]" if ":" in name else name, settings.ALLOWED_HOSTS):
        return [
            Warning(
                f"SITE_URL names {name}, but ALLOWED_HOSTS does not: links in mails lead to an error.",
                hint="Correct SITE_URL, or add its name to ALLOWED_HOSTS.",
                id="accelweb.W005",
            )
        ]
    if settings.HTTPS and settings.SITE_URL.startswith("http:"):
        return [
            Warning(
                "SITE_URL begins with http, but HTTPS=1: whoever opens the link of a mail sends it unencrypted first.",
                hint="Write SITE_URL with https.",
                id="accelweb.W006",
            )
        ]
    return []


def is_public_site() -> bool:
    return bool(settings.HTTPS or set(settings.ALLOWED_HOSTS) - THIS_MACHINE)
