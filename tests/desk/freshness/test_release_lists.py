"""The formats of feeds, in the words of their documentation; the figures are ours."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackviz.desk.freshness.release_lists import KINDS, FormatError, ListedRelease, read_release_list

GITHUB = [
    {"tag_name": "rocm-7.2.1", "published_at": "2026-10-01T09:00:00Z", "prerelease": False, "draft": False},
    {"tag_name": "v7.3.0-rc1", "published_at": "2026-10-02T09:00:00Z", "prerelease": False},
    {"tag_name": "v7.3.0", "published_at": "2026-10-03T09:00:00Z", "prerelease": True},
    {"tag_name": "nightly", "published_at": "2026-10-03T09:00:00Z"},
]
ENDOFLIFE = {
    "schema_version": "1.2.0",
    "result": {
        "name": "python",
        "releases": [
            {"name": "3.15", "releaseDate": "2026-10-09", "eolFrom": "2031-10-31", "isLts": False},
            {"name": "3.14", "releaseDate": "2025-10-07", "eolFrom": None},
            {"name": "lts", "releaseDate": "2025-10-07"},
        ],
    },
}
DRIVERS = {
    "615": {"type": "new feature branch", "driver_info": [{"release_version": "615.30", "release_date": "2026-10-20"}]},
    "580": {
        "type": "lts branch",
        "driver_info": [
            {"release_version": "580.95.05", "release_date": "2025-10-01"},
            {"release_version": "580.65.06", "release_date": "2025-08-04"},
        ],
    },
    "latest": {"driver_info": []},
}
APPLE = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Releases</title>
<item><title>macOS 27.1 (26B80)</title><pubDate>Mon, 02 Nov 2026 10:00:00 PST</pubDate></item>
<item><title>macOS 27.2 beta (26C5031i)</title><pubDate>Tue, 03 Nov 2026 10:00:00 PST</pubDate></item>
<item><title>iOS 27.1 (24B80)</title><pubDate>Mon, 02 Nov 2026 10:00:00 PST</pubDate></item>
</channel></rss>"""


@pytest.mark.parametrize(
    ("kind", "body", "releases"),
    [
        ("github", json.dumps(GITHUB).encode(), [("7.2.1", "2026-10-01")]),
        (
            "endoflife",
            json.dumps(ENDOFLIFE).encode(),
            [("3.15", "2026-10-09", "2031-10-31"), ("3.14", "2025-10-07", "")],
        ),
        ("nvidia-drivers", json.dumps(DRIVERS).encode(), [("615", "2026-10-20"), ("580", "2025-08-04")]),
        ("apple-rss", APPLE, [("27.1", "2026-11-02")]),
        (
            "apple-rss",  # entities are not expanded
            APPLE.replace(b"<rss", b'<!DOCTYPE r [<!ENTITY a "macOS 99.0 (1A1)">]><rss').replace(
                b"iOS 27.1 (24B80)", b"&a;"
            ),
            [("27.1", "2026-11-02")],
        ),
        (
            "apple-rss",  # a day that no calendar has
            APPLE.replace(b"Mon, 02 Nov 2026 10:00:00 PST", b"01 Jan 99999999999 00:00:00 GMT", 1),
            [("27.1", "")],
        ),
    ],
)
def test_releases_are_read_in_each_format(kind, body, releases):
    assert read_release_list(kind, body) == [ListedRelease(*release) for release in releases]


@pytest.mark.parametrize("kind", sorted(KINDS))
@given(
    body=st.one_of(
        st.binary(max_size=300),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        ["files", "result", "releases", "filename", "tag_name", "name", "driver_info", "580"]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=20,
        ).map(lambda content: json.dumps(content).encode()),
    )
)
def test_anything_else_is_a_format_error(kind, body):
    try:
        releases = read_release_list(kind, body)
    except FormatError:
        return
    assert all(release.version[:1].isdigit() for release in releases)


def test_a_version_longer_than_a_proposal_stores_is_no_release():
    long = ".".join(["123456"] * 5) + ".post12345"
    files = [
        {"filename": f"torch-{version}.tar.gz", "upload-time": "2026-11-20T08:00:00Z"} for version in (long[:-1], "2.0")
    ]
    assert read_release_list("package-index", json.dumps({"files": files}).encode()) == [
        ListedRelease("2.0", "2026-11-20")
    ]


def test_items_without_an_end_take_no_longer_than_they_are_long():
    started = time.process_time()
    with pytest.raises(FormatError, match="lists no release"):
        read_release_list("apple-rss", b"<rss>" + b"<item>" * 600_000)
    assert time.process_time() - started < 5  # 120 kB took four seconds


@pytest.mark.parametrize(
    ("kind", "body", "problem"),
    [
        ("apple-rss", b"<rss>" + b" " * 4 * 2**20, "larger than 4 MiB"),
        ("github", json.dumps([{**release, "tag_name": "v٠.٣٣.٠"} for release in GITHUB]).encode(), "lists no release"),
    ],
)
def test_large_rss_and_other_digits_are_refused(kind, body, problem):
    with pytest.raises(FormatError, match=problem):
        read_release_list(kind, body)
