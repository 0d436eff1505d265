"""Clients that try to fill the disk, and disks that are full."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from .figures import MIB, megabytes
from .plan import Plan
from .rest import LinkLost, Rest
from .server import Server, ServerEnded
from .sessions import WebSocket

# What a store may hold beside its log: the value, its journal, and what SQLite moves later.
BESIDE_LOG = 96 * MIB
VALUE = 2_000_000


def play(plan: Plan) -> None:
    for storage in ("sqlite", "lmdb"):
        with plan.folder() as folder:
            _denials(plan, folder, storage)
        with plan.folder() as folder:
            _overwrites(plan, folder, storage)
    if os.geteuid() != 0:
        plan.report.skip("disk", "full", "mounting a small disk needs root")
        return
    for storage in ("sqlite", "lmdb"):
        with plan.folder() as folder:
            _mounted(plan, folder, storage)


def _denials(plan: Plan, folder: Path, storage: str) -> None:
    """Numbered writes of strangers, each of a writer of its own, and each denied."""
    part = plan.report.part("disk", f"{storage} denied writes")
    count = plan.scale(5_000, 20_000)
    dice = plan.dice(part.name)
    with Server(plan.tern, folder, storage) as server:
        rest = Rest(server.port)
        for turn in range(50):
            rest.put("/open/x.json", turn)
        before = server.stored_bytes()
        session = WebSocket(server.port, "127.0.1.1", seconds=60)
        denied = 0
        for start in range(0, count, 200):
            frames = []
            for n in range(start, start + 200):
                body = {
                    "p": f"/secret/{'p' * 300}{n}", "d": n, "w": [f"{dice.getrandbits(128):032x}", 1]}
                frames.append(WebSocket.frame(json.dumps(
                    {"t": "d", "d": {"r": n + 1, "a": "p", "b": body}}).encode()))
            session.send_raw(b"".join(frames))
            denied += session.answer(start + 200).get("s") == "permission_denied"
        session.close()
        told = len(server.errors)
        server.stop()
        part.figure(f"{count} denials")
        part.at_most("batches answered otherwise", count // 200 - denied, 0)
        part.at_most("store grew", (server.stored_bytes() - before) / 1024, 128, " KiB")
        part.at_most("standard error", told / count, 60, " bytes a denial")
    plan.report.close(part)


def _overwrites(plan: Plan, folder: Path, storage: str) -> None:
    """One value of 2 MB, overwritten again and again by somebody who may write one key."""
    part = plan.report.part("disk", f"{storage} overwrites")
    count = plan.scale(120, 500)
    # In the long run the limit that a server has by itself.
    log = plan.scale(64 * MIB, 256 * MIB)
    with Server(
        plan.tern, folder, storage, environment=plan.known("TERN_LEDGER_LOG_BYTES", log),
    ) as server:
        rest = Rest(server.port)
        most = 0
        for turn in range(count):
            text = json.dumps(f"{turn:06}" + "x" * VALUE).encode()
            answer = rest.put("/open/one.json?print=silent", text)
            part.holds("each is stored", answer.status in (200, 204), str(answer.body[:80]))
            if turn % 20 == 0:
                most = max(most, server.stored_bytes())
        rest.put("/open/one.json", None)
        server.stop()
        most = max(most, server.stored_bytes())
    part.figure(f"{count} values of {VALUE // 1_000_000} MB, {megabytes(count * VALUE)} written")
    part.at_most("store", most / MIB, (log + BESIDE_LOG) / MIB, " MiB")
    plan.report.close(part)


def _mounted(plan: Plan, folder: Path, storage: str) -> None:
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(disk)], capture_output=True,
        text=True)
    if done.returncode:
        plan.report.skip("disk", f"{storage} full", "a small disk cannot be mounted here")
        return
    try:
        _full(plan, folder, disk, storage)
    finally:
        subprocess.run(["umount", "-l", str(disk)], capture_output=True)


def _full(plan: Plan, folder: Path, disk: Path, storage: str) -> None:
    """A disk that is filled, a server that is killed there, and removals that have to get on."""
    part = plan.report.part("disk", f"{storage} full")
    server = Server(plan.tern, folder / "server", storage, data=disk / "data")
    kept: dict[str, int] = {}
    removed = refused_removals = number = 0
    try:
        with server:
            for turn in range(plan.scale(4, 10)):
                rest = Rest(server.port)
                number = _fill(rest, kept, number)
                if turn % 2:
                    server.kill()
                    server.start()
                    rest = Rest(server.port)
                for key in list(kept)[: max(10, len(kept) // 2)]:
                    if rest.delete(f"/open/rows/{key}.json").status == 200:
                        del kept[key]
                        removed += 1
                    else:
                        refused_removals += 1
            found = Rest(server.port).get('/open/rows.json?shallow=true').json or {}
            lost = [key for key in kept if key not in found]  # type: ignore[operator]
            part.figure(f"{number} rows tried, {removed} removed")
            part.at_most("removals refused", refused_removals, 0)
            part.at_most("lost", len(lost), 0)
            part.holds("it stops when asked", server.stop() == 0, f"code {server.code}")
    except (ServerEnded, LinkLost) as problem:
        part.holds("the server can be used", False, str(problem))
    plan.report.close(part)


def _fill(rest: Rest, kept: dict[str, int], number: int) -> int:
    """Writes rows of 100 KB until several were refused in a row."""
    refused = 0
    while refused < 5:
        key = f"r{number}"
        number += 1
        text = json.dumps("x" * 100_000).encode()
        try:
            status = rest.put(f"/open/rows/{key}.json?print=silent", text).status
        except LinkLost:
            status = 0
        if status in (200, 204):
            kept[key] = number
            refused = 0
        else:
            refused += 1
        if number > 20_000:
            raise LinkLost("the disk is never full")
    return number
