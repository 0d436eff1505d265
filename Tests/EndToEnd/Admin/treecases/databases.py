"""Identity, rules, and databases."""

import json
import re
import sys

import firebase_admin
import requests
from firebase_admin import db, exceptions

import playing
from playing import PATIENCE, case, raises, same
from treecases.client import app, ref


# Identity, rules, databases


def as_user(name, override, url="https://cases.example.com"):
    return firebase_admin.initialize_app(
        options={"databaseURL": url, "databaseAuthVariableOverride": override}, name=name)


@case
def the_owner_passes_the_rules():
    db.reference("secret", app).set(1)
    same(db.reference("secret", app).get(), 1)


@case
def nobody_is_held_to_the_rules():
    nobody = as_user("nobody", None)
    error = raises(exceptions.UnauthenticatedError, db.reference("secret", nobody).get)
    assert "Permission denied" in str(error), error
    raises(exceptions.UnauthenticatedError, db.reference("secret", nobody).set, 2)
    same(db.reference("public", nobody).get(), None)


@case
def a_user_is_held_to_the_rules():
    ann = as_user("ann", {"uid": "ann"})
    db.reference("users/ann", ann).set({"name": "Ann"})
    same(db.reference("users/ann", ann).get(), {"name": "Ann"})
    raises(exceptions.UnauthenticatedError, db.reference("users/bob", ann).set, 1)
    raises(exceptions.UnauthenticatedError, db.reference("users", ann).get)


@case
def a_denied_update_changes_nothing():
    cid = as_user("cid", {"uid": "cid"})
    raises(
        exceptions.UnauthenticatedError, db.reference("users", cid).update,
        {"cid": 1, "dan": 1})
    same(db.reference("users/cid", app).get(), None)


@case
def a_denied_conditional_write_shows_nothing():
    eve = as_user("eve", {"uid": "eve"})
    db.reference("secret", app).set("hidden")
    error = raises(
        exceptions.UnauthenticatedError, db.reference("secret", eve).set_if_unchanged, "x", 1)
    assert "hidden" not in str(error), error


@case
def databases_do_not_see_each_other():
    other = as_user("other", {}, "https://other.example.com")
    ref().set("here")
    same(db.reference("cases/" + playing.current, other).get(), None)
    db.reference("cases/" + playing.current, other).set("there")
    same(ref().get(), "here")


# What the SDK does not say itself


