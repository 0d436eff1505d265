"""Listeners, and databases beside each other."""

from firebase_admin import firestore as admin_firestore
from google.cloud import firestore

import playing
from documentcases.client import PROJECT, Watching, admin, client, collection, doc, fill, where
from playing import case, same


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
    name = f"group_{playing.current}"
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
