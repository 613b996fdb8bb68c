"""A body is unpacked within bounds, whatever it claims."""

import gzip
import tracemalloc
import zlib

import pytest

from stackviz.intake.ingest.body import unpack
from stackviz.report.format import LIMITS, ReportError, ReportTooLarge


def test_a_plain_body_stays_as_it_is():
    assert unpack(b"{}", "") == b"{}"


def test_a_packed_body_is_unpacked():
    assert unpack(gzip.compress(b'{"a": 1}', mtime=0), "gzip") == b'{"a": 1}'


def test_body_limit_is_inclusive():
    assert len(unpack(gzip.compress(bytes(LIMITS.body_bytes)), "gzip")) == LIMITS.body_bytes
    with pytest.raises(ReportTooLarge):
        unpack(gzip.compress(bytes(LIMITS.body_bytes + 1)), "gzip")


def test_a_bomb_takes_no_more_memory_than_the_limit():
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packing.compress(bytes(1024 * 1024)) for _ in range(200)) + packing.flush()
    tracemalloc.start()
    with pytest.raises(ReportTooLarge):
        unpack(bomb, "gzip")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * LIMITS.body_bytes


@pytest.mark.parametrize("body", [b"", b"\x1f\x8b", b"{}", zlib.compress(b"{}"), gzip.compress(b"{}", mtime=0)[:-1]])
def test_what_is_not_one_whole_member_is_refused(body):
    with pytest.raises(ReportError):
        unpack(body, "gzip")
