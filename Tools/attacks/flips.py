"""Single flipped bits in stores: what is read afterwards is right, or the damage is reported."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from .documents import CallEnded, Documents
from .flipping import flip
from .plan import Plan
from .rest import LinkLost, Rest
from .server import Server, ServerEnded
from .sessions import Framed

STREAM = "0102030405060708090a0b0c0d0e0f10"
Reading = dict[str, str]


# At full scale 10,000 flips anywhere and 1,000 targeted ones, over all stores and places.
ANYWHERE, TARGETED = 1_250, 125


def play(plan: Plan) -> None:
    """Flips bits anywhere first, and targeted ones then, in each store and place."""
    flips = (plan.scale(8, ANYWHERE), plan.scale(12, TARGETED))
    offline = (plan.scale(5, ANYWHERE), plan.scale(7, TARGETED))
    for storage in ("sqlite", "lmdb"):
        for ending in ("stopped", "killed"):
            with plan.folder() as folder:
                _server(plan, folder, storage, ending, flips)
        for place in ("cache", "queue"):
            with plan.folder() as folder:
                _client(plan, folder, storage, place, offline)


# A server's store.


def fill(server: Server, children: int = 1_200, documents: int = 300) -> None:
    """Stores a tree, documents and a writer's outcomes, and settles all but the last writes."""
    rest = Rest(server.port, server.administrator)
    rows = {f"k{n:04}": {"n": n, "text": f"value {n} " + "x" * (n % 60)} for n in range(children)}
    assert rest.put("/t.json", rows).status == 200
    assert rest.put("/secret.json", {"pin": 4711, "deep": {"a": {"b": {"c": "d"}}}}).status == 200
    link = Documents(server.port, server.administrator)
    for start in range(0, documents, 100):
        link.set([f"cities/d{n:03}" for n in range(start, min(start + 100, documents))], "text" * 8)
    link.close()
    for turn in range(1_100):
        assert rest.put(f"/churn/{turn % 300}.json", turn).status == 200
    session = Framed(server.port, STREAM)
    for number in range(1, 31):
        session.ask("p", {"p": f"/open/stream/{number}", "d": number, "w": number})
    session.close()
    for turn in range(40):
        assert rest.put(f"/late/{turn}.json", f"late {turn}").status == 200


def read(server: Server) -> Reading:
    """Everything that can be read, by place; an error is a reading of its own."""
    found: Reading = {}
    for path in ("/", "/t", "/churn", "/late", "/secret/pin", "/t/k0700", "/open/stream"):
        found[path] = _rest(server, path + ".json" if path != "/" else "/.json")
    found["first 40"] = _rest(server, '/t.json?orderBy="$key"&limitToFirst=40')
    found["last 40"] = _rest(server, '/t.json?orderBy="$key"&limitToLast=40')
    found["shallow"] = _rest(server, "/t.json?shallow=true")
    found["documents"] = _documents(server)
    found["writer"] = _writer(server)
    return found


def _rest(server: Server, path: str) -> str:
    try:
        answer = Rest(server.port, server.administrator, seconds=15).get(path)
    except (LinkLost, ValueError) as problem:
        return f"error: {problem}"
    if answer.status != 200 or not answer.is_whole:
        return f"error: {answer.status} {answer.body[-200:]!r}"
    return _digest(answer.body)


def _documents(server: Server) -> str:
    try:
        link = Documents(server.port, server.administrator, seconds=15)
        found = link.all("cities")
        link.close()
    except (CallEnded, LinkLost, OSError, IndexError) as problem:
        return f"error: {problem}"
    return f"{len(found)} {_digest(b''.join(found))}"


def _writer(server: Server) -> str:
    try:
        session = Framed(server.port, STREAM, seconds=15)
        last = session.handshake.get("w")
        answer = session.ask("wo", {"f": 1, "l": 40})
        session.close()
    except (LinkLost, OSError, ValueError, KeyError, TypeError) as problem:
        return f"error: {problem}"
    if answer.get("s") != "ok":
        return f"error: {answer}"
    return f"{last} {json.dumps(answer['d'], sort_keys=True)}"


def _digest(data: bytes) -> str:
    return f"{len(data)} bytes {hashlib.sha256(data).hexdigest()[:12]}"


def _server(
    plan: Plan, folder: Path, storage: str, ending: str, flips: tuple[int, int],
) -> None:
    part = plan.report.part("flips", f"server {storage} {ending}")
    dice = plan.dice(part.name)
    server = Server(plan.tern, folder / "original", storage)
    with server:
        fill(server)
        server.stop() if ending == "stopped" else server.kill()
    master = folder / "master"
    shutil.copytree(server.data, master)
    with _copy(plan, folder, storage, master) as control:
        right = read(control)
        control.stop()
    part.holds("the control reads without errors", not _errors(right), str(_errors(right)))
    verdicts: Counter[str] = Counter()
    for turn in range(sum(flips)):
        scratch = _copy(plan, folder, storage, master)
        where = flip(
            scratch.data, dice, prefers_log=ending == "killed" and turn % 2 == 0,
            is_targeted=turn >= flips[0])
        verdict, detail = _judge(scratch, right)
        verdicts[verdict] += 1
        if verdict in ("wrong", "died", "hung"):
            part.figure(f"{verdict} at {where}: {detail}") if verdicts[verdict] < 4 else None
    _close(plan, part, flips, verdicts)


