"""Cases that Firestore's client for Python plays against a running server, over gRPC.

    documents.py HOST:PORT [CASE ...]

The server runs with --dev. Each case is a function of the modules in `documentcases`, some of them
coroutines; prints one line a case, `ok NAME` or `FAILED NAME` with the reason, and a summary at the
end.
"""

import asyncio
import inspect

import playing
from documentcases.client import PROJECT
from google.cloud import firestore

# Cases are played in the order in which their modules come here.
import documentcases.documents  # noqa: F401
import documentcases.queries  # noqa: F401
import documentcases.commits  # noqa: F401
import documentcases.listeners  # noqa: F401
import documentcases.wire  # noqa: F401
import documentcases.asynchronous  # noqa: F401


async def perform_async(function):
    client = firestore.AsyncClient(project=PROJECT)
    await asyncio.wait_for(function(client), playing.PATIENCE)


def perform(function):
    if inspect.iscoroutinefunction(function):
        asyncio.run(perform_async(function))
    else:
        function()


playing.play(perform)
