"""Cases that Firestore's client for Python plays against a running server, over gRPC.

    documents.py HOST:PORT

The server runs with --dev. Each case is a function below, some of them coroutines; prints one line
a case, `ok NAME` or `FAILED NAME` with the reason, and a summary at the end.
"""

import asyncio
import base64
import datetime
import inspect
import json
import os
import queue
import sys
import threading
import time
import traceback

os.environ["FIRESTORE_EMULATOR_HOST"] = sys.argv[1]
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import firebase_admin  # noqa: E402
import grpc  # noqa: E402
from firebase_admin import credentials  # noqa: E402
from firebase_admin import firestore as admin_firestore  # noqa: E402
from google.api_core import exceptions  # noqa: E402
from google.auth.credentials import AnonymousCredentials  # noqa: E402
from google.cloud import firestore  # noqa: E402
from google.cloud.firestore_v1 import field_path  # noqa: E402
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or  # noqa: E402
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure  # noqa: E402
from google.cloud.firestore_v1.services.firestore import FirestoreClient  # noqa: E402
from google.cloud.firestore_v1.services.firestore.transports import (  # noqa: E402
    FirestoreGrpcTransport,
)
from google.cloud.firestore_v1.types import firestore as messages  # noqa: E402
from google.cloud.firestore_v1.vector import Vector  # noqa: E402

PATIENCE = 60
PROJECT = "cases"
client = firestore.Client(project=PROJECT)
CASES = []
current = ""


class NoCredentials(credentials.Base):
    """What the Admin SDK wants to have, also where an emulator needs none."""

    def get_credential(self):
        return AnonymousCredentials()


admin = admin_firestore.client(
    firebase_admin.initialize_app(NoCredentials(), options={"projectId": PROJECT})
)


def case(function):
    CASES.append(function)
    return function


def collection(name="c", of=None):
    """A collection of its own for the case that runs."""
    return (of or client).collection("cases").document(current).collection(name)


def doc(name="a", of=None):
    return collection(of=of).document(name)


