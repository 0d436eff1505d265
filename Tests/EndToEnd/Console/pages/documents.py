"""The page of documents."""

import json
import time

from browser import Failed
from stage import HOSTILE, browser, check_page, page, picture, same, server, soon, step


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
def the_list_is_drawn_while_another_query_is_under_way():
    told = len(browser.logs)
    browser.call("Network.emulateNetworkConditions", offline=False, latency=500, downloadThroughput=-1, uploadThroughput=-1)
    browser.click("button", "Run")
    browser.run("document.querySelector('[role=listbox]').dispatchEvent(new Event('scroll'))")
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    browser.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    browser.see("6 documents")
    same(browser.logs[told:], [])


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
