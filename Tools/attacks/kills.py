"""A server that is killed under load, again and again: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path

from .plan import Plan
from .rest import LinkLost, Rest
from .server import Server
from .sessions import Framed, WebSocket

STREAM = "0102030405060708090a0b0c0d0e0f13"


class Load:
    """Writers that go on over every kill, and what they were told."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.done = threading.Event()
        self.rest: dict[str, int] = {}
        self.sockets: dict[str, int] = {}
        self.numbered = 0
        self.tried = 0
        self.threads = [
            threading.Thread(target=self._always, args=(play,), daemon=True)
            for play in (self._rest, self._sockets, self._numbered)
        ]
        for thread in self.threads:
            thread.start()

    def _always(self, play) -> None:  # type: ignore[no-untyped-def]
        while not self.done.is_set():
            try:
                play()
            except (LinkLost, OSError, KeyError, ValueError, TypeError):
                time.sleep(0.01)

    def _rest(self) -> None:
        link = Rest(self.server.port, seconds=10)
        while not self.done.is_set():
            number = len(self.rest)
            if link.put(f"/open/rest/r{number}.json", number).status == 200:
                self.rest[f"r{number}"] = number

    def _sockets(self) -> None:
        session = WebSocket(self.server.port, seconds=10)
        while not self.done.is_set():
            number = len(self.sockets)
            if session.ask("p", {"p": f"/open/ws/r{number}", "d": number})["s"] == "ok":
                self.sockets[f"r{number}"] = number

    def _numbered(self) -> None:
        session = Framed(self.server.port, STREAM, seconds=10)
        while not self.done.is_set():
            self.tried = self.numbered + 1
            answer = session.ask("p", {
                "p": "/open/count", "d": {".sv": {"increment": 1}}, "w": self.tried,
                "wa": self.numbered})
            if answer["s"] == "ok":
                self.numbered = self.tried

    def end(self) -> None:
        self.done.set()
        for thread in self.threads:
            thread.join(15)


def play(plan: Plan) -> None:
    for storage in ("sqlite", "lmdb"):
        with plan.folder() as folder:
            _play(plan, folder, storage)


def _play(plan: Plan, folder: Path, storage: str) -> None:
    part = plan.report.part("kills", storage)
    dice = plan.dice(part.name)
    kills = plan.scale(8, 100)
    server = Server(plan.tern, folder / "server", storage)
    pushed = 0
    with server:
        load = Load(server)
        for turn in range(kills):
            client = None
            if turn % 4 == 0:
                client, pushed = _push(plan, folder, server.port, pushed), pushed + 1
            time.sleep(0.1 + dice.random() * 0.4)
            server.kill()
            server.start()
            if client:
                client.wait(30)
        time.sleep(0.3)
        load.end()
        _send(plan, folder, server.port)
        answer = Rest(server.port, server.administrator).get("/open.json").json
        assert isinstance(answer, dict)
        rest, sockets = answer.get("rest", {}), answer.get("ws", {})
        acknowledged = len(load.rest) + len(load.sockets) + load.numbered
        part.figure(f"{kills} kills, {acknowledged} acknowledged, {pushed} by tern --cache")
        lost = sum(_at(rest, key) != value for key, value in load.rest.items())
        lost += sum(_at(sockets, key) != value for key, value in load.sockets.items())
        count = answer.get("count", 0)
        lost += max(0, load.numbered - count)
        part.at_most("lost", lost, 0)
        part.at_most("doubled", max(0, count - load.tried), 0)
        values = sorted(answer.get("pushed", {}).values())
        part.holds(
            "each push is there once", values == list(range(pushed)), f"{values} of {pushed}")
        part.holds("it stops when asked", server.stop() == 0, f"code {server.code}")
    plan.report.close(part)


def _at(rows: object, key: str) -> object:
    return rows.get(key) if isinstance(rows, dict) else None


def _push(plan: Plan, folder: Path, port: int, number: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(plan.tern), "push", "open/pushed", json.dumps(number), *_flags(folder, port)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _send(plan: Plan, folder: Path, port: int) -> None:
    for _ in range(5):
        done = subprocess.run(
            [str(plan.tern), "pending", "send", *_flags(folder, port)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if done.returncode == 0:
            return


def _flags(folder: Path, port: int) -> list[str]:
    return [
        "--cache", str(folder / "client"), "--server", f"127.0.0.1:{port}", "--timeout", "5"]
