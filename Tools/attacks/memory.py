"""Clients without rights that try to make the server hold more memory than its budget."""

from __future__ import annotations

import json
import random
import socket
import time
from pathlib import Path
from typing import Callable

from .figures import MIB, Attackers, Honest, Waits, megabytes
from .plan import Plan
from .rest import LinkLost, Rest, connect, drain, reset
from .server import Server, ServerEnded, Watch
from .sessions import Framed, Polling, WebSocket, unread

BUDGET = 256 * MIB
# What a server may hold beyond its budget: code, caches of the store, the allocator's rest.
BEYOND = 64 * MIB
# The most reads that go on at once beside the executor. SQLite keeps the descriptors of connections
# that were closed for the next ones, while another connection to the file is open.
READERS = 16
# Far beyond the budget the machine is protected: the server is ended, and the bound is broken.
CEILING = BUDGET + 1_024 * MIB

Attack = Callable[[str, float], None]


def play(plan: Plan) -> None:
    shapes: list[tuple[str, Callable[[int], Attack]]] = [
        ("bodies", _bodies), ("messages", _messages), ("pings", _pings), ("batched reads", _reads),
        ("unread listens", _listens), ("resets", _resets), ("slow heads", _heads),
        ("half-open sessions", _halves), ("rapid resets", _rapid_resets), ("idle", _idle),
    ]
    known = [name for name, _ in shapes] + ["endings"]
    if plan.part is not None and plan.part not in known:
        raise SystemExit(f"attack: memory has no part {plan.part!r}; it has: {', '.join(known)}")
    for name, shape in shapes:
        if not plan.wants(name):
            continue
        with plan.folder() as folder:
            try:
                _play(plan, folder, name, shape)
            except (ServerEnded, LinkLost, OSError) as problem:
                part = plan.report.part("memory", name)
                part.holds("the server can be used", False, str(problem))
                plan.report.close(part)
    if plan.wants("endings"):
        with plan.folder() as folder:
            _endings(plan, folder)


def _endings(plan: Plan, folder: Path) -> None:
    """Connections that end at every stage of their life, by a reset or by a goodbye."""
    part = plan.report.part("memory", "bytes kept of a connection")

    def end_all(count: int, port: int) -> None:
        # Sessions over long polling outlive their connections by the absence they are allowed.
        stages = [stage for stage in _stages(port) if plan.is_long or b".lp" not in stage]
        for n in range(count):
            link = connect(port, f"127.0.1.{1 + n % 50}", 5)
            link.sendall(stages[n % len(stages)])
            reset(link) if n // len(stages) % 3 else link.close()

    count = plan.scale(6_000, 100_000)
    with Server(plan.tern, folder) as server:
        Rest(server.port, server.administrator).put("/public/small.json", 1)
        end_all(4_000, server.port)
        time.sleep(2)
        before, descriptors = server.resident_bytes(), server.open_descriptors()
        end_all(count, server.port)
        after, left = _rest_after(server, before, descriptors, plan.scale(6, 70))
        part.figure(f"{count} endings, resident {megabytes(before)} then {megabytes(after)}")
        part.at_most("kept", (after - before) / count, 800, " bytes a connection")
        part.at_most("descriptors more", left - descriptors, 5)
    plan.report.close(part)


def _play(plan: Plan, folder: Path, name: str, shape: Callable[[int], Attack]) -> None:
    part = plan.report.part("memory", name)
    seconds = plan.scale(3, 180)
    addresses = plan.scale(8, 50)
    honest = plan.scale(10, 100)
    with Server(plan.tern, folder, environment=plan.budget(BUDGET)) as server:
        _fill(server)
        pause = honest / 100
        calm = Honest(server.port, honest, pause).measure(plan.scale(2, 20))
        elsewhere = _attack_elsewhere(plan, folder / "other", server, shape) if plan.is_long else None
        start = server.resident_bytes()
        descriptors = server.open_descriptors()
        with Watch(server, CEILING) as watch:
            end = Honest(server.port, honest, pause).begin()
            # A burst of connections delays those who connect just then; they are here before.
            time.sleep(1)
            Attackers(addresses, seconds, shape(server.port)).run()
            beside = end()
            is_alive = server.is_running
            settled, left = _rest_after(server, start, descriptors, plan.scale(6, 60))
        part.figure(f"{addresses} addresses for {seconds} s")
        part.figure(f"honest before: {calm.text}; beside: {beside.text}")
        if elsewhere:
            part.figure(f"while another server is attacked: {elsewhere.text}")
            part.figure(f"beside to that: {beside.p99 / elsewhere.p99:.2f}")
        part.figure(f"resident at the start {megabytes(start)}")
        part.holds("the server is alive", is_alive or watch.was_cut, f"code {server.code}")
        part.at_most("peak", watch.peak / MIB, (BUDGET + BEYOND) / MIB, " MiB")
        if is_alive and not watch.was_cut:
            part.at_most("afterwards", settled / MIB, _rest_bound(plan, start), " MiB")
            part.at_most("descriptors more", left - descriptors, 5 + READERS)
        part.at_most("p99", beside.p99 * 1000, _p99_bound(calm.p99, elsewhere), " ms")
        unserved = len(beside.failures) / max(1, len(beside.failures) + len(beside.seconds))
        part.at_most("unserved", unserved * 100, 1, " %")
        if beside.failures:
            part.figure(f"first unserved: {beside.failures[0][:90]}")
        if server.is_running:
            part.holds("it stops when asked", server.stop() == 0, f"code {server.code}")
    plan.report.close(part)


