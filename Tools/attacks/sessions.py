"""Sessions of the tree: over WebSocket, over long polling, and over our own framing."""

from __future__ import annotations

import base64
import json
import re
import socket
import struct
import time
from typing import Iterable

from .rest import LinkLost, Rest, connect

Message = dict[str, object]


class Session:
    """Requests and their answers, whatever carries them."""

    def __init__(self) -> None:
        self.number = 0
        self.pushes: list[Message] = []
        self.handshake: Message = {}

    def send(self, message: object) -> None:
        raise NotImplementedError

    def receive(self) -> object:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def post(self, action: str, body: object) -> int:
        """Sends a request; its answer is read by `answer`."""
        self.number += 1
        self.send({"t": "d", "d": {"r": self.number, "a": action, "b": body}})
        return self.number

    def answer(self, number: int) -> Message:
        """Reads until the answer to a request comes; keeps pushes."""
        while True:
            message = self.receive()
            data = message.get("d") if isinstance(message, dict) else None
            if not isinstance(data, dict):
                continue
            if message.get("t") == "c":
                continue
            if data.get("r") == number:
                return data["b"]  # type: ignore[return-value]
            self.pushes.append(data)

    def ask(self, action: str, body: object) -> Message:
        """Sends a request and returns what its answer says: `s` and `d`."""
        return self.answer(self.post(action, body))

    def authenticate(self, token: str) -> Message:
        return self.ask("auth", {"cred": token})


class WebSocket(Session):
    """The dialect of existing clients over RFC 6455."""

    def __init__(
        self, port: int, source: str = "127.0.0.1", seconds: float = 30, namespace: str = "default",
    ) -> None:
        super().__init__()
        self.link = connect(port, source, seconds)
        self.held = bytearray()
        key = base64.b64encode(b"0123456789abcdef").decode()
        self.link.sendall(
            f"GET /.ws?v=5&ns={namespace} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.held:
            self._more()
        end = self.held.index(b"\r\n\r\n") + 4
        if not self.held.startswith(b"HTTP/1.1 101"):
            raise LinkLost(bytes(self.held[:80]).decode("latin-1"))
        del self.held[:end]
        first = self.receive()
        self.handshake = first["d"]["d"]  # type: ignore[index,call-overload]

    @staticmethod
    def frame(payload: bytes, opcode: int = 1) -> bytes:
        """One masked frame; the mask is zero, so that making it costs an attacker nothing."""
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65_536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        return head + b"\0\0\0\0" + payload

    def send(self, message: object) -> None:
        self.send_raw(self.frame(json.dumps(message, separators=(",", ":")).encode()))

    def send_raw(self, data: bytes) -> None:
        try:
            self.link.sendall(data)
        except OSError as problem:
            raise LinkLost(str(problem)) from problem

    def receive(self) -> object:
        text = self._text()
        if text.isdigit():
            text = b"".join(self._text() for _ in range(int(text)))
        return json.loads(text) if text else None

    def _text(self) -> bytes:
        while True:
            opcode, payload = self._frame()
            if opcode == 8:
                raise LinkLost("closed: " + payload[2:].decode("utf-8", "replace"))
            if opcode == 9:
                self.send_raw(self.frame(payload, 10))
            elif opcode in (0, 1):
                return payload

    def _frame(self) -> tuple[int, bytes]:
        self._need(2)
        opcode, size, start = self.held[0] & 15, self.held[1] & 127, 2
        if size == 126:
            self._need(4)
            size, start = int.from_bytes(self.held[2:4], "big"), 4
        elif size == 127:
            self._need(10)
            size, start = int.from_bytes(self.held[2:10], "big"), 10
        self._need(start + size)
        payload = bytes(self.held[start:start + size])
        del self.held[:start + size]
        return opcode, payload

    def _need(self, count: int) -> None:
        while len(self.held) < count:
            self._more()

    def _more(self) -> None:
        try:
            data = self.link.recv(1 << 18)
        except OSError as problem:
            raise LinkLost(str(problem)) from problem
        if not data:
            raise LinkLost("the server closed the connection")
        self.held += data

    def close(self) -> None:
        self.link.close()


class Framed(Session):
    """Our own framing, with the stream of numbered writes that it may name."""

    PREAMBLE = b"TERN\0\0\0\1"

    def __init__(
        self, port: int, stream: str | None = None, source: str = "127.0.0.1",
        seconds: float = 30, opens: bool = True,
    ) -> None:
        super().__init__()
        self.link = connect(port, source, seconds)
        self.held = bytearray()
        self.is_greeted = False
        self.link.sendall(self.PREAMBLE)
        if opens:
            body: Message = {"v": "5", "ns": "default"}
            if stream:
                body["c"] = stream
            self.send({"t": "c", "d": {"t": "o", "d": body}})
            while True:
                first = self.receive()
                kind = first["d"]["t"]  # type: ignore[index,call-overload]
                if kind == "i":
                    self.send({"t": "c", "d": {"t": "o", "d": body}})
                    continue
                self.handshake = first["d"]["d"]  # type: ignore[index,call-overload]
                break

    @staticmethod
    def frame(payload: bytes) -> bytes:
        return struct.pack("!I", len(payload)) + payload

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message, separators=(",", ":")).encode())

    def send_bytes(self, payload: bytes) -> None:
        try:
            self.link.sendall(self.frame(payload))
        except OSError as problem:
            raise LinkLost(str(problem)) from problem

    def receive(self) -> object:
        return json.loads(self.receive_bytes())

    def receive_bytes(self) -> bytes:
        if not self.is_greeted:
            self._need(8)
            del self.held[:8]
            self.is_greeted = True
        self._need(4)
        size = int.from_bytes(self.held[:4], "big")
        self._need(4 + size)
        payload = bytes(self.held[4:4 + size])
        del self.held[:4 + size]
        return payload

    def _need(self, count: int) -> None:
        while len(self.held) < count:
            try:
                data = self.link.recv(1 << 18)
            except OSError as problem:
                raise LinkLost(str(problem)) from problem
            if not data:
                raise LinkLost("the server closed the connection")
            self.held += data

    def close(self) -> None:
        self.link.close()


