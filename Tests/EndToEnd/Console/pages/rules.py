"""The page of rules."""

from stage import browser, check_page, page, picture, same, server, step


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
