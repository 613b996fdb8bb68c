"""What feeds list -> releases. Pure: bytes in, `ListedRelease`s out; what is not the promised format is a FormatError.

Formats: the simple index of Python packages as JSON (PEP 691, upload times of PEP 700), GitHub's releases, the API of
endoflife.date, the branches of NVIDIA's data centre drivers, the RSS of Apple's developer releases.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any

MOST_RELEASES = 20_000
# A final release, or a post-release: 2.15.0, 0.0.31.post1. Not 2.16.0rc1, 2.16.0.dev20261101, nightly.
# At most 40 characters, as a proposal stores them.
_FINAL = re.compile(r"v?(?=.{1,40}\Z)(\d{1,6}(?:\.\d{1,6}){0,4}(?:\.post\d{1,4})?)\Z", re.ASCII)
_IN_A_TAG = re.compile(r"(?:^|[-_/])v?(\d{1,6}(?:\.\d{1,6}){1,4})\Z", re.ASCII)
_LONGEST_ITEM = 4000
_MOST_RSS = 4 * 2**20  # Apple's list has 100 kB
_TITLE = re.compile(
    rb"<title>(?:<!\[CDATA\[)?\s*macOS (\d{1,3}(?:\.\d{1,3}){0,2}) \([0-9A-Za-z]{1,12}\)\s*(?:\]\]>)?</title>"
)
_PUBLISHED = re.compile(rb"<pubDate>([^<]{1,40})</pubDate>")


class FormatError(ValueError):
    """The answer is not what this feed promises; the text says what it is instead."""


@dataclass(frozen=True, slots=True)
class ListedRelease:
    """One release as a feed lists it. Dates as YYYY-MM-DD, "" where the feed has none."""

    version: str
    released: str = ""
    support_ends: str = ""


def read_release_list(kind: str, body: bytes) -> list[ListedRelease]:
    """The final releases of an answer, each version once, in the order of the feed. Raises FormatError."""
    listed: dict[str, ListedRelease] = {}
    for release in _READERS[kind](body):
        listed.setdefault(release.version, release)
        if len(listed) > MOST_RELEASES:
            raise FormatError(f"it lists more than {MOST_RELEASES:,} releases")
    if not listed:
        raise FormatError("it lists no release")
    return list(listed.values())


def _package_index(body: bytes) -> Iterator[ListedRelease]:
    """PEP 691: `files` with a name, an upload time and whether they were yanked; the day of a release is its first."""
    days: dict[str, list[str]] = {}
    for file in _list_in(_json_object(body), "files"):
        version = _version_of_file(_text(file, "filename"))
        if version and not file.get("yanked"):
            days.setdefault(version, []).append(_day(_text(file, "upload-time")[:10]))
    for version, uploaded in days.items():
        yield ListedRelease(version, min(filter(None, uploaded), default=""))


def _version_of_file(name: str) -> str:
    """`torch-2.15.0-cp312-…whl`, `vllm-0.33.0.tar.gz` -> the version; "" for what is no final release."""
    name = name.removesuffix(".tar.gz").removesuffix(".zip")
    parts = name.split("-")
    version = "".join(parts[1:2]) if name.endswith(".whl") else parts[-1]
    match = _FINAL.match(version.partition("+")[0])
    return match[1] if match else ""


def _github_releases(body: bytes) -> Iterator[ListedRelease]:
    """Tags of what is neither a draft nor a prerelease: `v0.30.0`, `rocm-7.2.1`."""
    for release in _objects(_json(body)):
        match = _IN_A_TAG.search(_text(release, "tag_name")[:100])
        if match and not release.get("prerelease") and not release.get("draft"):
            yield ListedRelease(match[1], _day(_text(release, "published_at")[:10]))


def _endoflife(body: bytes) -> Iterator[ListedRelease]:
    """Release lines, with the day of the first release and that of the end of support."""
    result = _json_object(body).get("result")
    if not isinstance(result, Mapping):
        raise FormatError("it has no `result`")
    for line in _list_in(result, "releases"):
        if match := _FINAL.match(_text(line, "name")):
            yield ListedRelease(match[1], _day(_text(line, "releaseDate")), _day(_text(line, "eolFrom")))


def _nvidia_drivers(body: bytes) -> Iterator[ListedRelease]:
    """Branches: `{"580": {"driver_info": [{"release_date": "2025-08-04"}]}}`; the day is that of the first driver."""
    for branch, entry in _json_object(body).items():
        if not isinstance(entry, Mapping) or not _FINAL.match(branch):
            continue
        days = [_day(_text(info, "release_date")[:10]) for info in _list_in(entry, "driver_info")]
        yield ListedRelease(branch, min(filter(None, days), default=""))


def _apple_releases(body: bytes) -> Iterator[ListedRelease]:
    """`<item><title>macOS 26.2 (25C56)</title> … <pubDate>`; betas and candidates have their word in the title.

    Read with expressions: of XML only this much is needed, and no entity is ever expanded.
    """
    if b"<rss" not in body[:500]:
        raise FormatError(_what_it_is(body))
    if len(body) > _MOST_RSS:
        raise FormatError("it is larger than 4 MiB")
    for start in body.split(b"<item>")[1:]:
        item, end, _rest = start[:_LONGEST_ITEM].partition(b"</item>")
        if not end:
            continue
        title, published = _TITLE.search(item), _PUBLISHED.search(item)
        if title:
            yield ListedRelease(title[1].decode(), _rss_day(published[1].decode("latin-1")) if published else "")


_READERS: Mapping[str, Callable[[bytes], Iterable[ListedRelease]]] = MappingProxyType(
    {
        "package-index": _package_index,
        "github": _github_releases,
        "endoflife": _endoflife,
        "nvidia-drivers": _nvidia_drivers,
        "apple-rss": _apple_releases,
    }
)
KINDS = frozenset(_READERS)


def _json(body: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise FormatError(_what_it_is(body)) from None


def _json_object(body: bytes) -> Mapping[str, Any]:
    content = _json(body)
    if not isinstance(content, Mapping):
        raise FormatError("it is JSON, but not an object")
    return content


def _list_in(content: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    if not isinstance(content.get(name), list):
        raise FormatError(f"it has no list `{name}`")
    return _objects(content[name])


def _objects(content: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(content, list):
        raise FormatError("it is JSON, but no list")
    return (each for each in content if isinstance(each, Mapping))


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    return value if isinstance(value, str) else ""


def _day(text: str) -> str:
    """The day if it is one: a feed may print anything."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _rss_day(text: str) -> str:
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _what_it_is(body: bytes) -> str:
    start = body[:500].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "it is a web page, not a list for programs"
    return "it is empty" if not start else "it is not in the format that this feed has"
