"""Steps that a person takes in the console, played in a headless Chromium against a running server.

    steps.py dev HOST:PORT [FOLDER]              a server with --dev
    steps.py rules HOST:PORT TOKENFILE [FOLDER]  one with rules and tokens; the file has a token of an
                                                 administrator

Prints one line a step, `ok NAME` or `FAILED NAME: REASON`; ends with 1 when one failed. Pictures of the
pages go to FOLDER if it is given. CONSOLE_FILES names a folder whose files take the place of the
server's, to work on the console without building it.
"""

import json
import os
import sys
import tempfile
import time
import traceback
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
    end = time.monotonic() + 30
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
    end = time.monotonic() + 30
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


# The frame.


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


# The tree.


@step("dev", "rules")
def the_tree_shows_what_is_there():
    server.put("", {"users": {"ann": {"name": "Ann", "age": 31}, "bob": {"name": "Bob", "age": 9007199254740993}},
                    "motto": "offline first", "rooms": {"42": {"title": "Hi"}}})
    page("tree")
    seen_row("motto", '"offline first"')
    seen_row("users", "users")
    browser.see("live")


@step()
def a_node_opens_with_the_mouse_and_tells_the_number_of_children():
    click_row("users", 2)
    seen_row("users", "2")
    seen_row("ann", "ann")


@step()
def a_node_opens_with_the_keyboard():
    browser.key("ArrowDown")
    browser.key("ArrowRight")
    seen_row("age", "31")
    same(browser.run("document.getElementById('tree').getAttribute('aria-activedescendant').startsWith('row-')"), True)


@step()
def a_value_is_live():
    server.put("motto", "live values")
    seen_row("motto", '"live values"')


@step()
def a_new_child_appears_by_itself():
    server.put("users/cyd", {"name": "Cyd"})
    seen_row("cyd", "cyd")


@step()
def whole_numbers_keep_their_digits():
    open_row("bob")
    browser.wait("document.querySelector('#tree').innerText.includes('9007199254740993')", "all digits")


@step()
def a_text_is_edited_in_place():
    edit_row("motto")
    browser.fill("textbox", "Value", "edited")
    browser.key("Enter")
    soon(lambda: server.get("motto"), "edited")
    seen_row("motto", '"edited"')


@step()
def escape_leaves_the_editor_without_a_change():
    click_row("motto")
    browser.key("Enter")
    browser.fill("textbox", "Value", "dropped")
    browser.key("Escape")
    browser.wait("document.querySelector('.in-place') === null")
    same(server.get("motto"), "edited")
    browser.wait("document.activeElement.id === 'tree'")


@step()
def the_type_of_a_value_is_changed():
    click_row("motto")
    browser.key("F2")
    browser.choose("Type", "number")
    browser.fill("textbox", "Value", "12345678901234567")
    browser.key("Enter")
    soon(lambda: server.get("motto"), 12345678901234567)


@step()
def what_is_no_number_is_refused():
    click_row("motto")
    browser.key("F2")
    browser.fill("textbox", "Value", "twelve")
    browser.key("Enter")
    browser.see("is no number")
    browser.key("Escape")
    same(server.get("motto"), 12345678901234567)


@step()
def a_child_is_added():
    click_row("rooms")
    browser.click("button", "Add")
    browser.fill("textbox", "Key", "43")
    browser.fill("textbox", "Value", "a new room")
    browser.click("button", "Add")
    soon(lambda: server.get("rooms/43"), "a new room")


@step()
def a_bad_key_is_refused():
    click_row("rooms")
    browser.click("button", "Add")
    browser.fill("textbox", "Key", "a/b")
    browser.click("button", "Add")
    browser.see("A key holds no")
    browser.click("button", "Cancel")
    browser.wait("document.querySelector('dialog') === null")


@step()
def a_child_with_a_key_of_its_own_is_pushed():
    click_row("rooms")
    browser.key("Insert")
    browser.fill("textbox", "Value", "pushed")
    browser.click("button", "Add")
    soon(lambda: "pushed" in server.get("rooms").values(), True)


@step()
def a_branch_is_edited_as_json():
    click_row("rooms")
    browser.click("button", "Edit as JSON")
    browser.fill("textbox", "Value as JSON", '{"7": {"title": "Seven"}}')
    browser.click("button", "Save")
    soon(lambda: server.get("rooms/7/title"), "Seven")


