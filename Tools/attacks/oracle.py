"""Answers and times that tell what rules hide (conditional writes by clients without rights)."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import time
from typing import Callable

from .figures import Honest, median, milliseconds, percentile
from .plan import Plan
from .report import Part
from .rest import Rest
from .server import Server
from .sessions import Framed, Polling, Session, WebSocket, timed

LARGE = 60_000


def number_hash(value: float) -> str:
    """The hash of a number, as conditional writes carry it."""
    text = "number:" + struct.pack(">d", value).hex()
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


def play(plan: Plan) -> None:
    with plan.folder() as folder, Server(plan.tern, folder) as server:
        administrator = Rest(server.port, server.administrator)
        administrator.put("/secret/pin.json", 4711)
        administrator.put("/public/small.json", 1)
        for part in range(4):
            rows = {f"r{n}": {"a": n, "b": "x" * 20} for n in range(LARGE // 4)}
            assert administrator.put(f"/secret/large/{part}.json", rows).status == 200
        openers: list[tuple[str, Callable[[], Session]]] = [
            ("websocket", lambda: WebSocket(server.port)),
            ("framing", lambda: Framed(server.port)),
            ("polling", lambda: Polling(server.port)),
        ]
        for name, opener in openers:
            _sessions(plan, name, opener, plan.scale(150, 1500))
        _rest(plan, server, plan.scale(100, 1000))
        _work(plan, server)
        _stall(plan, server)


def _sessions(plan: Plan, name: str, opener: Callable[[], Session], tries: int) -> None:
    part = plan.report.part("oracle", name)
    session = opener()
    right, wrong = number_hash(4711), number_hash(1)
    times: dict[str, list[float]] = {"right": [], "wrong": [], "there": [], "missing": []}
    answers: dict[str, set[str]] = {key: set() for key in times}
    for turn in range(tries):
        for key, path, guess in (
            ("right", "/secret/pin", right), ("wrong", "/secret/pin", wrong),
            ("there", "/secret/pin", ""), ("missing", "/secret/nothing", ""),
        ):
            seconds, answer = timed(session, "p", {"p": path, "d": 0, "h": guess})
            times[key].append(seconds)
            answers[key].add(_without_id(answer))
    session.close()
    _judge(part, times, answers)
    plan.report.close(part)


def _without_id(answer: dict[str, object]) -> str:
    """An answer without the id of its denial, which is random."""
    detail = str(answer.get("d")).split(" [")[0]
    return f"{answer.get('s')}: {detail}"


def _judge(
    part: Part, times: dict[str, list[float]], answers: dict[str, set[str]],
) -> None:
    kinds = {text for texts in answers.values() for text in texts}
    part.figure(f"{len(times['right'])} guesses of each kind, answers {sorted(kinds)}")
    part.at_most("kinds of answer", len(kinds), 1)
    medians = [median(values) for values in times.values()]
    part.figure("medians " + ", ".join(
        f"{key} {milliseconds(median(values))}" for key, values in times.items()))
    # Work that depends on what is hidden shows as a shift of the median, far beyond the noise.
    noise = max(percentile(v, 0.75) - percentile(v, 0.25) for v in times.values())
    part.at_most(
        "spread of medians", (max(medians) - min(medians)) * 1000,
        max(0.3 * min(medians), noise, 0.0002) * 1000, " ms")


def _rest(plan: Plan, server: Server, tries: int) -> None:
    part = plan.report.part("oracle", "rest if-match")
    tag = number_hash(4711)
    rest = Rest(server.port)
    times: dict[str, list[float]] = {"right": [], "wrong": [], "there": [], "missing": []}
    answers: dict[str, set[str]] = {key: set() for key in times}
    for turn in range(tries):
        for key, path, guess in (
            ("right", "/secret/pin", tag), ("wrong", "/secret/pin", number_hash(1)),
            ("there", "/secret/pin", "null_etag"), ("missing", "/secret/nothing", "null_etag"),
        ):
            began = time.perf_counter()
            answer = rest.put(f"{path}.json", 0, if_match=guess)
            times[key].append(time.perf_counter() - began)
            answers[key].add(f"{answer.status} {sorted(answer.fields)} {answer.body!r}")
    _judge(part, times, answers)
    plan.report.close(part)


def _work(plan: Plan, server: Server) -> None:
    """Requests that are denied take no longer where much is hidden than where nothing is."""
    part = plan.report.part("oracle", "work before a denial")
    increment = {".sv": {"increment": 1}}
    kinds: dict[str, tuple[str, dict[str, object]]] = {
        "increment": ("p", {"d": increment}), "put": ("p", {"d": {"a": 1}}),
        "merge": ("m", {"d": {"a": increment, "0/r1": 1}}), "get": ("g", {}),
        "listen": ("q", {"h": "x"}), "query": ("q", {"q": {"i": "a", "l": 5}, "t": 1, "h": ""}),
        "remove": ("p", {"d": None}), "deferred": ("o", {"d": increment}),
        "priority": ("p", {"d": 1, ".priority": 1}),
    }
    session = WebSocket(server.port, "127.0.1.3", seconds=60)
    rest = Rest(server.port, source="127.0.1.3")
    for name, (action, body) in kinds.items():
        times: dict[str, list[float]] = {"/secret/large": [], "/secret/nothing": []}
        for turn in range(plan.scale(15, 200)):
            for path, values in times.items():
                seconds, answer = timed(session, action, {"p": path, **body})
                values.append(seconds)
                part.holds(
                    f"{name} is denied", answer.get("s") == "permission_denied" or name == "deferred",
                    str(answer))
        _compare(part, name, times)
    paths = {
        "shallow": "{}.json?shallow=true", "export": "{}.json?format=export",
        "ordered": "{}.json?orderBy=%22$key%22&limitToFirst=1",
    }
    for name, form in paths.items():
        times = {"/secret/large": [], "/secret/nothing": []}
        for turn in range(plan.scale(15, 200)):
            for path, values in times.items():
                began = time.perf_counter()
                status = rest.get(form.format(path), if_none_match="x").status
                values.append(time.perf_counter() - began)
                part.holds(f"{name} is denied", status == 401, str(status))
        _compare(part, name, times)
    session.close()
    plan.report.close(part)


def _compare(part: Part, name: str, times: dict[str, list[float]]) -> None:
    large, nothing = (median(values) for values in times.values())
    noise = max(percentile(v, 0.75) - percentile(v, 0.25) for v in times.values())
    part.at_most(
        f"{name}: where much is hidden", (large - nothing) * 1000,
        max(1.5 * nothing, 2 * noise, 0.0005) * 1000, " ms more")


def _stall(plan: Plan, server: Server) -> None:
    """Pipelined conditional writes of strangers at a large node, beside honest clients."""
    part = plan.report.part("oracle", "hash of a large node")
    calm = Honest(server.port, 8).measure(plan.scale(3, 10))
    end = Honest(server.port, 8).begin()
    time.sleep(0.3)
    session = WebSocket(server.port, "127.0.1.1", seconds=120)
    batch = b"".join(
        WebSocket.frame(json.dumps({"t": "d", "d": {"r": n, "a": "p", "b": {
            "p": "/secret/large" if n % 2 else "/", "d": 1, "h": "x"}}}).encode())
        for n in range(1, 41))
    began = time.perf_counter()
    session.send_raw(batch)
    session.answer(40)
    seconds = time.perf_counter() - began
    rest = Rest(server.port, source="127.0.1.2")
    seconds_rest = 99.0
    # The best of some: other programs of the machine delay some of them, a hash delays all.
    for _ in range(5):
        began = time.perf_counter()
        rest.put("/secret/large.json", 1, if_match="x")
        seconds_rest = min(seconds_rest, time.perf_counter() - began)
    beside = end()
    part.figure(f"honest before {calm.text}; beside {beside.text}")
    part.at_most("40 denials", seconds, max(2, 80 * calm.p50), " s")
    part.at_most("if-match denial", seconds_rest, max(0.25, 40 * calm.p50), " s")
    part.at_most("p99 beside", beside.p99, max(1.5, 10 * calm.p99), " s")
    plan.report.close(part)