def url(path, **parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"http://{sys.argv[1]}/cases/{playing.current}{path}.json?ns=cases&access_token=owner&{query}"


@case
def pretty_and_silent():
    ref().set({"a": 1})
    same(requests.get(url("", print="pretty")).text.strip(), '{\n  "a" : 1\n}')
    answer = requests.put(url("", print="silent"), data="2")
    same((answer.status_code, answer.text), (204, ""))


@case
def priorities_in_export():
    requests.put(url(""), data='{"a":{".value":1,".priority":5}}')
    same(requests.get(url("", format="export")).json(), {"a": {".value": 1, ".priority": 5}})
    same(requests.get(url("")).json(), {"a": 1})
    same(requests.get(url("/a/.priority")).json(), 5)


@case
def bad_bodies_are_refused():
    for body in ["", "{", '{"a.b":1}']:
        answer = requests.put(url(""), data=body)
        same(answer.status_code, 400)
        assert answer.json()["error"].startswith("Invalid data; couldn't parse JSON"), answer.text
    same(ref().get(), None)


@case
def an_unknown_server_value_is_refused():
    answer = requests.put(url(""), data='{".sv":"dice"}')
    same((answer.status_code, answer.json()), (400, {"error": "Invalid data; unknown server value"}))


@case
def queries_need_an_order():
    answer = requests.get(url("", limitToFirst=1))
    same(answer.status_code, 400)
    same(answer.json()["error"],
         "orderBy must be defined when other query parameters are defined")


@case
def methods_may_be_overridden():
    ref().set({"a": 1})
    requests.post(url(""), data='{"b":2}', headers={"X-HTTP-Method-Override": "PATCH"})
    same(ref().get(), {"a": 1, "b": 2})


@case
def browsers_may_ask():
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Headers": "if-match"}
    answer = requests.options(url(""), headers=headers)
    same(answer.headers["Access-Control-Allow-Origin"], "http://localhost:3000")
    same(answer.headers["Access-Control-Allow-Credentials"], "true")
    same(answer.headers["Access-Control-Allow-Headers"], "if-match")


@case
def a_foreign_page_is_not_the_owner():
    answer = requests.get(url(""), headers={"Origin": "https://evil.example"})
    same(answer.status_code, 401)


@case
def many_requests_over_one_connection():
    with requests.Session() as session:
        for number in range(50):
            same(session.put(url(f"/{number}"), data=str(number)).json(), number)
    same(len(ref().get()), 50)


# Rules, indexes and what else is about a database


def setting(path, database, **parameters):
    query = "".join(f"&{name}={value}" for name, value in parameters.items())
    return f"http://{sys.argv[1]}/{path}.json?ns={database}{query}"


OWNER = {"Authorization": "Bearer owner"}
OPEN = '{"rules": {".read": true, ".write": true}}'


@case
def an_order_without_index_is_refused():
    error = raises(exceptions.InvalidArgumentError, ref().order_by_child("age").get)
    assert str(error) == (
        'Index not defined, add ".indexOn": "age", for path "/cases/' + playing.current
        + '", to the rules'), error
    assert not ref().order_by_child("height").get()


@case
def rules_can_be_set_and_read():
    rules = '{"rules": { /* mine */ "a": {".read": true} }} // end'
    place = setting(".settings/rules", playing.current)
    same(requests.put(place, data=rules, headers=OWNER).json(), {"status": "ok"})
    same(requests.get(place, headers=OWNER).text, rules)
    strict = requests.get(place + "&format=strict", headers=OWNER).json()
    same(strict, {"rules": {"a": {".read": True}}})
    same(requests.get(setting("a", playing.current)).status_code, 200)
    same(requests.get(setting("b", playing.current)).status_code, 401)
    same(requests.get(setting("public", "cases")).status_code, 200)


@case
def rules_with_mistakes_are_refused():
    place = setting(".settings/rules", playing.current)
    answer = requests.put(place, data='{"rules": {".read": "auth.uid ==="}}', headers=OWNER)
    same(answer.status_code, 400)
    assert answer.json()["error"].startswith("1:"), answer.text
    dry = requests.put(place + "&dryRun=true", data='{"rules": {}}', headers=OWNER)
    same((dry.status_code, dry.json()), (200, {"status": "ok"}))
    same(requests.get(setting("public", playing.current)).status_code, 200)


@case
def rules_are_for_the_owner():
    place = setting(".settings/rules", playing.current)
    same(requests.get(place).status_code, 401)
    same(requests.put(place, data=OPEN).status_code, 401)
    same(requests.get(place, headers={"Authorization": "Bearer other"}).status_code, 401)


@case
def new_rules_end_streams_they_do_not_allow():
    place = setting(".settings/rules", playing.current)
    requests.put(place, data=OPEN, headers=OWNER)
    stream = requests.get(
        setting("a", playing.current), headers={"Accept": "text/event-stream"}, stream=True,
        timeout=PATIENCE)
    lines = stream.iter_lines(decode_unicode=True)
    same([next(lines) for _ in range(3)], ["event: put", 'data: {"path":"/","data":null}', ""])
    requests.put(place, data='{"rules": {}}', headers=OWNER)
    event, reason, end = list(lines)
    same((event, end), ("event: cancel", ""))
    assert re.fullmatch(r'data: "Permission denied \[[0-9a-f]{16}\]"', reason), reason


@case
def a_stream_that_is_denied_does_not_begin():
    headers = {"Accept": "text/event-stream"}
    answer = requests.get(setting("secret", "cases"), headers=headers, timeout=PATIENCE)
    same((answer.status_code, answer.json()), (401, {"error": "Permission denied"}))
    answer = requests.get(setting("secret", "cases", auth="no"), headers=headers, timeout=PATIENCE)
    same(answer.status_code, 401)


@case
def a_stream_may_be_a_window():
    database = "window"
    requests.put(setting(".settings/rules", database), data=OPEN, headers=OWNER)
    requests.put(setting("list", database), data='{"a":1,"b":2}')
    stream = requests.get(
        setting("list", database, orderBy='"$key"', limitToLast=1),
        headers={"Accept": "text/event-stream"}, stream=True, timeout=PATIENCE)
    lines = stream.iter_lines(decode_unicode=True)
    same([next(lines) for _ in range(3)][1], 'data: {"path":"/","data":{"b":2}}')
    requests.put(setting("list/c", database), data="3")
    event = [next(lines) for _ in range(3)]
    same(event[0], "event: patch")
    same(json.loads(event[1][6:]), {"path": "/", "data": {"b": None, "c": 3}})


@case
def databases_are_listed_for_the_owner():
    requests.put(setting("x", "public-one") + "&access_token=owner", data="1")
    place = setting(".inspect/databases", "any")
    names = [entry["name"] for entry in requests.get(place, headers=OWNER).json()]
    assert "cases" in names and "public-one" in names and names == sorted(names), names
    same(requests.get(place).status_code, 401)


@case
def info_is_about_the_connection():
    same(requests.get(setting(".info/connected", "cases")).json(), True)
    same(requests.get(setting(".info", "cases")).json(), {"connected": True, "serverTimeOffset": 0})
    same(requests.put(setting(".info/connected", "cases"), data="1").status_code, 405)
