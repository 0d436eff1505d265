"""States that a power loss could leave: all that was acknowledged is there, nothing twice."""

from __future__ import annotations

import random
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .documents import CallEnded, Documents, fields
from .plan import Plan
from .preload import build
from .rest import LinkLost, Rest
from .server import Server, ServerEnded
from .sessions import Framed

STREAM = "0102030405060708090a0b0c0d0e0f11"
HEAD = struct.Struct("=cIQQ")


@dataclass
class Operation:
    """One change of a file; `end` is where its record ends."""

    kind: bytes
    path: str
    offset: int
    data: bytes
    end: int


@dataclass
class File:
    """What is certainly on disk, and what may be."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Operation] = field(default_factory=list)


@dataclass
class Promises:
    """What was acknowledged, each with the length of the record at that moment."""

    keys: list[tuple[int, str, int]] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)
    documents: list[tuple[int, str]] = field(default_factory=list)


def play(plan: Plan) -> None:
    for storage in ("sqlite", "lmdb"):
        with plan.folder() as folder:
            library = build(folder)
            if not library:
                plan.report.skip("power", storage, "there is no C compiler")
                continue
            _play(plan, folder, storage, library)


def _play(plan: Plan, folder: Path, storage: str, library: Path) -> None:
    part = plan.report.part("power", storage)
    record = folder / "record"
    server = Server(
        plan.tern, folder / "recorded", storage, {"ATTACK_RECORD": str(record)}, library)
    with server:
        promises = _load(server, record, plan.scale(450, 3_000))
        server.kill()
    operations = parse(record, server.data)
    syncs = sum(o.kind in b"SD" for o in operations)
    part.figure(
        f"{len(operations)} operations, {syncs} syncs, "
        f"{len(promises.keys) + len(promises.counts) + len(promises.documents)} acknowledged")
    part.holds("the record has syncs", syncs > 20, "nothing was recorded")
    states = plan.scale(30, 200)
    dice = plan.dice(part.name)
    points = sorted(dice.randrange(len(operations)) for _ in range(states))
    files: dict[str, File] = {}
    done = 0
    verdicts: Counter[str] = Counter()
    for turn, point in enumerate(points):
        while done <= point:
            apply(files, operations[done])
            done += 1
        target = Server(plan.tern, folder / f"state{turn}", storage)
        _write(files, server.data, target.data, dice, turn)
        verdict, detail = _judge(target, promises, operations[point].end)
        verdicts[verdict] += 1
        if verdict != "whole" and verdicts[verdict] < 4:
            part.figure(f"{verdict} after operation {point} ({VARIANTS[turn % 5]}): {detail}")
    part.figure(f"{states} states")
    for name in ("lost", "doubled", "refused"):
        part.at_most(name, verdicts[name], 0)
    plan.report.close(part)


# Recording.


def _load(server: Server, record: Path, writes: int) -> Promises:
    """Writes over REST, our framing and as documents at once; notes what was acknowledged when."""
    promises = Promises()

    def moment() -> int:
        return record.stat().st_size

    def rest() -> None:
        link = Rest(server.port)
        for n in range(writes):
            key = f"k{n % 200}"
            if link.put(f"/open/keys/{key}.json", {"n": n, "x": "y" * (n % 700)}).status == 200:
                promises.keys.append((moment(), key, n))

    def framed() -> None:
        session = Framed(server.port, STREAM)
        for n in range(1, writes + 1):
            answer = session.ask("p", {"p": "/open/count", "d": {".sv": {"increment": 1}}, "w": n})
            if answer.get("s") == "ok":
                promises.counts.append((moment(), n))

    def documents() -> None:
        link = Documents(server.port, server.administrator)
        for n in range(writes // 6):
            link.set([f"cities/d{n}"], f"value {n}")
            promises.documents.append((moment(), f"d{n}"))

    threads = [threading.Thread(target=play) for play in (rest, framed, documents)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    time.sleep(0.05)
    return promises


def parse(record: Path, data: Path) -> list[Operation]:
    """The operations on files of the store, without those that mean nothing after a loss."""
    raw = record.read_bytes()
    operations: list[Operation] = []
    at = 0
    while at + HEAD.size <= len(raw):
        kind, path_bytes, offset, size = HEAD.unpack_from(raw, at)
        at += HEAD.size
        path = raw[at:at + path_bytes].decode()
        at += path_bytes
        payload = raw[at:at + size]
        at += size
        if path.startswith(str(data)) and not path.endswith(("-shm", "lock")):
            operations.append(Operation(kind, path, offset, payload, at))
    return operations


# Building a state.


def apply(files: dict[str, File], operation: Operation) -> None:
    """Folds an operation in. Names are durable at once and in order."""
    path = operation.path
    if operation.kind == b"R":
        files[operation.data.decode()] = files.pop(path, File())
    elif operation.kind == b"U":
        files.pop(path, None)
    else:
        file = files.setdefault(path, File())
        if operation.kind == b"S":
            for earlier in file.pending:
                change(file.durable, earlier)
            file.pending.clear()
        elif operation.kind == b"D":
            change(file.durable, operation)
        elif operation.kind in b"WT":
            file.pending.append(operation)


def change(content: bytearray, operation: Operation) -> None:
    """Carries out a write or a change of size."""
    end = operation.offset + len(operation.data)
    if operation.kind == b"T":
        del content[operation.offset:]
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if operation.kind != b"T":
        content[operation.offset:end] = operation.data


VARIANTS = ("none", "all", "prefix", "subset", "torn")


def _write(
    files: dict[str, File], source: Path, target: Path, dice: random.Random, turn: int,
) -> None:
    """Writes the files as they may be, with some of what no sync covers."""
    variant = VARIANTS[turn % 5]
    waiting = sorted((o for f in files.values() for o in f.pending), key=lambda o: o.end)
    if variant == "none":
        kept: list[Operation] = []
    elif variant == "all":
        kept = waiting
    elif variant == "subset":
        kept = [o for o in waiting if dice.random() < 0.5]
    else:
        kept = waiting[:dice.randrange(len(waiting) + 1)]
    if variant == "torn" and kept:
        last, sector = kept[-1], dice.choice((512, 4_096))
        cut = dice.randrange(len(last.data) // sector + 1) * sector
        torn = Operation(last.kind, last.path, last.offset, last.data[:cut], last.end)
        kept = kept[:-1] + ([torn] if cut or last.kind == b"T" else [])
    contents = {path: bytearray(file.durable) for path, file in files.items()}
    for operation in kept:
        change(contents[operation.path], operation)
    target.mkdir(parents=True)
    for path, content in contents.items():
        place = target / Path(path).relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


# Judging it.


def _judge(server: Server, promises: Promises, moment: int) -> tuple[str, str]:
    try:
        server.start(30)
    except ServerEnded as problem:
        return "refused", str(problem)[-300:]
    try:
        return _compare(server, promises, moment)
    except (LinkLost, CallEnded, OSError, ValueError, KeyError) as problem:
        return "refused", f"reading: {problem} {server.errors[-200:]}"
    finally:
        server.kill()


def _compare(server: Server, promises: Promises, moment: int) -> tuple[str, str]:
    answer = Rest(server.port, server.administrator).get("/.json")
    if answer.status != 200:
        return "refused", f"{answer.status} {answer.body[:100]!r}"
    tree = (answer.json or {}).get("open", {})  # type: ignore[union-attr]
    keys = tree.get("keys", {})
    for when, key, number in promises.keys:
        if when <= moment and keys.get(key, {"n": -1})["n"] < number:
            return "lost", f"{key} is {keys.get(key)}, {number} was acknowledged"
    counted = tree.get("count", 0)
    session = Framed(server.port, STREAM)
    last = session.handshake.get("w", 0)
    session.close()
    acknowledged = max((n for when, n in promises.counts if when <= moment), default=0)
    if counted < acknowledged or last < acknowledged:
        return "lost", f"count {counted}, last {last}, {acknowledged} were acknowledged"
    if counted != last:
        return "doubled", f"count {counted}, last number {last}"
    link = Documents(server.port, server.administrator)
    names = {
        fields(document)[0][1].rsplit(b"/", 1)[1].decode()  # type: ignore[union-attr]
        for document in link.all("cities")
    }
    link.close()
    missing = [n for when, n in promises.documents if when <= moment and n not in names]
    return ("lost", f"documents {missing[:3]}") if missing else ("whole", "")
