"""The server under attack: a real process in its production form, in a folder of its own."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path

from . import tokens

RULES = {
    "rules": {
        ".read": False,
        ".write": False,
        "public": {".read": True, ".indexOn": [".value", "n"]},
        "open": {".read": True, ".write": True, ".indexOn": [".value", "n"]},
        "guarded": {"$any": {".write": "root.child('secret/pin').val() === newData.val()"}},
    }
}


class ServerEnded(Exception):
    """The server did not start, or ended while it was needed."""

    def __init__(self, code: int | None, errors: str) -> None:
        super().__init__(f"exit {code}: {errors[-400:]}")
        self.code = code
        self.errors = errors


class Server:
    """`tern serve` with rules and keys, on a free port of 127.0.0.1."""

    def __init__(
        self,
        tern: Path,
        folder: Path,
        storage: str = "sqlite",
        environment: dict[str, str] | None = None,
        preload: Path | None = None,
        descriptors: int | None = None,
        data: Path | None = None,
        arguments: tuple[str, ...] = (),
        is_unread: bool = False,
        is_limit_hard: bool = False,
    ) -> None:
        self.tern = tern
        self.folder = folder
        self.storage = storage
        self.data = data or folder / "data"
        self.environment = dict(environment or {})
        if preload:
            self.environment["LD_PRELOAD"] = str(preload)
        self.descriptors = descriptors
        self.arguments = arguments
        self.is_unread = is_unread
        self.is_limit_hard = is_limit_hard
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.error_path = folder / "stderr"
        self._unread: tuple[int, int] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rules.json").write_text(json.dumps(RULES))
        (folder / "key").write_bytes(tokens.SECRET)
        self.administrator = tokens.administrator()

    # Starting and ending.

    def start(self, seconds: float = 30) -> "Server":
        """Starts the process and waits for its port. Throws `ServerEnded`."""
        command = [str(self.tern), "serve", "--storage", self.storage, "--path", str(self.data)]
        command += ["--port", "0", "--rules", str(self.folder / "rules.json")]
        command += ["--auth-keys", str(self.folder / "key"), *self.arguments]
        limit, is_hard = self.descriptors, self.is_limit_hard

        def prepare() -> None:
            if limit:
                _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit if is_hard else hard))

        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder)}
        environment["SWIFT_BACKTRACE"] = "enable=no"
        environment.update(self.environment)
        errors = self._errors()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            env=environment, cwd=self.folder, preexec_fn=prepare, bufsize=0)
        if not self.is_unread:
            os.close(errors)
        self._await_port(time.monotonic() + seconds)
        return self

    def _errors(self) -> int:
        if not self.is_unread:
            return os.open(self.error_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if self._unread is None:
            self._unread = os.pipe()
        return self._unread[1]

    def close_unread(self) -> None:
        """Closes the pipe that nobody emptied."""
        for descriptor in self._unread or ():
            os.close(descriptor)
        self._unread = None

    def _await_port(self, deadline: float) -> None:
        assert self.process and self.process.stdout
        output = self.process.stdout
        os.set_blocking(output.fileno(), False)
        text = b""
        while time.monotonic() < deadline:
            chunk = output.read(65_536)
            if chunk:
                text += chunk
            lines = text.split(b"\n")
            for line in lines[:-1]:
                if line.startswith(b"listening on "):
                    self.port = int(line.rsplit(b":", 1)[1])
                    os.set_blocking(output.fileno(), True)
                    threading.Thread(target=self._drain, args=(output,), daemon=True).start()
                    return
            if self.process.poll() is not None:
                raise ServerEnded(self.code, self.errors)
            time.sleep(0.003)
        self.kill()
        raise ServerEnded(None, "it did not listen in time; " + self.errors)

    @staticmethod
    def _drain(output) -> None:  # type: ignore[no-untyped-def]
        try:
            while output.read(65_536):
                pass
        except (OSError, ValueError):
            pass

    def stop(self, seconds: float = 30) -> int | None:
        """Ends it as a supervisor does, with SIGTERM. Returns the code; `None` if it hung."""
        if not self.process:
            return None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        return self._ended()

    def kill(self) -> None:
        """Ends it with SIGKILL."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self._ended()

    def _ended(self) -> int | None:
        assert self.process
        return self.process.returncode

    def __enter__(self) -> "Server":
        return self.start() if not self.process else self

    def __exit__(self, *_: object) -> None:
        if self.is_running:
            self.kill()

    # Figures.

    @property
    def pid(self) -> int:
        assert self.process
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def code(self) -> int | None:
        """The exit code; negative for a signal."""
        return self.process.poll() if self.process else None

    @property
    def errors(self) -> str:
        """All that it wrote to standard error."""
        return self.error_path.read_text(errors="replace") if self.error_path.exists() else ""

    def resident_bytes(self) -> int:
        return self._status("VmRSS")

    def peak_bytes(self) -> int:
        return self._status("VmHWM")

    def _status(self, name: str) -> int:
        try:
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0

    def open_descriptors(self) -> int:
        try:
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return 0

    def processor_seconds(self) -> float:
        """Processor time it has used so far."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stored_bytes(self) -> int:
        """Bytes on disk of the whole store."""
        return sum(f.stat().st_size for f in self.data.rglob("*") if f.is_file())


class Watch:
    """Samples resident memory, and ends a server that takes more than the machine should lend."""

    def __init__(self, server: Server, ceiling_bytes: int) -> None:
        self.server = server
        self.ceiling = ceiling_bytes
        self.peak = 0
        self.was_cut = False
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._done.wait(0.02) and self.server.is_running:
            now = self.server.resident_bytes()
            self.peak = max(self.peak, now)
            if now > self.ceiling:
                self.was_cut = True
                self.server.kill()

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def takes(tern: Path, folder: Path, key: str, value: str) -> bool:
    """Whether this build knows a key of the configuration, named as in the environment."""
    server = Server(tern, folder, storage="memory", environment={key: value})
    try:
        server.start()
    except ServerEnded:
        return False
    server.kill()
    return True
