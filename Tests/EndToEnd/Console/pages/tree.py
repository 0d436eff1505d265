"""The page of the tree."""

import json
import os
import tempfile
import time

from browser import Failed
from stage import (
    HOSTILE,
    browser,
    check_page,
    click_row,
    edit_row,
    open_row,
    page,
    picture,
    row,
    same,
    seen_row,
    server,
    soon,
    step,
)


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


def exported(path):
    return server.send("GET", f"/{path}.json?format=export")


@step()
def a_priority_stays_when_its_value_is_edited():
    server.put("ranked", {".value": "one", ".priority": 3})
    seen_row("ranked", '"one"')
    edit_row("ranked")
    browser.fill("textbox", "Value", "two")
    browser.key("Enter")
    soon(lambda: exported("ranked"), {".value": "two", ".priority": 3})


@step()
def a_value_of_another_client_is_not_overwritten():
    seen_row("ranked", '"two"')
    edit_row("ranked")
    browser.fill("textbox", "Value", "three")
    server.put("ranked", "theirs")
    browser.key("Enter")
    browser.see("Another client has changed /ranked")
    same(server.get("ranked"), "theirs")
    browser.wait("document.querySelector('.in-place') === null")
    server.send("DELETE", "/ranked.json")


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
def a_branch_of_another_client_is_not_overwritten():
    click_row("rooms")
    browser.click("button", "Edit as JSON")
    browser.fill("textbox", "Value as JSON", '{"mine": true}')
    server.put("rooms/theirs", True)
    browser.click("button", "Save")
    browser.see("Another client has changed /rooms")
    same(server.get("rooms/theirs"), True)
    same(server.get("rooms/mine"), None)


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
