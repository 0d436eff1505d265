"""Documents: values, preconditions, transforms."""

import datetime

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1 import field_path
from google.cloud.firestore_v1.vector import Vector

from documentcases.client import client, collection, doc, ids
from playing import case, raises, same


# Documents


@case
def a_missing_document_does_not_exist():
    snapshot = doc().get()
    same(snapshot.exists, False)
    same(snapshot.to_dict(), None)
    assert snapshot.read_time is not None


@case
def set_and_get():
    result = doc().set({"name": "Ada", "born": 1815})
    snapshot = doc().get()
    same(snapshot.to_dict(), {"name": "Ada", "born": 1815})
    same(snapshot.update_time, result.update_time)
    same(snapshot.create_time, snapshot.update_time)


@case
def every_type_comes_back():
    moment = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=datetime.timezone.utc)
    values = {
        "null": None,
        "true": True,
        "integer": -(2**63),
        "large": 2**63 - 1,
        "double": 0.1,
        "infinity": float("inf"),
        "text": "grüße 🐦",
        "bytes": b"\x00\xff",
        "point": firestore.GeoPoint(52.5, 13.4),
        "list": [1, "two", {"three": 3}],
        "map": {"a": {"b": {"c": []}}},
        "empty": {},
    }
    doc().set({**values, "moment": moment, "reference": doc("b")})
    found = doc().get().to_dict()
    same(found.pop("reference").path, doc("b").path)
    assert found.pop("moment") == moment
    same(found, values)


@case
def not_a_number_comes_back():
    doc().set({"x": float("nan")})
    found = doc().get().get("x")
    assert found != found


@case
def vectors_come_back():
    doc().set({"v": Vector([1.0, 2.0, 3.0])})
    same(list(doc().get().get("v")), [1.0, 2.0, 3.0])


@case
def create_fails_when_it_exists():
    doc().create({"x": 1})
    raises(exceptions.AlreadyExists, doc().create, {"x": 2})
    same(doc().get().get("x"), 1)


@case
def update_fails_when_it_is_missing():
    raises(exceptions.NotFound, doc().update, {"x": 1})
    same(doc().get().exists, False)


@case
def update_changes_only_what_it_names():
    doc().set({"a": 1, "b": {"c": 2, "d": 3}})
    doc().update({"b.c": 5, "e": 6})
    same(doc().get().to_dict(), {"a": 1, "b": {"c": 5, "d": 3}, "e": 6})


@case
def update_deletes_fields():
    doc().set({"a": 1, "b": 2})
    doc().update({"a": firestore.DELETE_FIELD})
    same(doc().get().to_dict(), {"b": 2})


@case
def field_names_may_have_dots():
    path = field_path.FieldPath("a.b", "c d").to_api_repr()
    doc().set({"x": 1})
    doc().update({path: 7})
    same(doc().get().to_dict(), {"x": 1, "a.b": {"c d": 7}})


@case
def set_replaces():
    doc().set({"a": 1})
    doc().set({"b": 2})
    same(doc().get().to_dict(), {"b": 2})


@case
def set_merges():
    doc().set({"a": 1, "m": {"x": 1}})
    doc().set({"b": 2, "m": {"y": 2}}, merge=True)
    same(doc().get().to_dict(), {"a": 1, "b": 2, "m": {"x": 1, "y": 2}})


@case
def set_merges_only_named_fields():
    doc().set({"a": 1, "b": 1})
    doc().set({"a": 2, "b": 2}, merge=["a"])
    same(doc().get().to_dict(), {"a": 2, "b": 1})


@case
def delete_removes_and_is_idempotent():
    doc().set({"x": 1})
    doc().delete()
    doc().delete()
    same(doc().get().exists, False)


@case
def add_makes_an_id():
    _, reference = collection().add({"x": 1})
    same(len(reference.id), 20)
    same(reference.get().to_dict(), {"x": 1})


@case
def get_with_a_field_mask():
    doc().set({"a": 1, "b": {"c": 2, "d": 3}})
    same(doc().get(["b.c"]).to_dict(), {"b": {"c": 2}})


@case
def get_all_tells_missing_ones():
    doc("a").set({"x": 1})
    found = {s.id: s.exists for s in client.get_all([doc("a"), doc("b"), doc("a")])}
    same(found, {"a": True, "b": False})


@case
def a_document_of_nearly_a_megabyte():
    text = "x" * 1_000_000
    doc().set({"text": text})
    same(doc().get().get("text"), text)


@case
def a_document_that_is_too_large():
    raises(exceptions.InvalidArgument, doc().set, {"text": "x" * 1_100_000})


@case
def a_name_of_odd_characters():
    reference = collection().document("ä ö/x".replace("/", "%2F"))
    reference.set({"x": 1})
    same(ids(collection().stream()), [reference.id])


@case
def a_reserved_name_is_refused():
    raises(exceptions.InvalidArgument, collection().document("__x__").set, {"x": 1})


@case
def arrays_in_arrays_are_refused():
    raises(exceptions.InvalidArgument, doc().set, {"x": [[1]]})


@case
def write_results_tell_when():
    first = doc().set({"x": 1})
    second = doc().set({"x": 2})
    assert first.update_time < second.update_time


@case
def read_at_an_earlier_time():
    first = doc().set({"x": 1})
    doc().set({"x": 2})
    same(doc().get(read_time=first.update_time).to_dict(), {"x": 1})


# Preconditions


@case
def a_precondition_on_the_update_time_holds():
    result = doc().set({"x": 1})
    doc().update({"x": 2}, client.write_option(last_update_time=result.update_time))
    same(doc().get().get("x"), 2)


@case
def a_precondition_on_the_update_time_fails():
    result = doc().set({"x": 1})
    doc().set({"x": 2})
    option = client.write_option(last_update_time=result.update_time)
    raises(exceptions.FailedPrecondition, doc().update, {"x": 3}, option)
    raises(exceptions.FailedPrecondition, doc().delete, option)
    same(doc().get().get("x"), 2)


@case
def a_precondition_on_existence_fails():
    raises(exceptions.NotFound, doc().delete, client.write_option(exists=True))


# Transforms


@case
def the_time_of_the_server():
    result = doc().set({"at": firestore.SERVER_TIMESTAMP})
    found = doc().get().get("at")
    assert abs((found - result.update_time).total_seconds()) < 1


@case
def increments():
    doc().set({"i": 1, "d": 0.5})
    doc().update(
        {"i": firestore.Increment(4), "d": firestore.Increment(1), "new": firestore.Increment(7)}
    )
    same(doc().get().to_dict(), {"i": 5, "d": 1.5, "new": 7})


@case
def increments_saturate():
    doc().set({"i": 2**63 - 2})
    doc().update({"i": firestore.Increment(5)})
    same(doc().get().get("i"), 2**63 - 1)


@case
def maximum_and_minimum():
    doc().set({"a": 5, "b": 5})
    doc().update({"a": firestore.Maximum(9), "b": firestore.Minimum(2)})
    same(doc().get().to_dict(), {"a": 9, "b": 2})


@case
def array_union_and_remove():
    doc().set({"list": [1, 2, 2]})
    doc().update({"list": firestore.ArrayUnion([2, 3])})
    same(doc().get().get("list"), [1, 2, 2, 3])
    doc().update({"list": firestore.ArrayRemove([2])})
    same(doc().get().get("list"), [1, 3])


@case
def transforms_in_a_new_document():
    doc().set({"list": firestore.ArrayUnion(["a"]), "x": 1})
    same(doc().get().to_dict(), {"list": ["a"], "x": 1})