def _copy(plan: Plan, folder: Path, storage: str, master: Path) -> Server:
    place = folder / "scratch"
    shutil.rmtree(place, ignore_errors=True)
    server = Server(plan.tern, place, storage)
    shutil.copytree(master, server.data)
    return server


def _errors(reading: Reading) -> list[str]:
    return [f"{place}: {text}" for place, text in reading.items() if text.startswith("error:")]


def _judge(server: Server, right: Reading) -> tuple[str, str]:
    """`right`, `noticed` (an error somewhere, nothing wrong), `wrong`, `died` or `hung`."""
    try:
        server.start(20)
    except ServerEnded as problem:
        if problem.code is None:
            return "hung", problem.errors[-200:]
        return ("died" if problem.code < 0 else "noticed"), f"exit {problem.code}"
    try:
        found = read(server)
        if not server.is_running:
            code = server.code or 0
            return ("died", f"signal {-code}") if code < 0 else ("noticed", f"exit {code}")
        wrong = [
            f"{place} is {found[place]} instead of {right[place]}"
            for place in right
            if found[place] != right[place] and not found[place].startswith("error:")
        ]
        if wrong:
            return "wrong", "; ".join(wrong)[:300]
        return ("noticed", "") if _errors(found) else ("right", "")
    finally:
        if server.is_running:
            server.kill()


def _close(  # type: ignore[no-untyped-def]
    plan: Plan, part, flips: tuple[int, int], verdicts: Counter[str],
) -> None:
    part.figure(
        f"{flips[0]} flips anywhere, {flips[1]} targeted: right {verdicts['right']}, noticed {verdicts['noticed']}")
    part.at_most("wrong or missing without an error", verdicts["wrong"], 0)
    part.at_most("ended by a signal", verdicts["died"], 0)
    part.at_most("hung", verdicts["hung"], 0)
    plan.report.close(part)


# A client's stores.


def _client(
    plan: Plan, folder: Path, storage: str, place: str, flips: tuple[int, int],
) -> None:
    part = plan.report.part("flips", f"client {storage} {place}")
    dice = plan.dice(part.name)
    cache = folder / "client"
    server = Server(plan.tern, folder / "server")
    with server:
        if place == "cache":
            rows = {f"k{n:04}": {"n": n, "text": f"value {n} " + "x" * 30} for n in range(400)}
            assert Rest(server.port, server.administrator).put("/public.json", rows).status == 200
            filled = _tern(plan, ["get", "public", "--cache", str(cache), *_at(server.port, storage)])
            part.holds("the cache was filled", filled.returncode == 0, filled.stderr)
        server.stop()
    if place == "queue":
        for n in range(12):
            _tern(plan, [
                "set", f"open/queued/{n}", json.dumps(f"value {n}"), "--timeout", "1",
                "--cache", str(cache), *_at(server.port, storage)])
        arguments = ["pending", "list", "--json"]
    else:
        arguments = ["get", "public", "--timeout", "1"]
    control = _offline(plan, folder, cache, arguments, server.port, storage, None)
    part.holds("the control reads", control[0] == 0 and len(control[1]) > 500, str(control)[:300])
    verdicts: Counter[str] = Counter()
    for turn in range(sum(flips)):
        code, text, errors, where = _offline(
            plan, folder, cache, arguments, server.port, storage, dice, turn >= flips[0])
        if code < 0:
            verdict = "died"
        elif code == 124:
            verdict = "hung"
        elif code == 0 and text != control[1]:
            # Whoever is told that something was lost can ask again; silence is what is wrong.
            verdict = "noticed" if errors != control[2] else "wrong"
        else:
            verdict = "right" if code == 0 else "noticed"
        verdicts[verdict] += 1
        if verdict in ("wrong", "died", "hung") and verdicts[verdict] < 4:
            part.figure(f"{verdict} at {where}: exit {code}, {len(text)} bytes of {len(control[1])}")
    _close(plan, part, flips, verdicts)


def _at(port: int, storage: str) -> list[str]:
    return ["--server", f"127.0.0.1:{port}", "--storage", storage]


def _tern(plan: Plan, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [str(plan.tern), *arguments], capture_output=True, text=True, timeout=20,
            stdin=subprocess.DEVNULL, errors="replace",
            env={"PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", "")


def _offline(
    plan: Plan, folder: Path, cache: Path, arguments: list[str], port: int, storage: str,
    dice: random.Random | None, is_targeted: bool = False,
) -> tuple[int, str, str, str]:
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(cache, scratch)
    where = ""
    if dice:
        store = scratch / ("queue" if arguments[0] == "pending" else "cache")
        where = flip(store, dice, is_targeted=is_targeted)
    done = _tern(plan, [*arguments, "--cache", str(scratch), *_at(port, storage)])
    return done.returncode, done.stdout, done.stderr, where
