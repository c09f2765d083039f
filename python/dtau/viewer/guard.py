"""Refuse requests of foreign pages to the viewer's server: `serve_guarded`.

A page of any site can make the user's browser connect to 127.0.0.1, and can give this address to
its own name (DNS rebinding). Browsers send two headers that a page cannot forge:

- Host is the name in the page's address. A rebound name is not one of this viewer's; an IP address
  cannot be rebound.
- Origin is the requesting page. It is this viewer's page if it has the same name and port as Host.
  Programs other than browsers send no Origin and are accepted.

Ports are not compared with the server's own, because `ssh -L` changes them.
"""

from __future__ import annotations

import importlib
import ipaddress
import socket
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from dtau.support.locks import fork_safe_lock

_PORTS = {"http": 80, "https": 443}
_LOCK = fork_safe_lock()


def url(host: str, port: int) -> str:
    """Return the URL of a page, with brackets around an IPv6 address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def refusal(hosts: Sequence[str], origins: Sequence[str], served: str) -> str | None:
    """Return the reason to refuse a request, or None to accept it.

    Parameters
    ----------
    hosts, origins : sequence of str
        The headers Host and Origin of the request.
    served : str
        The name or address on which the server was started.
    """
    asked = _site(f"http://{hosts[0]}") if len(hosts) == 1 else None
    if asked is None:
        return "expected one header Host with a name and a port"
    if not _own_name(asked[0], served):
        return (
            "the header Host has a name that is not this viewer's: open it by an IP address, by "
            "localhost, or by the name given as host= to dtau.view"
        )
    for origin in origins:
        usual = _PORTS.get(origin.partition(":")[0].lower())
        site = _site(origin)
        if site is None or site[0] != asked[0] or (site[1] or usual) != (asked[1] or usual):
            return "the header Origin names another page than this viewer's"
    return None


def serve_guarded(start: Callable[[str], Any], host: str) -> Any:
    """Start viser's server by `start(host)`, with checks of its requests.

    viser has no option for request handlers of websockets, so the call between viser and websockets
    is replaced while the server starts. Servers of other threads are not affected.

    Raises
    ------
    ImportError
        If viser starts its server in an unknown way, so that requests would not be checked.
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
    """A host as a unique object, which identifies the server that is started here."""


def _checked(process: Callable[[Any, Any], Any] | None, served: str) -> Callable[[Any, Any], Any]:
    """Return the server's request handler with the checks before it."""

    def answer(connection: Any, request: Any) -> Any:
        headers = request.headers
        why = refusal(headers.get_all("Host"), headers.get_all("Origin"), served)
        if why is not None:
            return connection.respond(HTTPStatus.FORBIDDEN, f"dtau.view: {why}.\n")
        return None if process is None else process(connection, request)

    return answer


def _site(address: str) -> tuple[str, int | None] | None:
    """Return name and port of an address `scheme://name:port`; None if it is not one."""
    try:
        parts = urlsplit(address)
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not name or address.lower() != f"{parts.scheme}://{parts.netloc}".lower():
        return None
    return None if "@" in parts.netloc else (name, port)


def _own_name(name: str, served: str) -> bool:
    """Whether a name is one of this viewer's, whose address a foreign site cannot change."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        here = socket.gethostname().lower()
        return name in ("localhost", served.lower(), here, f"{here}.local")
    return True
