"""What an attack is handed: the program, a folder, the scale, and where to report."""

from __future__ import annotations

import random
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

from .report import Report
from .server import takes


@dataclass
class Plan:
    """The circumstances of a run."""

    tern: Path
    report: Report
    seed: int
    is_long: bool
    part: str | None = None
    _known: dict[str, bool] = field(default_factory=dict)

    def scale(self, taste: int, long: int) -> int:
        """A number of tries, addresses or seconds."""
        return long if self.is_long else taste

    def wants(self, part: str) -> bool:
        """Whether a part of an attack is played; only `memory` asks."""
        return self.part is None or self.part == part

    def dice(self, purpose: str) -> random.Random:
        """Chance of its own for each purpose, from the seed of the run."""
        return random.Random(f"{self.seed} {purpose}")

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder that is removed afterwards."""
        path = Path(tempfile.mkdtemp(prefix="tern-attack-"))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def known(self, key: str, value: int) -> dict[str, str]:
        """The environment that sets a limit, or none when the build does not know it."""
        if key not in self._known:
            with self.folder() as folder:
                self._known[key] = takes(self.tern, folder, key, str(value))
        return {key: str(value)} if self._known[key] else {}

    def budget(self, count: int) -> dict[str, str]:
        """The environment that gives a server a memory budget of that many bytes."""
        return self.known("TERN_LIMITS_MEMORY_BYTES", count)
