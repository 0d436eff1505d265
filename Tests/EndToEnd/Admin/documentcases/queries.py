"""Queries, aggregations and listings."""

import datetime

from google.api_core import exceptions
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import And, Or
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.vector import Vector

import playing
from documentcases.client import client, collection, doc, fill, ids, stub, where
from playing import case, raises, same


# Queries


@case
def all_documents_by_name():
    same(ids(fill().stream()), [f"d{i}" for i in range(6)])


@case
def equality():
    same(ids(fill().where(filter=where("odd", "==", True)).stream()), ["d1", "d3", "d5"])


@case
def inequalities():
    found = fill().where(filter=where("n", ">", 1)).where(filter=where("n", "<=", 4)).stream()
    same(ids(found), ["d2", "d3", "d4"])


@case
def not_equal():
    same(ids(fill().where(filter=where("n", "!=", 3)).stream()), ["d0", "d1", "d2", "d4", "d5"])


@case
def in_and_not_in():
    c = fill()
    same(ids(c.where(filter=where("n", "in", [4, 1, 99])).stream()), ["d1", "d4"])
    same(ids(c.where(filter=where("n", "not-in", [0, 1, 2, 3])).stream()), ["d4", "d5"])


@case
def array_membership():
    c = fill()
    same(ids(c.where(filter=where("list", "array_contains", 3)).stream()), ["d2", "d3"])
    found = c.where(filter=where("list", "array_contains_any", [0, 6])).stream()
    same(ids(found), ["d0", "d5"])


@case
def null_and_not_a_number():
    collection().document("a").set({"x": None})
    collection().document("b").set({"x": float("nan")})
    collection().document("c").set({"x": 1})
    same(ids(collection().where(filter=where("x", "==", None)).stream()), ["a"])
    same(ids(collection().where(filter=where("x", "==", float("nan"))).stream()), ["b"])
    same(ids(collection().where(filter=where("x", "!=", None)).stream()), ["b", "c"])


@case
def disjunctions():
    either = Or([where("n", "==", 0), And([where("odd", "==", True), where("n", ">", 3)])])
    same(sorted(ids(fill().where(filter=either).stream())), ["d0", "d5"])


@case
def by_document_name():
    c = fill()
    found = c.where(filter=where("__name__", "in", [c.document("d4"), c.document("d2")]))
    same(ids(found.stream()), ["d2", "d4"])


@case
def order_and_limit():
    c = fill()
    found = c.order_by("n", direction=firestore.Query.DESCENDING).limit(2)
    same(ids(found.stream()), ["d5", "d4"])


@case
def order_by_two_fields():
    found = fill().order_by("odd").order_by("n", direction=firestore.Query.DESCENDING)
    same(ids(found.stream()), ["d4", "d2", "d0", "d5", "d3", "d1"])


@case
def offset():
    same(ids(fill().order_by("n").offset(4).stream()), ["d4", "d5"])


@case
def limit_to_last():
    same(ids(fill().order_by("n").limit_to_last(2).get()), ["d4", "d5"])


@case
def projection():
    found = list(fill(1).select(["n"]).stream())
    same(found[0].to_dict(), {"n": 0})
    found = list(collection().select([]).stream())
    same(found[0].to_dict(), {})


@case
def cursors_by_value():
    ordered = fill().order_by("n")
    same(ids(ordered.start_at({"n": 4}).stream()), ["d4", "d5"])
    same(ids(ordered.start_after({"n": 4}).stream()), ["d5"])
    same(ids(ordered.end_at({"n": 1}).stream()), ["d0", "d1"])
    same(ids(ordered.end_before({"n": 1}).stream()), ["d0"])


@case
def cursors_by_snapshot():
    c = fill()
    middle = c.document("d3").get()
    same(ids(c.order_by("odd").start_after(middle).stream()), ["d5"])


@case
def pages():
    ordered = fill(10).order_by("n").limit(4)
    seen = []
    page = list(ordered.stream())
    while page:
        seen += ids(page)
        page = list(ordered.start_after(page[-1]).stream())
    same(seen, [f"d{i}" for i in range(10)])


