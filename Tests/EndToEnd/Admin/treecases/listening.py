"""Listeners."""

from playing import PATIENCE, case, same
from treecases.client import Listening, ref


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
