"""Plays a user of Docs/Examples/guestbook.html, opened from disk, in a headless Chromium.

    guestbook.py PAGE SERVER TOKEN        the token of ben; ann has signed the book with "Hello, ben"

Prints one line a step, `ok NAME`; ends with 1 at the first that failed.
"""

import os
import sys
import urllib.parse

from browser import Browser, Failed, find_browser

HERE = os.path.dirname(os.path.abspath(__file__))
page, server, token = sys.argv[1:4]
browser = Browser(find_browser())


def rows(*expected):
    browser.wait(
        f"JSON.stringify([...document.querySelectorAll('li span')].map((one) => one.textContent)) === "
        f"{browser.run(f'JSON.stringify(JSON.stringify({list(expected)!r}))')}", f"the entries {expected}")


def sign(text):
    browser.fill("textbox", "Your entry", text)
    browser.click("button", "Sign")


def remove(author):
    browser.run(f"[...document.querySelectorAll('li')].find((one) => one.textContent.startsWith('{author}:'))"
                ".querySelector('button').click()")


def denied(reason, action):
    """Waits for a reason other than the one before: an answer that comes later would show it behind the next step."""
    before = browser.run("JSON.stringify(document.querySelector('#denial').textContent)")
    action()
    browser.wait(f"document.querySelector('#denial').textContent !== {before} && "
                 f"document.querySelector('#denial').textContent.startsWith({reason!r})", reason)


def ok(step):
    print("ok", step, flush=True)


try:
    browser.install(open(os.path.join(HERE, "helpers.js")).read())
    browser.goto("file://" + page + "#" + urllib.parse.urlencode({"server": server, "token": token}, safe=":"))
    browser.see("ben is signed in")
    rows("ann: Hello, ben")
    ok("entries of others are there")
    sign("Hello, <b>ann</b>")
    rows("ann: Hello, ben", "ben: Hello, <b>ann</b>")
    browser.wait("document.querySelector('input').value === ''", "an empty field")
    ok("an entry of one's own comes by the stream")
    denied("Permission denied [", lambda: remove("ann"))
    rows("ann: Hello, ben", "ben: Hello, <b>ann</b>")
    ok("an entry of another cannot be removed")
    denied("Permission denied [", lambda: sign("x" * 141))
    rows("ann: Hello, ben", "ben: Hello, <b>ann</b>")
    ok("an entry that is too long is denied, with the reason")
    remove("ben")
    rows("ann: Hello, ben")
    browser.wait("document.querySelector('#denial').textContent === ''", "no reason")
    ok("an entry of one's own can be removed")
    browser.goto("about:blank")
    browser.goto("file://" + page + "#" + urllib.parse.urlencode({"server": server, "token": "a.b.c"}, safe=":"))
    browser.see("the token is not valid")
    rows()
    ok("without a token nothing is shown")
except Failed as error:
    print("FAILED", error, browser.logs, flush=True)
    sys.exit(1)
finally:
    browser.close()