def _attack_elsewhere(
    plan: Plan, folder: Path, server: Server, shape: Callable[[int], Attack],
) -> Waits:
    """What the honest clients of `server` meet while the same attack meets another server here.

    It tells what the attack costs the processors that all share from what it costs the server.
    """
    honest = plan.scale(10, 100)
    with Server(plan.tern, folder, environment=plan.budget(BUDGET)) as other:
        _fill(other)
        end = Honest(server.port, honest, honest / 100).begin()
        time.sleep(1)
        Attackers(plan.scale(8, 50), plan.scale(3, 60), shape(other.port)).run()
        return end()


def _fill(server: Server) -> None:
    administrator = Rest(server.port, server.administrator)
    administrator.put("/public/small.json", 1)
    administrator.put("/public/large.json", {f"r{n}": "x" * 1_000 for n in range(5_000)})
    administrator.put("/public/middle.json", {f"r{n}": "x" * 1_000 for n in range(1_000)})
    administrator.put("/public/rows.json", {f"r{n}": {"n": n} for n in range(50)})


def _p99_bound(calm: float, elsewhere: Waits | None) -> float:
    """Three times as long as without, in milliseconds.

    A machine that the attackers and the honest share with the server makes both wait for its
    processors: what counts is the wait while another server is attacked, where it was measured;
    elsewhere there is a floor.
    """
    return 3_000 * max(calm, elsewhere.p99 if elsewhere else 0.2)


def _rest_bound(plan: Plan, start: int) -> float:
    """Back to where it began, within a tenth; an allocator keeps some of what it was given."""
    return (start * 1.1 + (24 if plan.is_long else 48) * MIB) / MIB


