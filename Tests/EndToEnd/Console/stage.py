"""The browser and the server that the steps work with, and what most steps need."""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from browser import Browser, Failed, find_browser

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = {"dev": [], "rules": []}
HOSTILE = "<img src=x onerror=alert(1)>\"'`${alert(1)}</script><script>alert(2)</script>"


def step(*modes):
    def add(function):
        for mode in modes or ("dev",):
            STEPS[mode].append(function)
        return function
    return add


class Server:
    """What other clients of the server do meanwhile."""

    def __init__(self, address, token):
        self.address = address
        self.token = token

    def send(self, method, path, body=None):
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        request = urllib.request.Request(f"http://{self.address}{path}", data=data, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text and answer.headers.get_content_type() == "application/json" else text

    def status(self, method, path, headers=None, body=None):
        request = urllib.request.Request(f"http://{self.address}{path}", data=body, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read().decode()

    def get(self, path):
        return self.send("GET", f"/{path}.json")

    def put(self, path, value):
        return self.send("PUT", f"/{path}.json", value)

    def document(self, path, fields):
        return self.send("PATCH", f"/v1/projects/demo/databases/(default)/documents/{path}", {"fields": fields})


def same(found, expected):
    if found != expected:
        raise Failed(f"{found!r} instead of {expected!r}")


def soon(read, expected):
    """Waits until something reads as expected."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            found = read()
        except KeyError as error:
            found = error
        if found == expected:
            return
        time.sleep(0.05)
    raise Failed(f"{found!r} instead of {expected!r}")


def page(name):
    browser.run(f"location.hash = {json.dumps('#/' + name)}")
    browser.wait(f"location.hash.startsWith({json.dumps('#/' + name)}) && document.querySelector('main')")


def row(key):
    """An expression for the place of a node's row."""
    return (f"[...document.querySelectorAll('[role=treeitem]')].find((one) => one.querySelector('.key').textContent === {json.dumps(key)})")


def click_row(key, count=1):
    """Clicks a row until it is selected: the rows above may grow meanwhile."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        browser.wait(f"{row(key)} !== undefined", f"the row {key}")
        browser.mouse(browser.wait(f"tern.place({row(key)})"), count)
        time.sleep(0.05)
        if browser.run(f"{row(key)}?.getAttribute('aria-selected') === 'true'"):
            return
    raise Failed(f"the row {key} is not selected")


def open_row(key):
    click_row(key)
    browser.key("ArrowRight")


def edit_row(key):
    click_row(key)
    browser.key("F2")


def seen_row(key, text):
    browser.wait(f"{row(key)}?.textContent.includes({json.dumps(text)})", f"{key} with {text}")


def picture(name):
    if folder:
        os.makedirs(folder, exist_ok=True)
        browser.picture(os.path.join(folder, name + ".png"))


def check_page(name):
    faults = browser.run("tern.faults()")
    if faults:
        raise Failed(f"{name}: " + "; ".join(faults[:12]))


mode, address = sys.argv[1:3]
rest = sys.argv[3:]
key = open(rest.pop(0)).read().strip() if mode == "rules" else "owner"
folder = rest.pop(0) if rest else None
server = Server(address, key)
program = find_browser()
if program is None:
    sys.exit("there is no Chromium; Tools/setup --tests installs one")
browser = Browser(program, os.environ.get("CONSOLE_FILES"))
