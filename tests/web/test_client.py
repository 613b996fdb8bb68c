"""The address a request comes from, behind none, one or several proxies of our own."""

import pytest
from django.test import RequestFactory

from stackviz.web.client import client_address, client_key


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        (0, "203.0.113.9", "192.0.2.7"),  # nobody of ours added it
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "1.2.3.4, 203.0.113.9", "203.0.113.9"),  # what the client itself sent stands in front
        (2, "203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "10.0.0.1", "10.0.0.1"),
        (1, "203.0.113.9:1234", "203.0.113.9"),
        (1, "[2001:db8:1:2:3::6]:1234", "2001:db8:1:2::/64"),
        (1, "[2001:db8:1:2:3::6]", "2001:db8:1:2::/64"),
        (1, "", "192.0.2.7"),
        (1, "[", "192.0.2.7"),
        (1, "no address", "192.0.2.7"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_who_asks_is_whom_our_own_proxy_saw(settings, proxies, forwarded, client):
    settings.PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7", headers=headers)
    assert client_address(request) == client


def test_rate_key_identifies_client_and_hides_address():
    keys = [
        client_key(RequestFactory().get("/", REMOTE_ADDR=address))
        for address in ("192.0.2.7", "192.0.2.7", "192.0.2.8")
    ]
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) == 32
    assert "192.0.2.7" not in keys[0]
