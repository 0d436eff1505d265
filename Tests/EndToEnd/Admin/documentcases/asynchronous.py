"""The same with asyncio: each case is a coroutine that is given a client."""

import asyncio

from google.api_core import exceptions
from google.cloud import firestore

import playing
from documentcases.client import where
from playing import case, raises_async, same


def async_doc(of, name="a"):
    return of.collection("cases").document(playing.current).collection("c").document(name)


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
