"""Requests as no well-behaved client sends them: any header, as often as one likes, in any spelling."""

import http.client
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode, urlsplit

CONNECTIONS = {
    "http": http.client.HTTPConnection,
    "https": partial(http.client.HTTPSConnection, context=ssl._create_unverified_context()),
}
Headers = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str


def ask(url: str, headers: Headers = (), method: str = "GET", form: Mapping[str, str] | None = None) -> Answer:
    """Sends exactly these headers, besides Content-Length and a Host where there is none of them."""
    address, pairs = urlsplit(url), list(headers.items() if isinstance(headers, Mapping) else headers)
    body = urlencode(form).encode() if form is not None else b""
    if form is not None:
        pairs += [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", str(len(body)))]
    connection = CONNECTIONS[address.scheme](address.hostname or "", address.port, timeout=10)
    try:
        connection.putrequest(
            method,
            address.path + (f"?{address.query}" if address.query else ""),
            skip_host=any(name.lower() == "host" for name, _ in pairs),
            skip_accept_encoding=True,
        )
        for name, value in pairs:
            connection.putheader(name, value.encode())
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode())
    finally:
        connection.close()
