"""Batches and transactions."""

import threading
import time

from google.api_core import exceptions
from google.cloud import firestore

from documentcases.client import client, collection, doc, fill, ids, stub
from playing import PATIENCE, case, raises, same


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
