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


def test_releases_of_github():
    assert read_release_list("github", json.dumps(GITHUB).encode()) == [ListedRelease("7.2.1", "2026-10-01")]


def test_lines_of_endoflife():
    assert read_release_list("endoflife", json.dumps(ENDOFLIFE).encode()) == [
        ListedRelease("3.15", "2026-10-09", "2031-10-31"),
        ListedRelease("3.14", "2025-10-07", ""),
    ]


def test_branches_of_nvidia_begin_with_their_first_driver():
    assert read_release_list("nvidia-drivers", json.dumps(DRIVERS).encode()) == [
        ListedRelease("615", "2026-10-20"),
        ListedRelease("580", "2025-08-04"),
    ]


def test_releases_of_apple_without_betas():
    assert read_release_list("apple-rss", APPLE) == [ListedRelease("27.1", "2026-11-02")]


def test_entities_in_rss_are_not_expanded():
    bomb = APPLE.replace(b"<rss", b'<!DOCTYPE r [<!ENTITY a "macOS 99.0 (1A1)">]><rss', 1).replace(
        b"iOS 27.1 (24B80)", b"&a;"
    )
    assert read_release_list("apple-rss", bomb) == [ListedRelease("27.1", "2026-11-02")]


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


def test_a_day_that_no_calendar_has_is_left_out():
    late = APPLE.replace(b"Mon, 02 Nov 2026 10:00:00 PST", b"01 Jan 99999999999 00:00:00 GMT", 1)
    assert read_release_list("apple-rss", late) == [ListedRelease("27.1", "")]


def test_items_without_an_end_take_no_longer_than_they_are_long():
    started = time.process_time()
    with pytest.raises(FormatError, match="lists no release"):
        read_release_list("apple-rss", b"<rss>" + b"<item>" * 600_000)
    assert time.process_time() - started < 5  # 120 kB took four seconds


def test_rss_has_a_limit_of_its_own():
    with pytest.raises(FormatError, match="larger than 4 MiB"):
        read_release_list("apple-rss", b"<rss>" + b" " * 4 * 2**20)


def test_digits_of_other_scripts_are_no_version():
    tags = [{**release, "tag_name": "v٠.٣٣.٠"} for release in GITHUB]
    with pytest.raises(FormatError, match="lists no release"):
        read_release_list("github", json.dumps(tags).encode())
