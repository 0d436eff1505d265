"""Cases that the Firebase Admin SDK for Python plays against a running server.

    cases.py HOST:PORT

The server runs with --dev and with the rules beside this file. Each case is a function below;
prints one line a case, `ok NAME` or `FAILED NAME` with the reason, and a summary at the end.
"""

import json
import os
import queue
import re
import sys
import threading
import time
import traceback

os.environ["FIREBASE_DATABASE_EMULATOR_HOST"] = sys.argv[1]

import firebase_admin  # noqa: E402
import requests  # noqa: E402
from firebase_admin import db, exceptions  # noqa: E402

PATIENCE = 30
app = firebase_admin.initialize_app(options={"databaseURL": "https://cases.example.com"})
CASES = []


def case(function):
    CASES.append(function)
    return function


def ref(path=""):
    """A place of its own for the case that runs."""
    return db.reference(("cases/" + current + "/" + path).strip("/"), app)


def raises(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def same(found, expected):
    if found != expected or type(found) is not type(expected):
        raise AssertionError(f"{found!r} instead of {expected!r}")


class Listening:
    """Collects what a listener hears."""

    def __init__(self, reference):
        self.events = queue.Queue()
        self.registration = reference.listen(self.events.put)

    def next(self):
        event = self.events.get(timeout=PATIENCE)
        return (event.event_type, event.path, event.data)

    def until(self, wanted):
        """Reads on until the event is there."""
        seen = []
        while True:
            seen.append(self.next())
            if seen[-1] == wanted:
                return seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its close waits for the thread that reads, which waits for the next byte.
        self.registration._sse.should_connect = False
        self.registration._sse.retry = 0


# Values


@case
def nothing_is_none():
    same(ref().get(), None)


@case
def set_and_get_a_string():
    ref().set("hello")
    same(ref().get(), "hello")


@case
def set_and_get_an_integer():
    ref().set(42)
    same(ref().get(), 42)


@case
def set_and_get_a_large_integer():
    ref().set(9007199254740993)
    same(ref().get(), 9007199254740993)


@case
def set_and_get_a_double():
    ref().set(2.47)
    same(ref().get(), 2.47)


@case
def set_and_get_a_boolean():
    ref().set(True)
    same(ref().get(), True)
    ref().set(False)
    same(ref().get(), False)


@case
def set_and_get_unicode():
    ref().set("grüße 😀 \u2028 \"quoted\" \\ \n")
    same(ref().get(), "grüße 😀 \u2028 \"quoted\" \\ \n")


@case
def set_and_get_an_object():
    ref().set({"name": "Ann", "age": 30, "on": {"deep": {"er": 1.5}}})
    same(ref().get(), {"name": "Ann", "age": 30, "on": {"deep": {"er": 1.5}}})


@case
def lists_stay_lists():
    ref().set(["a", "b", "c"])
    same(ref().get(), ["a", "b", "c"])
    same(ref("1").get(), "b")


@case
def lists_with_gaps():
    ref().set({"1": "a", "2": "b"})
    same(ref().get(), [None, "a", "b"])
    ref().set({"5": "a"})
    same(ref().get(), {"5": "a"})


@case
def empty_things_are_nothing():
    ref().set({"a": {}, "b": [], "c": 1})
    same(ref().get(), {"c": 1})


@case
def empty_set_is_an_empty_string():
    ref().set("x")
    ref().set("")
    same(ref().get(), "")


@case
def set_replaces_everything():
    ref().set({"a": 1, "b": {"c": 2}})
    ref().set({"d": 3})
    same(ref().get(), {"d": 3})


@case
def set_at_a_deep_path_makes_its_parents():
    ref("a/b/c/d").set("x")
    same(ref().get(), {"a": {"b": {"c": {"d": "x"}}}})


@case
def set_below_a_leaf_replaces_it():
    ref().set("leaf")
    ref("child").set(1)
    same(ref().get(), {"child": 1})


@case
def odd_keys_travel():
    ref("a b/ü+ö/100%").set(1)
    same(ref().get(), {"a b": {"ü+ö": {"100%": 1}}})
    same(ref("a b/ü+ö/100%").get(), 1)


@case
def large_values_travel():
    text = "x" * 3_000_000
    ref().set({"text": text, "many": {f"k{index}": index for index in range(5000)}})
    found = ref().get()
    same(len(found["text"]), 3_000_000)
    same(found["many"]["k4999"], 4999)


@case
def timestamps_are_filled_in():
    ref().set({"at": {".sv": "timestamp"}})
    at = ref("at").get()
    assert abs(at - time.time() * 1000) < 600_000, at


@case
def increments_are_added():
    ref("n").set(40)
    ref("n").set({".sv": {"increment": 2}})
    same(ref("n").get(), 42)
    ref("new").set({".sv": {"increment": 2.5}})
    same(ref("new").get(), 2.5)


# Update, push, delete


@case
def update_leaves_siblings():
    ref().set({"a": 1, "b": 2})
    ref().update({"b": 3, "c": 4})
    same(ref().get(), {"a": 1, "b": 3, "c": 4})


@case
def update_takes_paths():
    ref().set({"a": {"x": 1, "y": 2}})
    ref().update({"a/x": 5, "b/c/d": 6})
    same(ref().get(), {"a": {"x": 5, "y": 2}, "b": {"c": {"d": 6}}})


@case
def update_with_none_deletes():
    ref().set({"a": 1, "b": 2})
    ref().update({"a": None})
    same(ref().get(), {"b": 2})


@case
def update_with_overlapping_paths_is_refused():
    error = raises(exceptions.InvalidArgumentError, ref().update, {"a": 1, "a/b": 2})
    assert "overlap" in str(error), error


@case
def push_makes_names_that_ascend():
    names = [ref().push(index).key for index in range(20)]
    same(names, sorted(names))
    same(len(set(names)), 20)
    same([len(name) for name in names], [20] * 20)
    same(list(ref().get().values()), list(range(20)))


@case
def push_without_value_is_an_empty_string():
    child = ref().push()
    same(child.get(), "")


@case
def push_returns_a_reference():
    child = ref().push({"a": 1})
    child.update({"b": 2})
    same(child.get(), {"a": 1, "b": 2})


@case
def delete_removes():
    ref().set({"a": 1, "b": {"c": 2}})
    ref("b").delete()
    same(ref().get(), {"a": 1})
    ref("a").delete()
    same(ref().get(), None)


@case
def delete_of_nothing_is_fine():
    ref("nowhere").delete()
    same(ref().get(), None)


# Reading


@case
def shallow_shows_names():
    ref().set({"a": {"deep": 1}, "b": 2})
    same(ref().get(shallow=True), {"a": True, "b": True})


@case
def shallow_of_a_leaf_is_the_leaf():
    ref().set("leaf")
    same(ref().get(shallow=True), "leaf")
    same(ref("nowhere").get(shallow=True), None)


@case
def etag_comes_with_the_value():
    ref().set({"a": 1})
    value, etag = ref().get(etag=True)
    same(value, {"a": 1})
    assert etag and etag != "null_etag", etag


@case
def etag_of_nothing():
    same(ref().get(etag=True), (None, "null_etag"))


@case
def etags_name_values():
    ref("a").set({"x": 1})
    ref("b").set({"x": 1})
    same(ref("a").get(etag=True)[1], ref("b").get(etag=True)[1])
    ref("b").set({"x": 2})
    assert ref("a").get(etag=True)[1] != ref("b").get(etag=True)[1]


@case
def get_if_changed():
    ref().set(1)
    _, etag = ref().get(etag=True)
    same(ref().get_if_changed(etag), (False, None, None))
    ref().set(2)
    changed, value, newer = ref().get_if_changed(etag)
    same((changed, value), (True, 2))
    assert newer != etag


# Conditional writes


@case
def set_if_unchanged_writes():
    ref().set(1)
    _, etag = ref().get(etag=True)
    written, value, newer = ref().set_if_unchanged(etag, 2)
    same((written, value), (True, 2))
    same(newer, ref().get(etag=True)[1])
    same(ref().get(), 2)


@case
def set_if_unchanged_shows_what_is_there():
    ref().set({"a": 1})
    written, value, etag = ref().set_if_unchanged("stale", 2)
    same((written, value), (False, {"a": 1}))
    same(etag, ref().get(etag=True)[1])
    same(ref().get(), {"a": 1})


@case
def set_if_unchanged_over_nothing():
    same(ref().set_if_unchanged("null_etag", 1)[0], True)
    same(ref().set_if_unchanged("null_etag", 2)[0], False)
    same(ref().get(), 1)


@case
def transaction_changes_a_value():
    ref().set(1)
    same(ref().transaction(lambda value: (value or 0) + 1), 2)
    same(ref().get(), 2)


@case
def transaction_on_nothing():
    same(ref().transaction(lambda value: (value or 0) + 1), 1)


@case
def transaction_on_an_object():
    ref().set({"likes": 3, "tags": ["a"]})

    def like(post):
        post["likes"] += 1
        post["tags"].append("b")
        return post

    same(ref().transaction(like), {"likes": 4, "tags": ["a", "b"]})


@case
def transaction_that_fails_leaves_things():
    ref().set(1)

    def refuse(_):
        raise KeyError("no")

    raises(KeyError, ref().transaction, refuse)
    same(ref().get(), 1)


@case
def transactions_retry_over_newer_data():
    ref().set(10)
    calls = []

    def change(value):
        calls.append(value)
        if len(calls) == 1:
            ref().set(20)
        return value + 1

    same(ref().transaction(change), 21)
    same(calls, [10, 20])


@case
def transactions_side_by_side_all_count():
    ref().set(0)
    place = ref()

    def count():
        for _ in range(5):
            place.transaction(lambda value: value + 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    same(ref().get(), 20)


# Queries

DINOSAURS = {
    "bruhathkayosaurus": {"height": 25, "order": "saurischia", "dims": {"weight": 139000}},
    "lambeosaurus": {"height": 2.1, "order": "ornithischia", "dims": {"weight": 3500}},
    "linhenykus": {"height": 0.6, "order": "theropoda", "dims": {"weight": 3}},
    "pterodactyl": {"height": 0.6, "order": "pterosauria", "dims": {"weight": 2}},
    "stegosaurus": {"height": 4, "order": "ornithischia", "dims": {"weight": 2500}},
    "triceratops": {"height": 3, "order": "ornithischia", "dims": {"weight": 11000}},
}


def dinosaurs():
    ref().set(DINOSAURS)
    return ref()


def keys(result):
    return list(result.keys())


@case
def order_by_child():
    same(
        keys(dinosaurs().order_by_child("height").get()),
        ["linhenykus", "pterodactyl", "lambeosaurus", "triceratops", "stegosaurus",
         "bruhathkayosaurus"])


@case
def order_by_a_deep_child():
    found = dinosaurs().order_by_child("dims/weight").limit_to_last(2).get()
    same(keys(found), ["triceratops", "bruhathkayosaurus"])


@case
def order_by_key():
    same(keys(dinosaurs().order_by_key().limit_to_first(2).get()),
         ["bruhathkayosaurus", "lambeosaurus"])
    same(keys(dinosaurs().order_by_key().limit_to_last(1).get()), ["triceratops"])


@case
def order_by_key_in_a_range():
    found = dinosaurs().order_by_key().start_at("l").end_at("m").get()
    same(keys(found), ["lambeosaurus", "linhenykus"])


@case
def order_by_value():
    ref().set({"ann": 3, "bob": 1, "cid": 2, "dan": "text", "eve": True})
    same(keys(ref().order_by_value().get()), ["eve", "bob", "cid", "ann", "dan"])
    same(dict(ref().order_by_value().limit_to_last(2).get()), {"ann": 3, "dan": "text"})


@case
def order_by_value_in_a_range():
    ref().set({"ann": 3, "bob": 1, "cid": 2})
    same(keys(ref().order_by_value().start_at(2).get()), ["cid", "ann"])
    same(keys(ref().order_by_value().end_at(1).get()), ["bob"])


@case
def range_of_a_child():
    found = dinosaurs().order_by_child("height").start_at(2).end_at(3).get()
    same(keys(found), ["lambeosaurus", "triceratops"])


@case
def equal_to_a_child():
    found = dinosaurs().order_by_child("order").equal_to("ornithischia").get()
    same(keys(found), ["lambeosaurus", "stegosaurus", "triceratops"])


@case
def equal_to_and_a_limit():
    found = dinosaurs().order_by_child("order").equal_to("ornithischia").limit_to_last(1).get()
    same(keys(found), ["triceratops"])


@case
def a_query_without_result():
    result = dinosaurs().order_by_child("height").start_at(1000).get()
    assert not result, result


@case
def a_query_over_nothing():
    assert not ref().order_by_key().get()


@case
def a_query_for_text_with_odd_characters():
    ref().set({"a": {"name": "Jürgen \"Söhne\" = 100"}, "b": {"name": "x"}})
    found = ref().order_by_child("name").equal_to("Jürgen \"Söhne\" = 100").get()
    same(keys(found) if found else found, ["a"])


@case
def a_query_over_a_leaf():
    ref().set("leaf")
    assert not ref().order_by_key().limit_to_first(1).get()


# Listening


@case
def listen_begins_with_what_is_there():
    ref().set({"a": 1})
    with Listening(ref()) as listening:
        same(listening.next(), ("put", "/", {"a": 1}))


@case
def listen_to_a_change():
    ref().set({"a": 1})
    with Listening(ref()) as listening:
        listening.next()
        ref("a").set(2)
        same(listening.next(), ("put", "/a", 2))


@case
def listen_to_an_update():
    ref().set({"a": 1, "b": 1})
    with Listening(ref()) as listening:
        listening.next()
        ref().update({"a": 2, "b": 3})
        same(listening.next(), ("patch", "/", {"a": 2, "b": 3}))


@case
def listen_to_a_deletion():
    ref().set({"a": 1, "b": 1})
    with Listening(ref()) as listening:
        listening.next()
        ref("b").delete()
        event = listening.events.get(timeout=PATIENCE)
        same((event.event_type, event.path, event.data), ("put", "/b", None))


@case
def listen_to_a_push():
    ref().set({"seed": 0})
    with Listening(ref()) as listening:
        listening.next()
        child = ref().push({"text": "grüße"})
        same(listening.next(), ("put", "/" + child.key, {"text": "grüße"}))


@case
def listen_to_a_change_above():
    ref().set({"a": {"b": 1}})
    with Listening(ref("a")) as listening:
        same(listening.next(), ("put", "/", {"b": 1}))
        ref().set({"a": {"b": 2}})
        same(listening.next(), ("put", "/", {"b": 2}))


@case
def listen_to_many_changes_in_order():
    ref().set(0)
    with Listening(ref()) as listening:
        listening.next()
        for number in range(1, 51):
            ref().set(number)
        same([listening.next()[2] for _ in range(50)], list(range(1, 51)))


@case
def listen_hears_nothing_of_siblings():
    ref().set({"a": 1, "b": 1})
    with Listening(ref("a")) as listening:
        listening.next()
        ref("b").set(2)
        ref("a").set(2)
        same(listening.next(), ("put", "/", 2))


@case
def two_listeners_hear_the_same():
    ref().set(1)
    with Listening(ref()) as first, Listening(ref()) as second:
        first.next(), second.next()
        ref().set({"x": [1, 2]})
        same(first.next(), ("put", "/", {"x": [1, 2]}))
        same(second.next(), ("put", "/", {"x": [1, 2]}))


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
    same(db.reference("cases/" + current, other).get(), None)
    db.reference("cases/" + current, other).set("there")
    same(ref().get(), "here")


# What the SDK does not say itself


def url(path, **parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"http://{sys.argv[1]}/cases/{current}{path}.json?ns=cases&access_token=owner&{query}"


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
        'Index not defined, add ".indexOn": "age", for path "/cases/' + current
        + '", to the rules'), error
    assert not ref().order_by_child("height").get()


@case
def rules_can_be_set_and_read():
    rules = '{"rules": { /* mine */ "a": {".read": true} }} // end'
    place = setting(".settings/rules", current)
    same(requests.put(place, data=rules, headers=OWNER).json(), {"status": "ok"})
    same(requests.get(place, headers=OWNER).text, rules)
    strict = requests.get(place + "&format=strict", headers=OWNER).json()
    same(strict, {"rules": {"a": {".read": True}}})
    same(requests.get(setting("a", current)).status_code, 200)
    same(requests.get(setting("b", current)).status_code, 401)
    same(requests.get(setting("public", "cases")).status_code, 200)


@case
def rules_with_mistakes_are_refused():
    place = setting(".settings/rules", current)
    answer = requests.put(place, data='{"rules": {".read": "auth.uid ==="}}', headers=OWNER)
    same(answer.status_code, 400)
    assert answer.json()["error"].startswith("1:"), answer.text
    dry = requests.put(place + "&dryRun=true", data='{"rules": {}}', headers=OWNER)
    same((dry.status_code, dry.json()), (200, {"status": "ok"}))
    same(requests.get(setting("public", current)).status_code, 200)


@case
def rules_are_for_the_owner():
    place = setting(".settings/rules", current)
    same(requests.get(place).status_code, 401)
    same(requests.put(place, data=OPEN).status_code, 401)
    same(requests.get(place, headers={"Authorization": "Bearer other"}).status_code, 401)


@case
def new_rules_end_streams_they_do_not_allow():
    place = setting(".settings/rules", current)
    requests.put(place, data=OPEN, headers=OWNER)
    stream = requests.get(
        setting("a", current), headers={"Accept": "text/event-stream"}, stream=True,
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


def main():
    global current
    failed = 0
    for function in CASES:
        current = function.__name__
        try:
            function()
            print("ok", current, flush=True)
        except Exception:  # noqa: BLE001 - a case that fails is told, and the next one runs
            failed += 1
            reason = traceback.format_exc().strip().splitlines()
            print("FAILED", current, json.dumps(reason[-6:]), flush=True)
    print(f"{len(CASES) - failed} passed, {failed} failed", flush=True)
    # Listeners' threads would wait for their streams.
    os._exit(1 if failed else 0)


current = ""
main()
