"""Drives a headless Chromium by its DevTools protocol, with nothing but the standard library."""

import base64
import ctypes
import json
import mimetypes
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.request

PATIENCE = 60
POLL = 0.05


def find_browser():
    """The path of a Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


def end_with_parent():
    """Lets the kernel end the browser when this program is killed, which then cannot close it."""
    death_signal, kill = 1, 9
    ctypes.CDLL(None).prctl(death_signal, kill)


class Socket:
    """A client of WebSocket: texts out, texts in."""

    def __init__(self, url):
        host, _, path = url.removeprefix("ws://").partition("/")
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass
        self.lock = threading.Lock()

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        head = bytes([0x81])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        repeated = (mask * (len(data) // 4 + 1))[:len(data)]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(data), "big")
        with self.lock:
            self.socket.sendall(head + mask + masked)

    def receive(self):
        """The next text; None at the end."""
        parts = b""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                return None
            length = head[1] & 0x7F
            if length == 126:
                length = struct.unpack(">H", self.file.read(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.file.read(8))[0]
            data = self.file.read(length)
            if head[0] & 0x0F == 8:
                return None
            if head[0] & 0x0F in (0, 1):
                parts += data
                if head[0] & 0x80:
                    return parts.decode()

    def close(self):
        self.socket.close()


class Failed(Exception):
    """A step that did not do what it should."""


class Browser:
    """One browser with one page at a time."""

    def __init__(self, program, files=None):
        self.files = files
        self.folder = tempfile.mkdtemp(prefix="tern-console-")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             *(["--disable-features=LocalNetworkAccessChecks"] if files else []), "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=end_with_parent)
        port = self.port()
        self.socket = Socket(self.target(port))
        self.number = 0
        self.answers = {}
        self.logs = []
        self.choosers = []
        self.downloads = os.path.join(self.folder, "downloads")
        self.changed = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()
        for domain in ("Page", "Runtime", "Log", "DOM", "Accessibility", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setInterceptFileChooserDialog", enabled=True)
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)
        if files:
            self.call("Fetch.enable", patterns=[{"urlPattern": "*/-/console*"}])

    def port(self):
        path = os.path.join(self.folder, "DevToolsActivePort")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if os.path.exists(path):
                lines = open(path).read().split("\n")
                if len(lines) > 1:
                    return int(lines[0])
            time.sleep(POLL)
        raise Failed("the browser did not start")

    def target(self, port):
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        return next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")

    def listen(self):
        while (text := self.socket.receive()) is not None:
            message = json.loads(text)
            method = message.get("method")
            if method == "Fetch.requestPaused":
                self.serve(message["params"])
            elif method == "Runtime.exceptionThrown":
                self.logs.append(json.dumps(message["params"]["exceptionDetails"])[:1500])
            elif method == "Log.entryAdded":
                self.logs.append(f'{message["params"]["entry"]["level"]}: {message["params"]["entry"]["text"]} {message["params"]["entry"].get("url", "")}')
            elif method == "Page.javascriptDialogOpening":
                self.logs.append(f'a dialog opened: {message["params"]["message"]}')
            with self.changed:
                if method == "Page.fileChooserOpened":
                    self.choosers.append(message["params"]["backendNodeId"])
                if "id" in message:
                    self.answers[message["id"]] = message
                self.changed.notify_all()

    def serve(self, paused):
        """Answers a request for a file of the console from a folder instead of the server."""
        name = paused["request"]["url"].split("/-/console")[1].strip("/").split("?")[0] or "index.html"
        path = os.path.join(self.files, name)
        body = open(path, "rb").read() if os.path.exists(path) else b""
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0] or "text/plain"
        policy = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
        self.post("Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200 if body else 404,
                  responseHeaders=[{"name": "Content-Type", "value": kind + "; charset=utf-8"},
                                   {"name": "Content-Security-Policy", "value": policy}],
                  body=base64.b64encode(body).decode())

    def post(self, method, **parameters):
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        return number

    def call(self, method, **parameters):
        number = self.post(method, **parameters)
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.answers, PATIENCE):
                raise Failed(f"{method} was not answered")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(f'{method}: {answer["error"]["message"]}')
        return answer["result"]

    def run(self, script):
        """The value of an expression in the page; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, script, about=None):
        """Waits until an expression in the page is true, and returns it."""
        end = time.monotonic() + PATIENCE
        last = None
        while time.monotonic() < end:
            try:
                last = self.run(script)
                if last not in (None, False, 0, ""):
                    return last
            except Failed as error:
                last = error
            time.sleep(POLL)
        raise Failed(f"{about or script}: {last!r}")

    def goto(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def size(self, width, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    # What a person does. Elements are named as screen readers name them.

    def find(self, role, name, inside="document"):
        """An expression for the visible element with a role and a name."""
        return f"tern.find({json.dumps(role)}, {json.dumps(name)}, {inside})"

    def click(self, role, name, count=1):
        place = self.wait(f"tern.place({self.find(role, name)})", f"{role} “{name}” to click")
        self.mouse(place, count)

    def mouse(self, place, count=1):
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=number)

    def focus(self, role, name):
        self.wait(f"tern.focus({self.find(role, name)})", f"{role} “{name}” to focus")

    def fill(self, role, name, text):
        """Types a text in the place of a field's."""
        self.focus(role, name)
        self.run("document.activeElement.select?.()")
        self.call("Input.insertText", text=text) if text else self.key("Delete")

    def choose(self, name, value):
        self.wait(f"tern.choose({self.find('combobox', name)}, {json.dumps(value)})", f"choice “{name}”")

    KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""),
            "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "Home": (36, ""), "End": (35, ""), "Delete": (46, ""),
            "Insert": (45, ""), "PageDown": (34, ""), "F2": (113, "")}

    def key(self, name, shift=False):
        code, text = self.KEYS[name]
        common = {"key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def upload(self, paths):
        """Gives files to the field that asks for them."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.choosers, PATIENCE):
                raise Failed("no field asks for a file")
            node = self.choosers.pop()
        self.call("DOM.setFileInputFiles", files=paths, backendNodeId=node)

    def downloaded(self, name):
        path = os.path.join(self.downloads, name)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if os.path.exists(path):
                return open(path, "rb").read()
            time.sleep(POLL)
        raise Failed(f"{name} was not saved: {os.listdir(self.downloads) if os.path.isdir(self.downloads) else []}")

    def see(self, text):
        self.wait(f"document.body.innerText.includes({json.dumps(text)})", f"“{text}” on the page")

    def miss(self, text):
        self.wait(f"!document.body.innerText.includes({json.dumps(text)})", f"no “{text}” on the page")

    def install(self, helpers):
        self.call("Page.addScriptToEvaluateOnNewDocument", source=helpers)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)