def raises(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


async def raises_async(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def same(found, expected):
    if found != expected or type(found) is not type(expected):
        raise AssertionError(f"{found!r} instead of {expected!r}")


def ids(results):
    return [snapshot.id for snapshot in results]


def fill(count=6, name="c"):
    """Documents d0, d1, ... with a number, its parity, and a list."""
    batch = client.batch()
    for index in range(count):
        batch.set(
            collection(name).document(f"d{index}"),
            {"n": index, "odd": index % 2 == 1, "list": [index, index + 1]},
        )
    batch.commit()
    return collection(name)


def where(*parts):
    return FieldFilter(*parts)


def stub():
    """The generated client, without what the client library adds."""
    channel = grpc.insecure_channel(sys.argv[1])
    return FirestoreClient(transport=FirestoreGrpcTransport(channel=channel))


class Watching:
    """Collects the snapshots of a listener."""

    def __init__(self, target):
        self.events = queue.Queue()
        self.registration = target.on_snapshot(
            lambda documents, changes, _: self.events.put(
                (
                    sorted((d.id, d.to_dict()) for d in documents),
                    [(c.type.name, c.document.id) for c in changes],
                )
            )
        )

    def until(self, holds):
        """Reads on until a snapshot's documents are as wanted."""
        while True:
            documents, changes = self.events.get(timeout=PATIENCE)
            if holds(documents):
                return documents, changes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.registration.unsubscribe()


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
        name = f"group_{current}"
        collection().document(parent).collection(name).document(parent + "1").set({"x": 1})
    same(ids(client.collection_group(f"group_{current}").stream()), ["p1", "q1"])


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
    client.collection("root_" + current).document("a").set({"x": 1})
    assert "root_" + current in [c.id for c in client.collections()]


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
    name = f"parts_{current}"
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


# Batches


@case
def a_batch_is_applied_whole():
    batch = client.batch()
    batch.set(doc("a"), {"x": 1})
    batch.set(doc("b"), {"x": 2})
    batch.delete(doc("c"))
    same(len(batch.commit()), 3)
    same(ids(collection().stream()), ["a", "b"])


@case
def a_batch_that_fails_changes_nothing():
    doc("b").set({"x": 0})
    batch = client.batch()
    batch.set(doc("a"), {"x": 1})
    batch.create(doc("b"), {"x": 2})
    raises(exceptions.AlreadyExists, batch.commit)
    same(ids(collection().stream()), ["b"])


@case
def a_batch_of_five_hundred():
    batch = client.batch()
    for index in range(500):
        batch.set(doc(f"{index:03}"), {"n": index})
    batch.commit()
    same(int(collection().count().get()[0][0].value), 500)


@case
def two_writes_of_one_document():
    batch = client.batch()
    batch.set(doc(), {"x": 1})
    batch.update(doc(), {"y": 2})
    batch.commit()
    same(doc().get().to_dict(), {"x": 1, "y": 2})


@case
def bulk_writer():
    writer = client.bulk_writer()
    for index in range(60):
        writer.set(doc(f"{index:02}"), {"n": index})
    writer.close()
    same(int(collection().count().get()[0][0].value), 60)


@case
def bulk_writer_reports_failures():
    doc("a").set({"x": 1})
    failed = []
    writer = client.bulk_writer()
    writer.on_write_error(lambda failure, _: failed.append(failure.code) and False)
    writer.create(doc("a"), {"x": 2})
    writer.create(doc("b"), {"x": 2})
    writer.close()
    same(failed, [6])
    same(doc("b").get().exists, True)


# Transactions


@case
def a_transaction_reads_and_writes():
    doc().set({"n": 1})

    @firestore.transactional
    def add(transaction):
        found = doc().get(transaction=transaction).get("n")
        transaction.update(doc(), {"n": found + 1})
        return found

    same(add(client.transaction()), 1)
    same(doc().get().get("n"), 2)


@case
def a_transaction_is_retried_after_a_conflict():
    doc().set({"n": 1})
    attempts = []

    @firestore.transactional
    def add(transaction):
        found = doc().get(transaction=transaction).get("n")
        if not attempts:
            other = threading.Thread(target=lambda: doc().update({"n": 10}))
            other.start()
            # A server that locks what was read makes the other one wait.
            other.join(timeout=2)
        attempts.append(found)
        transaction.update(doc(), {"n": found + 1})

    add(client.transaction())
    deadline = time.monotonic() + PATIENCE
    while doc().get().get("n") not in (10, 11) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert doc().get().get("n") in (10, 11), doc().get().to_dict()


@case
def many_transactions_count_right():
    doc().set({"n": 0})

    @firestore.transactional
    def add(transaction):
        found = doc().get(transaction=transaction).get("n")
        transaction.update(doc(), {"n": found + 1})

    def work():
        for _ in range(3):
            add(client.transaction(max_attempts=60))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(doc().get().get("n"), 12)


@case
def a_transaction_with_a_query():
    c = fill(3)

    @firestore.transactional
    def double(transaction):
        for snapshot in c.stream(transaction=transaction):
            transaction.update(snapshot.reference, {"n": snapshot.get("n") * 2})

    double(client.transaction())
    same([s.get("n") for s in c.stream()], [0, 2, 4])


@case
def a_transaction_that_raises_writes_nothing():
    @firestore.transactional
    def fail(transaction):
        transaction.set(doc(), {"x": 1})
        raise ValueError("no")

    raises(ValueError, fail, client.transaction())
    same(doc().get().exists, False)


@case
def a_transaction_that_only_reads():
    doc().set({"x": 1})

    @firestore.transactional
    def read(transaction):
        return doc().get(transaction=transaction).get("x")

    same(read(client.transaction(read_only=True)), 1)


@case
def a_transaction_that_only_reads_cannot_write():
    @firestore.transactional
    def write(transaction):
        transaction.set(doc(), {"x": 1})

    raises(ValueError, write, client.transaction(read_only=True))


@case
def an_unknown_transaction_is_refused():
    raises(
        exceptions.InvalidArgument,
        stub().rollback,
        request={"database": client._database_string, "transaction": b"unknown"},
    )


# Listeners


@case
def a_document_is_watched():
    with Watching(doc()) as watching:
        watching.until(lambda documents: documents == [])
        doc().set({"x": 1})
        watching.until(lambda documents: documents == [("a", {"x": 1})])
        doc().update({"x": 2})
        watching.until(lambda documents: documents == [("a", {"x": 2})])
        doc().delete()
        watching.until(lambda documents: documents == [])


@case
def a_query_is_watched():
    query = collection().where(filter=where("n", ">=", 1)).order_by("n")
    with Watching(query) as watching:
        watching.until(lambda documents: documents == [])
        doc("a").set({"n": 1})
        _, changes = watching.until(lambda documents: len(documents) == 1)
        same(changes, [("ADDED", "a")])
        doc("b").set({"n": 0})
        doc("a").update({"n": 5})
        _, changes = watching.until(lambda documents: documents == [("a", {"n": 5})])
        same(changes, [("MODIFIED", "a")])
        doc("a").update({"n": 0})
        _, changes = watching.until(lambda documents: documents == [])
        same(changes, [("REMOVED", "a")])


@case
def a_batch_is_one_snapshot():
    with Watching(collection()) as watching:
        watching.until(lambda documents: documents == [])
        fill(5)
        documents, _ = watching.until(lambda documents: documents != [])
        same(len(documents), 5)


@case
def a_limited_query_is_watched():
    fill(5)
    query = collection().order_by("n").limit(2)
    with Watching(query) as watching:
        watching.until(lambda documents: [d[0] for d in documents] == ["d0", "d1"])
        doc("d0").delete()
        watching.until(lambda documents: [d[0] for d in documents] == ["d1", "d2"])


@case
def a_collection_group_is_watched():
    name = f"group_{current}"
    with Watching(client.collection_group(name)) as watching:
        watching.until(lambda documents: documents == [])
        doc("p").collection(name).document("x").set({"v": 1})
        watching.until(lambda documents: documents == [("x", {"v": 1})])


@case
def many_listeners_share_a_connection():
    watching = [Watching(doc(f"w{i}")) for i in range(30)]
    try:
        for index, one in enumerate(watching):
            doc(f"w{index}").set({"i": index})
        for index, one in enumerate(watching):
            one.until(lambda documents: documents == [(f"w{index}", {"i": index})])
    finally:
        for one in watching:
            one.registration.unsubscribe()


@case
def a_listener_is_told_nothing_after_it_was_removed():
    watching = Watching(doc())
    watching.until(lambda documents: documents == [])
    watching.registration.unsubscribe()
    doc().set({"x": 1})
    other = Watching(doc())
    other.until(lambda documents: documents == [("a", {"x": 1})])
    other.registration.unsubscribe()
    assert watching.events.empty()


# Databases


@case
def named_databases_are_apart():
    other = firestore.Client(project=PROJECT, database="second")
    doc(of=other).set({"x": 2})
    doc().set({"x": 1})
    same(doc().get().get("x"), 1)
    same(doc(of=other).get().get("x"), 2)


@case
def projects_are_apart():
    other = firestore.Client(project="another")
    doc(of=other).set({"x": 2})
    same(doc().get().exists, False)


@case
def the_admin_sdk_reads_what_the_client_wrote():
    doc().set({"x": 1})
    same(doc(of=admin).get().to_dict(), {"x": 1})
    doc(of=admin).update({"x": admin_firestore.Increment(1)})
    same(doc().get().get("x"), 2)


# The wire


@case
def the_owner_is_recognised():
    owner = [("authorization", "Bearer owner")]
    name = doc()._document_path
    doc().set({"x": 1})
    same(stub().get_document(request={"name": name}, metadata=owner).name, name)


@case
def a_users_token_is_taken():
    def part(value):
        text = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
        return text.rstrip("=")

    user = {"sub": "ann", "user_id": "ann", "iat": 0, "aud": PROJECT}
    token = part({"alg": "none"}) + "." + part(user) + "."
    doc().set({"x": 1})
    metadata = [("authorization", "Bearer " + token)]
    found = stub().get_document(request={"name": doc()._document_path}, metadata=metadata)
    same(found.name, doc()._document_path)


@case
def an_invalid_token_is_refused():
    raises(
        exceptions.Unauthenticated,
        stub().get_document,
        request={"name": doc()._document_path},
        metadata=[("authorization", "Bearer nonsense")],
    )


@case
def the_code_of_a_missing_document():
    request = {"name": doc("ä")._document_path}
    error = raises(exceptions.NotFound, stub().get_document, request=request)
    assert "ä" in error.message, error.message


@case
def an_unknown_method_is_unimplemented():
    channel = grpc.insecure_channel(sys.argv[1])
    call = channel.unary_unary("/google.firestore.v1.Firestore/Fly")
    error = raises(grpc.RpcError, call, b"")
    same(error.code(), grpc.StatusCode.UNIMPLEMENTED)
    same(error.details(), "Method google.firestore.v1.Firestore/Fly is unimplemented")


@case
def a_deadline_that_has_passed():
    channel = grpc.insecure_channel(sys.argv[1])
    call = channel.stream_stream("/google.firestore.v1.Firestore/Listen")
    answers = call(iter_forever(), timeout=0.3)
    error = raises(grpc.RpcError, lambda: list(answers))
    same(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


def iter_forever():
    threading.Event().wait(2)
    yield from ()


@case
def compressed_messages():
    text = "x" * 200_000
    doc().set({"text": text})
    name = doc()._document_path
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        channel = grpc.insecure_channel(sys.argv[1], compression=compression)
        call = channel.unary_unary("/google.firestore.v1.Firestore/GetDocument")
        request = messages.GetDocumentRequest.pb(messages.GetDocumentRequest(name=name))
        answer = call(
            request.SerializeToString(), metadata=[("authorization", "Bearer owner")]
        )
        assert text.encode() in answer


@case
def a_write_stream():
    transport = stub()
    requests = queue.Queue()
    requests.put(messages.WriteRequest(database=client._database_string))
    answers = transport.write(requests=iter(requests.get, None))
    first = next(iter(answers))
    assert first.stream_token
    write = {"update": {"name": doc()._document_path, "fields": {"x": {"integer_value": 7}}}}
    requests.put(messages.WriteRequest(stream_token=first.stream_token, writes=[write]))
    second = next(iter(answers))
    same(len(second.write_results), 1)
    requests.put(None)
    same(list(answers), [])
    same(doc().get().get("x"), 7)


@case
def many_calls_at_once():
    fill(3)
    found = []

    def work():
        for _ in range(20):
            found.append(doc("d1").get().get("n"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(found, [1] * 160)


# With asyncio


def async_doc(of, name="a"):
    return of.collection("cases").document(current).collection("c").document(name)


@case
async def async_documents(client):
    await async_doc(client).set({"x": 1})
    same((await async_doc(client).get()).to_dict(), {"x": 1})
    await async_doc(client).update({"x": firestore.Increment(2)})
    same((await async_doc(client).get()).get("x"), 3)
    await async_doc(client).delete()
    same((await async_doc(client).get()).exists, False)


@case
async def async_failures(client):
    await raises_async(exceptions.NotFound, async_doc(client).update({"x": 1}))
    await async_doc(client).create({"x": 1})
    await raises_async(exceptions.AlreadyExists, async_doc(client).create({"x": 1}))


@case
async def async_queries(client):
    batch = client.batch()
    for index in range(5):
        batch.set(async_doc(client, f"d{index}"), {"n": index})
    await batch.commit()
    query = async_doc(client).parent.where(filter=where("n", ">", 1)).order_by("n")
    same([s.id async for s in query.stream()], ["d2", "d3", "d4"])
    same(int((await query.count().get())[0][0].value), 3)


@case
async def async_transactions(client):
    await async_doc(client).set({"n": 1})

    @firestore.async_transactional
    async def add(transaction):
        found = (await async_doc(client).get(transaction=transaction)).get("n")
        transaction.update(async_doc(client), {"n": found + 1})

    await add(client.transaction())
    same((await async_doc(client).get()).get("n"), 2)


@case
async def async_concurrency(client):
    await asyncio.gather(*[async_doc(client, f"{i:02}").set({"n": i}) for i in range(50)])
    found = await asyncio.gather(*[async_doc(client, f"{i:02}").get() for i in range(50)])
    same([s.get("n") for s in found], list(range(50)))


@case
async def async_listing(client):
    await async_doc(client).collection("below").document("x").set({"x": 1})
    same([c.id async for c in async_doc(client).collections()], ["below"])


async def play_async(function):
    other = firestore.AsyncClient(project=PROJECT)
    await asyncio.wait_for(function(other), PATIENCE)


def main():
    global current
    wanted = sys.argv[2:]
    failed = 0
    for function in CASES:
        current = function.__name__
        if wanted and current not in wanted:
            continue
        try:
            if inspect.iscoroutinefunction(function):
                asyncio.run(play_async(function))
            else:
                function()
            print("ok", current, flush=True)
        except BaseException as error:
            failed += 1
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            print("FAILED", current, reason, flush=True)
            traceback.print_exc()
    print(f"{len(CASES)} cases, {failed} failed", flush=True)
    # Threads of the library may still wait for their servers.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