def _rest_after(server: Server, start: int, descriptors: int, seconds: int) -> tuple[int, int]:
    """Resident bytes and descriptors after a pause, as soon as they are back or it is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.is_running:
        if server.resident_bytes() < start * 1.05 and server.open_descriptors() <= descriptors:
            break
        time.sleep(0.2)
    return server.resident_bytes(), server.open_descriptors()


# The shapes. Each returns what one address does again and again until the deadline.


def _bodies(port: int) -> Attack:
    """Bodies that are denied in the end, and take many times their size when they are parsed."""
    body = b"[" + b"1," * (10 * MIB) + b"1]"

    def attack(source: str, deadline: float) -> None:
        rest = Rest(port, source=source, seconds=max(1, deadline - time.monotonic()))
        rest.put("/secret.json", body)
        rest.close()

    return attack


def _messages(port: int) -> Attack:
    """The same over WebSocket and our own framing."""
    data = b"[" + b"1," * (6 * MIB) + b"1]"
    text = b'{"t":"d","d":{"r":1,"a":"p","b":{"p":"/secret","d":' + data + b"}}}"

    def attack(source: str, deadline: float) -> None:
        left = max(1, deadline - time.monotonic())
        if random.random() < 0.5:
            session = WebSocket(port, source, seconds=left)
            session.send_raw(WebSocket.frame(text))
            session.receive()
        else:
            framed = Framed(port, source=source, seconds=left)
            framed.send_bytes(text)
            framed.receive()

    return attack


def _pings(port: int) -> Attack:
    """Pings of a client that never reads the pongs."""
    burst = WebSocket.frame(b"p" * 120, 9) * 500

    def attack(source: str, deadline: float) -> None:
        _send_until(WebSocket(port, source).link, burst, deadline)

    return attack


def _reads(port: int) -> Attack:
    """Bursts of reads of a large public node over one connection that never reads."""
    ws = b"".join(WebSocket.frame(_read(n, "/public/large")) for n in range(1, 101))
    own = b"".join(Framed.frame(_read(n, "/public/large")) for n in range(1, 101))

    def attack(source: str, deadline: float) -> None:
        if random.random() < 0.5:
            session = WebSocket(port, source)
            session.link.sendall(ws)
            link = session.link
        else:
            framed = Framed(port, source=source)
            framed.link.sendall(own)
            link = framed.link
        time.sleep(min(3, max(0, deadline - time.monotonic())))
        reset(link)

    return attack


def _read(number: int, path: str) -> bytes:
    return json.dumps(
        {"t": "d", "d": {"r": number, "a": "g", "b": {"p": path}}}).encode()


def _listens(port: int) -> Attack:
    """Many listens on a node of 1 MB over connections that never read."""
    burst = b"".join(
        WebSocket.frame(json.dumps({"t": "d", "d": {"r": n, "a": "q", "b": {
            "p": "/public/middle", "q": {"l": 1_000 + n, "vf": "l"}, "t": n}}}).encode())
        for n in range(1, 101))

    def attack(source: str, deadline: float) -> None:
        held: list[socket.socket] = []
        try:
            for _ in range(3):
                session = WebSocket(port, source)
                held.append(session.link)
                session.link.sendall(burst)
            time.sleep(min(4, max(0, deadline - time.monotonic())))
        finally:
            for link in held:
                reset(link)

    return attack


def _resets(port: int) -> Attack:
    """Connections that are reset at every stage of their beginning."""
    stages = _stages(port)

    def attack(source: str, deadline: float) -> None:
        for _ in range(200):
            if time.monotonic() > deadline:
                return
            link = connect(port, source, 5)
            link.sendall(random.choice(stages))
            if random.random() < 0.2:
                time.sleep(0.002)
            reset(link)

    return attack


def _stages(port: int) -> list[bytes]:
    """The first bytes of connections of every kind, up to where something has begun."""
    upgrade = (
        f"GET /.ws?v=5&ns=default HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n").encode()
    opening = Framed.PREAMBLE + Framed.frame(
        b'{"t":"c","d":{"t":"o","d":{"v":"5","ns":"default"}}}')
    return [
        b"", b"T", b"TERN", b"TERN\0\0", Framed.PREAMBLE, Framed.PREAMBLE + b"\0\0", opening,
        b"\x02\x01", b"GET", upgrade[:40], upgrade, upgrade + WebSocket.frame(_read(1, "/public")),
        b"GET /.lp?start=t&cb=1&v=5&ns=default HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /public.json HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n",
    ]


def _heads(port: int) -> Attack:
    """Heads and bodies that arrive a few bytes at a time."""

    def attack(source: str, deadline: float) -> None:
        held = [connect(port, source) for _ in range(40)]
        texts = [
            b"PUT /secret.json HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n",
            b"GET /public/small.json HTTP/1.1\r\nHost: a\r\nX: ",
            Framed.PREAMBLE + b"\3\xff\0\0",
        ]
        try:
            for n, link in enumerate(held):
                link.sendall(texts[n % 3])
            while time.monotonic() < deadline:
                for link in held:
                    link.sendall(b"1" * 2_000)
                time.sleep(0.2)
        finally:
            for link in held:
                link.close()

    return attack


def _halves(port: int) -> Attack:
    """Sessions that are opened and left, polls above all."""

    def attack(source: str, deadline: float) -> None:
        for _ in range(20):
            if time.monotonic() > deadline:
                return
            Polling(port, source).close()
            opened = connect(port, source)
            opened.sendall(Framed.PREAMBLE)
            silent = unread(port, source)
            silent.sendall(b"GET /.ws?v=5 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n")
            session = WebSocket(port, source)
            session.post("o", {"p": "/open/left", "d": "x" * 5_000})
            for link in (opened, silent, session.link):
                link.close()

    return attack


def _rapid_resets(port: int) -> Attack:
    """Streams of HTTP/2 that are opened and reset at once, as many as fit."""
    path = b"/google.firestore.v1.Listen"
    fields = b"\x83\x86\x44" + bytes([len(path)]) + path + b"\x41\x01a"

    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(
            4, "big") + payload

    burst = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + b"".join(
        frame(1, 4, n, fields) + frame(3, 0, n, b"\0\0\0\x08") for n in range(1, 4_001, 2))

    def attack(source: str, deadline: float) -> None:
        link = connect(port, source, max(0.1, min(5, deadline - time.monotonic())))
        try:
            link.sendall(burst)
            drain(link, min(1, max(0, deadline - time.monotonic())))
        finally:
            reset(link)

    return attack


def _idle(port: int) -> Attack:
    """Sessions of every kind that are opened and say nothing, for as long as they may."""

    def attack(source: str, deadline: float) -> None:
        held: list[WebSocket | Framed | Polling] = []
        try:
            for n in range(60):
                kind = (WebSocket, Framed, Polling)[n % 3]
                held.append(kind(port, source=source))
            time.sleep(min(40, max(0, deadline - time.monotonic())))
        finally:
            for session in held:
                session.close()

    return attack


def _send_until(link: socket.socket, burst: bytes, deadline: float) -> None:
    try:
        while time.monotonic() < deadline:
            link.settimeout(max(0.1, deadline - time.monotonic()))
            link.sendall(burst)
    finally:
        link.close()
