"""Calls about documents over our own framing, in protobuf written by hand."""

from __future__ import annotations

from .rest import LinkLost
from .sessions import Framed

DATABASE = "projects/tern/databases/(default)"


def number(value: int) -> bytes:
    """A count in groups of seven bits, least significant first."""
    out = bytearray()
    while True:
        out.append((value & 127) | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def field(tag: int, payload: bytes | str | int) -> bytes:
    """A field of a message: a text, a message, or a number."""
    if isinstance(payload, int):
        return number(tag << 3) + number(payload)
    data = payload.encode() if isinstance(payload, str) else payload
    return number(tag << 3 | 2) + number(len(data)) + data


def text(value: str) -> bytes:
    return number(len(value.encode())) + value.encode()


def fields(message: bytes) -> list[tuple[int, bytes | int]]:
    """The fields of a message, in order; only texts, messages and numbers."""
    found: list[tuple[int, bytes | int]] = []
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        if key & 7 == 0:
            value, at = _number(message, at)
            found.append((key >> 3, value))
        elif key & 7 == 2:
            size, at = _number(message, at)
            found.append((key >> 3, message[at:at + size]))
            at += size
        else:
            size = 8 if key & 7 == 1 else 4
            found.append((key >> 3, message[at:at + size]))
            at += size
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


class CallEnded(Exception):
    """A call ended with a status that is not 0."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"status {code}: {reason}")
        self.code, self.reason = code, reason


class Documents:
    """A link about documents."""

    def __init__(self, port: int, token: str | None = None, seconds: float = 30) -> None:
        self.link = Framed(port, seconds=seconds, opens=False)
        self.token = token
        self.call_number = 0

    def close(self) -> None:
        self.link.close()

    def begin(self, method: str, message: bytes) -> int:
        """Sends a call with its only message."""
        self.call_number += 1
        pairs = [("authorization", "Bearer " + self.token)] if self.token else []
        head = b"\x02" + number(self.call_number) + text(method) + number(len(pairs))
        for name, value in pairs:
            head += text(name) + text(value)
        self.link.send_bytes(head + message)
        return self.call_number

    def finish(self, call: int) -> list[bytes]:
        """Reads the messages of a call. Throws `CallEnded` and `LinkLost`."""
        messages: list[bytes] = []
        while True:
            frame = self.link.receive_bytes()
            kind = frame[0]
            if kind == 0x16:
                continue
            of, at = _number(frame, 1)
            if of != call:
                continue
            if kind == 0x13:
                code, at = _number(frame, at)
                if code:
                    size, at = _number(frame, at)
                    raise CallEnded(code, frame[at:at + size].decode("utf-8", "replace"))
                return messages
            messages.append(frame[at:])
            if kind == 0x12:
                return messages

    def ask(self, method: str, message: bytes) -> list[bytes]:
        return self.finish(self.begin(method, message))

    def set(self, names: list[str], value: str, database: str = DATABASE) -> None:
        """Writes documents with one field `v`, in one commit."""
        self.ask("Commit", commit(database, names, value))

    def all(self, collection: str) -> list[bytes]:
        """Each document of a collection as the server encodes it, in the order of names."""
        select = field(2, field(2, collection))
        request = field(1, DATABASE + "/documents") + field(2, select)
        found: list[bytes] = []
        for message in self.ask("RunQuery", request):
            found += [v for tag, v in fields(message) if tag == 1 and isinstance(v, bytes)]
        return found


def commit(database: str, names: list[str], value: str, mark: bytes = b"") -> bytes:
    """A `CommitRequest` that sets documents; a mark numbers it."""
    data = field(1, database)
    for name in names:
        entry = field(1, "v") + field(2, field(17, value))
        document = field(1, f"{database}/documents/{name}") + field(2, entry)
        data += field(2, field(1, document))
    return data + mark


def deletion(database: str, names: list[str], mark: bytes = b"") -> bytes:
    """A `CommitRequest` that deletes documents."""
    data = field(1, database)
    for name in names:
        data += field(2, field(2, f"{database}/documents/{name}"))
    return data + mark


def mark(stream: bytes, sequence: int, acknowledged: int = 0) -> bytes:
    """The fields that number a commit (`Docs/Formats/document-wire.md`, section 2)."""
    body = field(1, stream) + field(2, sequence)
    if acknowledged:
        body += field(3, acknowledged)
    return field(7001, body)


__all__ = [
    "DATABASE", "CallEnded", "Documents", "LinkLost", "commit", "deletion", "field", "fields",
    "mark", "number", "text",
]
