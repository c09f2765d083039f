"""The server refuses pages of other sites: Origin and Host of real requests."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from messages import has_words, message

import dtau
from dtau.viewer.guard import url

viser = pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")
errors = pytest.importorskip("websockets.exceptions")

MODEL = dtau.robots.chain(1)
PROTOCOL = [f"viser-v{viser.__version__}"]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with dtau.view(MODEL, port=0) as viewer:
        yield viewer.server.get_port()


def greeting(port: int, host: str, origin: str | None, *, to: str = "127.0.0.1") -> int:
    """The status of a websocket's handshake: 101 if it is accepted, and then something is sent."""
    where = socket.create_connection((to, port), timeout=60)
    try:
        page = client.connect(f"ws://{host}", sock=where, origin=origin, subprotocols=PROTOCOL)
    except errors.InvalidStatus as refused:
        return int(refused.response.status_code)
    with page:
        assert len(page.recv(timeout=60)) > 16
    return 101


def status(port: int, headers: list[tuple[str, str]]) -> tuple[int, str]:
    """The answer to a request for the page itself."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.putrequest("GET", "/", skip_host=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(200).decode(errors="replace")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}"),
        ("localhost:{port}", "http://localhost:{port}"),
        ("LocalHost:{port}", "http://localhost:{port}"),
        ("127.0.0.1:{port}", None),  # a program that is no browser
        ("localhost:9999", "http://localhost:9999"),  # ssh -L 9999:localhost:8080
        ("localhost", "http://localhost"),  # ssh -L 80:localhost:8080
        ("localhost", "https://localhost"),  # behind something that has a certificate
        ("192.0.2.7:8080", "http://192.0.2.7:8080"),  # ssh -g: an address cannot be rebound
        ("[::1]:{port}", "http://[::1]:{port}"),
        (socket.gethostname() + ":{port}", "http://" + socket.gethostname().lower() + ":{port}"),
    ],
)
def test_the_viewers_own_page_is_let_in(port: int, host: str, origin: str | None) -> None:
    asked, asking = host.format(port=port), origin and origin.format(port=port)
    assert greeting(port, asked, asking) == 101
    headers = [("Host", asked), *([("Origin", asking)] if asking else [])]
    assert status(port, headers)[0] == 200


@pytest.mark.parametrize(
    ("host", "origin", "word"),
    [
        ("127.0.0.1:{port}", "http://evil.example", "Origin"),
        ("127.0.0.1:{port}", "http://evil.example:{port}", "Origin"),
        ("127.0.0.1:{port}", "http://127.0.0.1:1", "Origin"),  # another server of this machine
        ("127.0.0.1:{port}", "http://127.0.0.1", "Origin"),
        ("127.0.0.1:{port}", "http://localhost:{port}", "Origin"),
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}@evil.example", "Origin"),
        ("127.0.0.1:{port}", "http://evil.example@127.0.0.1:{port}", "Origin"),
        ("127.0.0.1:{port}", "null", "Origin"),  # a file, or a frame in a sandbox
        ("127.0.0.1:{port}", "", "Origin"),
        ("127.0.0.1:{port}", "http://[", "Origin"),
        ("evil.example:{port}", "http://evil.example:{port}", "Host"),  # DNS rebinding
        ("evil.example:{port}", None, "Host"),
        ("127.0.0.1.evil.example:{port}", "http://127.0.0.1.evil.example:{port}", "Host"),
        ("localhost.evil.example", "http://localhost.evil.example", "Host"),
    ],
)
def test_foreign_pages_are_refused(port: int, host: str, origin: str | None, word: str) -> None:
    asked, asking = host.format(port=port), origin and origin.format(port=port)
    assert greeting(port, asked, asking) == 403
    given = [] if asking is None else [("Origin", asking)]
    code, text = status(port, [("Host", asked), *given])
    assert code == 403
    has_words(text, "dtau.view", word)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Host", "")],
        [("Host", "localhost"), ("Host", "evil.example")],
        [("Host", "localhost:port")],
        [("Host", "localhost/evil.example")],
        [("Host", "evil.example@localhost")],
        [("Host", "localhost"), ("Origin", "http://localhost"), ("Origin", "http://evil.example")],
    ],
)
def test_requests_with_odd_headers_are_refused(port: int, headers: list[tuple[str, str]]) -> None:
    assert status(port, headers)[0] == 403


def test_the_page_of_an_ipv6_address_has_brackets() -> None:
    assert url("::1", 8080) == "http://[::1]:8080"
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return  # this machine has no IPv6, and nothing can be served there
    with dtau.view(MODEL, host="::1", port=0) as viewer:
        port = viewer.server.get_port()
        assert viewer.url == f"http://[::1]:{port}"
        assert greeting(port, f"[::1]:{port}", viewer.url, to="::1") == 101
        assert greeting(port, f"[::1]:{port}", "http://evil.example", to="::1") == 403


def test_a_name_that_host_gives_is_let_in() -> None:
    with dtau.view(MODEL, host="localhost", port=0) as viewer:
        port = viewer.server.get_port()
        assert viewer.url == f"http://localhost:{port}"
        assert greeting(port, f"localhost:{port}", viewer.url, to="localhost") == 101


@pytest.mark.parametrize("host", ["127.0.0.1\0", "127.0.0.1\0.evil.example", "\0"])
def test_a_host_with_a_nul_is_refused(host: str) -> None:
    has_words(message(ValueError, dtau.view, MODEL, host=host, port=0), "host", "name", "address")


def test_servers_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that starts in the same moment is asked where requests come from."""
    module = pytest.importorskip("websockets.asyncio.server")
    plain, serve, others = viser.ViserServer, module.serve, []

    def after_another(**options: object) -> object:
        others.append(plain(host="127.0.0.1", port=0, verbose=False))
        return plain(**options)

    monkeypatch.setattr(viser, "ViserServer", after_another)
    with dtau.view(MODEL, port=0) as viewer:
        assert module.serve is serve
        assert greeting(viewer.server.get_port(), "evil.example", None) == 403
        assert greeting(others[0].get_port(), "evil.example", "http://evil.example") == 101
    others[0].stop()


def test_a_viser_that_starts_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather no viewer than one that lets everybody in."""
    plain, servers = viser.ViserServer, []

    def start(host: str, **options: object) -> object:
        servers.append(plain(host="".join(host), **options))
        return servers[-1]

    monkeypatch.setattr(viser, "ViserServer", start)
    has_words(message(ImportError, dtau.view, MODEL, port=0), "viser", "pip install")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", servers[0].get_port()), timeout=2)
