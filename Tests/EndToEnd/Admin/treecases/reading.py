"""Reading, and writes that depend on what was read."""

import threading

from playing import PATIENCE, case, raises, same
from treecases.client import ref


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
