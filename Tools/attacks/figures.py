"""Small statistics, and clients whose waiting is measured while an attack goes on."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import threading
import time
from typing import Callable

from .rest import LinkLost, Rest
from .sessions import WebSocket

MIB = 1 << 20


def percentile(values: list[float], share: float) -> float:
    """The value below which that share of the values lies; 0 for none."""
    if not values:
        return 0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: list[float]) -> float:
    return percentile(values, 0.5)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def megabytes(count: float) -> str:
    return f"{count / MIB:.0f} MiB"


class Waits:
    """Seconds that honest clients waited, and requests that were not served."""

    def __init__(self, seconds: list[float], failures: list[str]) -> None:
        self.seconds, self.failures = seconds, failures

    @property
    def p50(self) -> float:
        return percentile(self.seconds, 0.5)

    @property
    def p99(self) -> float:
        return percentile(self.seconds, 0.99)

    @property
    def text(self) -> str:
        longest = max(self.seconds, default=0)
        return (
            f"{len(self.seconds)} requests p50 {milliseconds(self.p50)} "
            f"p99 {milliseconds(self.p99)} longest {milliseconds(longest)}"
            + (f" unserved {len(self.failures)}" if self.failures else ""))


class Honest:
    """Clients with addresses of their own that read `public` and write `open`, in turns over REST
    and WebSocket, in a process of their own."""

    def __init__(self, port: int, clients: int, pause: float = 0.2) -> None:
        self.port, self.clients, self.pause = port, clients, pause

    def measure(self, seconds: float) -> Waits:
        """Plays them for that long, and waits for them."""
        measuring = self.begin()
        time.sleep(seconds)
        return measuring()

    def begin(self) -> Callable[[], Waits]:
        """Starts them; the result ends them and returns what they met."""
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.Process(target=self._play, args=(theirs,), daemon=True)
        child.start()
        theirs.close()

        def end() -> Waits:
            try:
                ours.send("end")
                waits = ours.recv() if ours.poll(90) else ([], ["honest clients did not end"])
            except (OSError, EOFError):
                waits = ([], ["honest clients ended"])
            child.join(5)
            if child.is_alive():
                child.kill()
            return Waits(*waits)

        return end

    def _play(self, pipe) -> None:  # type: ignore[no-untyped-def]
        done = threading.Event()
        seconds: list[float] = []
        failures: list[str] = []
        threads = [
            threading.Thread(target=self._client, args=(n, done, seconds, failures), daemon=True)
            for n in range(self.clients)
        ]
        for thread in threads:
            thread.start()
        pipe.poll(3_600)
        done.set()
        deadline = time.monotonic() + 40
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
        pipe.send((list(seconds), list(failures)))
        os._exit(0)

    def _client(
        self, number: int, done: threading.Event, seconds: list[float], failures: list[str],
    ) -> None:
        dice = random.Random(number)
        source = f"127.0.2.{1 + number % 250}"
        rest = Rest(self.port, source=source, seconds=30)
        session: WebSocket | None = None
        done.wait(dice.random() * self.pause)
        while not done.is_set():
            step = dice.randrange(4)
            began = time.perf_counter()
            try:
                if step < 2:
                    answer = rest.get("/public/small.json") if step == 0 else rest.put(
                        f"/open/honest/{number}.json", dice.randrange(1000))
                    is_served = answer.status == 200
                    what = f"{answer.status} {answer.body[:60]!r}"
                else:
                    session = session or WebSocket(self.port, source=source, seconds=30)
                    reply = session.ask(*(
                        ("g", {"p": "/public/small"}) if step == 2
                        else ("p", {"p": f"/open/honest/{number}", "d": dice.randrange(1000)})))
                    is_served, what = reply.get("s") == "ok", json.dumps(reply)[:80]
            except (LinkLost, OSError, ValueError) as problem:
                session, is_served, what = None, False, str(problem)
            if is_served:
                seconds.append(time.perf_counter() - began)
            else:
                failures.append(what)
            done.wait(self.pause * (0.5 + dice.random()))


class Attackers:
    """A process of low priority with a thread for each address; other machines would cost the
    server's processors nothing either."""

    def __init__(
        self, addresses: int, seconds: float,
        attack: Callable[[str, float], None],
    ) -> None:
        self.addresses, self.seconds, self.attack = addresses, seconds, attack

    def run(self) -> None:
        """Plays the attack from all addresses, and returns at the end of its time."""
        child = multiprocessing.Process(target=self._play, daemon=True)
        child.start()
        child.join(self.seconds + 15)
        if child.is_alive():
            child.kill()
            child.join()

    def _play(self) -> None:
        os.nice(15)
        deadline = time.monotonic() + self.seconds
        threads = [
            threading.Thread(target=self._one, args=(f"127.0.1.{1 + n % 50}", deadline), daemon=True)
            for n in range(self.addresses)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0, deadline + 5 - time.monotonic()))
        os._exit(0)

    def _one(self, source: str, deadline: float) -> None:
        while time.monotonic() < deadline:
            try:
                self.attack(source, deadline)
            except (LinkLost, OSError, ValueError, KeyError, TypeError):
                time.sleep(0.05)
