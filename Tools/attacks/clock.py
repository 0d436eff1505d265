"""Clocks that are wrong when a server starts: no writer is forgotten, nothing is applied twice."""

from __future__ import annotations

from pathlib import Path

from . import tokens
from .documents import DATABASE, CallEnded, Documents, field, fields, mark
from .plan import Plan
from .preload import build
from .rest import Rest
from .server import Server
from .sessions import Framed, WebSocket

DAY = 86_400
STREAM = "0102030405060708090a0b0c0d0e0f12"
DOCUMENT_STREAM = b"fedcba9876543210"
LIES = {
    "taste": [(0, 70), (70, -700), (0, 400)],
    "long": [(0, 70), (0, -700), (0, 0), (0, 59), (0, 61), (0, 3_650), (70, 0), (-700, 70), (30, 60)],
}


def play(plan: Plan) -> None:
    with plan.folder() as folder:
        library = build(folder)
        if not library:
            plan.report.skip("clock", "lies at a start", "there is no C compiler")
            return
        for first, second in LIES["long" if plan.is_long else "taste"]:
            for storage in ("sqlite", "lmdb"):
                place = folder / f"{storage} {first} {second}"
                _lie(plan, place, storage, library, first, second)


def _lie(
    plan: Plan, folder: Path, storage: str, library: Path, first: int, second: int,
) -> None:
    part = plan.report.part("clock", f"{storage} {first:+d} then {second:+d} days")
    server = Server(plan.tern, folder, storage, preload=library)
    # Lives long enough for every lie, and began long before.
    server.administrator = tokens.sign(
        {"sub": "root", "tern": "administrator", "iat": 1}, 20_000 * DAY)
    server.environment["ATTACK_CLOCK"] = str(first * DAY)
    with server:
        session = Framed(server.port, STREAM)
        for number in range(1, 6):
            session.ask("p", {"p": "/open/count", "d": {".sv": {"increment": 1}}, "w": number})
        session.close()
        _commit(server, 1)
        server.stop()
        server.environment["ATTACK_CLOCK"] = str(second * DAY)
        server.start()
        _others(server)
        session = Framed(server.port, STREAM)
        last = session.handshake.get("w")
        # The acknowledgement of the fifth was lost, as far as its writer knows.
        session.ask(
            "p", {"p": "/open/count", "d": {".sv": {"increment": 1}}, "w": 5, "wa": 4})
        count = Rest(server.port, server.administrator).get("/open/count.json").json
        documents = _commit(server, 1)
        part.figure(f"last number {last}, count {count}, document {documents}")
        part.holds("the writer is known", last == 5, f"the handshake says {last}")
        part.holds("the repetition changes nothing", count == 5, f"count is {count}")
        part.holds("the repeated commit changes nothing", documents in ("1", None), str(documents))
        session.close()
        part.holds("it stops when asked", server.stop() == 0, f"code {server.code}")
    plan.report.close(part)


def _others(server: Server, writes: int = 1_300) -> None:
    """Writes of others until silent writers are looked for, which is every 1,024 commits."""
    session = WebSocket(server.port)
    for start in range(0, writes, 100):
        numbers = [
            session.post("p", {"p": "/open/other", "d": turn}) for turn in range(start, start + 100)
        ]
        session.answer(numbers[-1])
    session.close()


def _commit(server: Server, sequence: int) -> str | None:
    """Makes a numbered commit that increments; returns what the document then says."""
    link = Documents(server.port, server.administrator)
    name = f"{DATABASE}/documents/c/counter"
    increment = field(1, "n") + field(3, field(2, 1))
    body = field(1, DATABASE) + field(2, field(6, field(1, name) + field(2, increment)))
    try:
        link.ask("Commit", body + mark(DOCUMENT_STREAM, sequence))
        found = link.all("c")
    except CallEnded as problem:
        return None if problem.code in (12, 7) else f"status {problem.code} {problem.reason}"
    finally:
        link.close()
    return _counted(found[0]) if found else "nothing"


def _counted(document: bytes) -> str:
    entry = next(v for tag, v in fields(document) if tag == 2 and isinstance(v, bytes))
    value = next(v for tag, v in fields(entry) if tag == 2 and isinstance(v, bytes))
    return str(fields(value)[0][1])

