"""The ports of tests' servers are theirs alone, from the moment they are picked."""

import errno
import socket
import sys

import pytest

from tests.live import free_port


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a server listen beside a bound socket")
def test_free_port_is_reserved_for_one_server():
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use") as refused:
        other.bind(("127.0.0.1", port))
    assert refused.value.errno == errno.EADDRINUSE
    for _start in range(2):  # a server that is started again gets it again
        with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(("127.0.0.1", port)):
            server.accept()[0].close()