@step()
def removing_asks_first():
    click_row("rooms")
    browser.key("Delete")
    browser.see("Remove /rooms?")
    picture("tree-remove")
    browser.key("Escape")
    browser.wait("document.querySelector('dialog') === null")
    same(server.get("rooms/7/title"), "Seven")


@step()
def a_node_is_removed():
    click_row("rooms")
    browser.key("Delete")
    browser.click("button", "Remove")
    soon(lambda: server.get("rooms"), None)
    browser.wait(f"{row('rooms')} === undefined", "no row")


@step()
def a_node_is_exported():
    click_row("users")
    browser.click("button", "Export")
    same(json.loads(browser.downloaded("default-users.json"))["bob"]["age"], 9007199254740993)


@step()
def a_file_is_imported():
    path = os.path.join(tempfile.mkdtemp(), "import.json")
    with open(path, "w") as file:
        json.dump({"dan": {"name": "Dan"}}, file)
    click_row("users")
    browser.click("button", "Import")
    browser.upload([path])
    browser.see("take the place")
    browser.click("button", "Import")
    soon(lambda: server.get("users"), {"dan": {"name": "Dan"}})
    seen_row("dan", "dan")


@step()
def hostile_values_stay_text():
    server.put("hostile", {"text": HOSTILE, HOSTILE.replace("/", "|").replace("$", "S").replace(".", "_"): 1, "__proto__": {"x": 1}, "constructor": "c"})
    seen_row("hostile", "hostile")
    open_row("hostile")
    browser.wait("document.querySelector('#tree').innerText.includes('onerror=alert(1)')", "the text")
    same(browser.run("document.querySelectorAll('main img, main script').length"), 0)
    edit_row("text")
    browser.wait(f"document.activeElement.value === {json.dumps(HOSTILE)}", "the text in the editor")
    browser.key("Escape")


@step()
def a_query_orders_and_limits_and_is_live():
    server.put("scores", {f"p{number}": {"points": number * 10} for number in range(50)})
    browser.goto(f"http://{server.address}/-/console#/tree?path=scores")
    browser.call("Page.reload")
    seen_row("p0", "p0")
    browser.click("summary", "Query")
    browser.choose("Order by", "child")
    browser.fill("textbox", "Child", "points")
    browser.choose("Limit to", "r")
    browser.fill("spinbutton", "Number", "3")
    browser.click("button", "Run")
    browser.see("3 children, live")
    browser.see("points: 490")
    server.put("scores/p7/points", 1000)
    browser.see("points: 1000")
    picture("tree-query")


@step()
def a_query_takes_bounds():
    browser.fill("textbox", "From", "100")
    browser.fill("textbox", "To", "120")
    browser.fill("spinbutton", "Number", "100")
    browser.click("button", "Run")
    browser.see("3 children, live")
    browser.see("points: 110")


@step()
def a_row_of_the_result_opens_the_node():
    browser.click("button", "p11")
    browser.wait("location.hash.endsWith('scores%2Fp11')")
    seen_row("points", "110")


@step()
def a_path_is_typed():
    browser.fill("textbox", "Path", "/users/dan")
    browser.click("button", "Go")
    seen_row("name", '"Dan"')


@step()
def a_hundred_thousand_children_scroll():
    server.put("big", {f"k{number:06}": number for number in range(100_000)})
    browser.fill("textbox", "Path", "/big")
    browser.click("button", "Go")
    seen_row("k000003", "3")
    if browser.run("document.querySelectorAll('[role=treeitem]').length") > 120:
        raise Failed("more rows than the screen shows are in the document")
    browser.focus("tree", "Tree")
    end = time.monotonic() + 60
    while not browser.run(f"{row('k099999')} !== undefined") and time.monotonic() < end:
        browser.key("End")
        time.sleep(0.1)
    seen_row("k099999", "99999")
    server.put("big/k099999", "changed")
    seen_row("k099999", '"changed"')
    picture("tree-big")


@step()
def another_database_is_chosen():
    server.send("PUT", "/greeting.json?ns=harbor", "ahoy")
    page("tree")
    browser.fill("textbox", "Database", "harbor")
    browser.key("Enter")
    browser.focus("textbox", "Path")
    seen_row("greeting", '"ahoy"')
    browser.fill("textbox", "Database", "default")
    browser.key("Enter")
    browser.focus("textbox", "Path")
    seen_row("users", "users")


@step("dev", "rules")
def the_tree_is_accessible():
    check_page("tree")
    picture("tree")


