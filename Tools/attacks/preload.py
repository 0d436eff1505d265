"""Builds the library that records disk operations or moves the clock (`preload.c`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("preload.c")


def build(folder: Path) -> Path | None:
    """Returns the library, or `None` where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if not compiler:
        return None
    library = folder / "preload.so"
    done = subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl", "-lpthread"],
        capture_output=True, text=True)
    return library if done.returncode == 0 else None
