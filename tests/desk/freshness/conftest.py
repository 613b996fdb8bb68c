"""A server beside the tests, and a table of releases as it was before the recorded month."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.cache import cache as shared_cache

from stackviz.desk.freshness.feeds import Feed, feeds
from stackviz.records.stacks.models import Component, Release, Requirement
from tests.desk.freshness.server import Server, serving

RECORDED = Path(__file__).parent / "recorded"
MONTH = ("2026-10-05", "2026-11-05")  # of the recorded answers


@pytest.fixture
def server(settings) -> Iterator[Server]:
    settings.WATCH_PRIVATE_NETWORK = True  # this machine is one
    shared_cache.clear()  # rules of robots
    with serving() as running:
        settings.WATCH_PACKAGE_INDEX = f"{running.url}/simple"
        yield running


@pytest.fixture
def month(stacks) -> dict[str, dict]:
    """Package -> its recorded answer; the tables have what was out before the month."""
    answers, before = recorded(), released_before()
    for rows in (Requirement.objects.all(), Release.objects.all()):
        rows._raw_delete("default")  # `delete` writes a row of history for each
    components = {
        component.slug: component for component in Component.objects.filter(slug__in={slug for slug, _ in before})
    }
    Release.objects.bulk_create(
        Release(component=components[slug], version=version, source=components[slug].source) for slug, version in before
    )
    return answers


@cache
def recorded() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in RECORDED.glob("*.json")}


@cache
def released_before() -> tuple[tuple[str, str], ...]:
    """(component, version as the table has it) of what was out before the month."""
    answers = recorded()
    rows = [
        (feed.component, ".".join(version.split(".")[: feed.depth or None]))
        for feed in feeds()
        if feed.address in answers
        for version in sorted(released_in(answers[feed.address], "", MONTH[0]))
    ]
    return tuple(dict.fromkeys(rows))


def released_in(answer: dict, first: str, before: str) -> set[str]:
    """The versions whose first file is of these days: the truth, read from the recording in another way."""
    days: dict[str, str] = {}
    for file in answer["files"]:
        name = file["filename"].removesuffix(".tar.gz")
        version = name.split("-")[1] if name.endswith(".whl") else name.rpartition("-")[2]
        days[version] = min(days.get(version, "9"), file["upload-time"][:10])
    finals = {version for version in days if not any(mark in version for mark in ("rc", "dev", "a0", "b0"))}
    return {version for version in finals if first <= days[version] < before}


def package_feed(name: str) -> Feed:
    return next(feed for feed in feeds() if feed.key == f"package-{name}")
