"""A server beside the tests, and a table of releases as it was before the recorded month."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache

from stackviz.stacks.models import Component, Release
from stackviz.watch.feeds import Feed, feeds
from tests.stacks.conftest import stacks
from tests.watch.server import Server, serving

__all__ = ["stacks"]

RECORDED = Path(__file__).parent / "recorded"
MONTH = ("2026-10-05", "2026-11-05")  # of the recorded answers


@pytest.fixture
def server(settings) -> Iterator[Server]:
    settings.WATCH_PRIVATE_NETWORK = True  # this machine is one
    cache.clear()  # rules of robots
    with serving() as running:
        settings.WATCH_PACKAGE_INDEX = f"{running.url}/simple"
        yield running


@pytest.fixture
def month(stacks) -> dict[str, dict]:
    """Package -> its recorded answer; the tables have what was out before the month."""
    answers = {path.stem: json.loads(path.read_text()) for path in RECORDED.glob("*.json")}
    Release.objects.all().delete()
    for feed in feeds():
        if feed.address in answers:
            component = Component.objects.get(slug=feed.component)
            for version in sorted(released_in(answers[feed.address], "", MONTH[0])):
                row = ".".join(version.split(".")[: feed.depth or None])
                Release.objects.get_or_create(
                    component=component, version=row, variant="", defaults={"source": component.source}
                )
    return answers


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
