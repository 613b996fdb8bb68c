"""A PostgreSQL, and a Redis, that take connections and say nothing: stopped with SIGSTOP, as a host that swaps would."""

import json
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import psycopg
import pytest
from django.db import OperationalError, connection

from stackviz.web.postgresql.connection import LATER_S, BoundedConnection, limit_statements
from tests.live import Site
from tests.report.format.reports import report_body
from tests.servers import RedisServer, postgres_processes, stopped

LIMIT_S = 2


def processes_of(url: str) -> list[psutil.Process]:
    """Those of the test's PostgreSQL."""
    with psycopg.connect(url) as server:
        folder = server.execute("SHOW data_directory").fetchone()[0]
    return postgres_processes(Path(folder))


def timed(site: Site, path: str, body: dict | None = None, key: str = "") -> tuple[int, str, dict, float]:
    """Status, text, headers, seconds."""
    request = urllib.request.Request(site.url + path, json.dumps(body).encode() if body else None)
    if body:
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {key}")
    started = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers), time.monotonic() - started
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), dict(error.headers), time.monotonic() - started


@pytest.fixture
def limited():
    limit_statements(1)
    yield
    limit_statements(None)


def test_postgres_statement_of_a_web_process_ends(on_postgres, limited):
    with pytest.raises(OperationalError, match="statement timeout"), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(30)")
    connection.close()
    assert connection.is_usable() is False or connection.connection is None


def test_postgres_commands_may_take_their_time(on_postgres):
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
    assert isinstance(connection.connection, BoundedConnection)
    assert connection.connection.patience_s is None


def test_postgres_that_hangs_is_answered_with_503(new_site, migrated_postgres, redis_server):
    site = new_site(database_url=migrated_postgres, redis_url=redis_server.url, DATABASE_TIMEOUT_S=str(LIMIT_S))
    key = site.new_key()
    site.start_web(workers=1)
    assert timed(site, "/accelerators/")[0] == 200
    with stopped(processes_of(migrated_postgres)):
        within_s = LIMIT_S + LATER_S + 3
        page = timed(site, "/accelerators/")
        api = timed(site, "/api/v1/accelerators/")
        upload = timed(site, "/api/v1/reports/", report_body(), key)
        assert [page[0], api[0], upload[0]] == [503, 503, 503]
        assert "The database does not answer" in page[1]
        assert json.loads(api[1])["field"] is None
        for _status, _text, headers, took_s in (page, api, upload):
            assert int(headers["Retry-After"]) > 0
            assert took_s < within_s
        # More than there are threads: each was given back.
        assert [timed(site, "/health/")[0] for _ in range(5)] == [503] * 5
        assert timed(site, "/static/css/base.css")[0] == 200
    assert timed(site, "/accelerators/")[0] == 200
    assert timed(site, "/api/v1/reports/", report_body(), key)[0] in (200, 202)


def test_redis_that_hangs_costs_a_page_a_second(new_site, redis_server: RedisServer):
    site = new_site(redis_url=redis_server.url)
    key = site.new_key()
    site.start_web(workers=1)
    assert timed(site, "/accelerators/")[0] == 200
    redis = psutil.Process(redis_server.child.pid)
    with stopped([redis]):
        pages = [timed(site, "/accelerators/") for _ in range(6)]
        upload = timed(site, "/api/v1/reports/", report_body(), key)
        assert [page[0] for page in pages] == [200] * 6
        assert max(page[3] for page in pages) < 5
        assert upload[0] == 202
        assert upload[3] < 5
    assert timed(site, "/accelerators/")[0] == 200
