"""Values, and what writes them."""

import time

from firebase_admin import exceptions

from playing import case, raises, same
from treecases.client import ref


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