@step()
def the_connection_comes_back():
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    browser.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    server.put("later", 1)
    seen_row("later", "1")


# Documents.


@step("dev", "rules")
def documents_are_listed():
    for number in range(5):
        server.document(f"cities/c{number}", {"name": {"stringValue": f"City {number}"}, "pop": {"integerValue": str(number * 1000)}})
    page("documents")
    browser.click("link", "cities")
    browser.see("5 documents")
    browser.see("City 4")


@step()
def a_document_opens_in_the_editor():
    browser.wait("tern.place(document.getElementById('result-1'))")
    browser.mouse(browser.run("tern.place(document.getElementById('result-1'))"))
    browser.wait("tern.find('combobox', 'Type of pop', document)?.value === 'integer'", "the type of pop")
    same(browser.run("tern.find('textbox', 'Value of pop', document).value"), "1000")


@step()
def a_field_is_changed():
    browser.fill("textbox", "Value of pop", "9007199254740993")
    browser.click("button", "Save")
    read = lambda: server.send("GET", "/v1/projects/demo/databases/(default)/documents/cities/c1")["fields"]["pop"]
    soon(read, {"integerValue": "9007199254740993"})


@step()
def what_is_no_whole_number_is_refused_in_a_document():
    browser.wait("tern.find('textbox', 'Value of pop', document)?.value === '9007199254740993'")
    browser.fill("textbox", "Value of pop", "1.5")
    browser.click("button", "Save")
    browser.see("is no whole number")


@step()
def the_type_of_a_field_is_changed():
    browser.choose("Type of pop", "timestamp")
    browser.fill("textbox", "Value of pop", "2026-01-02T03:04:05Z")
    browser.click("button", "Save")
    read = lambda: server.send("GET", "/v1/projects/demo/databases/(default)/documents/cities/c1")["fields"]["pop"]
    soon(read, {"timestampValue": "2026-01-02T03:04:05Z"})


@step()
def a_map_and_an_array_are_edited():
    browser.click("button", "Edit as JSON")
    fields = {"fields": {"tags": {"arrayValue": {"values": [{"stringValue": "a"}]}},
                         "where": {"mapValue": {"fields": {"at": {"geoPointValue": {"latitude": 52.5, "longitude": 13.4}}}}}}}
    browser.fill("textbox", "JSON", json.dumps(fields))
    browser.click("button", "Take")
    browser.wait("tern.find('textbox', 'Value of at', document)?.value === '52.5, 13.4'")
    browser.click("button", "Add a value")
    browser.click("button", "Save")
    read = lambda: len(server.send("GET", "/v1/projects/demo/databases/(default)/documents/cities/c1")["fields"]["tags"]["arrayValue"]["values"])
    soon(read, 2)
    check_page("document")
    picture("document")


@step()
def a_change_meanwhile_is_not_lost():
    browser.wait("tern.find('textbox', 'Value of at', document)?.value === '52.5, 13.4'")
    server.document("cities/c1", {"name": {"stringValue": "meanwhile"}})
    browser.click("button", "Save")
    browser.see("changed meanwhile")
    found = server.send("GET", "/v1/projects/demo/databases/(default)/documents/cities/c1")
    same(found["fields"], {"name": {"stringValue": "meanwhile"}})


@step()
def nothing_is_typed_into_the_editor_of_another_document():
    browser.run("""(() => {
      const read = window.fetch;
      const held = new Promise((release) => { window.tern.release = release; });
      window.fetch = async (...request) => { await held; window.fetch = read; return read(...request); };
    })()""")
    browser.run("location.hash = '#/documents?path=cities%2Fc2'")
    browser.see("reading …")
    same(browser.run("tern.find('textbox', 'Sub-collection', document) === undefined"), True)
    same(browser.run("tern.find('button', 'Save', document) === undefined"), True)
    browser.run("tern.release()")
    browser.wait("tern.find('textbox', 'Value of name', document)?.value === 'City 2'")


@step()
def a_list_that_could_not_be_read_is_read_later():
    browser.run("window.tern.read = window.fetch; window.fetch = async () => { throw new TypeError('no network'); }; undefined")
    browser.fill("textbox", "Collection", "towns")
    browser.key("Enter")
    browser.see("cannot be reached")
    browser.run("window.fetch = window.tern.read; undefined")
    browser.see("0 documents")
    page("documents?path=cities")
    browser.see("5 documents")


