"""The application of the Admin SDK that the cases speak with, and what most cases need."""

import os
import queue
import sys

os.environ["FIREBASE_DATABASE_EMULATOR_HOST"] = sys.argv[1]

import firebase_admin  # noqa: E402
from firebase_admin import db  # noqa: E402

import playing  # noqa: E402
from playing import PATIENCE  # noqa: E402

app = firebase_admin.initialize_app(options={"databaseURL": "https://cases.example.com"})


def ref(path=""):
    """A place of its own for the case that runs."""
    return db.reference(("cases/" + playing.current + "/" + path).strip("/"), app)


class Listening:
    """Collects what a listener hears."""

    def __init__(self, reference):
        self.events = queue.Queue()
        self.registration = reference.listen(self.events.put)

    def next(self):
        event = self.events.get(timeout=PATIENCE)
        return (event.event_type, event.path, event.data)

    def until(self, wanted):
        """Reads on until the event is there."""
        seen = []
        while True:
            seen.append(self.next())
            if seen[-1] == wanted:
                return seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its close waits for the thread that reads, which waits for the next byte.
        self.registration._sse.should_connect = False
        self.registration._sse.retry = 0
