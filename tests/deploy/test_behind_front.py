"""gunicorn as composed behind the real front: slow clients, idle connections, forged addresses, a restart under load."""

import shutil
import socket
from collections.abc import Iterator

import pytest

from tests.curated import curated_file
from tests.deploy.compose import native, path_with_venv, services
from tests.deploy.front import Front, nginx_binary, visit
from tests.deploy.slow_clients import idle_connections, is_held, slow_clients
from tests.deploy.test_compose import CHOSEN, launch
from tests.live import Site
from tests.servers import NotHere

SLOW_OF_EACH_KIND = 50
IDLE = 1_000
SHEET = "/accelerators/nvidia-h100-sxm5-80gb/"
PAGES = 10
CLIENT_TIMEOUT_S = 120  # however busy the machine, ten pages take less


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
    """The front before it, which waits for clients for two minutes instead of ten seconds."""
    started = Front(site.folder / "front", f"127.0.0.1:{site.port}", client_timeout_s=CLIENT_TIMEOUT_S)
    try:
        started.start()
        for _ in range(12):  # the catalogue is read once by each process
            visit(started.url + SHEET)
        yield started
    finally:
        started.stop()


def web(site: Site, name: str, port: int) -> None:
    launch(site, name, native(services(CHOSEN)["web"]["command"], {"0.0.0.0:8000": f"127.0.0.1:{port}"}))


def test_pages_come_while_200_slow_clients_hold_on(front):
    """No slow request reaches the site, which would answer it; no page waits until a slow client is cut off."""
    with slow_clients(front.port, SLOW_OF_EACH_KIND) as clients:
        worst_s = assert_pages_come_beside(clients, front)
    print(f"{PAGES} pages beside 200 slow clients: worst {worst_s:.2f} s")


def test_a_thousand_idle_connections_cost_no_thread(front):
    with idle_connections(front.port, IDLE) as clients:
        worst_s = assert_pages_come_beside(clients, front)
        clients[-1].sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert clients[-1].recv(12) == b"HTTP/1.1 200"
    print(f"{PAGES} pages beside {IDLE:,} idle connections: worst {worst_s:.2f} s")


def assert_pages_come_beside(clients: list[socket.socket], front: Front) -> float:
    """All clients still hold their connections after each page. Returns the worst seconds of a page."""
    waits = []
    for _ in range(PAGES):
        status, took_s = visit(front.url + SHEET)
        assert status == 200
        assert [client for client in clients if not is_held(client)] == [], f"after {took_s:.1f} s for a page"
        waits.append(took_s)
    return max(waits)


def test_forged_addresses_share_the_real_ones_limit(front):
    asked = [
        visit(f"{front.url}/picture/sheet/{slug}.png", X_Forwarded_For=f"203.0.113.{number}")[0]
        for number, slug in enumerate(("nvidia-h100-sxm5-80gb", "nvidia-t4", "apple-m1-8"))
    ]
    assert asked == [200, 429, 429]


def test_key_guesses_with_forged_addresses_share_a_limit(front, site):
    guesses = [
        visit(f"{front.url}/api/v1/key/", X_Forwarded_For=f"203.0.113.{number}", Authorization=f"Bearer {guessed}")[0]
        for number, guessed in enumerate(f"aw_abcdefgh_{number:043d}" for number in range(4))
    ]
    assert guesses == [401, 401, 429, 429]
    assert visit(f"{front.url}/api/v1/key/", Authorization=f"Bearer {site.new_key()}")[0] == 200
