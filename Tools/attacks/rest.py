"""A small HTTP client that says exactly what it is told to, from an address of choice."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass


class LinkLost(Exception):
    """The server closed the connection, or said nothing in time."""


@dataclass
class Answer:
    """Status, fields and body of an answer; `is_whole` is false when its end is missing."""

    status: int
    fields: dict[str, str]
    body: bytes
    is_whole: bool = True

    @property
    def json(self) -> object:
        return json.loads(self.body)


def connect(port: int, source: str = "127.0.0.1", seconds: float = 10) -> socket.socket:
    """Opens a connection to the server from one of the loopback addresses."""
    link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    link.settimeout(seconds)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        link.bind((source, 0))
        link.connect(("127.0.0.1", port))
    except OSError:
        link.close()
        raise
    return link


def reset(link: socket.socket) -> None:
    """Ends a connection by a reset instead of a close."""
    try:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    except OSError:
        pass
    link.close()


class Rest:
    """One kept connection over HTTP/1.1."""

    def __init__(
        self, port: int, token: str | None = None, source: str = "127.0.0.1",
        seconds: float = 30,
    ) -> None:
        self.port, self.token, self.source, self.seconds = port, token, source, seconds
        self.link: socket.socket | None = None
        self.held = b""

    def close(self) -> None:
        if self.link:
            self.link.close()
        self.link, self.held = None, b""

    def get(self, path: str, **fields: str) -> Answer:
        return self.ask("GET", path, b"", **fields)

    def put(self, path: str, value: object, **fields: str) -> Answer:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask("PUT", path, body, **fields)

    def delete(self, path: str, **fields: str) -> Answer:
        return self.ask("DELETE", path, b"", **fields)

    def ask(self, method: str, path: str, body: bytes, **fields: str) -> Answer:
        """Sends a request and reads its answer. Throws `LinkLost`."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
        if self.token:
            head += f"Authorization: Bearer {self.token}\r\n"
        for name, value in fields.items():
            head += f"{name.replace('_', '-')}: {value}\r\n"
        if body or method in ("PUT", "POST", "PATCH"):
            head += f"Content-Length: {len(body)}\r\n"
        try:
            if not self.link:
                self.link = connect(self.port, self.source, self.seconds)
            self.link.sendall(head.encode() + b"\r\n" + body)
            return self._read(method)
        except (OSError, LinkLost) as problem:
            self.close()
            raise LinkLost(str(problem)) from problem

    def _read(self, method: str) -> Answer:
        while b"\r\n\r\n" not in self.held:
            self._more()
        head, self.held = self.held.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        if method == "HEAD" or status in (204, 304):
            return Answer(status, fields, b"")
        if fields.get("transfer-encoding") == "chunked":
            return self._chunks(status, fields)
        wanted = int(fields.get("content-length", "0"))
        while len(self.held) < wanted:
            self._more()
        body, self.held = self.held[:wanted], self.held[wanted:]
        if fields.get("connection") == "close":
            self.close()
        return Answer(status, fields, body)

    def _chunks(self, status: int, fields: dict[str, str]) -> Answer:
        pieces: list[bytes] = []
        try:
            while True:
                while b"\r\n" not in self.held:
                    self._more()
                line, self.held = self.held.split(b"\r\n", 1)
                size = int(line, 16)
                while len(self.held) < size + 2:
                    self._more()
                if size == 0:
                    self.held = self.held[2:]
                    return Answer(status, fields, b"".join(pieces))
                pieces.append(self.held[:size])
                self.held = self.held[size + 2:]
        except (OSError, LinkLost):
            self.close()
            return Answer(status, fields, b"".join(pieces), is_whole=False)

    def _more(self) -> None:
        assert self.link
        data = self.link.recv(1 << 18)
        if not data:
            raise LinkLost("the server closed the connection")
        self.held += data


def drain(link: socket.socket, seconds: float) -> bytes:
    """Reads what comes until the peer closes or that much time is over."""
    deadline, data = time.monotonic() + seconds, b""
    while (left := deadline - time.monotonic()) > 0:
        link.settimeout(left)
        try:
            chunk = link.recv(1 << 16)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    return data
