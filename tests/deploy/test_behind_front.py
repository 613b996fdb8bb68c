"""gunicorn as composed behind the real front: slow clients, idle connections, forged addresses, a restart under load."""

import resource
import shutil
import socket
import time
from collections.abc import Iterator

import pytest

from tests.curated import curated_file
from tests.deploy.compose import native, path_with_venv, services
from tests.deploy.front import Front, nginx_binary, visit
from tests.deploy.slow_clients import slow_clients
from tests.deploy.test_compose import CHOSEN, launch
from tests.live import Site
from tests.servers import NotHere

SLOW_OF_EACH_KIND = 50
IDLE = 1_000
SHEET = "/accelerators/nvidia-h100-sxm5-80gb/"
PATIENCE_S = 2.0  # of an innocent visitor
WATCHED_S = 14.0  # longer than the front waits for a head


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    """A site with the catalogue, whose `web` runs as the compose file starts it."""
    try:
        nginx_binary()
    except NotHere as problem:
        pytest.skip(str(problem))
    folder = tmp_path_factory.mktemp("composed")
    composed = Site(folder, PROXIES="1", ALLOWED_HOSTS="127.0.0.1", PICTURES_PER_MINUTE="1", KEY_GUESSES_PER_CLIENT="2")
    composed.env["PATH"] = path_with_venv()
    shutil.copy(curated_file(), folder / "accelweb.sqlite3")
    try:
        web(composed, "web", composed.port)
        composed.wait_until(composed.answers, "web answers")
        yield composed
    finally:
        composed.stop()


@pytest.fixture(scope="module")
def front(site) -> Iterator[Front]:
    """The front before it."""
    started = Front(site.folder / "front", f"127.0.0.1:{site.port}")
    try:
        started.start()
        for _ in range(12):  # the catalogue is read once by each process
            visit(started.url + SHEET)
        yield started
    finally:
        started.stop()


def web(site: Site, name: str, port: int) -> None:
    launch(site, name, native(services(CHOSEN)["web"]["command"], {"0.0.0.0:8000": f"127.0.0.1:{port}"}))


def test_an_innocent_page_comes_within_two_seconds_beside_200_slow_clients(front):
    waits = []
    with slow_clients(front.port, SLOW_OF_EACH_KIND):
        until = time.monotonic() + WATCHED_S
        while time.monotonic() < until:
            status, took_s = visit(front.url + SHEET)
            assert status == 200
            waits.append(took_s)
            time.sleep(0.2)
    print(f"{len(waits)} pages beside 200 slow clients: worst {max(waits):.2f} s")
    assert max(waits) < PATIENCE_S


def test_a_thousand_idle_connections_cost_no_thread(front):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    idle: list[socket.socket] = []
    try:
        for _ in range(IDLE):
            client = socket.create_connection(("127.0.0.1", front.port), timeout=10, source_address=("127.0.0.2", 0))
            client.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.1 200"
            idle.append(client)
        waits = [visit(front.url + SHEET) for _ in range(10)]
        assert [status for status, _took_s in waits] == [200] * 10
        assert max(took_s for _status, took_s in waits) < PATIENCE_S
        idle[-1].settimeout(5)
        idle[-1].sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")  # still connected
        assert b"HTTP/1.1 200" in idle[-1].recv(100_000) + idle[-1].recv(100_000)
    finally:
        for client in idle:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_forged_addresses_share_the_limit_of_the_address_behind_them(front):
    asked = [
        visit(f"{front.url}/picture/sheet/{slug}.png", X_Forwarded_For=f"203.0.113.{number}")[0]
        for number, slug in enumerate(("nvidia-h100-sxm5-80gb", "nvidia-t4", "apple-m1-8"))
    ]
    assert asked == [200, 429, 429]


def test_guesses_of_keys_with_forged_addresses_share_their_limit_and_a_right_key_passes(front, site):
    guesses = [
        visit(f"{front.url}/api/v1/key/", X_Forwarded_For=f"203.0.113.{number}", Authorization=f"Bearer {guessed}")[0]
        for number, guessed in enumerate(f"aw_abcdefgh_{number:043d}" for number in range(4))
    ]
    assert guesses == [401, 401, 429, 429]
    assert visit(f"{front.url}/api/v1/key/", Authorization=f"Bearer {site.new_key()}")[0] == 200
