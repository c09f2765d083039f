"""Refuses requests of foreign pages to the viewer's server: `serve_guarded`.

A page of any site may ask the reader's browser to connect to 127.0.0.1, and may give its own name
that address (DNS rebinding). Browsers say in two headers what a page cannot forge:

- Host is the name that the page's address has. A rebound name is none of this viewer's; an IP
  address cannot be rebound.
- Origin is the page that asks. It is this viewer's page if it has the same name and port as Host.
  Programs that are no browsers send none, and are let in.

Ports are not compared with the server's own: `ssh -L` gives it another one.
"""

from __future__ import annotations

import importlib
import ipaddress
import socket
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from dtau.locks import fork_safe_lock

_PORTS = {"http": 80, "https": 443}
_LOCK = fork_safe_lock()


def url(host: str, port: int) -> str:
    """Return the address of a page; an IPv6 address has brackets there."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def refusal(hosts: Sequence[str], origins: Sequence[str], served: str) -> str | None:
    """Return why a request is refused, or None if it is let in.

    Parameters
    ----------
    hosts, origins : sequence of str
        The headers Host and Origin of the request.
    served : str
        The name or address that the server was given.
    """
    asked = _site(f"http://{hosts[0]}") if len(hosts) == 1 else None
    if asked is None:
        return "expected one header Host with a name and a port"
    if not _own_name(asked[0], served):
        return (
            "the header Host has a name that is not this viewer's: open it by an IP address, by "
            "localhost, or by the name that host= of dtau.view was given"
        )
    for origin in origins:
        usual = _PORTS.get(origin.partition(":")[0].lower())
        site = _site(origin)
        if site is None or site[0] != asked[0] or (site[1] or usual) != (asked[1] or usual):
            return "the header Origin is that of another page than this viewer's"
    return None


def serve_guarded(start: Callable[[str], Any], host: str) -> Any:
    """Return the server of viser's that `start(host)` makes, whose requests are checked.

    viser passes the server's own answer to websockets and takes none of the caller's, so the call
    between the two is changed while the server starts. Servers of other threads are left alone.

    Raises
    ------
    ImportError
        If viser starts its server in another way than is known, and requests would go unchecked.
    """
    module: Any = importlib.import_module("websockets.asyncio.server")
    guarded = _Host(host)
    checked = False
    with _LOCK:
        serve = module.serve

        def serve_and_check(handler: Any, at: Any = None, *rest: Any, **options: Any) -> Any:
            nonlocal checked
            if at is guarded:
                checked = True
                options["process_request"] = _checked(options.get("process_request"), host)
            return serve(handler, at, *rest, **options)

        module.serve = serve_and_check
        try:
            server = start(guarded)
        finally:
            module.serve = serve
    if not checked:
        server.stop()
        raise ImportError(
            "dtau.view cannot check who connects with this version of viser: pip install "
            "'viser==1.1.1'"
        )
    return server


class _Host(str):
    """A host that no other server has: by it the one that is started here is told from others."""


def _checked(process: Callable[[Any, Any], Any] | None, served: str) -> Callable[[Any, Any], Any]:
    """Return the server's answer to a request, with what is refused before it."""

    def answer(connection: Any, request: Any) -> Any:
        headers = request.headers
        why = refusal(headers.get_all("Host"), headers.get_all("Origin"), served)
        if why is not None:
            return connection.respond(HTTPStatus.FORBIDDEN, f"dtau.view: {why}.\n")
        return None if process is None else process(connection, request)

    return answer


def _site(address: str) -> tuple[str, int | None] | None:
    """Return the name and the port of an address `scheme://name:port`, or None if it is no such."""
    try:
        parts = urlsplit(address)
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not name or address.lower() != f"{parts.scheme}://{parts.netloc}".lower():
        return None
    return None if "@" in parts.netloc else (name, port)


def _own_name(name: str, served: str) -> bool:
    """Whether a name is one of this viewer's, whose address no stranger can change."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        here = socket.gethostname().lower()
        return name in ("localhost", served.lower(), here, f"{here}.local")
    return True