class Polling(Session):
    """Long polling; the request that carries a message brings its answer."""

    def __init__(self, port: int, source: str = "127.0.0.1", seconds: float = 30) -> None:
        super().__init__()
        self.link = Rest(port, source=source, seconds=seconds)
        self.serial = self.segment = 0
        self.waiting: list[object] = []
        script = self.link.get("/.lp?start=t&cb=1&v=5&ns=default").body.decode()
        start = re.search(r'pLPCommand\("start","([^"]*)","([^"]*)"\)', script)
        if not start:
            raise LinkLost("no session over long polling: " + script[:80])
        self.id, self.password = start.group(1), start.group(2)
        self._take(script)
        self.receive()

    def _take(self, script: str) -> None:
        for line in script.splitlines():
            if line.startswith("pRTLPCB("):
                self.waiting += json.loads("[" + line[8:line.rindex(")")] + "]")[1]
            elif line.startswith('pLPCommand("close"'):
                raise LinkLost("the session over long polling was closed")

    def send(self, message: object) -> None:
        text = json.dumps(message, separators=(",", ":")).encode()
        data = base64.urlsafe_b64encode(text).decode().rstrip("=")
        self.serial += 1
        self._take(self.link.get(
            f"/.lp?id={self.id}&pw={self.password}&ser={self.serial}&ns=default"
            f"&seg0={self.segment}&ts0=1&d0={data}").body.decode())
        self.segment += 1

    def receive(self) -> object:
        while not self.waiting:
            self.serial += 1
            path = f"/.lp?id={self.id}&pw={self.password}&ser={self.serial}&ns=default"
            self._take(self.link.get(path).body.decode())
        return self.waiting.pop(0)

    def close(self) -> None:
        self.link.close()


def timed(session: Session, action: str, body: object) -> tuple[float, Message]:
    """Asks, and returns how many seconds the answer took."""
    began = time.perf_counter()
    answer = session.ask(action, body)
    return time.perf_counter() - began, answer


def unread(port: int, source: str, window: int = 4_096) -> socket.socket:
    """A connection whose receive buffer is small, for clients that never read."""
    link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    link.settimeout(10)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    link.bind((source, 0))
    link.connect(("127.0.0.1", port))
    return link


def joined(frames: Iterable[bytes]) -> bytes:
    return b"".join(frames)