@step()
def results_are_live():
    server.document("cities/c0", {"name": {"stringValue": "Renamed"}})
    browser.see("Renamed")
    server.document("cities/c9", {"name": {"stringValue": "Added"}})
    browser.see("6 documents")


@step()
def results_are_listened_to():
    browser.see("read, live")
    browser.run("window.tern.targets = []; window.tern.read = window.fetch; window.fetch = (target, ...rest) => {"
                " window.tern.targets.push(String(target)); return window.tern.read.call(window, target, ...rest); }; undefined")
    for number in range(3):
        server.document("cities/c0", {"name": {"stringValue": f"Renamed {number}"}})
        browser.see(f"Renamed {number}")
    browser.run("window.fetch = window.tern.read; undefined")
    count = lambda part: browser.run(f"tern.targets.filter((one) => one.includes('{part}')).length")
    same(count("/Listen/channel") >= 2, True)
    # A change is read once, whatever the listen tells of it.
    same(1 <= count(":runQuery") <= 6, True)


@step()
def documents_are_filtered():
    browser.click("summary", "Filter")
    browser.fill("textbox", "Field", "pop")
    browser.choose("Operator", ">=")
    browser.choose("Type", "integer")
    browser.fill("textbox", "Value", "3000")
    browser.click("button", "Run")
    browser.see("2 documents")
    browser.miss("City 2")
    browser.click("button", "Clear")
    browser.see("6 documents")


@step()
def a_document_is_added():
    browser.click("button", "Add")
    browser.fill("textbox", "Id", "made-here")
    browser.click("button", "Add a field")
    browser.fill("textbox", "Field", "name")
    browser.fill("textbox", "Value of the value", "Made here")
    browser.click("button", "Add")
    browser.wait("location.hash.endsWith('made-here')")
    read = lambda: server.status("GET", "/v1/projects/demo/databases/(default)/documents/cities/made-here", {"Authorization": f"Bearer {server.token}"})[0]
    soon(read, 200)


@step()
def a_sub_collection_opens():
    server.document("cities/made-here/streets/s1", {"name": {"stringValue": "Main street"}})
    browser.fill("textbox", "Sub-collection", "streets")
    browser.key("Enter")
    browser.see("Main street")
    browser.see("1 documents")


@step()
def a_document_is_removed():
    browser.run("location.hash = '#/documents?path=cities%2Fmade-here'")
    browser.wait("tern.find('textbox', 'Value of name', document)?.value === 'Made here'")
    browser.click("button", "Remove")
    browser.see("Its sub-collections stay.")
    browser.click("button", "Remove")
    read = lambda: server.status("GET", "/v1/projects/demo/databases/(default)/documents/cities/made-here", {"Authorization": f"Bearer {server.token}"})[0]
    soon(read, 404)


@step()
def thousands_of_documents_scroll():
    for start in range(0, 2_000, 400):
        writes = [{"update": {"name": f"projects/demo/databases/(default)/documents/many/d{number:05}", "fields": {"n": {"integerValue": str(number)}, "text": {"stringValue": HOSTILE}}}}
                  for number in range(start, start + 400)]
        server.send("POST", "/v1/projects/demo/databases/(default)/documents:commit", {"writes": writes})
    browser.run("location.hash = '#/documents?path=many'")
    browser.see("2,000 documents")
    for _ in range(60):
        browser.focus("listbox", "Documents of many")
        browser.key("End")
        if browser.run("document.body.innerText.includes('d01999')"):
            break
        time.sleep(0.1)
    browser.see("d01999")
    if browser.run("document.querySelectorAll('[role=option]').length") > 80:
        raise Failed("more rows than the screen shows are in the document")
    same(browser.run("document.querySelectorAll('main img, main script').length"), 0)


@step("dev", "rules")
def documents_are_accessible():
    check_page("documents")
    picture("documents")


# Rules.


def type_rules(text):
    browser.focus("textbox", "Rules of the")
    browser.run("document.activeElement.select()")
    browser.call("Input.insertText", text=text)


@step("dev", "rules")
def rules_are_checked_as_they_are_typed():
    page("rules")
    browser.wait("document.getElementById('rules-text').value.includes('rules')", "the rules in force")
    type_rules('{"rules": {\n  ".read": "auth.uid = 1"\n}}')
    browser.see("mistake")
    browser.wait("document.querySelector('.problems').innerText.startsWith('2:')", "the line of the mistake")
    picture("rules-mistake")


