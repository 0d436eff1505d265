"""The overview, metrics, backups, tokens, and all pages together."""

import json
import time

from browser import Failed
from stage import browser, check_page, page, picture, same, server, soon, step


@step("dev", "rules")
def the_overview_is_accessible():
    page("overview")
    browser.wait("document.querySelector('main h1')?.textContent === 'Overview' && document.querySelectorAll('main h2').length === 3")
    browser.wait("document.querySelector('.figures').children.length > 5 || document.body.innerText.includes('tells no status')", "figures")
    check_page("overview")
    picture("overview")


@step("dev", "rules")
def metrics_are_accessible():
    page("metrics")
    browser.wait("document.querySelectorAll('.card').length > 3 || document.body.innerText.includes('tells no metrics')", "charts")
    check_page("metrics")
    picture("metrics")


@step("dev", "rules")
def a_backup_is_offered():
    page("backup")
    browser.see("tern backup")
    check_page("backup")
    browser.click("button", "Export")
    if "users" not in json.loads(browser.downloaded("default.json")):
        raise Failed("the tree is not in the file")
    picture("backup")


@step("dev", "rules")
def a_token_is_inspected():
    page("tokens")
    # {"alg":"HS256"} and {"sub":"ann","exp":1}, with a signature that nothing checks here.
    browser.fill("textbox", "Token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjF9.c2ln")
    browser.see("It has expired.")
    browser.see('"sub": "ann"')
    browser.fill("textbox", "Token", "nonsense")
    browser.see("This is no token")


@step("dev", "rules")
def tokens_of_a_user_are_revoked_and_taken_back():
    browser.fill("textbox", "User", "eve")
    browser.click("button", "Revoke all tokens")
    browser.wait("tern.find('button', 'Take back the revocation of eve', document) !== undefined")
    soon(lambda: "eve" in server.send("GET", "/.settings/revocations.json"), True)
    check_page("tokens")
    picture("tokens")
    browser.click("button", "Take back the revocation of eve")
    soon(lambda: server.send("GET", "/.settings/revocations.json"), {})


@step("dev")
def pages_are_accessible_in_the_dark():
    browser.size(1280, dark=True)
    for name in ("overview", "tree", "documents?path=cities", "rules", "metrics", "backup", "tokens"):
        page(name)
        time.sleep(0.7)
        check_page(name + " in the dark")
        picture(name.split("?")[0] + "-dark")


@step("dev")
def pages_fit_a_narrow_screen():
    browser.size(400, 800)
    for name in ("overview", "tree", "documents?path=cities", "rules", "metrics", "backup", "tokens"):
        page(name)
        time.sleep(0.7)
        check_page(name + " on a narrow screen")
        picture(name.split("?")[0] + "-narrow")
    browser.size(1280)


@step("rules")
def signing_out_forgets_the_token():
    browser.click("button", "Sign out")
    browser.see("Token of an administrator")
    same(browser.run("sessionStorage.getItem('tern.token')"), None)
    browser.call("Page.reload")
    browser.see("Token of an administrator")


@step("rules")
def questions_about_rules_are_for_administrators():
    for method, path, body in (("POST", "/-/rules/check?language=tree", b"{}"), ("POST", "/-/rules/explain", b'{"language":"tree","operation":"read","path":"/"}'),
                               ("GET", "/-/rules/documents?database=projects/demo", None), ("PUT", "/-/rules/documents?database=projects/demo", b"service cloud.firestore {}")):
        same(server.status(method, path, body=body)[0], 401)


@step("dev", "rules")
def nothing_went_wrong_behind_the_pages():
    expected = ("status of 40", "status of 41", "status of 409", "ERR_INTERNET_DISCONNECTED", "WebSocket")
    logs = [line for line in browser.logs if not any(text in line for text in expected)]
    if logs:
        raise Failed("\n".join(logs[:5]))
