"""Single accepted writes that a store cannot keep: the server goes on, and starts again."""

from __future__ import annotations

import time

from .documents import DATABASE, CallEnded, Documents, deletion, mark
from .plan import Plan
from .report import Part
from .rest import LinkLost, Rest
from .server import Server, ServerEnded

# So many plain writes settle a journal of 1,024 changes for certain.
SETTLING = 1_300


def play(plan: Plan) -> None:
    for storage in ("sqlite", "lmdb"):
        with plan.folder() as folder:
            _keys(plan, Server(plan.tern, folder, storage))
        if plan.is_long:
            with plan.folder() as folder:
                _outcomes(plan, Server(plan.tern, folder, storage))


def _keys(plan: Plan, server: Server) -> None:
    """Names of projects and documents, alone and together as long as the dialect lets them be."""
    part = plan.report.part("brick", f"{server.storage} long names")
    accepted = denied = 0
    with server:
        for project_bytes in (60, 120, 600, 4_000, 4_060, 5_000):
            for path_bytes in (10, 1_000, 4_000, 5_900):
                database = f"projects/{'p' * project_bytes}/databases/(default)"
                names = ["c/" + "d" * min(path_bytes, 1_400)]
                while len(names[0]) + 1_400 < path_bytes:
                    names[0] += f"/c/{'e' * 1_400}"
                documents = Documents(server.port, server.administrator)
                try:
                    documents.set(names, "x", database)
                    accepted += 1
                except (CallEnded, LinkLost):
                    denied += 1
                finally:
                    documents.close()
        part.figure(f"{accepted} writes accepted, {denied} rejected")
        refused = _settle(server)
        part.at_most("later writes refused", refused, 0)
    _start_again(part, server)
    plan.report.close(part)


def _outcomes(plan: Plan, server: Server) -> None:
    """Many outcomes of a writer that never acknowledges them, each as large as may be."""
    part = plan.report.part("brick", f"{server.storage} row of a writer")
    refused = 0
    with server:
        documents = Documents(server.port, server.administrator, seconds=120)
        names = [f"c/{n}" for n in range(1_005)]
        stream = b"0123456789abcdef"
        pending: list[int] = []
        try:
            for sequence in range(1, 16_900):
                body = deletion(DATABASE, names, mark(stream, sequence))
                pending.append(documents.begin("Commit", body))
                if len(pending) >= 64:
                    for call in pending:
                        try:
                            documents.finish(call)
                        except CallEnded:
                            refused += 1
                    pending.clear()
        except LinkLost as problem:
            part.figure(f"the link ended: {problem}")
        part.figure(f"{sequence} commits of one writer, {refused} refused")
        part.at_most("writes of others refused", _settle(server), 0)
    _start_again(part, server)
    plan.report.close(part)


def _settle(server: Server) -> int:
    """Writes of an honest client until the journal has settled; counts those that were refused."""
    rest = Rest(server.port)
    refused = 0
    deadline = time.monotonic() + 60
    for turn in range(SETTLING):
        try:
            refused += rest.put(f"/open/after/{turn % 50}.json", turn).status != 200
        except LinkLost:
            refused += 1
        if refused > 20 or time.monotonic() > deadline:
            break
    return refused


def _start_again(part: Part, server: Server) -> None:
    server.kill()
    try:
        server.start()
        part.at_most("writes refused after a restart", _settle(server), 0)
        server.stop()
    except ServerEnded as problem:
        part.holds("the server starts again", False, str(problem))
    finally:
        if server.is_running:
            server.kill()
