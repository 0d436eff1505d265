"""Verdicts: one line an attack, with its figures and the bounds that they are held against."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Part:
    """One line of the report: figures, and the bounds that were broken."""

    attack: str
    name: str
    figures: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def figure(self, text: str) -> None:
        """Adds a figure that no bound holds."""
        self.figures.append(text.replace("\n", " "))

    def at_most(self, what: str, value: float, bound: float, unit: str = "") -> None:
        """Adds a figure that must not exceed a bound."""
        self.figures.append(f"{what} {_number(value)}{unit} (<= {_number(bound)})")
        if not value <= bound:
            self.broken.append(f"{what} is {_number(value)}{unit}, bound {_number(bound)}{unit}")

    def holds(self, what: str, is_true: bool, detail: str = "") -> None:
        """Adds a claim that must be true; it is printed only when it is not."""
        if not is_true:
            text = what + (f": {detail}" if detail else "")
            self.broken.append(text.replace("\n", " "))


class Report:
    """All lines of a run."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.skipped: list[str] = []

    def part(self, attack: str, name: str) -> Part:
        """Begins a line; hand it to `close` when its figures are known."""
        return Part(attack, name)

    def close(self, part: Part) -> None:
        """Prints a line, and below it each bound that was broken."""
        word = "BROKEN" if part.broken else "held"
        seconds = time.monotonic() - part.began
        title = f"{part.attack} {part.name}"
        print(f"attack: {word:6} {title}: {'; '.join(part.figures)} [{seconds:.0f} s]", flush=True)
        for text in part.broken:
            print(f"attack:        {title}: {text}", flush=True)
            self.broken.append(f"{title}: {text}")

    def skip(self, attack: str, name: str, reason: str) -> None:
        """Prints that something could not be played on this machine."""
        print(f"attack: skip   {attack} {name}: {reason}", flush=True)
        self.skipped.append(f"{attack} {name}")


def _number(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
