"""The command `Tools/attack`."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

from .plan import Plan
from .report import Report

# In the order in which they are played; each is a module with `play(plan)`.
ATTACKS = {
    "oracle": "answers and times that tell what rules hide",
    "brick": "writes that the store cannot keep",
    "flips": "flipped bits in stores of servers and clients",
    "memory": "clients that try to make the server hold more than its budget",
    "stall": "single connections that try to keep everybody else waiting",
    "power": "states that a power loss could leave",
    "kills": "kills under load",
    "clock": "clocks that are wrong at a start",
    "connections": "idle connections that take all descriptors",
    "disk": "clients that fill the disk, and full disks",
    "wire": "requests that are not what they seem",
}
ROOT = Path(__file__).resolve().parent.parent.parent
# Shared with Tools/worlds, so that what both need is built once.
PRODUCTS = ".build-worlds"


def main() -> int:
    """Plays the attacks. Returns 1 when a bound was broken, 2 when nothing could be played."""
    options = _options()
    names = options.names or list(ATTACKS)
    tern = Path(options.tern).resolve() if options.tern else _built()
    if not tern or not os.access(tern, os.X_OK):
        print("attack: there is no tern to attack", file=sys.stderr)
        return 2
    plan = Plan(tern, Report(), options.seed, options.long, options.part)
    began = time.monotonic()
    scale = "long" if options.long else "taste"
    print(f"attack: {scale} of {' '.join(names)}, seed {options.seed}", flush=True)
    for name in names:
        try:
            importlib.import_module(f"attacks.{name}").play(plan)
        except Exception as problem:  # noqa: BLE001, an attack that cannot go on is a finding
            part = plan.report.part(name, "could not be played to its end")
            part.holds("it ran", False, f"{type(problem).__name__}: {problem}")
            plan.report.close(part)
    seconds = time.monotonic() - began
    report = plan.report
    print(
        f"attack: bounds broken {len(report.broken)}, left out {len(report.skipped)}, "
        f"{seconds:.0f} s", flush=True)
    return 1 if report.broken else 0


def _options() -> argparse.Namespace:
    listing = "\n".join(f"  {name:12} {text}" for name, text in ATTACKS.items())
    parser = argparse.ArgumentParser(
        prog="Tools/attack", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Attacks a built tern on this machine and holds the figures against bounds.",
        epilog="attacks:\n" + listing)
    parser.add_argument("names", nargs="*", metavar="ATTACK", help="only these (default: all)")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--taste", action="store_true", help="short runs (the default)")
    scale.add_argument("--long", action="store_true", help="all of it, about three hours")
    parser.add_argument("--tern", metavar="PATH", help="a built program (default: builds one)")
    parser.add_argument("--part", metavar="NAME", help="of the attack memory, only this part")
    parser.add_argument("--seed", type=int, default=1, help="chooses positions and orders")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in ATTACKS]
    if unknown:
        parser.error(f"unknown: {' '.join(unknown)}\n\nattacks:\n{listing}")
    return options


def _built() -> Path | None:
    if subprocess.run([ROOT / "Tools/setup"]).returncode:
        return None
    command = ["swift", "build", "-c", "release", "--scratch-path", PRODUCTS, "--product", "tern"]
    if subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode:
        return None
    return ROOT / PRODUCTS / "release/tern"