@step()
def a_mistake_leads_to_its_place():
    browser.wait("document.querySelector('.problems button')").__class__
    browser.run("document.querySelector('.problems button').click()")
    same(browser.run("document.getElementById('rules-text').value.slice(0, document.getElementById('rules-text').selectionStart).split('\\n').length"), 2)


@step("dev")
def a_decision_is_explained():
    type_rules('{"rules": {"users": {"$uid": {".read": "auth.uid == $uid", ".write": "auth.uid == $uid && newData.hasChild(\'name\')"}}}}')
    browser.see("no mistakes, 2 rules")
    browser.click("summary", "Explain a decision")
    browser.fill("textbox", "Path", "/users/ann")
    browser.fill("textbox", "User", "bob")
    browser.click("button", "Explain")
    browser.see("denied at /users/ann")
    browser.fill("textbox", "User", "ann")
    browser.click("button", "Explain")
    browser.see("allowed")
    picture("rules-explain")


@step("dev")
def a_write_is_explained():
    browser.choose("Operation", "write")
    browser.fill("textbox", "Value", '{"age": 3}')
    browser.click("button", "Explain")
    browser.see("no .write rule grants it")
    browser.fill("textbox", "Value", '{"name": "Ann"}')
    browser.click("button", "Explain")
    browser.wait("document.querySelector('.output.good') !== null", "allowed")


@step("rules")
def rules_are_deployed():
    type_rules('{"rules": {"users": {"$uid": {".read": "auth.uid == $uid"}}, "open": {".read": true}}}')
    browser.see("no mistakes, 2 rules")
    browser.click("button", "Deploy")
    browser.see("in force for the database")
    browser.click("button", "Deploy")
    browser.see("The rules are in force.")
    same(server.status("GET", "/open.json")[0], 200)
    same(server.status("GET", "/users/ann.json")[0], 401)


@step("dev", "rules")
def rules_of_documents_are_checked():
    page("rules?language=documents")
    browser.wait("document.getElementById('rules-text')?.value.includes('cloud.firestore')", "rules")
    type_rules("service cloud.firestore { match /databases/{d}/documents { match /cities/{c} { allow read: if x; } } }")
    browser.see("mistake")
    type_rules("service cloud.firestore { match /databases/{d}/documents { match /cities/{c} { allow get: if request.auth.uid == c; } } }")
    browser.see("no mistakes, 1 rule")


@step("dev")
def a_decision_about_a_document_is_explained():
    browser.click("summary", "Explain a decision")
    browser.fill("textbox", "Path", "cities/c1")
    browser.fill("textbox", "User", "c2")
    browser.click("button", "Explain")
    browser.see("get is denied")
    browser.fill("textbox", "User", "c1")
    browser.click("button", "Explain")
    browser.see("get is allowed")


@step("rules")
def rules_of_documents_are_deployed():
    browser.click("button", "Deploy")
    browser.see("in force for projects/demo")
    browser.click("button", "Deploy")
    browser.see("The rules are in force.")
    browser.call("Page.reload")
    browser.wait("document.getElementById('rules-text')?.value.includes('request.auth.uid == c')", "the deployed rules")


@step("dev", "rules")
def rules_are_accessible():
    check_page("rules")
    picture("rules")


# The rest.


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


def main():
    failed = 0
    for function in STEPS[mode]:
        name = function.__name__.replace("_s_", "'s ").replace("_", " ")
        if wanted and wanted not in name:
            continue
        begin = time.monotonic()
        try:
            function()
            print(f"ok {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED {name}: {error}", flush=True)
            if not isinstance(error, Failed):
                traceback.print_exc()
            picture("failed-" + function.__name__)
            browser.run("document.querySelectorAll('dialog').forEach((one) => one.close())")
    return 1 if failed else 0


if __name__ == "__main__":
    mode, address = sys.argv[1:3]
    rest = sys.argv[3:]
    key = open(rest.pop(0)).read().strip() if mode == "rules" else "owner"
    folder = rest.pop(0) if rest else None
    wanted = os.environ.get("CONSOLE_STEP")
    server = Server(address, key)
    program = find_browser()
    if program is None:
        sys.exit("there is no Chromium; Tools/setup --tests installs one")
    browser = Browser(program, os.environ.get("CONSOLE_FILES"))
    try:
        browser.install(open(os.path.join(HERE, "helpers.js")).read())
        browser.size(1280)
        code = main()
    finally:
        browser.close()
    sys.exit(code)
