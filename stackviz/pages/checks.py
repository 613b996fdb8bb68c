"""Wrong combinations of settings, found by `manage.py check` and `check --deploy` before they harm anybody."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004

PUBLISHED_KEY_PREFIX = "django-insecure-"
THIS_MACHINE = {"localhost", "127.0.0.1", "[::1]", "testserver"}
SQLITE_SCHEMES = ("sqlite:",)
POSTGRES_SCHEMES = ("postgres:", "postgresql:", "pgsql:")
REDIS_SCHEMES = ("redis://", "rediss://", "unix://")


@register(Tags.security)
def secret_key_is_not_the_published_one(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    """A site that answers others must not sign with a key that stands in our source."""
    if not settings.SECRET_KEY.startswith(PUBLISHED_KEY_PREFIX) or not answers_others():
        return []
    return [
        Error(
            "SECRET_KEY is the one from the source code, and this site answers under names of other machines.",
            hint="Set SECRET_KEY (or SECRET_KEY_FILE) to 50 random characters; `make run` makes one by itself.",
            id="accelweb.E001",
        )
    ]


@register(Tags.database)
def database_is_one_we_know(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if settings.DATABASE_URL.startswith(SQLITE_SCHEMES + POSTGRES_SCHEMES):
        return []
    return [
        Error(
            f"DATABASE_URL asks for {settings.DATABASE_URL.partition(':')[0]}.",
            hint="accelweb is written for and tested on PostgreSQL (postgresql://...) and SQLite (sqlite:///...).",
            id="accelweb.E002",
        )
    ]


@register(Tags.caches)
def redis_address_can_be_used(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if not settings.REDIS_URL or settings.REDIS_URL.startswith(REDIS_SCHEMES):
        return []
    return [
        Error(
            "REDIS_URL is not the address of a Redis.",
            hint=f"It starts with one of {', '.join(REDIS_SCHEMES)}; unset it to do without Redis.",
            id="accelweb.E003",
        )
    ]


@register(Tags.database, deploy=True)
def several_hosts_share_one_database(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if not settings.DATABASE_URL.startswith(SQLITE_SCHEMES):
        return []
    return [
        Warning(
            "The database is a SQLite file: web and worker must share this one machine, writers wait in turn.",
            hint="Set DATABASE_URL to a PostgreSQL to run web or workers on several machines.",
            id="accelweb.W001",
        )
    ]


@register(Tags.caches, deploy=True)
def several_processes_share_one_broker(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if settings.REDIS_URL:
        return []
    return [
        Warning(
            "REDIS_URL is not set: the broker is a folder of files, and each process counts uploads per key by itself.",
            hint="Set REDIS_URL to run more than one machine, or to have reports read without a moment's delay.",
            id="accelweb.W002",
        )
    ]


@register(Tags.security, deploy=True)
def site_answers_under_its_name(**_kwargs: Any) -> list[CheckMessage]:  # noqa: ANN401
    if answers_others():
        return []
    return [
        Warning(
            "ALLOWED_HOSTS holds only this machine's own names: everybody else gets 400.",
            hint="Set ALLOWED_HOSTS to the names people type, separated by commas.",
            id="accelweb.W003",
        )
    ]


def answers_others() -> bool:
    return bool(settings.HTTPS or set(settings.ALLOWED_HOSTS) - THIS_MACHINE)