@case
def collection_groups():
    for parent in ["p", "q"]:
        name = f"group_{playing.current}"
        collection().document(parent).collection(name).document(parent + "1").set({"x": 1})
    same(ids(client.collection_group(f"group_{playing.current}").stream()), ["p1", "q1"])


@case
def types_in_order():
    values = [None, False, 1, datetime.datetime.now(datetime.timezone.utc), "a", b"a"]
    values += [doc(), firestore.GeoPoint(1, 1), [1], Vector([1.0]), {"a": 1}]
    for index, value in reversed(list(enumerate(values))):
        collection().document(f"{index:02}").set({"x": value})
    same(ids(collection().order_by("x").stream()), [f"{i:02}" for i in range(len(values))])


@case
def a_filter_that_contradicts_an_order():
    query = collection().where(filter=where("n", "in", []))
    raises(exceptions.InvalidArgument, lambda: list(query.stream()))


@case
def a_large_result():
    c = fill(400)
    same(len(list(c.stream())), 400)


@case
def a_result_of_many_megabytes():
    for part in range(8):
        collection().document(f"d{part}").set({"text": "x" * 900_000})
    same(sum(len(s.get("text")) for s in collection().stream()), 7_200_000)


@case
def find_nearest():
    for name, vector in [("a", [1.0, 1.0]), ("b", [5.0, 5.0]), ("c", [2.0, 2.0])]:
        doc(name).set({"v": Vector(vector)})
    query = collection().find_nearest(
        "v",
        Vector([0.0, 0.0]),
        limit=2,
        distance_measure=DistanceMeasure.EUCLIDEAN,
        distance_result_field="far",
    )
    found = query.get()
    same(ids(found), ["a", "c"])
    assert abs(found[0].get("far") - 2**0.5) < 1e-9


# Aggregations


@case
def count():
    same(int(fill().where(filter=where("odd", "==", True)).count().get()[0][0].value), 3)


@case
def count_up_to():
    same(int(fill().limit(4).count().get()[0][0].value), 4)


@case
def sum_and_average():
    query = fill().count(alias="all").sum("n", alias="sum").avg("n", alias="average")
    found = {r.alias: r.value for r in query.get()[0]}
    same((int(found["all"]), int(found["sum"]), float(found["average"])), (6, 15, 2.5))


@case
def the_average_of_nothing():
    parent = doc()._document_path
    query = {
        "structured_query": {"from_": [{"collection_id": "none"}]},
        "aggregations": [{"alias": "a", "avg": {"field": {"field_path": "n"}}}],
    }
    request = {"parent": parent, "structured_aggregation_query": query}
    found = next(iter(stub().run_aggregation_query(request=request)))
    same(found.result.aggregate_fields["a"]._pb.WhichOneof("value_type"), "null_value")


# Listing


@case
def collections_of_a_document():
    for name in ["x", "y", "z"]:
        doc().collection(name).document("1").set({"a": 1})
    same([c.id for c in doc().collections()], ["x", "y", "z"])


@case
def collections_of_the_root():
    client.collection("root_" + playing.current).document("a").set({"x": 1})
    assert "root_" + playing.current in [c.id for c in client.collections()]


@case
def documents_with_missing_ones():
    doc("a").set({"x": 1})
    doc("b").collection("sub").document("1").set({"x": 1})
    same(sorted(r.id for r in collection().list_documents()), ["a", "b"])
    same(ids(collection().stream()), ["a"])


@case
def listing_in_pages():
    fill(25)
    same(len(list(collection().list_documents(page_size=10))), 25)


@case
def partitions():
    name = f"parts_{playing.current}"
    batch = client.batch()
    for index in range(200):
        batch.set(collection(name).document(f"{index:03}"), {"n": index})
    batch.commit()
    found = []
    for part in client.collection_group(name).get_partitions(3):
        found += ids(part.query().stream())
    same(sorted(found), [f"{index:03}" for index in range(200)])


@case
def recursive_delete():
    fill(5)
    doc("d1").collection("below").document("x").set({"x": 1})
    same(client.recursive_delete(collection()), 6)
    same(ids(collection().stream()), [])
