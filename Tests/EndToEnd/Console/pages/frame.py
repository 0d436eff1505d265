"""The frame around every page, and signing in."""

from browser import Failed
from stage import browser, check_page, page, picture, same, server, step


@step("dev")
def the_console_opens_without_a_token_on_a_development_server():
    browser.goto(f"http://{server.address}/-/console")
    browser.see("development")
    browser.see("Overview")


@step("rules")
def the_console_asks_for_a_token():
    browser.goto(f"http://{server.address}/-/console")
    browser.see("Token of an administrator")
    check_page("sign-in")
    picture("sign-in")


@step("rules")
def a_wrong_token_is_refused_with_the_reason():
    browser.fill("textbox", "Token of an administrator", "not-a-token")
    browser.click("button", "Sign in")
    browser.wait("document.querySelector('[role=alert]').textContent.length > 5", "a reason")
    browser.see("Token of an administrator")


@step("rules")
def a_token_signs_in():
    browser.fill("textbox", "Token of an administrator", server.token)
    browser.click("button", "Sign in")
    browser.see("Sign out")
    browser.see("Overview")


@step("rules")
def the_token_survives_a_reload_and_is_in_no_cookie():
    browser.call("Page.reload")
    browser.see("Sign out")
    same(browser.run("document.cookie"), "")
    same(browser.run("localStorage.length"), 0)


@step("dev", "rules")
def the_files_carry_a_strict_policy():
    for name in ("", "/main.js", "/console.css", "/icon.svg"):
        status, headers, _ = server.status("GET", f"/-/console{name}")
        same(status, 200)
        policy = headers["Content-Security-Policy"]
        for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"):
            if part not in policy:
                raise Failed(f"{part} is missing: {policy}")
        if "unsafe" in policy or "http" in policy:
            raise Failed(policy)
        same(headers["Cache-Control"], "no-store")
        same(headers["X-Content-Type-Options"], "nosniff")
    same(server.status("GET", "/-/console/../x")[0], 404)
    same(server.status("GET", "/-/console/main.swift")[0], 404)
    same(server.status("POST", "/-/console", body=b"")[0], 405)


@step("dev")
def a_stranger_s_name_for_this_machine_shows_nothing():
    same(server.status("GET", "/-/console", {"Host": "rebound.example.com"})[0], 403)
    for headers in ({"Host": "rebound.example.com"}, {"Origin": "https://evil.example.com"}):
        status, _, text = server.status(
            "POST", "/-/rules/check?language=tree", {"Authorization": "Bearer owner", **headers}, b"{}")
        if status != 401:
            raise Failed(f"{headers}: {status} {text}")


@step("dev", "rules")
def the_keyboard_reaches_everything_from_the_skip_link_on():
    page("overview")
    browser.run("document.activeElement.blur()")
    browser.key("Tab")
    browser.wait("document.activeElement.textContent === 'Skip to the content'")
    seen = []
    for _ in range(12):
        browser.key("Tab")
        seen.append(browser.run("tern.name(document.activeElement)"))
    for name in ("Overview", "Tree", "Documents", "Rules", "Metrics", "Backup", "Tokens"):
        if name not in seen:
            raise Failed(f"{name} is not among {seen}")
