"""Connections to addresses that somebody typed: by a webhook's POST and by the watcher's GET, to listeners on loopback."""

import socket
import threading
from contextlib import contextmanager
from ipaddress import ip_address

import pytest

from stackviz.desk.freshness.fetch import FetchError, fetch
from stackviz.intake.notices.post import PostFailed, post
from stackviz.web.http.outside import TRIED, is_public
from tests.desk.freshness.server import serving

OUTSIDE = "93.184.215.14"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "224.0.1.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1",
        "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "ff0e::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "2001:0:53aa:64c:0:0:0:0", "2001:db8::1", "::127.0.0.1", "fec0::1", "feff::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", [OUTSIDE, "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_addresses_that_are_public(address):
    assert is_public(ip_address(address))


def post_to(address):
    post(address.replace("http:", "https:", 1), b"{}", {})


ASK = pytest.mark.parametrize("ask", [post_to, fetch])


@contextmanager
def listening():
    """A port of this machine under 127.0.0.1 and ::1 -> the port, and who has connected."""
    arrived = []
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:

        def accept():
            while True:
                try:
                    connection, where = server.accept()
                except OSError:
                    return
                arrived.append(where[0])
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1], arrived
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(5)


@pytest.fixture
def resolving(monkeypatch):
    """-> a function: look-ups of `lab.example` get these lists of addresses, one after the other; -> the look-ups."""
    real = socket.getaddrinfo

    def begin(*answers):
        asked, waiting = [], list(answers)

        def getaddrinfo(host, port, *arguments, **named):
            asked.append(host)
            if host != "lab.example":
                return real(host, port, *arguments, **named)
            return [entry for address in waiting.pop(0) for entry in real(address, port, type=socket.SOCK_STREAM)]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return asked

    return begin


@pytest.fixture
def reached(monkeypatch):
    """The addresses outside that a connection was made to: each of them refuses. Loopback is left as it is."""
    tried = []
    real = socket.socket.connect

    def connect(this, where):
        if ip_address(where[0]).is_loopback:
            return real(this, where)
        tried.append(where[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    return tried


@ASK
@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.8.8.8", "2130706433",
        "0x7f.1", "0x7f000001", "0X7F.0.0.1", "017700000001", "0177.0.0.1", "0", "0.0.0.0", "0x0", "[::1]", "[::]",
        "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:0]", "[::127.0.0.1]", "%31%32%37.0.0.1",
        "１２７.0.0.1", "①②⑦.0.0.1", "127。0。0。1",
    ],
)  # fmt: skip
def test_no_spelling_of_this_machine_leads_a_connection_to_it(host, ask):
    with listening() as (port, arrived):
        socket.create_connection(("127.0.0.1", port)).close()  # a connection would be seen
        with pytest.raises((PostFailed, FetchError)):
            ask(f"http://{host}:{port}/")
        socket.create_connection(("::1", port)).close()
        wait_for(arrived, 2)
    assert arrived == ["::ffff:127.0.0.1", "::1"]


def wait_for(arrived, count):
    """Connections are accepted in their order: when the last is here, any before it is too."""
    with_patience = threading.Event()
    for _time in range(500):
        if len(arrived) >= count:
            return
        with_patience.wait(0.01)


@ASK
@pytest.mark.parametrize("before", [[], [OUTSIDE]], ids=["alone", "after a public one"])
@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "::ffff:10.0.0.1", "fc00::1", "fe80::1"],
)
def test_no_name_leads_a_connection_into_a_private_network(address, before, ask, resolving, reached):
    resolving([*before, address])
    with pytest.raises((PostFailed, FetchError), match="private network"):
        ask("http://lab.example/")
    assert reached == []


@ASK
def test_a_name_is_resolved_once_and_connected_to_as_checked(ask, resolving, reached):
    """DNS rebinding: the second answer would be this machine."""
    asked = resolving([OUTSIDE], ["127.0.0.1"])
    with pytest.raises((PostFailed, FetchError), match="no connection"):
        ask("http://lab.example/")
    assert reached == [OUTSIDE]
    assert asked.count("lab.example") == 1


@ASK
def test_of_many_addresses_a_few_are_tried(ask, resolving, reached):
    resolving([f"93.184.215.{last}" for last in range(1, 100)])
    with pytest.raises((PostFailed, FetchError)):
        ask("http://lab.example/")
    assert len(reached) == TRIED


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "[::1]", "lab.example"])
def test_no_redirect_leads_a_connection_to_this_machine(host, resolving, monkeypatch):
    """The first server is one outside, played by one on loopback; `lab.example` is inside when asked the second time."""
    resolving([OUTSIDE], ["127.0.0.1"])
    real = socket.socket.connect
    with serving() as outside, listening() as (port, arrived):
        played_by = ("127.0.0.1", int(outside.url.rpartition(":")[2]))
        monkeypatch.setattr(
            socket.socket, "connect", lambda this, where: real(this, played_by if where[0] == OUTSIDE else where)
        )
        outside.answer("/page", status=302, Location=f"http://{host}:{port}/")
        with pytest.raises(FetchError, match="private network"):
            fetch("http://lab.example/page")
        assert outside.requests == [("GET", "/page")]
        socket.create_connection(("127.0.0.1", port)).close()
        wait_for(arrived, 1)
    assert len(arrived) == 1
