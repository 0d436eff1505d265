"""Single connections that try to keep everybody else waiting."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from .figures import Honest, Waits
from .plan import Plan
from .report import Part
from .rest import LinkLost, Rest
from .server import Server
from .sessions import WebSocket, unread


def play(plan: Plan) -> None:
    with plan.folder() as folder:
        with Server(plan.tern, folder, environment=plan.budget(2 << 30)) as server:
            administrator = Rest(server.port, server.administrator)
            administrator.put("/public/small.json", 1)
            rows = {f"r{n:04}": {"n": n} for n in range(1_000)}
            administrator.put("/public/rows.json", rows)
            administrator.put("/public/few.json", {f"r{n}": {"n": n} for n in range(20)})
            big = {f"r{n}": "x" * 1_000 for n in range(3_000)}
            administrator.put("/public/large.json", big)
            calm = Honest(server.port, 8, 0.1).measure(plan.scale(3, 10))
            _listens(plan, server, calm)
            _queries(plan, server, calm)
            _dashes(plan, server, calm)
            _neighbours(plan, server, calm)
            _exports(plan, server, calm)
            _scans(plan, server, calm)
    with plan.folder() as folder:
        _unread_errors(plan, folder)


@contextmanager
def _beside(plan: Plan, server: Server, name: str, calm: Waits, bound: float) -> Iterator[Part]:
    """Plays honest clients beside the attack, and judges how long they waited."""
    part = plan.report.part("stall", name)
    end = Honest(server.port, 8, 0.1).begin()
    time.sleep(0.3)
    try:
        yield part
    except (LinkLost, OSError) as problem:
        part.figure(f"the attacker was sent away: {str(problem)[:80]}")
    waits = end()
    part.figure(f"honest before {calm.text}; beside {waits.text}")
    # Ratios against the same machine a moment ago; the floor is far below what used to happen.
    part.at_most(
        "p99", waits.p99 * 1000, max(3 * calm.p99, 0.2 if plan.is_long else bound / 2) * 1000, " ms")
    part.at_most("longest", max(waits.seconds, default=99), max(bound, 20 * calm.p99), " s")
    part.at_most("unserved", len(waits.failures), 0)
    plan.report.close(part)


def _listens(plan: Plan, server: Server, calm: Waits) -> None:
    """Different filtered listens on one path, and the close of the connection that has them."""
    count = plan.scale(6_000, 50_000)
    with _beside(plan, server, f"{count} listens", calm, 1.5) as part:
        session = WebSocket(server.port, "127.0.1.1", seconds=120)
        began = time.monotonic()
        last = 0
        for start in range(0, count, 500):
            session.send_raw(b"".join(WebSocket.frame(json.dumps({
                "t": "d", "d": {"r": n + 1, "a": "q", "b": {
                    "p": "/public/few", "t": n + 1,
                    "q": {"i": "n", "sp": n, "l": 1, "vf": "l"}}}}).encode())
                for n in range(start, start + 500)))
            last = start + 500
            answer = session.answer(last)
            if answer.get("s") != "ok":
                part.figure(f"refused after {last}: {answer.get('s')}")
                break
            session.pushes.clear()
        part.at_most("making them", time.monotonic() - began, count / 500 + 5, " s")
        session.close()
        time.sleep(2)


def _queries(plan: Plan, server: Server, calm: Waits) -> None:
    """A burst of different queries, each over 1,000 children, by one connection."""
    count = plan.scale(500, 5_000)
    with _beside(plan, server, f"{count} queries in a burst", calm, 1.5) as part:
        session = WebSocket(server.port, "127.0.1.1", seconds=120)
        session.send_raw(b"".join(WebSocket.frame(json.dumps({
            "t": "d", "d": {"r": n + 1, "a": "q", "b": {
                "p": "/public/rows", "t": n + 1,
                "q": {"i": "n", "sp": n, "l": 1, "vf": "l"}}}}).encode())
            for n in range(count)))
        began = time.monotonic()
        session.answer(count)
        part.figure(f"all of them after {time.monotonic() - began:.1f} s")
        session.close()


def _dashes(plan: Plan, server: Server, calm: Waits) -> None:
    """An upload in which its boundary almost comes, at each byte."""
    size = plan.scale(40, 60) << 20
    with _beside(plan, server, f"{size >> 20} MB of dashes", calm, 1.5) as part:
        rest = Rest(server.port, source="127.0.1.1", seconds=90)
        began = time.monotonic()
        answer = rest.ask(
            "POST", "/secret/.upload", b"-" * size,
            Content_Type=f"multipart/form-data; boundary={'-' * 60}x")
        part.figure(f"answer {answer.status} after {time.monotonic() - began:.1f} s")


def _neighbours(plan: Plan, server: Server, calm: Waits) -> None:
    """Limited queries that look at each child, beside a row of almost 1 MiB in the journal."""
    count = plan.scale(30, 100)
    # The first rows of the tree lie next to those of the journal.
    place = "/open/!rows"
    writer = Rest(server.port, source="127.0.1.1")
    writer.put(place + ".json", {f"r{n:04}": {"n": n} for n in range(1_000)})
    for turn in range(1_100):
        writer.put("/open/zz.json", turn)
    with _beside(plan, server, f"{count} queries beside a large row", calm, 1.5) as part:
        writer.put("/open/zz.json", {f"f{n}": "x" * 9_000 for n in range(100)})
        sessions = [
            WebSocket(server.port, f"127.0.1.{1 + n % 50}", seconds=120) for n in range(count)]
        began = time.monotonic()
        for session in sessions:
            session.post("q", {"p": place, "q": {"l": 900, "vf": "l"}, "t": 1})
        for session in sessions:
            session.answer(1)
        part.at_most("all of them", time.monotonic() - began, max(4, count * 0.1), " s")
        for session in sessions:
            session.close()


def _exports(plan: Plan, server: Server, calm: Waits) -> None:
    """Large reads that nobody takes, more than the server gives out at once."""
    with _beside(plan, server, "unread exports", calm, 1.5) as part:
        held: list[socket.socket] = []
        for n in range(20):
            link = unread(server.port, f"127.0.1.{1 + n}")
            link.sendall(b"GET /public/large.json HTTP/1.1\r\nHost: a\r\n\r\n")
            held.append(link)
        time.sleep(plan.scale(1, 5))
        honest = Rest(server.port, source="127.0.3.1", seconds=60)
        patience = plan.scale(12, 40)
        deadline, status = time.monotonic() + patience, 0
        began = time.monotonic()
        while time.monotonic() < deadline and status != 200:
            try:
                status = honest.get("/public/large.json").status
            except LinkLost:
                status = 0
            if status != 200:
                time.sleep(0.3)
        part.at_most(
            "an honest large read", time.monotonic() - began if status == 200 else 999, patience,
            " s")
        for link in held:
            link.close()


def _scans(plan: Plan, server: Server, calm: Waits) -> None:
    """Aggregations that read every document of a collection and find none, one behind another."""
    count, seconds = plan.scale(4_000, 40_000), plan.scale(4, 30)
    place = "projects/scans/databases/(default)/documents"
    administrator = Rest(server.port, server.administrator, seconds=120)
    for start in range(0, count, 400):
        writes = [
            {"update": {"name": f"{place}/c/d{n}", "fields": {
                "even": {"booleanValue": n % 2 == 0}, "odd": {"booleanValue": n % 2 == 1}}}}
            for n in range(start, start + 400)]
        answer = administrator.ask(
            "POST", f"/v1/{place}:commit", json.dumps({"writes": writes}).encode(),
            Content_Type="application/json")
        assert answer.status == 200, answer.body[:200]
    filters = [{"fieldFilter": {
        "field": {"fieldPath": path}, "op": "EQUAL", "value": {"booleanValue": True}}}
        for path in ("even", "odd")]
    query = json.dumps({"structuredAggregationQuery": {
        "aggregations": [{"alias": "n", "count": {}}],
        "structuredQuery": {
            "from": [{"collectionId": "c"}],
            "where": {"compositeFilter": {"op": "AND", "filters": filters}}}}}).encode()
    answers: list[str] = []
    deadline = time.monotonic() + seconds

    def scan(number: int) -> None:
        rest = Rest(server.port, server.administrator, f"127.0.1.{1 + number}", seconds=60)
        while time.monotonic() < deadline:
            answer = rest.ask(
                "POST", f"/v1/{place}:runAggregationQuery", query, Content_Type="application/json")
            text = answer.body.replace(b" ", b"")
            is_right = answer.status == 200 and b'"integerValue":"0"' in text
            answers.append("" if is_right else f"{answer.status} {answer.body[:100]!r}")

    with _beside(plan, server, f"scans of {count} documents", calm, 1.5) as part:
        threads = [threading.Thread(target=scan, args=(n,), daemon=True) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 60)
        wrong = [text for text in answers if text]
        part.figure(f"{len(answers)} scans in {seconds} s")
        part.holds("each scan is answered", bool(answers) and not wrong, str(wrong[:1]))


def _unread_errors(plan: Plan, folder: Path) -> None:
    """A supervisor that does not read standard error, and strangers whose denials are told there."""
    part = plan.report.part("stall", "stderr that nobody empties")
    server = Server(plan.tern, folder, is_unread=True)
    with server:
        rest = Rest(server.port, seconds=5)
        served = 0
        try:
            for n in range(2_000):
                rest.get(f"/secret/{'x' * 500}/{n}.json")
                served += 1
        except LinkLost as problem:
            part.figure(f"no answer: {problem}")
        part.at_most("denials that were not answered", 2_000 - served, 0)
        part.holds("it ends when it is asked to", server.stop(10) == 0, "SIGTERM had no effect")
    server.close_unread()
    plan.report.close(part)
