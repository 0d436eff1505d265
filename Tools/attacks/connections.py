"""Idle connections that take all descriptors of a server."""

from __future__ import annotations

import resource
import socket
import time

from .plan import Plan
from .report import Part
from .rest import LinkLost, Rest, connect
from .server import Server

IDLE = 1_000


def play(plan: Plan) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < IDLE * 2 + 200:
        plan.report.skip("connections", "idle", f"only {hard} descriptors are allowed here")
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, IDLE + 500), hard))
    for is_hard in (False, True):
        with plan.folder() as folder:
            server = Server(
                plan.tern, folder, descriptors=256, is_limit_hard=is_hard)
            with server:
                _play(plan, server, "hard limit of 256" if is_hard else "soft limit of 256", is_hard)


def _play(plan: Plan, server: Server, name: str, is_hard: bool) -> None:
    part = plan.report.part("connections", name)
    administrator = Rest(server.port, server.administrator)
    administrator.put("/public/small.json", 1)
    administrator.close()
    held: list[socket.socket] = []
    for n in range(IDLE):
        try:
            link = connect(server.port, f"127.0.1.{1 + n % 50}", 2)
            link.sendall(b"GET /public/small.json HTTP/1.1\r\nHost: a\r\nX: ")
            held.append(link)
        except OSError:
            break
    part.figure(f"{len(held)} idle connections, {server.open_descriptors()} descriptors")
    began, used = time.monotonic(), server.processor_seconds()
    if not is_hard:
        part.at_most("new clients unserved", _unserved(server, 20), 0)
    time.sleep(plan.scale(2, 10))
    share = (server.processor_seconds() - used) / (time.monotonic() - began)
    part.at_most("processor while they idle", share * 100, 40, " %")
    for link in held:
        link.close()
    _afterwards(part, server)
    part.holds("it stops when asked", server.stop() == 0, f"code {server.code}")
    plan.report.close(part)


def _unserved(server: Server, clients: int) -> int:
    unserved = 0
    for n in range(clients):
        rest = Rest(server.port, source=f"127.0.2.{1 + n}", seconds=5)
        try:
            unserved += rest.get("/public/small.json").status != 200
        except LinkLost:
            unserved += 1
        rest.close()
        if unserved > 2:
            return unserved
    return unserved


def _afterwards(part: Part, server: Server) -> None:
    began = time.monotonic()
    while time.monotonic() - began < 15:
        if _unserved(server, 3) == 0:
            break
    part.at_most("served again after", time.monotonic() - began, 12, " s")
