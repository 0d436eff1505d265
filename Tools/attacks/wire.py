"""Requests that are not what they seem: smuggling, absurd lengths, large heads, odd methods."""

from __future__ import annotations

import time

from .plan import Plan
from .rest import Rest, connect, drain
from .server import Server

SECOND = b"GET /public/small.json HTTP/1.1\r\nHost: a\r\n\r\n"


def _request(*lines: bytes, body: bytes = b"") -> bytes:
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


PUT = b"PUT /open/smuggled.json HTTP/1.1"
HOST = b"Host: 127.0.0.1"

# Each has to be refused, or closed; nothing behind it may be answered.
SMUGGLING = {
    "length and coding": _request(
        PUT, HOST, b"Content-Length: 1", b"Transfer-Encoding: chunked",
        body=b"0\r\n\r\n" + SECOND),
    "two lengths": _request(
        PUT, HOST, b"Content-Length: 1", b"Content-Length: 2", body=b"1" + SECOND),
    "lengths in a list": _request(PUT, HOST, b"Content-Length: 1, 2", body=b"1" + SECOND),
    "signed length": _request(PUT, HOST, b"Content-Length: +1", body=b"1" + SECOND),
    "negative length": _request(PUT, HOST, b"Content-Length: -1", body=b"1" + SECOND),
    "length in hexadecimal": _request(PUT, HOST, b"Content-Length: 0x1", body=b"1" + SECOND),
    "length of 2^63 - 1": _request(
        PUT, HOST, b"Content-Length: 9223372036854775807", body=b"1" + SECOND),
    "length of 2^63": _request(
        PUT, HOST, b"Content-Length: 9223372036854775808", body=b"1" + SECOND),
    "length of 2^64 + 1": _request(
        PUT, HOST, b"Content-Length: 18446744073709551617", body=b"1" + SECOND),
    "unknown coding": _request(PUT, HOST, b"Transfer-Encoding: xchunked", body=b"1" + SECOND),
    "coding twice": _request(
        PUT, HOST, b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity",
        body=b"0\r\n\r\n" + SECOND),
    "huge chunk": _request(
        PUT, HOST, b"Transfer-Encoding: chunked", body=b"FFFFFFFFFFFFFFFFF\r\n1" + SECOND),
    "chunk of minus one": _request(
        PUT, HOST, b"Transfer-Encoding: chunked", body=b"-1\r\n1" + SECOND),
    "space before the colon": _request(PUT, HOST, b"Content-Length : 1", body=b"1" + SECOND),
    "two hosts": _request(PUT, HOST, b"Host: b", b"Content-Length: 1", body=b"1" + SECOND),
    "no host": _request(PUT, b"Content-Length: 1", body=b"1" + SECOND),
    "zero in a field": _request(PUT, HOST, b"X: a\0b", b"Content-Length: 1", body=b"1" + SECOND),
    "field without a name": _request(PUT, HOST, b": x", b"Content-Length: 1", body=b"1" + SECOND),
}
HEADS = {
    "200 fields": _request(PUT, HOST, *[b"X-%d: 1" % n for n in range(200)]),
    "field of 100 KB": _request(PUT, HOST, b"X: " + b"x" * 100_000),
    "target of 100 KB": _request(b"GET /" + b"x" * 100_000 + b".json HTTP/1.1", HOST),
}


def play(plan: Plan) -> None:
    with plan.folder() as folder, Server(plan.tern, folder) as server:
        administrator = Rest(server.port, server.administrator)
        administrator.put("/public/small.json", 4711)
        _table(plan, server, "smuggling", SMUGGLING, {400, 411, 413, 501})
        _table(plan, server, "heads", HEADS, {400, 413, 414, 431})
        _method(plan, server)


def _table(
    plan: Plan, server: Server, name: str, table: dict[str, bytes], statuses: set[int],
) -> None:
    part = plan.report.part("wire", name)
    slow = 0.0
    for what, request in table.items():
        link = connect(server.port, "127.0.1.1")
        began = time.monotonic()
        try:
            link.sendall(request)
        except OSError:
            pass
        said = drain(link, 8)
        slow = max(slow, time.monotonic() - began)
        link.close()
        status = int(said.split(b" ")[1]) if said.startswith(b"HTTP/1.") else 0
        part.holds(f"{what}: refused", status == 0 or status in statuses, f"status {status}")
        part.holds(f"{what}: nothing is answered behind it", b"4711" not in said, repr(said[-80:]))
    part.figure(f"{len(table)} requests")
    part.at_most("slowest refusal", slow, 7, " s")
    stored = Rest(server.port, server.administrator).get("/open/smuggled.json").body
    part.holds("nothing was stored", stored == b"null", repr(stored))
    plan.report.close(part)


def _method(plan: Plan, server: Server) -> None:
    part = plan.report.part("wire", "methods")
    for method in ("FROB", "TRACE", "CONNECT", "PROPFIND"):
        answer = Rest(server.port, seconds=8).ask(method, "/public/small.json", b"")
        part.figure(f"{method} {answer.status}")
        part.holds(f"{method} is not served", answer.status in (400, 405, 501))
    plan.report.close(part)
