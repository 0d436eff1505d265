"""Where a bit is flipped: anywhere, or where it hurts an ordered map most."""

from __future__ import annotations

import random
from pathlib import Path

# Text that stands at the beginning of keys: of trees, of documents, of a writer, of the log.
KEYS = (b" default\0", b"(projects/", b"\2\1\2\3\4", b"\1\0\0\0\0", b"\3\0\0\0\0")
PAGE = 4_096
# A frame of SQLite's write-ahead log: 24 bytes and a page, behind a head of 32 bytes.
FRAME = 24 + PAGE


def flip(
    folder: Path, dice: random.Random, prefers_log: bool = False, is_targeted: bool = True,
) -> str:
    """Flips one bit in the files of a store that hold data, and says where.

    A targeted flip hits a key, the head of a page with its cell pointers, or the head of a frame.
    """
    files = [
        f for f in sorted(folder.rglob("*"))
        if f.is_file() and f.stat().st_size > 0
        and not f.name.endswith(("-shm", "lock", "ballast"))
    ]
    logs = [f for f in files if f.name.endswith("-wal")]
    chosen = logs if prefers_log and logs else files
    file = dice.choices(chosen, [f.stat().st_size for f in chosen])[0]
    content = bytearray(file.read_bytes())
    kind, position = "anywhere", dice.randrange(len(content))
    if is_targeted:
        kind, position = _position(content, file.name.endswith("-wal"), dice)
    bit = dice.randrange(8)
    content[position] ^= 1 << bit
    file.write_bytes(content)
    return f"{file.name} byte {position} bit {bit} ({kind})"


def _position(content: bytearray, is_log: bool, dice: random.Random) -> tuple[str, int]:
    """A kind of place, and a byte of that kind; anywhere when there is none."""
    size = len(content)
    kind = dice.choice(("key", "page head", "frame head") if is_log else ("key", "page head"))
    if kind == "key":
        text = dice.choice(KEYS)
        start = content.find(text, dice.randrange(size))
        if start < 0:
            start = content.find(text)
        if start >= 0:
            return kind, min(size - 1, start + dice.randrange(len(text) + 12))
    elif kind == "page head":
        # The head of a page and the pointers to its cells.
        first = 32 + 24 if is_log else 0
        step = FRAME if is_log else PAGE
        page = dice.randrange(max(1, (size - first) // step))
        return kind, min(size - 1, first + page * step + dice.randrange(64))
    elif kind == "frame head" and is_log and size > 32 + FRAME:
        frame = dice.randrange((size - 32) // FRAME)
        return kind, 32 + frame * FRAME + dice.randrange(24)
    return "anywhere", dice.randrange(size)
