"""Stays connected over every connection of a server behind TLS while its certificate is replaced.

usage: tls_endpoints.py HOST:PORT OLD_CERTIFICATE NEW_CERTIFICATE
Says "ready" when it is connected everywhere, and goes on when it is sent a line: then the old
certificate must be gone, and every connection must hear a write. Ends with "all heard it".
"""
import base64
import json
import queue
import re
import socket
import ssl
import struct
import sys

import grpc
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport
from google.cloud.firestore_v1.types import ListenRequest, TargetChange

PATIENCE = 60
address, old, new = sys.argv[1:]
port = int(address.rsplit(":", 1)[1])


class Connection:
    """A connection behind TLS, read up to marks."""

    def __init__(self, certificate):
        context = ssl.create_default_context(cafile=certificate)
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket = context.wrap_socket(plain, server_hostname="localhost")
        self.bytes = b""

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, target, body="", headers=""):
        self.send(
            (f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{headers}"
             f"Content-Length: {len(body)}\r\n\r\n{body}").encode())

    def until(self, mark):
        while mark not in self.bytes:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError(f"ended before {mark!r}: {self.bytes!r}")
            self.bytes += more
        found, self.bytes = self.bytes.split(mark, 1)
        return found + mark

    def answer(self):
        head = self.until(b"\r\n\r\n").decode()
        length = int(re.search(r"Content-Length: (\d+)", head).group(1))
        while len(self.bytes) < length:
            self.bytes += self.socket.recv(65536)
        body, self.bytes = self.bytes[:length], self.bytes[length:]
        return body.decode()


def message(number, action, body):
    return json.dumps({"t": "d", "d": {"r": number, "a": action, "b": body}}).encode()


LISTEN = message(1, "q", {"p": "/tls", "h": ""})


def web_socket():
    connection = Connection(old)
    connection.send(
        b"GET /.ws?v=5 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    connection.until(b'"t":"h"')
    # Masked with zeros, which changes nothing.
    connection.send(bytes([0x81, 0x80 | len(LISTEN), 0, 0, 0, 0]) + LISTEN)
    connection.until(b'"s":"ok"')
    return lambda: connection.until(b'"d":"heard"')


def stream():
    connection = Connection(old)
    connection.request("GET", "/tls.json", headers="Accept: text/event-stream\r\n")
    connection.until(b'"data":null}')
    return lambda: connection.until(b'"data":"heard"')


def poll():
    connection = Connection(old)
    connection.request("GET", "/.lp?start=t&ser=1&cb=1&v=5&ns=default")
    name, word = re.search(r'"start","(\w+)","(\w+)"', connection.answer()).groups()
    way = f"/.lp?id={name}&pw={word}"
    segment = base64.urlsafe_b64encode(LISTEN).decode().replace("=", ".")
    connection.request("GET", f"{way}&seg0=0&ts0=1&d0={segment}")
    assert '"s":"ok"' in connection.answer()

    def hear():
        connection.request("GET", way)
        assert '"d":"heard"' in connection.answer()
    return hear


def own_framing():
    connection = Connection(old)

    def send(data):
        connection.send(struct.pack(">I", len(data)) + data)
    connection.send(b"TERN" + bytes([0, 0, 0, 1]))
    send(json.dumps({"t": "c", "d": {"t": "o", "d": {"v": "5", "ns": "default"}}}).encode())
    connection.until(b'"t":"h"')
    send(LISTEN)
    connection.until(b'"s":"ok"')
    return lambda: connection.until(b'"d":"heard"')


def grpc_listener():
    """A listener over gRPC, which negotiates HTTP/2."""
    with open(old, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    options = [("grpc.ssl_target_name_override", "localhost")]
    channel = grpc.secure_channel(f"127.0.0.1:{port}", credentials, options=options)
    client = FirestoreClient(transport=FirestoreGrpcTransport(channel=channel))
    database = "projects/tls/databases/(default)"
    name = database + "/documents/endpoints/grpc"
    requests = queue.Queue()
    target = {"target_id": 1, "documents": {"documents": [name]}}
    requests.put(ListenRequest(database=database, add_target=target))
    answers = client.listen(requests=iter(requests.get, None), timeout=4 * PATIENCE)
    current = TargetChange.TargetChangeType.CURRENT
    while next(iter(answers)).target_change.target_change_type != current:
        pass

    def hear():
        write = {"update": {"name": name, "fields": {"x": {"string_value": "heard"}}}}
        client.commit(request={"database": database, "writes": [write]})
        while next(iter(answers)).document_change.document.name != name:
            pass
    return hear


def rest():
    connection = Connection(old)

    def put():
        connection.request("PUT", "/tls.json", '"heard"')
        assert connection.answer() == '"heard"'
    return put


endpoints = {"WebSocket": web_socket(), "stream": stream(), "poll": poll(), "own": own_framing(),
         "gRPC": grpc_listener()}
writer = rest()
print("ready", flush=True)
sys.stdin.readline()
try:
    Connection(old)
    sys.exit("the old certificate is still shown")
except ssl.SSLError:
    pass
late = Connection(new)
writer()
for name, hear in endpoints.items():
    hear()
    print("heard over", name, flush=True)
late.request("GET", "/tls.json")
assert late.answer() == '"heard"'
print("all heard it", flush=True)
